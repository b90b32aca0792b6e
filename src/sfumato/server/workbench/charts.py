"""Charts as SVG of our own, each with the table of the same numbers.

Colours and lines come from the page's style by class, so that a strict policy holds: no inline
style, no script.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from sfumato.core.number_text import share_text
from sfumato.risk.verdict import State
from sfumato.server.workbench.bench import SAMPLE
from sfumato.server.workbench.column_figures import FEWEST, Bar, TableFigures, found_there
from sfumato.server.workbench.release_dots import Dot
from sfumato.table.table_keys import Reference

WIDTH, HEIGHT = 240, 56
"""Units of a histogram's drawing."""


Scale = Callable[[float], float]
"""From a share to a place in the drawing."""
Place = tuple[float, float]
WIDE, HIGH, LEFT, BELOW = 640, 300, 56, 40
ROOM = 1.08
"""How far an axis goes beyond what is drawn."""
LEAST = 0.02
"""The least that an axis shows: below it dots would be told apart that are not different."""


@dataclass(frozen=True)
class Interval:
    """A number with its interval, as a chart draws it.

    Attributes
    ----------
    value, low, high
        In the unit of the axis.
    """

    label: str
    value: float
    low: float
    high: float
    said: str = ""


def histogram(
    bars: Sequence[Bar], label: str, *, values: bool = False, brackets: Sequence[float] = ()
) -> SafeString:
    """A histogram; hidden bars are hatched, and say so in the table.

    Parameters
    ----------
    label
        What it shows, for who does not see it.
    values
        Whether what the bars stand for may be shown.
    brackets
        Where intervals begin, as shares of the width.
    """
    most = max((bar.count or 0 for bar in bars), default=0) or 1
    step = WIDTH / max(len(bars), 1)
    drawn = []
    for at, bar in enumerate(bars):
        shown = FEWEST / 2 if bar.count is None else bar.count
        height = max(HEIGHT * shown / most, 1.0) if shown else 0.0
        kind = "bar hidden-bar" if bar.count is None else "bar"
        drawn.append(
            f'<rect class="{kind}" x="{at * step:.2f}" y="{HEIGHT - height:.2f}" '
            f'width="{max(step - 1, 0.5):.2f}" height="{height:.2f}"/>'
        )
    lines = [
        f'<line class="bracket" x1="{WIDTH * at:.2f}" x2="{WIDTH * at:.2f}" y1="0" y2="{HEIGHT}"/>'
        for at in brackets
    ]
    title = escape(label)
    svg = (
        f'<svg class="histogram" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}" '
        f'preserveAspectRatio="none">{"".join(drawn)}{"".join(lines)}</svg>'
    )
    return mark_safe(svg + _table_of_bars(bars, label, values=values))  # noqa: S308 - escaped above


