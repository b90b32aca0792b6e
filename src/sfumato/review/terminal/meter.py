"""The meters: KAPR with its limit and what the next opening may add, and characters."""

from __future__ import annotations

from sfumato.review.terminal.look import Look
from sfumato.review.terminal.numbers import kapr_text, percent_text
from sfumato.review.terminal.styled import Line, Span, Style, padded, width_of
from sfumato.review.terminal.view import Standing

BAR, LABEL = 24, 13
"""Columns of a bar, and of what stands before it."""


def draw_meters(standing: Standing, following: float, look: Look) -> tuple[Line, Line]:
    """Two lines: KAPR, and characters with progress.

    Parameters
    ----------
    standing
        How the worker stands.
    following
        What the next opening of the selected cell would add to KAPR at most.
    look
        The terminal.
    """
    limit, cells = standing.limit, standing.cells
    whole = 1.0 if limit is None else limit
    of = "no limit" if limit is None else f"limit {kapr_text(limit, cells)}"
    kapr: Line = (
        *_bar("KAPR", standing.score, following, whole, look),
        Span(f" {kapr_text(standing.score, cells)}", Style.STRONG),
        Span(f" {look.signs.dot} {of}", Style.QUIET),
    )
    characters: Line = (
        *_bar("Characters", standing.characters, 0.0, 1.0, look),
        Span(f" {percent_text(standing.characters)}", Style.STRONG),
    )
    dot = f" {look.signs.dot} "
    parts = [f"{standing.decided} of {standing.pairs} decided"]
    parts += [f"{standing.skipped} skipped"] if standing.skipped else []
    parts += [f"{standing.flagged} flagged"] if standing.flagged else []
    counts = f"{dot.join(parts)} "
    return kapr, _apart(characters, (Span(counts, Style.QUIET),), look.width)


def _bar(label: str, share: float, more: float, whole: float, look: Look) -> Line:
    signs = look.signs
    spent = _columns(share, whole)
    following = max(_columns(share + more, whole), spent + 1 if more > 0 else spent) - spent
    following = min(following, BAR - spent)
    return (
        Span(f" {label:<{LABEL - 1}}", Style.QUIET),
        Span(signs.spent * spent, Style.SPENT),
        Span(signs.next * following, Style.NEXT),
        Span(signs.left * (BAR - spent - following), Style.LEFT),
        Span(signs.limit, Style.QUIET),
    )


def _columns(share: float, whole: float) -> int:
    if share <= 0:
        return 0
    return BAR if share >= whole else max(1, int(BAR * share / whole))


def _apart(left: Line, right: Line, width: int) -> Line:
    """Two pieces at the two ends of a line; the right one only where there is room."""
    room = width - width_of(right) - 1
    return (*padded(left, room), *right) if width_of(left) < room else left
