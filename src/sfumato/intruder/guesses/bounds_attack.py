"""Single out somebody by an end of a range, or a member of a set.

Where a range is written from the lowest to the highest value of its class, somebody of the class
has each end. "What the class shows, and income = its upper end" then holds of few, often of one,
although the class promises that nobody stands alone. So does "and town = this member" where a set
lists what occurs. It needs the released file and nothing else (Cohen and Nissim 2020; Cohen 2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.intruder.candidates import Candidates, ValuesOf
from sfumato.intruder.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading import ReadColumn, ReleasedFile
from sfumato.intruder.released_syntax import Interval, Members

DECIMALS = 9
"""Most decimal places that ends are written with."""
CLOSE = 1e-6
"""Share of a step by which a number may be off."""
MEMBERS = 20
"""Members of a set that are tried, drawn where there are more: no class outweighs the others."""


@dataclass(frozen=True, eq=False)
class EndPredicates:
    """Of some classes, what they show and one end of one of their ranges.

    Attributes
    ----------
    class_of
        The class of each predicate, shape (predicates,).
    column
        Place of the range's quasi-identifier in the file, shape (predicates,).
    low, high
        Ends of that range, both inside, shape (predicates,).
    value
        The end that is taken, shape (predicates,).
    """

    class_of: Ints
    column: Ints
    low: Floats
    high: Floats
    value: Floats
    without: int


def by_ends(file: ReleasedFile, rng: np.random.Generator, most: int) -> EndPredicates:
    """For each class both ends of its range with most values between, each alone.

    The more values a range has, the fewer of the persons of the class are likely to have one of
    them; so that is the predicate of least weight that one end makes. Classes are drawn where there
    are more than ``most``.
    """
    classes = np.sort(rng.permutation(file.classes)[:most]).astype(np.int64)
    rows = file.first_row[classes]
    low = np.full((len(file.quasi_identifiers), len(classes)), np.nan)
    high, steps = low.copy(), np.zeros(low.shape)
    for place, column in enumerate(file.quasi_identifiers):
        ends = _ends_of(column)
        low[place], high[place] = ends[column.codes[rows]].T
        # In steps, so that columns with different units can be compared.
        steps[place] = (high[place] - low[place]) / step_of(ends[np.isfinite(ends)])
    steps = np.nan_to_num(steps)
    some = np.flatnonzero(steps.max(axis=0, initial=0.0) > 0)
    widest = np.zeros(len(some), dtype=np.int64)
    if len(some):
        widest = np.argmax(steps[:, some], axis=0).astype(np.int64)
    first, last = low[widest, some], high[widest, some]
    return EndPredicates(
        class_of=np.tile(classes[some], 2),
        column=np.tile(widest, 2),
        low=np.tile(first, 2),
        high=np.tile(last, 2),
        value=np.concatenate([first, last]),
        without=len(classes) - len(some),
    )


def step_of(numbers: Floats) -> float:
    """A unit of the last decimal place that numbers are written with; 1 for whole ones."""
    for decimals in range(DECIMALS + 1):
        scaled = numbers * 10**decimals
        if np.all(np.abs(scaled - np.rint(scaled)) < CLOSE):
            return float(10.0**-decimals)
    return float(10.0**-DECIMALS)


def _ends_of(column: ReadColumn) -> Floats:
    """Lowest and highest value of each cell that is a range with two ends, shape (cells, 2)."""
    ends = np.full((len(column.cells), 2), np.nan)
    ranges = [
        (place, cell)
        for place, cell in enumerate(column.cells)
        if isinstance(cell, Interval) and np.isfinite([cell.low, cell.high]).all()
    ]
    step = step_of(np.array([end for _, cell in ranges for end in (cell.low, cell.high)]))
    for place, cell in ranges:
        # An open end is nobody's value; the one next to it inside may be.
        low = cell.low if cell.low_in else cell.low + step
        high = cell.high if cell.high_in else cell.high - step
        if low < high:
            ends[place] = low, high
    return ends


@dataclass(frozen=True, eq=False)
class Isolation:
    """Whether predicates hold of exactly one person, and how often others like them do.

    Attributes
    ----------
    alone
        Whether each predicate holds of exactly one of the persons, shape (predicates,).
    chance
        For how many of the values between the ends, and the end itself, the same predicate does,
        shape (predicates,); NaN where there is none between.
    """

    alone: Bools
    chance: Floats


def isolated(
    predicates: EndPredicates, file: ReleasedFile, exact: Knowledge, inside: Bools
) -> Isolation:
    """Hold the predicates, and those of the values between the ends, against what is true.

    A predicate with another value of the same range, exactly as round as the end, selects as large
    a share of the population if ends are nobody's value in particular; the end is then as likely as
    any of them to be one that one person has. (Round numbers are commoner
    than others; a control of others would take that for singling out.) Where a value
    is expected of one person or more, the chance is at least 1/e, which a predicate of weight
    1/n reaches without the release: n w (1 - w)^(n - 1) at its best (Cohen and Nissim 2020,
    Section 2). O(predicates x rows in their range).

    Parameters
    ----------
    inside
        Who of them is in the release, shape (persons,).
    """
    known = {column.name: column for column in exact.quasi_identifiers}
    shown = [
        (identifier, known[identifier.name])
        for identifier in file.quasi_identifiers
        if identifier.name in known
    ]
    values = {column.name: ValuesOf(column) for _, column in shown}
    ordered: dict[str, _Sorted] = {}
    alone = np.zeros(len(predicates.value), dtype=np.bool_)
    chance = np.full(len(predicates.value), np.nan)
    for number, place in enumerate(predicates.column.tolist()):
        name = file.quasi_identifiers[place].name
        if name not in known:
            continue
        if name not in ordered:
            ordered[name] = _Sorted(known[name], exact.person, inside)
        low, high, value = (
            float(each[number]) for each in (predicates.low, predicates.high, predicates.value)
        )
        rows = ordered[name].between(low, high)
        row = file.first_row[predicates.class_of[number]]
        # The range was cut out of the sorted rows: only the other cells are left to be held.
        for column, same in shown:
            if column.name != name:
                cell = column.cells[column.codes[row]]
                rows = rows[values[column.name].allowed(cell, same.codes[rows])]
        at, persons = ordered[name].persons_by_value(rows)
        own = persons[np.abs(at - value) <= CLOSE * ordered[name].step]
        alone[number] = len(own) == 1 and own[0] == 1
        chance[number] = _between_ends(at, persons, low, high, value, ordered[name].step)
    return Isolation(alone, chance)


class _Sorted:
    """The rows of persons in the release in the order of one column."""

    def __init__(self, column: KnownColumn, person: Ints, inside: Bools) -> None:
        numbers = column.numbers[column.codes]
        rows = np.flatnonzero(np.isfinite(numbers) & inside[person])
        self._rows = rows[np.argsort(numbers[rows], kind="stable")]
        self._numbers, self._person = numbers, person
        self._ordered = numbers[self._rows]
        self.step = step_of(column.numbers[np.isfinite(column.numbers)])

    def between(self, low: float, high: float) -> Ints:
        """The rows with a value from one number to another."""
        slack = CLOSE * self.step
        first, last = np.searchsorted(self._ordered, [low - slack, high + slack])
        return self._rows[first:last]

    def persons_by_value(self, rows: Ints) -> tuple[Floats, Ints]:
        """The distinct values of rows, and how many persons have each."""
        # A person counts once for a value, however many records have it.
        pairs = np.unique(np.column_stack([self._numbers[rows], self._person[rows]]), axis=0)
        return np.unique(pairs[:, 0], return_counts=True)


def _between_ends(
    at: Floats, persons: Ints, low: float, high: float, end: float, step: float
) -> float:
    """Of how many of an end and the values between that are as round there is one person."""
    spacings = _spacings(high - low, step)
    # From the roundest spacing of the end on: values beside it must be as round.
    of_end = [each for each in spacings if _multiple(end, each, step)]
    for spacing in spacings[spacings.index(of_end[0]) :] if of_end else spacings:
        inside = _multiples(low, high, spacing)
        if not inside:
            continue
        on = _multiple(at, spacing, step) & (at > low) & (at < high)
        # Rounder values are commoner, as people round what they say.
        larger = spacings[: spacings.index(spacing)]
        plain = inside - _rounder(low, high, spacing, larger)
        if plain:
            for each in larger:
                on &= ~_multiple(at, each, step)
        points = plain or inside
        # The end is one of the values: which of them it is, is as likely as any other.
        both = persons[on | (np.abs(at - end) <= CLOSE * step)]
        share = np.count_nonzero(both == 1) / (points + 1)
        crowded = both.sum() > points
        return max(share, float(np.exp(-1))) if crowded else share
    return float("nan")


def _multiples(low: float, high: float, spacing: float) -> int:
    """Number of multiples of a spacing strictly between two ends."""
    first = np.floor(low / spacing + CLOSE) + 1
    last = np.ceil(high / spacing - CLOSE) - 1
    return max(0, int(last - first) + 1)


def _rounder(low: float, high: float, spacing: float, larger: Sequence[float]) -> int:
    """Number of multiples of a spacing between two ends that are multiples of a larger one too."""
    unit = 10.0 ** np.floor(np.log10(spacing) + CLOSE)
    common = {math.lcm(round(spacing / unit), round(each / unit)) for each in larger}
    # Of 1, 2 and 5 times a power of ten no more than two divide none of the others.
    least = [each for each in common if not any(each % one == 0 for one in common - {each})]
    shared = _multiples(low, high, math.lcm(*least) * unit) if len(least) > 1 else 0
    return sum(_multiples(low, high, each * unit) for each in least) - shared


def _multiple(values: float | Floats, spacing: float, step: float) -> Bools:
    """Whether numbers are multiples of a spacing."""
    places = np.asarray(values) / spacing
    multiple: Bools = np.abs(places - np.rint(places)) * spacing <= CLOSE * step
    return multiple


def _spacings(width: float, step: float) -> list[float]:
    """The distances 1, 2 and 5 times a power of ten, from a range's width down to the step."""
    largest = max(width, step)
    powers = range(int(np.floor(np.log10(largest))), int(np.floor(np.log10(step))) - 1, -1)
    every = [digit * 10.0**power for power in powers for digit in (5, 2, 1)]
    return [each for each in every if step * (1 - CLOSE) <= each <= largest]


