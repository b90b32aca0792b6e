"""Attack by probabilistic linkage: weights, and how likely each candidate is the one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.intruder.candidates import Identification, distinct_sets, persons_are_whole
from sfumato.intruder.guesses.field_agreement import Levels, Near, Scorer, database, levels_of
from sfumato.intruder.knowledge import Knowledge
from sfumato.intruder.reading import ReleasedFile


@dataclass(frozen=True, eq=False)
class Alike:
    """Groups of owners that have the same items.

    Attributes
    ----------
    group
        Group of each owner, shape (owners,).
    sizes
        Owners of each group, shape (groups,).
    start
        Where the items of each group begin in ``items``, shape (groups + 1,).
    items
        The distinct items of each group, ascending within it.
    """

    group: Ints = field(repr=False)
    sizes: Ints = field(repr=False)
    start: Ints = field(repr=False)
    items: Ints = field(repr=False)

    @property
    def counts(self) -> Ints:
        """Distinct items of each group, shape (groups,)."""
        return np.diff(self.start)

    def members(self) -> tuple[Ints, Ints]:
        """The owners by group, ascending within it, and where each group's begin."""
        return np.argsort(self.group, kind="stable"), _starts(self.sizes)

    def groups_of_items(self, count: int) -> tuple[Ints, Ints]:
        """The groups that have each item, and where each item's begin."""
        owner = np.repeat(np.arange(len(self.sizes)), self.counts)
        of_item = np.bincount(self.items, minlength=count)
        return owner[np.argsort(self.items, kind="stable")], _starts(of_item)


def alike(owner: Ints, item: Ints, owners: int) -> Alike:
    """Group owners, 0 to owners - 1, by the set of their items, in O(n log n) for n rows.

    Each owner has a row.
    """
    group, sets = distinct_sets(owner, item, owners, int(item.max(initial=0)) + 1)
    return Alike(
        group=group,
        sizes=np.bincount(group, minlength=sets.shape[0]).astype(np.int64),
        start=sets.indptr.astype(np.int64),
        items=sets.indices.astype(np.int64),
    )


def spread(values: Ints, groups: Ints, start: Ints) -> tuple[Ints, Ints]:
    """Each value's groups: the place of the value, repeated, and the groups beside it."""
    counts = start[values + 1] - start[values]
    place = np.repeat(np.arange(len(values)), counts)
    within = np.arange(len(place)) - np.repeat(_starts(counts)[:-1], counts)
    return place, groups[start[values[place]] + within]


def runs(ascending: Ints) -> tuple[Ints, Ints]:
    """Where each run of equal numbers, ascending from 0, begins, and how long it is."""
    starts = np.flatnonzero(np.diff(ascending, prepend=-1)) if len(ascending) else ascending
    return starts, np.diff(np.append(starts, len(ascending)))


def _starts(counts: Ints) -> Ints:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])


STEPS = 200
"""Rounds of scaling, at most."""
CLOSE = 1e-4
"""Change of a register person's factor under which the scaling ends."""
LEAST_OUTSIDE = 1e-6
"""Share of released persons outside the register that is never ruled out."""


@dataclass(eq=False)
class Shared:
    """Pairs of groups of released and of register persons, and who is who among them.

    A released person is one person of the register or none. A register person is no more than
    one released person: what several claim is scaled down until it adds up to 1 at most, and the
    released persons' own shares are scaled up again (Sinkhorn's scaling, columns by inequality).

    Attributes
    ----------
    of_units
        Group of released persons of each pair, ascending; shape (pairs,).
    of_persons
        Group of register persons of each pair, shape (pairs,).
    units
        Released persons of each group, shape (groups of units,).
    persons
        Register persons of each group, shape (groups of persons,).
    outside
        Odds that a released person is outside the register to that it is a certain one in it,
        before they are compared.
    """

    of_units: Ints = field(repr=False)
    of_persons: Ints = field(repr=False)
    units: Floats = field(repr=False)
    persons: Floats = field(repr=False)
    outside: float

    def __post_init__(self) -> None:
        self._starts, self._sizes = runs(self.of_units)
        self._factor = np.ones(len(self.persons))
        self._supply = self.units[self.of_units[self._starts]]

    def chances(self, weight: Floats, *, steps: int = STEPS) -> Floats:
        """Probability that a released person is one certain person of the register, per pair.

        Match weights are in bits, without the prior. Each round takes O(pairs). The factors found
        stay for the next call.
        """
        if not len(weight):
            return weight
        top = np.maximum.reduceat(weight, self._starts)
        # Relative to the likeliest of each, so that no power of 2 overflows; so is nobody, below.
        kernel = np.exp2(weight - np.repeat(top, self._sizes))
        nobody = self.outside * np.exp2(np.minimum(-top, 500.0))
        size = self.persons[self.of_persons]
        for _ in range(steps):
            share = self._scaled(kernel, size, nobody)
            claimed = np.bincount(
                self.of_persons,
                weights=share * np.repeat(self._supply, self._sizes),
                minlength=len(self.persons),
            )
            # As claimed without the factor, which is then set anew and not scaled twice.
            claims = claimed / np.maximum(self._factor, 1e-300)
            before = self._factor
            self._factor = np.minimum(1.0, 1 / np.maximum(claims, 1e-300))
            if np.abs(self._factor - before).max() < CLOSE:
                break
        return self._scaled(kernel, size, nobody)

    def _scaled(self, kernel: Floats, size: Floats, nobody: Floats) -> Floats:
        odds = kernel * self._factor[self.of_persons]
        whole = np.add.reduceat(odds * size, self._starts) + nobody
        return odds / np.repeat(whole, self._sizes)


