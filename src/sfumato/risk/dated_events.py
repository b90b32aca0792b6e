"""Rows of people with their dates, and whom two of them fit, for who knows when both were.

All dates of a person are moved by one offset. Rows that belong together, a stay and what was found
in it, are dated by the day of the stay; what else is written of their dates is written as days
after it, which are a part of what a row shows. Known of a row is the day of its stay, and what it
shows. It fits who has a row that shows the same, and a second row as many days later, by an offset
that leaves all written dates of that person within those of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.risk.shown_file import Crowds, some_of_each
from sfumato.risk.tied_events import pairs_within


@dataclass(frozen=True, eq=False)
class DatedRows:
    """Rows of units, those of one unit behind each other.

    Attributes
    ----------
    label
        What each row shows, its date aside; labels of two crowds, and those with a date and
        without one, differ.
    day
        The day of the stay of each; shape (rows,).
    before, after
        As in `When`, of units.
    parents
        As `Table.parents` has them, of these rows.
    """

    unit: Ints
    label: Ints
    day: Ints
    dated: Bools
    before: Ints
    after: Ints
    parents: tuple[Ints, ...]

    def take(self, rows: Ints) -> DatedRows:
        """Some of the rows."""
        return replace(
            self,
            unit=self.unit[rows],
            label=self.label[rows],
            day=self.day[rows],
            dated=self.dated[rows],
            parents=tuple(parent[rows] for parent in self.parents),
        )

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Every two rows of a unit."""
        starts = np.flatnonzero(np.append(np.diff(self.unit, prepend=-1) != 0, True))
        return pairs_within(starts)

    @cached_property
    def _span(self) -> tuple[int, int]:
        """The first day on which a known event can be, and behind the last one."""
        if not self.dated.any():
            return 0, 1
        own, unit = self.day[self.dated], self.unit[self.dated]
        return int((own - self.before[unit]).min()), int((own + self.after[unit]).max()) + 1

    def seen(self, one: Ints, other: Ints) -> Seen:
        """What some pairs of rows tell who sees them; ``other`` is `one` for one row alone."""
        dated = self.dated[one] & self.dated[other]
        apart = np.where(dated, self.day[other] - self.day[one], 0)
        swapped = (self.label[one] > self.label[other]) | (
            (self.label[one] == self.label[other]) & (apart < 0)
        )
        one, other = np.where(swapped, other, one), np.where(swapped, one, other)
        key = np.stack([self.label[one], self.label[other], np.where(swapped, -apart, apart)])
        unit, anchor = self.unit[one], np.where(self.dated[one], one, other)
        has, (first, end) = self.dated[anchor], self._span
        when, last = self.day[anchor] - first, end - first - 1
        return Seen(
            key,
            unit,
            np.where(has, when - self.before[unit], 0),
            np.where(has, when + self.after[unit], last),
            np.where(has, when, 0),
            end - first,
        )

    def tied(self, one: Ints, other: Ints) -> list[Bools]:
        """By parent, which pairs of rows stand under one."""
        return [(of[one] == of[other]) & (of[one] >= 0) for of in self.parents]


@dataclass(frozen=True, eq=False)
class Seen:
    """What pairs of rows tell, and on which days the known event may be that they show.

    Attributes
    ----------
    key
        Two labels and the days between them; shape (3, pairs).
    since, until
        Between which days a known event fits the first dated row of each pair.
    when
        The day on which it was; 0 where no row is dated.
    width
        Number of days.
    """

    key: Ints
    unit: Ints
    since: Ints
    until: Ints
    when: Ints
    width: int

    def take(self, some: Ints) -> Seen:
        """Those of some pairs."""
        return Seen(
            self.key[:, some],
            self.unit[some],
            self.since[some],
            self.until[some],
            self.when[some],
            self.width,
        )


