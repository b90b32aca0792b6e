"""How far the values that the intruder knows are from what a released cell says."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.intruder.attacks.probabilistic.slips import Slips
from sfumato.intruder.knowledge.knowledge import KnownColumn
from sfumato.intruder.knowledge.numbers import measure_of
from sfumato.intruder.reading.cell import Anything, Cell, Exact, Interval, Members, Missing
from sfumato.intruder.reading.released_file import ReadColumn

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NEARBY = 0.05
"""Share of the spread of a column's numbers within which a number is just outside a range."""


class Near(IntEnum):
    """How far a value is from a cell."""

    FAR = 0
    NEAR = 1
    """Just outside: a slip of typing away, or a neighbouring number."""
    INSIDE = 2


@dataclass(frozen=True, slots=True)
class Reach:
    """The known values that a cell holds, and those just outside it, by their places.

    Attributes
    ----------
    inside, near
        First place and the one behind the last; ``near`` surrounds ``inside``.
    inside_set, near_set
        Single places.
    """

    inside: tuple[int, int] = (0, 0)
    near: tuple[int, int] = (0, 0)
    inside_set: tuple[int, ...] = ()
    near_set: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Levels:
    """How far each value that the intruder knows is from each cell of a column.

    Attributes
    ----------
    name
        The quasi-identifier.
    values
        Number of distinct known values; their places go by number, then by text.
    places
        Place of each register row's value, -1 where it is not known; shape (rows,).
    cells
        Per released cell what it reaches; ``None`` for one that says nothing.
    """

    name: str
    values: int
    places: Ints = field(repr=False)
    cells: tuple[Reach | None, ...] = field(repr=False)

    def of_cell(self, number: int) -> npt.NDArray[np.int8] | None:
        """The level of each value in a cell, shape (values,); ``None`` if it says nothing.

        Parameters
        ----------
        number
            Number of the cell.
        """
        reach = self.cells[number]
        if reach is None:
            return None
        found = np.zeros(self.values, dtype=np.int8)
        found[slice(*reach.near)] = Near.NEAR
        found[list(reach.near_set)] = Near.NEAR
        found[slice(*reach.inside)] = Near.INSIDE
        found[list(reach.inside_set)] = Near.INSIDE
        return found

    @cached_property
    def by_chance(self) -> Floats:
        """u: the share of the register's rows at each level of each cell, shape (cells, 3).

        At least half a row, so that no level is impossible by chance; NaN for a cell that says
        nothing. Takes O(cells x values).
        """
        known = self.places[self.places >= 0]
        rows = np.bincount(known, minlength=self.values).astype(np.float64)
        shares: Floats = np.full((len(self.cells), len(Near)), np.nan)
        for number in range(len(self.cells)):
            levels = self.of_cell(number)
            if levels is not None:
                shares[number] = np.bincount(levels, weights=rows, minlength=len(Near))
        found: Floats = np.clip(shares, 0.5, None) / max(len(known), 1)
        return found


def levels_of(read: ReadColumn, known: KnownColumn) -> Levels:
    """How far each value that the intruder knows is from each cell of a column.

    Parameters
    ----------
    read
        What the release shows.
    known
        What the intruder knows.
    """
    texts = np.array([text is not None for text in known.texts], dtype=np.bool_)
    numbers = np.where(texts, known.numbers, np.nan)
    order = np.flatnonzero(texts)
    by_text = sorted(order[np.isnan(numbers[order])].tolist(), key=lambda i: str(known.texts[i]))
    numeric = order[~np.isnan(numbers[order])]
    numeric = numeric[np.argsort(numbers[numeric], kind="stable")]
    order = np.concatenate([numeric, np.array(by_text, dtype=np.int64)])
    place = np.full(len(known.texts), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    finder = _Finder(numbers[numeric], [known.texts[i] for i in order.tolist()])
    return Levels(
        name=read.name,
        values=len(order),
        places=place[known.codes],
        cells=tuple(finder.reach(cell) for cell in read.cells),
    )


class _Finder:
    """Finds what cells reach among the values of a column in their order."""

    def __init__(self, numbers: Floats, texts: list[str | None]) -> None:
        self._numbers = numbers
        self._texts = {text: place for place, text in enumerate(texts)}
        self._slips = Slips(texts[len(numbers) :])
        self._reach = _neighbourhood(numbers)

    def reach(self, cell: Cell) -> Reach | None:
        """What a cell reaches; ``None`` if it says nothing."""
        match cell:
            case Anything():
                return None
            case Missing():
                return Reach()
            case Interval():
                return self._of_interval(cell)
            case Exact(text):
                return self._of_texts(frozenset({text}))
            case Members(texts):
                return self._of_texts(texts)

    def _of_interval(self, cell: Interval) -> Reach:
        low = "left" if cell.low_in else "right"
        high = "right" if cell.high_in else "left"
        return Reach(
            inside=(self._at(cell.low, low), self._at(cell.high, high)),
            near=(
                self._at(cell.low - self._reach, "left"),
                self._at(cell.high + self._reach, "right"),
            ),
        )

    def _of_texts(self, texts: frozenset[str]) -> Reach:
        inside = {self._texts[text] for text in texts if text in self._texts}
        near = {place + len(self._numbers) for place in self._slips.of(texts)}
        for number in map(measure_of, texts):
            if number is None:
                continue
            inside.update(range(self._at(number, "left"), self._at(number, "right")))
            nearby = number - self._reach, number + self._reach
            near.update(range(self._at(nearby[0], "left"), self._at(nearby[1], "right")))
        return Reach(inside_set=tuple(sorted(inside)), near_set=tuple(sorted(near - inside)))

    def _at(self, number: float, side: str) -> int:
        if side == "left":
            return int(np.searchsorted(self._numbers, number, side="left"))
        return int(np.searchsorted(self._numbers, number, side="right"))


def _neighbourhood(numbers: Floats) -> float:
    """How far outside a range a number is still a neighbour."""
    if len(numbers) < 2:
        return 0.0
    low, high = np.quantile(numbers, (0.05, 0.95))
    gaps = np.diff(numbers)
    least = gaps[gaps > 0]
    return max(NEARBY * float(high - low), float(least.min()) if len(least) else 0.0)
