"""A rendering as plain text, in the symbols of the paper's tables."""

from __future__ import annotations

from sfumato.review.values import Cell, CellKind, Mark, RenderedAttribute

_SYMBOLS = {CellKind.EQUAL: "*", CellKind.MASKED: "*", CellKind.MISSING: "?"}
_DIFFERING = "@&"


def plain(rendered: RenderedAttribute) -> tuple[str, str]:
    """Row 1 and row 2 of an attribute as text (001, Tables 1 and 3 to 5).

    ``*`` is a masked character, ``@`` one that only row 1 has and ``&`` one that only row 2 has;
    ``?`` is a missing value. Where day and month are exchanged each has its own symbol, which
    moves with it: ``*@/*&/****`` and ``*&/*@/****``.

    Parameters
    ----------
    rendered
        The attribute as it may be shown.
    """
    left, right = rendered.rows
    return "".join(symbols(left, 0)), "".join(symbols(right, 1))


def symbols(cells: tuple[Cell, ...], row: int) -> tuple[str, ...]:
    """The text of each cell of a row.

    Parameters
    ----------
    cells
        The cells.
    row
        0 for row 1, 1 for row 2.
    """
    texts: list[str] = []
    part = 0
    swapped: list[int] = []
    for cell in cells:
        if cell.kind is CellKind.SEPARATOR:
            part += 1
        if cell.kind is not CellKind.DIFFERING:
            texts.append(_SYMBOLS.get(cell.kind, cell.text))
            continue
        symbol = row
        if cell.edit is Mark.DAY_MONTH_SWAP:
            swapped.append(part)
            symbol = row ^ (part != swapped[0])
        texts.append(_DIFFERING[symbol])
    return tuple(texts)