def by_members(
    file: ReleasedFile,
    exact: Knowledge,
    candidates: Candidates,
    inside: Bools,
    rng: np.random.Generator,
    most: int,
) -> Isolation:
    """For each class what it shows and a member of its set with most members, each alone.

    By chance: n people are dealt out to the members at random, not all to the same one, as the cell
    would then be that one. To all alike, or by the share of each member among everybody in the
    file; of both guesses the better one. O(classes x (values + persons)).

    Parameters
    ----------
    inside
        Who is in the release, shape (persons,).
    rng
        Draws the classes where there are more than ``most``, and the members.
    """
    known = {column.name: column for column in exact.quasi_identifiers}
    columns = [
        (identifier, _People(known[identifier.name], exact.person, inside))
        for identifier in file.quasi_identifiers
        if identifier.name in known and any(isinstance(cell, Members) for cell in identifier.cells)
    ]
    alone, chance = [np.empty(0, dtype=np.bool_)], [np.empty(0)]
    for number in np.sort(rng.permutation(file.classes)[: most if columns else 0]).tolist():
        row = file.first_row[number]
        shown = [(each.cells[each.codes[row]], people) for each, people in columns]
        sets = [(cell, people) for cell, people in shown if isinstance(cell, Members)]
        cell, people = max(sets, key=lambda each: len(each[0].texts), default=(None, None))
        if cell is None or people is None or len(cell.texts) < 2:
            continue
        held, often = people.by_member(cell, candidates.persons_of(number))
        tried = rng.permutation(len(held))[:MEMBERS]
        alone.append(held[tried] == 1)
        alike = np.ones(len(held))
        both = [_alone_by_chance(each, int(held.sum())) for each in (alike, often)]
        chance.append(np.maximum(*both)[tried])
    return Isolation(np.concatenate(alone), np.concatenate(chance))


