"""Which known values a released cell allows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.intruder.knowledge.knowledge import KnownColumn
from sfumato.intruder.knowledge.numbers import measure_of
from sfumato.intruder.reading.cell import Anything, Cell, Exact, Interval, Members

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
ROUNDED = 6e-15
"""Share of the largest number by which an end may be off where numbers have decimals.

Tools write 15 significant digits of the largest number: half a unit of the last is up to 5e-15.
"""


class ValuesOf:
    """The distinct values of a column that an intruder knows, ready to be held against cells.

    Parameters
    ----------
    column
        The column.
    """

    def __init__(self, column: KnownColumn) -> None:
        numbers = column.numbers
        self._place = {text: place for place, text in enumerate(column.texts)}
        self._unknown = np.array([text is None for text in column.texts], dtype=np.bool_)
        measured = ~np.isnan(numbers)
        self._sorted, rank = np.unique(numbers[measured], return_inverse=True)
        self._rank = np.full(len(numbers), -1, dtype=np.int64)
        self._rank[measured] = rank.reshape(-1)
        self._by_rank = np.argsort(self._rank, kind="stable")
        self._starts = np.searchsorted(self._rank[self._by_rank], np.arange(len(self._sorted) + 1))
        finite = self._sorted[np.isfinite(self._sorted)]
        decimals = bool((finite % 1 != 0).any())
        self._slack = ROUNDED * float(np.abs(finite).max(initial=0.0)) if decimals else 0.0

    def allowed(self, cell: Cell, places: Ints | None = None) -> Bools:
        """Whether values lie in the cell; a value that is not known always does.

        A missing cell allows nothing else. Texts are equal as they are written or, where the
        column holds numbers or dates, by value.

        Parameters
        ----------
        cell
            The released cell.
        places
            The values to hold against it, by their place in the column's texts; all of them,
            in that order, when not given.
        """
        if isinstance(cell, Interval):
            rank = self._rank if places is None else self._rank[places]
            low, high = self._span(cell)
            inside: Bools = (rank >= low) & (rank < high)
            return inside | (self._unknown if places is None else self._unknown[places])
        found = np.ones(len(self._unknown), np.bool_)
        if not isinstance(cell, Anything):
            found = self._unknown.copy()
            for text in _texts(cell):
                self._mark(text, found)
        return found if places is None else found[places]

    def _span(self, cell: Interval) -> tuple[int, int]:
        """The first rank inside, and the first one above it; numbers that are none have -1."""
        low = cell.low - self._slack if cell.low_in else cell.low
        high = cell.high + self._slack if cell.high_in else cell.high
        first = np.searchsorted(self._sorted, low, side="left" if cell.low_in else "right")
        last = np.searchsorted(self._sorted, high, side="right" if cell.high_in else "left")
        return int(first), int(last)

    def _mark(self, text: str, found: Bools) -> None:
        place = self._place.get(text)
        if place is not None:
            found[place] = True
        number = measure_of(text)
        if number is not None:
            low, high = self._span(Interval(number, number))
            found[self._by_rank[self._starts[low] : self._starts[high]]] = True


def _texts(cell: Cell) -> tuple[str, ...] | frozenset[str]:
    if isinstance(cell, Exact):
        return (cell.text,)
    return cell.texts if isinstance(cell, Members) else ()