def _table_of_bars(bars: Sequence[Bar], label: str, *, values: bool) -> str:
    rows = []
    for at, bar in enumerate(bars, 1):
        named = f"{bar.low} – {bar.high}" if bar.high else bar.low or "others"
        count = f"below {FEWEST}, or hidden beside it" if bar.count is None else f"{bar.count:,}"
        rows.append((named if values else str(at), count))
    return table(label, ("value" if values else "bar", "records"), rows, folded=True)


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, folded: bool = False
) -> SafeString:
    """The table of a chart; all columns but the first hold numbers.

    Parameters
    ----------
    folded
        Whether it is opened by a click.
    """
    head = "".join(
        f'<th scope="col"{" class=number" if at else ""}>{escape(each)}</th>'
        for at, each in enumerate(heads)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="number">{escape(cell)}</td>' if at else f"<td>{escape(cell)}</td>"
            for at, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    made = (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
    if folded:
        made = f"<details><summary>{_('Numbers')}</summary><div class=scroll>{made}</div></details>"
    return mark_safe(made)  # noqa: S308 - each text is escaped


def intervals(
    marks: Sequence[Interval], caption: str, unit: str, *, limit: float | None = None
) -> SafeString:
    """Numbers with their intervals, a line each, the limit across; and their table.

    Parameters
    ----------
    limit
        Where a line is drawn, in the unit of the axis.
    """
    ends = [mark.high for mark in marks] + ([limit] if limit is not None else [])
    most = (max(ends, default=1.0) or 1.0) * 1.1
    height = 28 * len(marks) + 8

    def at(number: float) -> float:
        return 70 + 240 * number / most

    drawn = [] if limit is None else [
        f'<line class="limit" x1="{at(limit):.1f}" x2="{at(limit):.1f}" y1="0" y2="{height}"/>'
    ]  # fmt: skip
    for place, mark in enumerate(marks):
        y = 28 * place + 18
        drawn.append(
            f'<text x="0" y="{y + 4}" class="axis">{escape(mark.label)}</text>'
            f'<line class="interval" x1="{at(mark.low):.1f}" x2="{at(mark.high):.1f}" y1="{y}" '
            f'y2="{y}"/><circle class="dot" cx="{at(mark.value):.1f}" cy="{y}" r="4"/>'
        )
    svg = (
        f'<svg class="intervals" viewBox="0 0 320 {height}" role="img" '
        f'aria-label="{escape(caption)}">{"".join(drawn)}</svg>'
    )
    rows = [(mark.label, mark.said or f"{mark.value:.3g}") for mark in marks]
    return mark_safe(svg + table(caption, ("", unit), rows))  # noqa: S308 - each text is escaped


def key_map(tables: Sequence[TableFigures], references: Sequence[Reference]) -> SafeString:
    """Tables as boxes, that of people first, what refers to them beside; and the table of it."""
    depth: dict[str, int] = {}
    for _round in tables:  # a reference may come before what it leads to
        for name in (own.name for own in tables):
            above = [depth.get(each.to, 0) + 1 for each in references if each.table == name]
            depth[name] = max(above, default=0)
    step, rows, at = WIDE / (max(depth.values()) + 1), [0] * len(tables), dict[str, Place]()
    for own in tables:
        column = depth[own.name]
        at[own.name] = (step * column, 4 + 64 * rows[column])
        rows[column] += 1
    lines, width = [], step - 90
    for each in references:
        (x, y), (to_x, to_y) = at[each.table], at[each.to]
        lines.append(
            f'<line class="axis" x1="{to_x + width:.0f}" x2="{x:.0f}" y1="{to_y + 22}" '
            f'y2="{y + 22}"/>'
        )
    boxes = [
        f'<rect class="box" x="{x + 1:.0f}" y="{y}" width="{width:.0f}" height="44" rx="4"/>'
        f'<text x="{x + 10:.0f}" y="{y + 27}">{escape(name)}</text>'
        for name, (x, y) in at.items()
    ]
    height = 64 * max(rows)
    caption = _("Tables and keys: what refers to what")
    svg = (
        f'<svg class="key-map" viewBox="0 0 {WIDE} {height}" role="img" '
        f'aria-label="{escape(caption)}">{"".join((*lines, *boxes))}</svg>'
    )
    records = {own.name: len(own.columns) for own in tables}
    cells = [
        (
            f"{each.table}.{each.column} → {each.to}", f"{records[each.table]:,}",
            found_there(each, records[each.table]),
        )
        for each in references
    ]  # fmt: skip
    heads = (_("column → table"), _("records"), _("found there"))
    return mark_safe(svg + table(caption, heads, cells))  # noqa: S308 - texts are escaped


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
        return LEFT + (WIDE - LEFT - 16) * lost / most_lost

    def y(found: float) -> float:
        return 12 + (HIGH - BELOW - 12) * (1 - found / most_found)

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
        f'<svg class="frontier" viewBox="0 0 {WIDE} {HIGH}" role="group" '
        f'aria-label="{title}">{"".join(parts)}</svg>'
    )


def _is_below(dot: Dot) -> bool:
    return dot.state in (State.BELOW, State.ACCEPTED, State.DOES_NOT_APPLY)


def _beside(at: float) -> float:
    """Where a label fits within the drawing."""
    return min(at + 6, WIDE - 24)


def _words(dot: Dot) -> str:
    said = _("%(people)s people in a class: %(found)s found, %(lost)s of detail lost, %(kind)s") % {
        "people": dot.people,
        "found": share_text(dot.stranger or 0.0),
        "lost": share_text(dot.lost),
        "kind": dot.kind,
    }
    return escape(said)


def _axes(most_lost: float, most_found: float, x: Scale, y: Scale) -> str:
    foot, right = HIGH - BELOW, WIDE - 16
    lost, found = escape(_("detail lost (%)")), escape(_("people found (%)"))
    lines = [
        f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{foot}" y2="{foot}"/>',
        f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="12" y2="{foot}"/>',
        f'<text class="axis" x="{right}" y="{HIGH - 4}" text-anchor="end">{lost}</text>',
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
    right, up = WIDE - 16, y(limit)
    return (
        f'<line class="limit" x1="{LEFT}" x2="{right}" y1="{up:.1f}" y2="{up:.1f}"/>'
        f'<text class="limit" x="{right}" y="{up - 4:.1f}" text-anchor="end">'
        f"{escape(_('limit'))} {share_text(limit)}</text>"
    )