class Fitting:
    """Whom known events fit: the units who show pairs of rows, listed by what these tell."""

    def __init__(self, seen: Seen) -> None:
        self._width, key = np.int64(seen.width), seen.key
        self._keys, number = _numbered(key)
        units = np.int64(seen.unit.max(initial=0) + 1)
        order = np.argsort((number * units + seen.unit) * self._width + seen.since)
        of, unit = number[order], seen.unit[order]
        since, until = seen.since[order], seen.until[order]
        # Several pairs of one unit are one candidate where their days overlap: all days of a unit
        # are equally many, so that the latest begins last and ends last.
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (np.diff(of) != 0) | (np.diff(unit) != 0) | (since[1:] > until[:-1])
        self.unit, self._of = unit[new], of[new]
        self._since, self._until = since[new], until[np.append(new[1:], True)[: len(new)]]
        self._begun = np.sort(self._of * self._width + self._since)
        self._over = np.sort(self._of * self._width + self._until)

    def _numbers(self, asked: Seen) -> Ints:
        """The number of what each pair tells, all of which somebody shows."""
        return _places(self._keys, asked.key)

    def count(self, asked: Seen) -> Ints:
        """How many units each of some pairs fits, all of which somebody shows."""
        at = self._numbers(asked) * self._width + asked.when
        found: Ints = np.searchsorted(self._begun, at, "right") - np.searchsorted(self._over, at)
        return found

    def lengths(self, asked: Seen) -> tuple[Ints, Ints]:
        """Where the units are listed that show as much, and how many; the days are left open."""
        number = self._numbers(asked)
        start = np.searchsorted(self._of, number)
        return start, np.searchsorted(self._of, number, "right") - start

    def listed(self, asked: Seen, most: int) -> tuple[Ints, Ints, Floats]:
        """The units that each pair fits: its place, the unit, for how many it stands.

        Parameters
        ----------
        most
            Of how many that show as much days are looked at; of more, every so-manieth.
        """
        start, length = self.lengths(asked)
        some = np.minimum(length, most)
        at = np.repeat(np.arange(len(some)), some)
        nth = np.arange(len(at)) - np.repeat(np.cumsum(some) - some, some)
        place = start[at] + nth * length[at] // np.maximum(some, 1)[at]
        when = asked.when[at]
        fits = (self._since[place] <= when) & (when <= self._until[place])
        return at[fits], self.unit[place[fits]], (length / np.maximum(some, 1))[at[fits]]


