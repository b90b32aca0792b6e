"""The frontier: people found against detail lost, a dot for each release that was tried."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from sfumato.risk.verdict import State, share_text
from sfumato.server.workbench.bench import SAMPLE
from sfumato.server.workbench.release_dots import Dot

Scale = Callable[[float], float]
"""From a share to a place in the drawing."""
WIDTH, HEIGHT, LEFT, BELOW = 640, 300, 56, 40
ROOM = 1.08
"""How far an axis goes beyond what is drawn."""
LEAST = 0.02
"""The least that an axis shows: below it dots would be told apart that are not different."""


def frontier(
    dots: Sequence[Dot], limit: float, chosen: int | None, pinned: Collection[int]
) -> SafeString:
    """The chart of the dots; links in the order of its table, by which the keyboard goes.

    Parameters
    ----------
    limit
        How many people may be found, as a share.
    chosen
        The people in a class that the project promises.
    """
    drawn = [each for each in dots if not each.failed and each.stranger is not None]
    most_lost = max([each.lost for each in drawn] + [LEAST]) * ROOM
    most_found = max([each.stranger or 0.0 for each in drawn] + [limit, LEAST]) * ROOM

    def x(lost: float) -> float:
        return LEFT + (WIDTH - LEFT - 16) * lost / most_lost

    def y(found: float) -> float:
        return 12 + (HEIGHT - BELOW - 12) * (1 - found / most_found)

    best = min((each for each in drawn if _is_below(each)), key=lambda dot: dot.lost, default=None)
    parts = [_axes(most_lost, most_found, x, y), _limit_line(limit, y)]
    for each in drawn:
        marks = ["dot", "sample" if each.kind == SAMPLE else "rough"]
        marks += ["below"] if _is_below(each) else []
        marks += ["chosen"] if each.people == chosen else []
        marks += ["pinned"] if each.people in pinned else []
        at, up = x(each.lost), y(each.stranger or 0.0)
        parts.append(
            f'<a href="#dot-{each.people}" id="mark-{each.people}" class="{" ".join(marks)}" '
            f'tabindex="{0 if each is drawn[0] else -1}" data-dot aria-label="{_words(each)}">'
            f'<circle cx="{at:.1f}" cy="{up:.1f}" r="6"/>'
            f'<text x="{_beside(at):.1f}" y="{up - 9:.1f}" class="'
            f'{"label" if each is best or each.people == chosen else "label quiet"}">'
            f"{each.people}</text></a>"
        )
    title = escape(_("People found by a stranger, against detail lost"))
    return mark_safe(  # noqa: S308 - numbers and escaped texts
        f'<svg class="frontier" viewBox="0 0 {WIDTH} {HEIGHT}" role="group" '
        f'aria-label="{title}">{"".join(parts)}</svg>'
    )


def _is_below(dot: Dot) -> bool:
    return dot.state in (State.BELOW, State.ACCEPTED, State.DOES_NOT_APPLY)


def _beside(at: float) -> float:
    """Where a label fits within the drawing."""
    return min(at + 6, WIDTH - 24)


def _words(dot: Dot) -> str:
    said = _("%(people)s people in a class: %(found)s found, %(lost)s of detail lost, %(kind)s") % {
        "people": dot.people,
        "found": share_text(dot.stranger or 0.0),
        "lost": share_text(dot.lost),
        "kind": dot.kind,
    }
    return escape(said)


def _axes(most_lost: float, most_found: float, x: Scale, y: Scale) -> str:
    foot, right = HEIGHT - BELOW, WIDTH - 16
    lost, found = escape(_("detail lost (%)")), escape(_("people found (%)"))
    lines = [
        f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{foot}" y2="{foot}"/>',
        f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="12" y2="{foot}"/>',
        f'<text class="axis" x="{right}" y="{HEIGHT - 4}" text-anchor="end">{lost}</text>',
        f'<text class="axis" x="2" y="10">{found}</text>',
    ]
    lines += [_number(x(at), foot + 16, "middle", at) for at in _ticks(most_lost)]
    lines += [_number(LEFT - 6, y(at) + 4, "end", at) for at in _ticks(most_found)]
    return "".join(lines)


def _number(x: float, y: float, anchor: str, share: float) -> str:
    text = f"{100 * share:.3g}"
    return f'<text class="axis" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _ticks(most: float) -> list[float]:
    """Four or five round numbers up to an end."""
    step = next(
        size * power
        for power in (0.001, 0.01, 0.1, 1.0)
        for size in (1, 2, 5)
        if most / (size * power) <= 5
    )
    return [step * number for number in range(int(most / step) + 1)]


def _limit_line(limit: float, y: Scale) -> str:
    right, up = WIDTH - 16, y(limit)
    return (
        f'<line class="limit" x1="{LEFT}" x2="{right}" y1="{up:.1f}" y2="{up:.1f}"/>'
        f'<text class="limit" x="{right}" y="{up - 4:.1f}" text-anchor="end">'
        f"{escape(_('limit'))} {share_text(limit)}</text>"
    )
