"""Rows of people with their dates, and what two of them tell whoever knows the days between.

All dates of a person are moved by one offset, and each is written to the day, to a period of days,
or not at all. A row without a date of its own, or whose date is not written, has that of the record
that it stands under. Candidates are counted as `event_dates` counts them: who shows both events as
they are written, the written days as far apart, by an offset that keeps all of the person's dates
within those of the file; and under one parent, where the two are known to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.release.event_dates import PERIODS
from sfumato.release.event_protection import SetShares
from sfumato.risk.tied_events import pairs_within
from sfumato.table.table import MISSING

NEVER = 1 << 20
"""Days beyond which no date of a file lies from another."""
LONGEST = max(PERIODS)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of events, person by person.

    Attributes
    ----------
    record
        Their places in the file, ascending within a person; shape (rows,).
    person, class_of, day
        Person, class and day of each; 0 of rows without a date of their own.
    sources
        The row whose date stands for each, itself where it has one, -1 for none; then the one
        whose date does where that is not written; shape (rows,) each.
    event
        Number of the event of each, equal for equal codes on one day of one person.
    parents
        As `Table.parents` has them, of these rows.
    classes
        Class of each person; shape (persons,).
    """

    record: Ints
    person: Ints
    class_of: Ints
    day: Ints
    sources: tuple[Ints, ...]
    event: Ints
    parents: tuple[Ints, ...]
    classes: Ints

    @cached_property
    def of_person(self) -> Ints:
        """Number of rows of each person."""
        return np.bincount(self.person, minlength=len(self.classes))

    @cached_property
    def events_of_person(self) -> Ints:
        """Number of different events of each person."""
        _, first = np.unique(self.event, return_index=True)
        return np.bincount(self.person[first], minlength=len(self.classes))

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Every two rows of a person."""
        starts = np.flatnonzero(np.append(np.diff(self.person, prepend=-1) != 0, True))
        return pairs_within(starts)

    @cached_property
    def known(self) -> tuple[Ints, Ints, Ints]:
        """The pairs that are of two different events, and the number of the two events of each.

        The third array has the person of each number.
        """
        one, other = self.pairs
        at = np.flatnonzero(self.event[one] != self.event[other])
        low = np.minimum(self.event[one[at]], self.event[other[at]])
        high = np.maximum(self.event[one[at]], self.event[other[at]])
        _, first, number = np.unique(
            low * (int(self.event.max()) + 1) + high, return_index=True, return_inverse=True
        )
        return at, number, self.person[one[at[first]]]


@dataclass(frozen=True, eq=False)
class Marks:
    """The days between which the dates of a file lie, and how far people's are moved.

    Attributes
    ----------
    offset
        Days by which each person's dates are moved; shape (persons,).
    most
        The same at most, either way.
    """

    first: int
    last: int
    offset: Ints
    most: int


@dataclass(frozen=True, eq=False)
class Written:
    """How rows are written: their codes, and when they were.

    Attributes
    ----------
    label
        What is written of the code of each row, in its class; shape (rows,).
    fineness
        To how many days each row's own date is written, 0 for not at all; shape (rows,).
    """

    rows: Rows
    marks: Marks
    label: Ints
    fineness: Ints

    @cached_property
    def source(self) -> Ints:
        """The row whose written date stands for each, -1 for none; shape (rows,)."""
        source = np.full(len(self.label), MISSING, dtype=np.int64)
        for above in reversed(self.rows.sources):
            source = np.where((above >= 0) & (self.fineness[above] > 0), above, source)
        return source

    @cached_property
    def period(self) -> Ints:
        """To how many days the date that stands for each row is written, 0 for none."""
        period: Ints = np.where(self.source >= 0, self.fineness[self.source], 0)
        return period

    @cached_property
    def shown(self) -> Ints:
        """The first day of the period of each row's date, moved; 0 where none is written."""
        rows, marks, period = self.rows, self.marks, np.maximum(self.period, 1)
        moved = rows.day[self.source] + marks.offset[rows.person] - marks.first
        return np.where(self.period > 0, marks.first + moved // period * period, 0)

    @cached_property
    def key(self) -> Ints:
        """What is written of each row, its date aside: its label, and to how many days."""
        which = np.searchsorted([0, *PERIODS], self.period)
        key: Ints = self.label * (len(PERIODS) + 1) + which
        return key

    @cached_property
    def window(self) -> tuple[Ints, Ints]:
        """Between which days the offset of each person can be; shape (persons,) each."""
        people, marks = len(self.rows.classes), self.marks
        at = np.flatnonzero(self.fineness > 0)
        latest, earliest = np.full(people, -NEVER), np.full(people, NEVER)
        np.maximum.at(latest, self.rows.person[at], self.shown[at])
        np.minimum.at(earliest, self.rows.person[at], self.shown[at] + self.period[at] - 1)
        low = np.maximum(latest - marks.last, -marks.most)
        return low, np.minimum(earliest - marks.first, marks.most)

    def _candidates(self, asked: Ints, key: Ints, anchor: Ints) -> Ints:
        """People of whom rows show a key, by an offset that the known day allows.

        Parameters
        ----------
        asked
            The rows, or the first ones of pairs, that are looked for; people stand for them.
        key
            What is looked for; shape of ``asked``.
        anchor
            A row whose date is known, or -1; shape of ``asked``.
        """
        marks = self.marks
        span = marks.last - marks.first + LONGEST
        width = 2 * span
        _, number = np.unique(key, return_inverse=True)
        person, has = self.rows.person[asked], anchor >= 0
        low, high = self.window
        # When the known event was, as each candidate may show it; clipped to where it can be asked.
        base = self.shown[anchor] - (marks.first - LONGEST)
        since = np.clip(np.where(has, base - high[person], 0), 0, width - 1)
        until = np.clip(np.where(has, base - low[person], width - 1), 0, width - 1)
        when = np.where(has, base - marks.offset[person], 0)
        order = np.argsort((number * len(low) + person) * width + since)
        of, whose = number[order], person[order]
        since, until = since[order], until[order]
        # Several rows of one person are one candidate where what they allow overlaps: of equal
        # length, the latest begins last and ends last.
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (np.diff(of) != 0) | (np.diff(whose) != 0) | (since[1:] > until[:-1])
        ends = np.append(new[1:], True)
        begun = np.sort(of[new] * width + since[new])
        over = np.sort(of[ends] * width + until[ends])
        at = number * width + when
        found: Ints = np.searchsorted(begun, at, "right") - np.searchsorted(over, at, "left")
        return found

    def chances(self, pairs: Ints) -> Floats:
        """The chance to be found by each of some pairs of rows; shape of ``pairs``."""
        one, other = (rows[pairs] for rows in self.rows.pairs)
        dated = (self.period[one] > 0) & (self.period[other] > 0)
        apart = np.where(dated, self.shown[other] - self.shown[one], 0)
        turned = (self.key[one] > self.key[other]) | (
            (self.key[one] == self.key[other]) & (apart < 0)
        )
        one, other = np.where(turned, other, one), np.where(turned, one, other)
        apart = np.where(turned, -apart, apart)
        far = 2 * (self.marks.last - self.marks.first + LONGEST)
        key = self.key[one] * (int(self.key.max()) + 1) + self.key[other]
        key = key * (2 * far) + apart + far
        anchor = np.where(self.period[one] > 0, one, np.where(self.period[other] > 0, other, -1))
        found = 1.0 / self._candidates(one, key, anchor)
        for parent in self.rows.parents:
            tied = np.flatnonzero((parent[one] >= 0) & (parent[one] == parent[other]))
            if len(tied):
                together = 1.0 / self._candidates(one[tied], key[tied], anchor[tied])
                found[tied] = np.maximum(found[tied], together)
        return found

    def told(self, m: int) -> SetShares:
        """What sets of m events tell, dates and what stands under one parent included."""
        rows, many = self.rows, self.rows.events_of_person
        chance, person = self._sets(m)
        alone = np.flatnonzero(many == 0)
        if m > 1:
            # Whoever has one event is asked for that.
            lone, whose = self._sets(1)
            one = many[whose] == 1
            person = np.concatenate([person, whose[one]])
            chance = np.concatenate([chance, lone[one]])
        # Whoever has none is one of the class.
        bare = 1.0 / np.bincount(rows.classes)[rows.classes[alone]]
        person, chance = np.concatenate([person, alone]), np.concatenate([chance, bare])
        weight = 1.0 / np.bincount(person, minlength=len(rows.classes))[person]
        learned = np.where(many[person] > np.minimum(many[person], m), chance, 0.0)
        return SetShares(person.astype(np.int32), weight, chance, learned, many)

    def _sets(self, m: int) -> tuple[Floats, Ints]:
        """The highest chance by each one or two different events of a person, and the person.

        Several rows may show one event.
        """
        rows = self.rows
        if m == 1:
            every = np.arange(len(rows.person))
            chance = 1.0 / self._candidates(every, self.key, np.where(self.period > 0, every, -1))
            _, first, number = np.unique(rows.event, return_index=True, return_inverse=True)
            person = rows.person[first]
        else:
            at, number, person = rows.known
            chance = self.chances(np.arange(len(rows.pairs[0])))[at]
        highest = np.zeros(len(person))
        np.maximum.at(highest, number, chance)
        return highest, person
