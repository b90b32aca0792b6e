"""What a reader who knows how classes are made sharpens in them (Wong 2007; Cohen 2022).

Who minimises loss writes no range wider and no label higher than the class needs. So somebody is
within the first step of the grid behind each end of a range, and the people below a label are not
all below one of its values (downcoding). And a class that could have been cut, and was not, would
have broken a promise about its sensitive values: of the ways to deal these out to its people only
those are left in which every cut does (minimality).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Bools, Ints
from sfumato.intruder.candidates import Candidates, ValuesOf
from sfumato.intruder.guesses.bounds_attack import Isolation, step_of
from sfumato.intruder.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading import EQUAL, ReadColumn, ReleasedFile, TextColumn
from sfumato.intruder.released_syntax import Anything, Cell, Interval, Members

GRID = 20
"""Steps of the grid that a range is taken to be wide, where its ends do not say otherwise."""
GAIN = 0.05
"""Rise of the chance to hold of one person from which a predicate is tried."""


def sharpened(
    file: ReleasedFile,
    exact: Knowledge,
    candidates: Candidates,
    inside: Bools,
    rng: np.random.Generator,
    most: int,
) -> Isolation:
    """Describe somebody of each class by its box and the part that minimality says is not empty.

    Of each class the part is taken of which knowing the method raises the chance most, that it
    holds of one person alone. By chance: of a range, the share of its parts that hold one person;
    of a value, K w (1 - w)^(K - 1), w being its share among all who are known and below the label,
    or 1/e where one person or more is expected (Cohen and Nissim 2020, Section 2).
    O(classes x columns x (values + persons in the class)).

    Parameters
    ----------
    exact
        What is true of everybody; of the method itself the reader needs the share of each value.
    inside
        Who is in the release, shape (persons,).
    rng
        Draws the classes where there are more than ``most``.
    """
    known = {column.name: column for column in exact.quasi_identifiers}
    rows = np.unique(exact.person, return_index=True)[1]
    columns = [
        _Column(identifier, known[identifier.name], rows)
        for identifier in file.quasi_identifiers
        if identifier.name in known
    ]
    pairs = np.unique(np.column_stack([file.class_of, file.unit]), axis=0)
    sizes = np.bincount(pairs[:, 0], minlength=file.classes)
    alone, chance = [], []
    for number in np.sort(rng.permutation(file.classes)[:most]).tolist():
        parts = [column.part(int(file.first_row[number]), int(sizes[number])) for column in columns]
        best = max(parts, key=lambda each: each.gain, default=_NOTHING)
        if best.gain < GAIN:
            continue
        people = candidates.persons_of(number)
        found = columns[parts.index(best)].counted(best, people[inside[people]])
        alone.append(found[0] == 1)
        chance.append(found[1])
    return Isolation(np.array(alone, dtype=np.bool_), np.array(chance, dtype=np.float64))


@dataclass(frozen=True)
class _Part:
    """A part of a cell: from and to which number, or one value; and what it is expected to win."""

    gain: float
    low: float = np.nan
    high: float = np.nan
    step: float = np.nan
    value: int = -1
    share: float = 0.0


_NOTHING = _Part(0.0)


class _Column:
    """A quasi-identifier as it is shown and as it is known of everybody."""

    def __init__(self, shown: ReadColumn, known: KnownColumn, rows: Ints) -> None:
        self._shown, self._codes = shown, known.codes[rows]
        self._numbers = known.numbers[self._codes]
        self._values = ValuesOf(known)
        self._often = np.bincount(self._codes, minlength=len(known.texts)).astype(np.float64)
        # A missing value is below no label.
        self._often[[place for place, text in enumerate(known.texts) if text is None]] = 0.0
        ends = [
            end
            for cell in shown.cells
            if isinstance(cell, Interval)
            for end in (cell.low, cell.high)
        ]
        self._unit = step_of(np.array([end for end in ends if np.isfinite(end)]))

    def part(self, row: int, persons: int) -> _Part:
        """The part of a record's cell that is not empty, as far as the method says."""
        cell = self._shown.cells[self._shown.codes[row]]
        if isinstance(cell, Interval):
            return self._first_step(cell, persons)
        return self._rare_value(cell, persons) if isinstance(cell, Members | Anything) else _NOTHING

    def _first_step(self, cell: Interval, persons: int) -> _Part:
        low = cell.low if cell.low_in else cell.low + self._unit
        high = cell.high if cell.high_in else cell.high - self._unit
        width = high - low + self._unit
        # Within fewer than four values no part can be told from the others.
        if not np.isfinite(width) or width < 4 * self._unit:
            return _NOTHING
        # Both ends are inside, and steps of a grid are half open: the last ends a unit beyond.
        step = self._grid(low, high + self._unit)
        share = step / width
        # Possible are the cases in which somebody is in the step: 1 - (1 - share)^n.
        return _Part(_rise(share, persons, 1.0 - (1.0 - share) ** persons), low, high, step)

    def _grid(self, low: float, beyond: float) -> float:
        """The step of a public grid on which both ends are, nearest to a twentieth of the width."""
        powers = range(int(np.floor(np.log10((beyond - low) / self._unit))) + 1)
        nice = self._unit * np.array(
            [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        )
        on = np.abs(np.rint([[low], [beyond]] / nice) * nice - [[low], [beyond]]) < self._unit / 2
        fits = nice[on.all(axis=0) & (nice <= (beyond - low) / 4)]
        if not len(fits):
            return self._unit
        return float(fits[np.argmin(np.abs(np.log(fits * GRID / (beyond - low))))])

    def _rare_value(self, cell: Cell, persons: int) -> _Part:
        """The value below a label that most gains where not all people have the same."""
        below = self._values.allowed(cell) & (self._often > 0)
        if np.count_nonzero(below) < 2:
            return _NOTHING
        share = np.where(below, self._often, 0.0) / self._often[below].sum()
        # Not all people below a label have one value: the label would be that value.
        mixed = 1.0 - float((share**persons).sum())
        gains = [_rise(float(each), persons, mixed) for each in share]
        best = int(np.argmax(gains))
        return _Part(gains[best], value=best, share=float(share[best]))

    def counted(self, part: _Part, people: Ints) -> tuple[int, float]:
        """How many people of a class a part holds, and how often one of chance holds one."""
        if part.value >= 0:
            found = int(np.count_nonzero(self._codes[people] == part.value))
            by_chance = _one_of(part.share, len(people))
            crowded = part.share * len(people) >= 1
            return found, max(by_chance, float(np.exp(-1))) if crowded else by_chance
        # A number on the end of a step must not fall below it by rounding.
        place = np.floor((self._numbers[people] - part.low) / part.step + 1e-9)
        places = round((part.high - part.low) / part.step + 0.5)
        held = np.bincount(
            place[(place >= 0) & (place < places)].astype(np.int64), minlength=places
        )
        by_chance = float(np.mean(held == 1))
        return int(held[0]), max(
            by_chance, float(np.exp(-1))
        ) if held.sum() >= places else by_chance


def _one_of(share: float, persons: int) -> float:
    """The chance that one person of some has what a share of all have."""
    return persons * share * (1.0 - share) ** (persons - 1) if persons else 0.0


def _rise(share: float, persons: int, possible: float) -> float:
    """By how much that chance rises where only a part of all cases is possible, one among it."""
    if not 0.0 < share < 1.0 or possible <= 0.0 or persons < 2:
        return 0.0
    one = _one_of(share, persons)
    return min(1.0, one / possible) - one


# A share of 400 has a standard error of 2.5 points at most.
DEALS, LEAST_DEALS = 400, 20
"""Ways to deal values out that are drawn for a class, and the fewest that say something."""
CUTS = 30
"""Cuts of a class that are looked at, in each column."""
LARGEST = 200
"""People of a class above whom nothing is drawn."""


def undivided(
    file: ReleasedFile,
    exact: Knowledge,
    candidates: Candidates,
    column: TextColumn,
    rng: np.random.Generator,
    most: int,
) -> Iterator[tuple[int, int, float]]:
    """Guess a value of one person of each class from that the class was not cut.

    The reader takes for promised what all classes keep: as many people as the smallest has, no
    value had by a larger share than anywhere, as many values as anywhere. Only classes are looked
    at that fit as many people as they have, so that he knows who they are.

    Parameters
    ----------
    rng
        Draws classes where there are more than ``most``, and ways to deal out values.

    Yields
    ------
    tuple
        The person, the code of the value, and its chance by what the class shows.
    """
    first = np.unique(file.unit, return_index=True)[1]
    home, told = file.class_of[first], column.told[first]
    order = np.argsort(home, kind="stable")
    members = np.split(told[order], np.cumsum(np.bincount(home, minlength=file.classes))[:-1])
    full = [member for member in members if len(member) and (member >= 0).all()]
    if not full:
        return
    promised = _Promised(
        min(map(len, full)),
        max(float(np.bincount(each).max() / len(each)) for each in full),
        min(len(np.unique(each)) for each in full),
    )
    rows = np.unique(exact.person, return_index=True)[1]
    for number in np.sort(rng.permutation(file.classes)[:most]).tolist():
        values, people = members[number], candidates.persons_of(number)
        size = len(values)
        # A class of less than twice the fewest people could not have been cut anyway.
        if size != len(people) or not 2 * promised.persons <= size <= LARGEST or values.min() < 0:
            continue
        sides = np.array(list(_cuts(exact, rows[people], promised.persons)), dtype=np.bool_)
        distinct, codes = np.unique(values, return_inverse=True)
        if not len(sides) or len(distinct) == 1:
            continue
        dealt = rng.permuted(np.tile(codes, (DEALS, 1)), axis=1)
        kept = dealt[~promised.by_any(dealt, sides, len(distinct))]
        # Where no deal could have been cut, that the class was not says nothing.
        if LEAST_DEALS <= len(kept) < DEALS:
            often = np.array([(kept == index).mean(axis=0) for index in range(len(distinct))])
            shown = np.bincount(codes) / size
            # In units of its spread, in which rises of common and of rare values can be compared.
            rise = (often - shown[:, None]) / np.sqrt(shown * (1 - shown))[:, None]
            # Equal rises are drawn from: values and people are in the order of their files.
            value, person = rng.choice(np.argwhere(rise >= rise.max() - EQUAL))
            yield int(people[person]), int(distinct[value]), float(shown[value])


@dataclass(frozen=True)
class _Promised:
    """What classes keep: how many people, the largest share of one value, how many values."""

    persons: int
    share: float
    values: int

    def by_any(self, dealt: Ints, sides: Bools, values: int) -> Bools:
        """Whether some cut keeps it, for each way to deal values out; shape (ways,)."""
        kept = np.ones((len(dealt), len(sides)), dtype=np.bool_)
        for side in (sides, ~sides):
            of_value = [(dealt == index).astype(np.int64) @ side.T for index in range(values)]
            counts = np.array(of_value)
            kept &= counts.max(axis=0) <= self.share * side.sum(axis=1) + EQUAL
            kept &= np.count_nonzero(counts, axis=0) >= self.values
        return np.asarray(kept.any(axis=1))


def _cuts(exact: Knowledge, rows: Ints, least: int) -> Iterator[Bools]:
    """The ways to cut some people in two by one column, so many on either side."""
    for column in exact.quasi_identifiers:
        codes = column.codes[rows]
        numbers = column.numbers[codes]
        measured = bool(np.isfinite(numbers).all())
        values = np.unique(numbers if measured else codes)
        some = values[:-1][:: max(1, len(values) // CUTS)] if measured else values[:CUTS]
        for value in some.tolist():
            side = numbers <= value if measured else codes == value
            if least <= np.count_nonzero(side) <= len(rows) - least:
                yield side
