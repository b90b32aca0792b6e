"""The meters: KAPR with its limit and what the next opening may add, characters, progress."""

from __future__ import annotations

from sfumato.review.terminal.look import Look
from sfumato.review.terminal.numbers import kapr_text, percent_text
from sfumato.review.terminal.styled import Line, Span, Style
from sfumato.review.terminal.view import Standing

BAR, LABEL = 24, 13
"""Columns of a bar, and of what stands before it."""


def draw_meters(standing: Standing, following: float, look: Look) -> tuple[Line, Line, Line]:
    """Three lines: KAPR, characters, progress.

    Parameters
    ----------
    standing
        How the worker stands.
    following
        What the next opening of the selected cell would add to KAPR at most.
    look
        The terminal.
    """
    limit, cells, dot = standing.limit, standing.cells, f" {look.signs.dot} "
    of = "no limit" if limit is None else f"limit {kapr_text(limit, cells)}"
    aside = [f"{standing.skipped:,} skipped"] if standing.skipped else []
    aside += [f"{standing.flagged:,} flagged"] if standing.flagged else []
    return (
        (
            *_bar("KAPR", standing.score, following, 1.0 if limit is None else limit, look),
            Span(f" {kapr_text(standing.score, cells)}", Style.STRONG),
            Span(f"{dot}{of}", Style.QUIET),
        ),
        (
            *_bar("Characters", standing.characters, 0.0, 1.0, look),
            Span(f" {percent_text(standing.characters)}", Style.STRONG),
        ),
        (
            *_bar("Progress", standing.decided, 0.0, standing.pairs, look),
            Span(f" {standing.decided:,} of {standing.pairs:,}", Style.STRONG),
            Span(dot.join([" decided", *aside]), Style.QUIET),
        ),
    )


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