def outside_odds(coverage: float, persons: int) -> float:
    """Odds that a released person is outside the register to that it is a certain one in it.

    The coverage is the share of the released persons who are in the register.
    """
    inside = min(coverage, 1 - LEAST_OUTSIDE)
    return (1 - inside) / inside * persons


LevelCodes = npt.NDArray[np.int8]

BELIEF = 10.0
"""Released persons that the first guess of m counts for, beside those that were seen."""
_STEPS = 60
_CLOSE = 2e-4
_ROUNDS = 3
"""Rounds of scaling between two steps; the next step goes on from there."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Compared pairs of a released class and a distinct register row.

    Attributes
    ----------
    levels
        Level in each column, -1 where one is unknown; shape (pairs, columns).
    by_chance
        -log2 of the u of these levels in the cells of the class, added up; shape (pairs,).
    """

    shared: Shared
    levels: LevelCodes = field(repr=False)
    by_chance: Floats = field(repr=False)


def estimate_m(compared: Compared, first: Floats) -> Floats:
    """Estimate m of each column and level by expectation maximisation, shape (columns, 3).

    Splink's own takes each pair for a match or none by itself. In a release whose every class is
    fitted by several, it and any estimate that looks at one released person at a time find no
    errors: somebody always fits. That a register person can be one released person only shows
    them, as a class of five that four persons fit. So the expectations are those of `Shared`.
    The first guess counts for `BELIEF` released persons. A step takes O(pairs).

    Parameters
    ----------
    first
        The first guess, shape (columns, 3).
    """
    m = first.copy()
    shared = compared.shared
    if not len(shared.of_units):
        return m
    patterns, pattern = _patterns(compared.levels)
    known = patterns >= 0
    levels = np.where(known, patterns, 0)
    columns = np.arange(len(m))
    count = shared.units[shared.of_units] * shared.persons[shared.of_persons]
    for _ in range(_STEPS):
        of_pattern = np.where(known, np.log2(m[columns, levels]), 0.0).sum(axis=1)
        chance = shared.chances(compared.by_chance + of_pattern[pattern], steps=_ROUNDS)
        seen: Floats = np.asarray(
            np.bincount(pattern, weights=chance * count, minlength=len(patterns)), np.float64
        )
        before, m = m, _maximised(seen, patterns, first)
        if np.abs(m - before).max() < _CLOSE:
            break
    return m


def _patterns(levels: LevelCodes) -> tuple[LevelCodes, Ints]:
    """The distinct combinations of levels, and that of each pair."""
    # Levels, from -1 on, as digits of one number: a single sort finds the distinct rows.
    radix = len(Near) + 1
    key = np.zeros(len(levels), dtype=np.int64)
    for column in levels.T:
        key = key * radix + column + 1
    _, first, pattern = np.unique(key, return_index=True, return_inverse=True)
    return levels[first], pattern.reshape(-1)


def _maximised(seen: Floats, patterns: LevelCodes, first: Floats) -> Floats:
    m = np.empty_like(first)
    for column in range(len(first)):
        here = patterns[:, column] >= 0
        counts = np.bincount(patterns[here, column], weights=seen[here], minlength=len(Near))
        m[column] = (counts + BELIEF * first[column]) / (counts.sum() + BELIEF)
    return m