class _People:
    """Which values of a column the people of a release have."""

    def __init__(self, column: KnownColumn, person: Ints, inside: Bools) -> None:
        self._values = ValuesOf(column)
        known = np.array([text is not None for text in column.texts], dtype=np.bool_)
        rows = np.flatnonzero(inside[person] & known[column.codes])
        pairs = np.unique(np.column_stack([person[rows], column.codes[rows]]), axis=0)
        self._person, self._codes = pairs.T
        self._known = known
        self._often = np.bincount(self._codes, minlength=len(known)).astype(np.float64)

    def by_member(self, cell: Members, people: Ints) -> tuple[Ints, Floats]:
        """How many of some people, and how many of all, have each member of a set."""
        members = np.flatnonzero(self._values.allowed(cell) & self._known)
        own = self._codes[np.isin(self._person, people)]
        held = np.bincount(own, minlength=len(self._known))[members]
        # Members that nobody is known to have.
        nobody = max(len(cell.texts) - len(members), 0)
        return np.pad(held, (0, nobody)), np.pad(self._often[members], (0, nobody))


def _alone_by_chance(often: Floats, persons: int) -> Floats:
    """How probably each of several values is that of one person, not all having the same."""
    if not persons or not often.sum():
        return np.zeros(len(often))
    share: Floats = often / often.sum()
    # The condition below, that not all have the same, cannot hold of one person.
    if persons == 1:
        return share
    # n w (1 - w)^(n - 1) / (1 - sum of w^n): where all had the same, the cell would be that value.
    one = persons * share * (1 - share) ** (persons - 1)
    mixed = 1 - float((share**persons).sum())
    return np.minimum(one / mixed, 1.0) if mixed > 0 else np.zeros(len(often))