def _numbered(key: Ints) -> tuple[Ints, Ints]:
    """The different columns of an array, in order, and the number of each."""
    order = np.lexsort(key[::-1])
    ordered = key[:, order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (np.diff(ordered, axis=1) != 0).any(axis=0)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return ordered[:, new], number


def _places(keys: Ints, asked: Ints) -> Ints:
    """The place of each column among different ones in order, all of which are there."""
    both, number = _numbered(np.concatenate([keys, asked], axis=1))
    assert both.shape == keys.shape
    return number[keys.shape[1] :]


class KnownPairs:
    """Whom two known rows of a person fit, ties included.

    Parameters
    ----------
    rows
        Those of everybody who may be a candidate.
    some
        Which of their pairs are looked at, at least all that tell the same as one of them.
    """

    def __init__(self, rows: DatedRows, some: Ints | None = None) -> None:
        self.rows = rows
        one, other = rows.pairs
        if some is not None:
            one, other = one[some], other[some]
        self._own = rows.seen(one, other)
        # All pairs first, then those under one parent, by the table of that.
        self._tied = rows.tied(one, other)
        self._ways = [Fitting(self._own)]
        self._ways += [Fitting(self._own.take(np.flatnonzero(tied))) for tied in self._tied]

    @cached_property
    def chances(self) -> Floats:
        """1 / candidates of each of the pairs."""
        return self._best(self._own, self._tied)[0]

    def asked(self, one: Ints, other: Ints) -> tuple[Seen, Ints]:
        """What pairs tell, and by which list fewest fit: 0 that of all pairs."""
        seen = self.rows.seen(one, other)
        return seen, self._best(seen, self.rows.tied(one, other))[1]

    def way(self, number: int) -> Fitting:
        """The list of all pairs, or of those under one parent."""
        return self._ways[number]

    def _best(self, seen: Seen, tied: Sequence[Bools]) -> tuple[Floats, Ints]:
        count, way = self._ways[0].count(seen), np.zeros(len(seen.unit), dtype=np.int64)
        for number, under in enumerate(tied, 1):
            at = np.flatnonzero(under)
            if not len(at):
                continue
            fewer = self._ways[number].count(seen.take(at))
            better = fewer < count[at]
            count[at[better]], way[at[better]] = fewer[better], number
        return 1.0 / np.maximum(count, 1), way


def single_chances(rows: DatedRows) -> Floats:
    """1 / candidates of each row, known alone."""
    every = np.arange(len(rows.unit))
    seen = rows.seen(every, every)
    return 1.0 / Fitting(seen).count(seen)


class DatedShows:
    """What units show of their rows in several tables, with their dates.

    Parameters
    ----------
    columns
        Whose codes are known beside the dates.
    rows
        Which records say anything by them.
    asked
        The crowds of the units that are asked for.
    most
        Rows of a unit that are looked at: of more, some.
    """

    def __init__(
        self,
        crowds: Crowds,
        columns: Sequence[Codes],
        rows: Bools,
        asked: Codes,
        most: int,
    ) -> None:
        file, when = crowds.file, crowds.file.when
        assert when is not None
        assert file.part_of is not None
        looked = np.zeros(int(crowds.crowd.max()) + 1, dtype=np.bool_)
        looked[asked] = True
        own = np.flatnonzero(rows & looked[crowds.crowd][crowds.unit])
        own = own[np.argsort(crowds.unit[own], kind="stable")]
        own = some_of_each(own, crowds.unit[own], most)
        unit = crowds.unit[own].astype(np.int64)
        self._crowd = crowds.crowd
        self.starts = np.searchsorted(unit, np.arange(len(crowds.crowd) + 1))
        key = [crowds.crowd[unit], file.part_of[own], when.dated[own], when.shows[own]]
        _, label = _numbered(np.stack([*key, *(each[own] for each in columns)]).astype(np.int64))
        self._rows = DatedRows(
            unit,
            label,
            when.day[own],
            when.dated[own],
            when.before[crowds.person],
            when.after[crowds.person],
            tuple(parent[own].astype(np.int64) for parent in file.parents),
        )
        self._pairs = KnownPairs(self._rows)
        every = np.arange(len(own))
        self._singles = Fitting(self._rows.seen(every, every))

    def _parts(self, one: Ints, other: Ints) -> Iterator[tuple[Ints, Seen, Fitting]]:
        """Known rows by the list that says whom they fit: their places, and what they tell."""
        two = np.flatnonzero(one != other)
        if len(two):
            seen, way = self._pairs.asked(one[two], other[two])
            for number in np.unique(way).tolist():
                at = np.flatnonzero(way == number)
                yield two[at], seen.take(at), self._pairs.way(number)
        lone = np.flatnonzero((one == other) & (one >= 0))
        if len(lone):
            yield lone, self._rows.seen(one[lone], one[lone]), self._singles

    def cost(self, one: Ints, other: Ints, most: int) -> int:
        """Candidates that are looked at."""
        lengths = [fitting.lengths(seen)[1] for _, seen, fitting in self._parts(one, other)]
        return int(sum(np.minimum(each, most).sum() for each in lengths))

    def fitting(self, units: Ints, one: Ints, other: Ints, most: int) -> tuple[Ints, Ints, Floats]:
        """Which units of the crowd show as much as two rows of some units, themselves always.

        Places in ``units``, the units that fit, and for how many each stands.

        Parameters
        ----------
        one, other
            Rows of each; the same where a unit has one, -1 where it has none.
        """
        found = [(np.arange(len(units)), units, np.ones(len(units)))]
        for place, seen, fitting in self._parts(one, other):
            at, unit, weight = fitting.listed(seen, most)
            others = unit != units[place[at]]
            found.append((place[at[others]], unit[others], weight[others]))
        # Of whom nothing is known any of the crowd may be.
        bare = np.flatnonzero(one < 0)
        order = np.argsort(self._crowd, kind="stable")
        of = self._crowd[units[bare]]
        start = np.searchsorted(self._crowd[order], of)
        length = np.searchsorted(self._crowd[order], of, "right") - start
        at = np.repeat(np.arange(len(bare)), length)
        nth = np.arange(len(at)) - np.repeat(np.cumsum(length) - length, length)
        unit = order[start[at] + nth]
        others = unit != units[bare[at]]
        found.append((bare[at[others]], unit[others], np.ones(int(others.sum()))))
        at, unit, weight = (np.concatenate(each) for each in zip(*found, strict=True))
        return at, unit, weight