FIRST = np.array([0.03, 0.07, 0.90])
"""m before anything is estimated: far, near, inside."""
MOST = 200
"""Rows kept for a class, and those that are as likely as the last of them."""
APART = 12.0
"""Bits below the likeliest row of a class under which a row is left out."""


def likely_pairs(
    columns: Sequence[Levels],
    cells: Ints,
    rows: Ints,
    *,
    most: int = MOST,
    progress: Progress = silent,
) -> tuple[Ints, Ints]:
    """Pairs of a released class, ascending, and a distinct register row to compare.

    Each class is held against all distinct rows by m / u of the first guess; the likeliest are
    kept. That takes O(classes x rows x quasi-identifiers) additions and the memory of one class:
    about 1 ms for a class and 60,000 distinct rows.

    Parameters
    ----------
    cells
        The cells of each class, shape (classes, columns).
    rows
        The places of the values of each distinct row, shape (rows, columns).
    """
    chances = [column.by_chance for column in columns]
    found: list[Ints] = []
    for number in range(len(cells)):
        if number % 256 == 0:
            progress("candidate pairs", number / len(cells))
        total = np.zeros(len(rows), dtype=np.float32)
        for place, column in enumerate(columns):
            levels = column.of_cell(int(cells[number, place]))
            if levels is not None:
                weight = np.log2(FIRST / chances[place][cells[number, place]])
                of_value = np.append(weight[levels], 0.0).astype(np.float32)
                total += of_value[rows[:, place]]
        kept = np.flatnonzero(total >= total.max(initial=-np.inf) - APART)
        if len(kept) > most:
            least = np.partition(total[kept], len(kept) - most)[len(kept) - most]
            # Sums in 32 bits: those that are equal may differ in their last digits.
            kept = kept[total[kept] >= least - 1e-4]
        found.append(kept)
    progress("candidate pairs", 1.0)
    counts = np.array([len(kept) for kept in found], dtype=np.int64)
    every = np.concatenate([np.empty(0, dtype=np.int64), *found])
    return np.repeat(np.arange(len(cells)), counts), every


_EQUAL = 1e-6
"""Share by which two probabilities differ that are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Probability that a released person is a person of a group of the register.

    Attributes
    ----------
    units, persons
        The released units by the set of their classes; the register persons by that of rows.
    of_units
        Group of units of each pair, ascending; shape (pairs,).
    of_persons
        Group of register persons of each pair, shape (pairs,).
    chance
        Probability that a unit is one certain person of the group, shape (pairs,).
    """

    units: Alike
    persons: Alike
    of_units: Ints = field(repr=False)
    of_persons: Ints = field(repr=False)
    chance: Floats = field(repr=False)

    def best(self, rng: np.random.Generator) -> Identification:
        """For each unit the likeliest person; one at random of several that are as likely.

        Takes O(pairs + units log pairs).
        """
        starts, sizes = runs(self.of_units)
        top = np.repeat(np.maximum.reduceat(self.chance, starts), sizes) if len(starts) else 0.0
        kept = np.flatnonzero(self.chance >= top * (1 - _EQUAL))
        persons_of = self.persons.sizes[self.of_persons[kept]]
        ends = np.cumsum(persons_of)
        of_units = self.of_units[kept]
        total = np.bincount(of_units, weights=persons_of, minlength=len(self.units.sizes))
        before = np.cumsum(total) - total
        unit = np.arange(len(self.units.group))
        group = self.units.group
        drawn = before[group] + np.floor(rng.random(len(unit)) * total[group])
        pair = np.searchsorted(ends, drawn, side="right")
        found = total[group] > 0
        pair = np.where(found, pair, 0)
        if not len(kept):
            return Identification(unit, np.full(len(unit), -1), np.zeros(len(unit)))
        member, start = self.persons.members()
        within = (drawn - (ends - persons_of)[pair]).astype(np.int64)
        person = member[np.where(found, start[self.of_persons[kept[pair]]] + within, 0)]
        return Identification(
            unit=unit,
            person=np.where(found, person, -1),
            chance=np.where(found, self.chance[kept[pair]], 0.0),
        )

    def one_to_one(self, rng: np.random.Generator) -> Identification:
        """No person twice: the surest pairs first, as long as both sides have somebody left.

        A released unit for whom nobody is left is not guessed (-1). Takes O(pairs log pairs).
        """
        # Ties in random order: else those who come first in the file would be served first.
        order = np.lexsort((rng.random(len(self.chance)), -self.chance))
        left, right = self.units.sizes.tolist(), self.persons.sizes.tolist()
        chosen: list[tuple[int, int]] = []
        open_units = sum(left)
        for pair, a, b in zip(
            order.tolist(),
            self.of_units[order].tolist(),
            self.of_persons[order].tolist(),
            strict=True,
        ):
            count = min(left[a], right[b])
            if count:
                left[a] -= count
                right[b] -= count
                chosen.append((pair, count))
                open_units -= count
                if not open_units:
                    break
        return self._dealt(chosen, rng)

    def _dealt(self, chosen: list[tuple[int, int]], rng: np.random.Generator) -> Identification:
        """The guesses, the units and persons of each group in random order."""
        unit = np.arange(len(self.units.group))
        person, chance = np.full(len(unit), -1, dtype=np.int64), np.zeros(len(unit))
        if chosen:
            pair, count = np.array(chosen, dtype=np.int64).T
            pair = np.repeat(pair, count)
            units = _next_of(self.units, self.of_units[pair], rng)
            person[units] = _next_of(self.persons, self.of_persons[pair], rng)
            chance[units] = self.chance[pair]
        return Identification(unit=unit, person=person, chance=chance)


