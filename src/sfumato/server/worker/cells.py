"""The cells of a rendering as text on the page; values stand in text only, in no attribute."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from sfumato.review.review_settings import Cell, CellKind

_SYMBOL = {CellKind.EQUAL: "*", CellKind.MASKED: "*", CellKind.MISSING: "?"}
_DIFFERING = ("@", "&")
LONG = 24
"""Cells that stand in one line; more may go on in the next."""
_SPOKEN = {
    CellKind.EQUAL: "equal, hidden",
    CellKind.DIFFERING: "different, hidden",
    CellKind.MASKED: "hidden",
}


def draw_row(cells: Sequence[Cell], row: int) -> SafeString:
    """One row of an attribute: the characters and symbols that are seen, and what is read out.

    Parameters
    ----------
    cells
        The cells.
    row
        0 for row 1, 1 for row 2.
    """
    drawn = "".join(
        f'<i class="{style}">{escape("".join(symbols))}</i>' for style, symbols in _runs(cells, row)
    )
    width = "seen long" if len(cells) > LONG else "seen"
    html = f'<span class="{width}" aria-hidden="true">{drawn}</span>'
    html += f'<span class="hidden">Row {row + 1}: {escape(spoken(cells))}. </span>'
    return mark_safe(html)  # noqa: S308 - every character is escaped above


def spoken(cells: Sequence[Cell]) -> str:
    """What is read out of a row: characters as they are, the others counted.

    Parameters
    ----------
    cells
        The cells.
    """
    parts = []
    text = (CellKind.CHARACTER, CellKind.SEPARATOR)
    for shown, run in groupby(cells, key=lambda cell: cell.kind in text or cell.kind):
        group = list(run)
        if shown is True:
            parts.append("".join(cell.text for cell in group))
        elif group[0].kind is CellKind.MISSING:
            parts.append("missing")
        else:
            parts.append(f"{len(group)} {_SPOKEN[group[0].kind]}")
    return "; ".join(parts)


def _runs(cells: Sequence[Cell], row: int) -> list[tuple[str, list[str]]]:
    runs: list[tuple[str, list[str]]] = []
    for cell in cells:
        style = _style(cell)
        symbol = cell.text or _SYMBOL.get(cell.kind, _DIFFERING[row])
        if runs and runs[-1][0] == style:
            runs[-1][1].append(symbol)
        else:
            runs.append((style, [symbol]))
    return runs


def _style(cell: Cell) -> str:
    if cell.kind is CellKind.CHARACTER:
        return "open edit" if cell.edit else "open"
    return cell.kind.name.lower()