def posterior(
    units: Alike,
    persons: Alike,
    pairs: tuple[Ints, Ints, Floats],
    *,
    classes: int,
    rows: int,
    whole: bool,
    coverage: float,
) -> Posterior:
    """From match weights of classes and rows to probabilities of released and register persons.

    A register person with several rows has in a class their mean weight where persons were
    released as a whole, so that all rows should fit, and the greatest one elsewhere; of several
    classes of a released person the weights are added. What was no candidate has the lowest
    weight of its class. A released person is somebody of the register with probability
    ``coverage``, each at first as likely. Takes O(n log n) for n pairs of class and row, times
    the classes of a released and the rows of a register person.

    Parameters
    ----------
    persons
        The register persons by their distinct rows.
    pairs
        Class, row and match weight in bits of each pair, classes ascending.
    classes, rows
        Number of classes and of distinct rows.
    coverage
        Share of the released persons who are in the register, as the intruder believes.
    """
    of_class, of_row, weight = pairs
    floor = np.zeros(classes)
    starts, _ = runs(of_class)
    floor[of_class[starts]] = np.minimum.reduceat(weight, starts) if len(starts) else 0.0
    place, group = spread(of_row, *persons.groups_of_items(rows))
    above = (weight - floor[of_class])[place]
    if whole:
        above /= persons.counts[group]
    width = len(persons.sizes)
    of_class, group, above = _merged(
        of_class[place] * width + group, width, above, np.add if whole else np.maximum
    )
    place, unit_group = spread(of_class, *units.groups_of_items(classes))
    of_units, of_persons, above = _merged(
        unit_group * width + group[place], width, above[place], np.add
    )
    base = np.bincount(
        np.repeat(np.arange(len(units.sizes)), units.counts),
        weights=floor[units.items],
        minlength=len(units.sizes),
    )
    shared = Shared(
        of_units,
        of_persons,
        units=units.sizes.astype(np.float64),
        persons=persons.sizes.astype(np.float64),
        outside=outside_odds(coverage, len(persons.group)),
    )
    chance = shared.chances(above + base[of_units])
    return Posterior(units, persons, of_units, of_persons, chance)


def _merged(key: Ints, width: int, weight: Floats, how: np.ufunc) -> tuple[Ints, Ints, Floats]:
    """Pairs, ``left * width + right``, that stand several times made one, in order."""
    order = np.argsort(key, kind="stable")
    starts, _ = runs(key[order])
    merged = how.reduceat(weight[order], starts) if len(starts) else weight
    key = key[order[starts]]
    return key // width, key % width, merged


def _next_of(groups: Alike, wanted: Ints, rng: np.random.Generator) -> Ints:
    """Members of the groups wanted, in random order, none twice."""
    shuffled = rng.permutation(len(groups.group))
    member = shuffled[np.argsort(groups.group[shuffled], kind="stable")]
    start = groups.members()[1]
    order = np.argsort(wanted, kind="stable")
    starts, sizes = runs(wanted[order])
    within = np.arange(len(wanted)) - np.repeat(starts, sizes)
    found = np.empty(len(wanted), dtype=np.int64)
    found[order] = member[start[wanted[order]] + within]
    return found


@dataclass(frozen=True, eq=False)
class Probabilistic:
    """What the probabilistic attack ends with.

    Attributes
    ----------
    agreement
        By quasi-identifier m, the share of released persons whose known value is inside the
        released cell, just outside it, and far from it, as it was estimated.
    pairs
        Number of pairs of a class and a distinct register row that were compared.
    """

    free: Identification
    one_to_one: Identification
    agreement: Mapping[str, Mapping[str, float]] = field(repr=False)
    pairs: int


def probabilistic(
    file: ReleasedFile,
    knowledge: Knowledge,
    rng: np.random.Generator,
    *,
    coverage: float = 1.0,
    progress: Progress = silent,
) -> Probabilistic:
    """Match released persons with register persons by match weights (Fellegi & Sunter 1969).

    Exact matching loses a person of whom one known value is wrong (004, Section 4.5). Here each
    known value is inside the released cell, just outside it (a slip of typing, a neighbouring
    number), or far from it; m of these levels is estimated from the data, u is each cell's share
    of the register, and Splink adds up log2(m / u). A value that is not known counts neither way.

    Classes are compared, not persons: O(classes x distinct register rows) for the candidate
    pairs, and at most some 200 pairs for a class after that, unless more fit as well.

    Parameters
    ----------
    coverage
        Share of the released persons who are in the register, as the intruder believes.
    """
    if not 0 < coverage <= 1:
        raise InputError("parameter coverage", "must be a share", accepted="above 0, to 1")
    columns, cells, rows, row_of = _compared(file, knowledge)
    units = alike(file.unit, file.class_of, file.persons)
    persons = alike(knowledge.person, row_of, knowledge.persons)
    of_class, of_row = likely_pairs(columns, cells, rows, progress=progress)
    progress("estimate", 0.0)
    shared = Shared(
        of_class,
        of_row,
        units=_holders(units, file.classes),
        persons=_holders(persons, len(rows)),
        outside=outside_odds(coverage, knowledge.persons),
    )
    levels, by_chance = _compare(columns, cells, rows, (of_class, of_row))
    m = estimate_m(Compared(shared, levels, by_chance), np.tile(FIRST, (len(columns), 1)))
    progress("match", 0.0)
    with database() as connection:
        weight = Scorer(connection, columns, cells, rows).weights(of_class, of_row, m)
    found = posterior(
        units,
        persons,
        (of_class, of_row, weight),
        classes=file.classes,
        rows=len(rows),
        whole=persons_are_whole(file),
        coverage=coverage,
    )
    progress("match", 1.0)
    return Probabilistic(
        free=found.best(rng),
        one_to_one=found.one_to_one(rng),
        agreement={
            column.name: {level.name.lower(): float(m[number, level]) for level in Near}
            for number, column in enumerate(columns)
        },
        pairs=len(of_class),
    )


def _compared(file: ReleasedFile, knowledge: Knowledge) -> tuple[list[Levels], Ints, Ints, Ints]:
    """The columns that are both released and known; each class's cells, and the distinct rows."""
    known = {column.name: column for column in knowledge.quasi_identifiers}
    shared = [column for column in file.quasi_identifiers if column.name in known]
    if not shared:
        raise InputError(
            "the register", "must have a quasi-identifier of the release", found="none"
        )
    columns = [levels_of(column, known[column.name]) for column in shared]
    cells = np.column_stack([column.codes[file.first_row] for column in shared])
    places = np.column_stack([column.places for column in columns])
    rows, row_of = np.unique(places, axis=0, return_inverse=True)
    return columns, cells, rows, row_of.reshape(-1)


def _compare(
    columns: list[Levels], cells: Ints, rows: Ints, pairs: tuple[Ints, Ints]
) -> tuple[npt.NDArray[np.int8], Floats]:
    """The levels of each pair, and -log2 of their u added up."""
    of_class, of_row = pairs
    levels = np.full((len(of_class), len(columns)), -1, dtype=np.int8)
    by_chance = np.zeros(len(of_class))
    starts, sizes = runs(of_class)
    for number, column in enumerate(columns):
        chance = -np.log2(column.by_chance)
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            cell = int(cells[of_class[start], number])
            of_value = column.of_cell(cell)
            if of_value is None:
                continue
            here = slice(start, start + size)
            place = rows[of_row[here], number]
            levels[here, number] = np.append(of_value, np.int8(-1))[place]
            by_chance[here] += np.append(chance[cell][of_value], 0.0)[place]
    return levels, by_chance


def _holders(groups: Alike, items: int) -> Floats:
    """Number of owners that have each item."""
    owners = np.repeat(groups.sizes, groups.counts)
    holders: Floats = np.bincount(groups.items, weights=owners, minlength=items).astype(np.float64)
    return holders
