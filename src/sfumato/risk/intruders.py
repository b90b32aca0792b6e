"""What three intruders find in a file, whatever was promised or declared.

The stranger knows everybody's quasi-identifiers. The acquaintance knows as well that the person is
in the file, and roughly with how many records. The insider knows as well two of the person's
records as one further column shows them. The fourth, the recipient, is the ledger's matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.core.measure import NORMAL
from sfumato.engines.embedded.counts import group
from sfumato.risk import learned_values
from sfumato.risk.known_events import drawn_sets
from sfumato.risk.learned_values import Learned, Share
from sfumato.risk.shown_file import Crowds, Dated, FurtherColumn, ShownFile, distinct
from sfumato.risk.tied_events import pairs_within
from sfumato.table.table import MISSING

PEOPLE = 1_500
"""People drawn for a column: the 95 % interval of a share then is at most .05 wide,
2 · 1.96 · √(.25 / 1,500)."""
PAIRS = 10
"""Pairs of records of a person that are looked at: all of five records, drawn ones of more."""
FEWEST, WORK = 200, 2_000_000
"""People drawn at least, and candidates that are looked at for a column, however many there are."""
MOST_LISTED = 2_000
"""Candidates of a pair that are looked at; of more every so-manieth, each standing for several."""
MOST_DATES = 50
"""Records of a pseudonym whose moved dates are looked at, two at a time: of more, some."""
SEED = 0x76657264
"""One seed for every verdict: whoever judges a file again finds the same."""
ANY = 0
"""The code of what every unit shows: that it is there."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What one intruder finds.

    Attributes
    ----------
    found
        Mean over people of the chance to be found.
    person
        Highest chance of one person; of the insider the 95th percentile of the people, or of those
        who have rows of the columns' tables, if that is higher.
    learned
        By sensitive column; empty where there is none, or where nothing could be learned of any.
    drawn
        Number of people who were drawn; ``None`` where everybody was looked at.
    """

    found: Share
    person: Share
    learned: tuple[Learned, ...] = ()
    drawn: int | None = None

    @property
    def shares(self) -> dict[str, float]:
        """What is found and learned at most, by the names of limits."""
        learned = max((each.worst.value for each in self.learned), default=0.0)
        return {"found": self.found.value, "person": self.person.value, "learned": learned}

    @classmethod
    def among(
        cls, found: float, fewest: int, learned: Mapping[str, Sequence[float]] | None = None
    ) -> Findings:
        """From the mean of 1 / candidates, the fewest candidates for a person, and what is learned.

        That is by sensitive column the share of right guesses, and of people of whom it is
        certain.
        """
        told = [
            Learned(name, Share.of(right), Share.of(certain), 0.0)
            for name, (right, certain) in (learned or {}).items()
        ]
        return cls(Share.of(found), Share.of(1 / max(fewest, 1)), (*told,))

    def beside(self, more: Findings) -> Findings:
        """The larger numbers of what is found so, and of what is found by who knows still more.

        Of a column of which nothing is learned so, because everybody foretells it, nothing is
        learned with more either.
        """
        by_column = {each.column: each for each in more.learned}
        learned = [
            each.beside(by_column[each.column]) if each.column in by_column else each
            for each in self.learned
        ]
        found, person = (
            max(one, other, key=lambda share: share.high)
            for one, other in ((self.found, more.found), (self.person, more.person))
        )
        return Findings(found, person, (*learned,), self.drawn)


@dataclass(frozen=True, slots=True)
class Found:
    """What each intruder finds in a file.

    Attributes
    ----------
    alone
        Number of people whom the acquaintance finds for certain.
    sensitive
        The columns that must not be learned.
    over_files
        Whether the insider knows a value of this file and one of an earlier file of its series.
    left
        People of earlier files of the series who have left.
    leavers
        What is found by who knows that; ``None`` where the acquaintance does.
    elsewhere
        Files of the series that were handed over, and that are not among those earlier files.
    """

    people: int
    fewest: int
    has_several: bool
    alone: int
    sensitive: tuple[str, ...]
    stranger: Findings
    acquaintance: Findings
    insiders: Mapping[str, Findings]
    over_files: bool = False
    left: int = 0
    elsewhere: int = 0
    leavers: Findings | None = None

    def over(self, file: ShownFile, files: SeveralFiles) -> Found:
        """The same where pseudonyms join the file with earlier ones of its series.

        The insider knows a value of this file and one of an earlier file. Who knows who has left
        finds them among those whose records have not changed since.
        """
        crowds, insiders = file.by_class, dict(self.insiders)
        one, everybody = crowds.person.astype(np.int64), np.arange(len(crowds.person))
        for name, (now, *before) in files.said.items():
            alike, _ = _cells([files.class_of, now])
            for then in before:
                cell, chance = _cells([alike, then])
                home = cell[one]
                learned = learned_values.learned(
                    crowds, everybody, home, (home, everybody), seen={name}
                )
                most = _percentile(np.sort(chance), whole=True)
                own = insiders.get(name, self.stranger)
                insiders[name] = _at_least(own, chance, most, learned)
        leavers: Findings | None = None
        if (files.left > 0).any():
            home, listed, chance = files.among_unchanged()
            # By record, of which everybody has one.
            record = np.empty(len(one), dtype=np.int64)
            record[one] = everybody
            on = listed[0], record[listed[1]]
            learned = learned_values.learned(crowds, everybody, home[one], on)
            most = Share.of(float(chance.max()))
            leavers = _at_least(self.acquaintance, chance, most, learned)
        known, alone = (leavers, None) if files.exits_known else (None, leavers)
        return replace(
            self,
            insiders=insiders,
            acquaintance=known or self.acquaintance,
            over_files=True,
            left=int((files.left > 0).sum()),
            leavers=alone,
        )


@dataclass(frozen=True, eq=False)
class SeveralFiles:
    """What the files of a series say of the persons of the last one.

    Attributes
    ----------
    class_of
        The class of each person, which is the same in all of them.
    said
        By column, what it says of each person in this file and in each earlier one, the first one
        first, as numbers that are equal where it says the same, or nothing (0).
    left
        The file that each person was in last; 0 for who is in this one.
    exits_known
        Whether the acquaintance knows that.
    """

    class_of: Codes
    said: Mapping[str, Sequence[Ints]]
    left: Ints
    exits_known: bool = True

    def among_unchanged(self) -> tuple[Ints, tuple[Ints, Ints], Floats]:
        """The list of candidates of each person, who is on which list, and 1 over their number.

        Of who left these are the people of the class who have not changed since, of others all.
        """
        stays, classes = self.left == 0, int(self.class_of.max()) + 1
        home, since = self.class_of.astype(np.int64), self._unchanged_since()
        here = np.flatnonzero(np.isin(home, home[stays]))
        lists, people, number = [home[here]], [here], classes
        for last in np.unique(self.left[~stays]).tolist():
            gone = self.left == last
            wanted = np.zeros(classes, dtype=np.bool_)
            wanted[self.class_of[gone]] = True
            listed = np.flatnonzero((since <= last) & wanted[self.class_of])
            home[gone] = number + self.class_of[gone]
            lists.append(number + self.class_of[listed].astype(np.int64))
            people.append(listed)
            number += classes
        of, one = np.concatenate(lists), np.concatenate(people)
        sizes = np.bincount(of, minlength=number)
        return home, (of, one), 1 / sizes[home]

    def _unchanged_since(self) -> Ints:
        """The first file from which on all that is said of each person has stayed the same."""
        files = max(map(len, self.said.values()), default=1)
        since, same = np.full(len(self.left), files), np.ones(len(self.left), dtype=np.bool_)
        for number in range(files - 1, 0, -1):
            for now, *before in self.said.values():
                same &= before[number - 1] == now
            since[same] = number
        return since


def _cells(alike: Sequence[Ints | Codes]) -> tuple[Ints, Floats]:
    """A number of all that is alike for each person, and 1 over the people of whom it is."""
    codes = [pa.array(each).dictionary_encode().indices.to_numpy() for each in alike]
    cell, _ = group(codes, [int(each.max()) + 1 for each in codes])
    return cell.astype(np.int64), 1 / np.bincount(cell)[cell]


def _at_least(
    findings: Findings, chance: Floats, most: Share, learned: Sequence[Learned]
) -> Findings:
    """What an intruder finds who has these chances, or more if more was found otherwise."""
    found = Share.of(float(chance.mean()))
    more = {each.column: each for each in learned}
    known = {each.column for each in findings.learned}
    every = [*findings.learned, *(each for each in learned if each.column not in known)]
    return replace(
        findings,
        found=max(findings.found, found, key=lambda share: share.value),
        person=max(findings.person, most, key=lambda share: share.value),
        learned=tuple(_more_of(each, more.get(each.column, each)) for each in every),
    )


def _more_of(one: Learned, other: Learned) -> Learned:
    """The larger numbers of two that are learned of a column."""
    return replace(
        one,
        beyond=max(one.beyond, other.beyond, key=lambda share: share.high),
        certain=max(one.certain, other.certain, key=lambda share: share.high),
    )


def measured(file: ShownFile) -> Found:
    """What is found by everybody's quasi-identifiers, and by who knows more.

    The acquaintance knows roughly how many records a person has, too. The insider knows two of them
    as well, as seen in one further column, which are tried in turn; what the schema calls events is
    known together, under these columns' names with `` + ``.
    """
    seen: dict[str, tuple[str, ...]] = {name: (name,) for name in file.columns}
    if len(file.events) > 1:
        seen[" + ".join(file.events)] = file.events
    by_class = file.by_class
    pairs = distinct(by_class.crowd.astype(np.int64) << 32 | by_class.person)
    return Found(
        people=len(distinct(file.person)),
        fewest=int(np.bincount(pairs >> 32).min()),
        has_several=file.has_several,
        alone=len(distinct(file.by_band.person[file.by_band.chance == 1])),
        sensitive=file.sensitive,
        stranger=_of_crowds(by_class),
        acquaintance=_of_crowds(file.by_band),
        insiders={name: insider(file, columns) for name, columns in seen.items()},
    )


def _of_crowds(crowds: Crowds) -> Findings:
    """What is found by nothing but the crowd."""
    chance = crowds.by_person(crowds.person, crowds.chance)
    everybody, crowd = np.arange(len(crowds.crowd)), crowds.crowd.astype(np.int64)
    learned = learned_values.learned(crowds, everybody, crowd, (crowd, everybody))
    return Findings(Share.of(float(chance.mean())), Share.of(float(chance[-1])), learned)


def insider(file: ShownFile, names: Sequence[str]) -> Findings:
    """What is found by two records of each person, as some columns show them together.

    Everybody is looked at where they are few, and every pair of five records; more are drawn.
    """
    crowds = file.by_band
    rng = np.random.default_rng(SEED)
    every = distinct(crowds.person)
    people = rng.permutation(every)[:PEOPLE]
    units = _units_of(crowds, people)
    shows = _Shows(crowds, [file.columns[name] for name in names], crowds.crowd[units])
    pilot = shows.known(_units_of(crowds, people[:FEWEST]), rng)
    each = max(shows.cost(pilot) / len(people[:FEWEST]), 1.0)
    drawn = people[: int(np.clip(WORK / each, FEWEST, PEOPLE))]
    units = _units_of(crowds, drawn)
    known = shows.known(units, rng)
    at, fitting, weight = shows.fitting(known)
    person = crowds.person[units]
    mine = crowds.person[fitting] == person[known.place[at]]
    of_pair = np.bincount(at[mine]) / np.bincount(at, np.where(mine, 1.0, weight))
    chance = np.bincount(known.place, of_pair) / np.bincount(known.place)
    by_person = crowds.by_person(person, chance)
    whole = len(drawn) == len(every)
    # Of whom nothing is known by these columns, most hide among many.
    rows = file.of_tables(np.logical_or.reduce([file.columns[n].codes != MISSING for n in names]))
    told = crowds.having(rows)[units]
    among = [by_person, *([crowds.by_person(person[told], chance[told])] if told.any() else [])]
    highest = max((_percentile(each, whole) for each in among), key=lambda each: each.high)
    drawn_of = None if whole else len(drawn)
    learned = _learned(crowds, units, known, (at, fitting), names, drawn_of)
    if not whole:
        learned += _learned_of_few(file, names, drawn, rng)
    found = Share.of(float(by_person.mean()), None if whole else _answers(by_person, len(every)))
    return Findings(found, highest, learned, drawn_of)


def _learned(
    crowds: Crowds,
    units: Ints,
    known: _Known,
    fitting: tuple[Ints, Ints],
    seen: Sequence[str],
    drawn: int | None,
) -> tuple[Learned, ...]:
    """What is learned of units by two records of each, of all columns but some."""
    # One pair of each unit says what is learned: the first is as good as any.
    at, found = fitting
    one = np.diff(known.place, prepend=-1)[at] != 0
    listed = known.place[at[one]], found[one]
    return learned_values.learned(
        crowds, units, np.arange(len(units)), listed, seen=seen, drawn=drawn
    )


def _learned_of_few(
    file: ShownFile, names: Sequence[str], drawn: Ints, rng: np.random.Generator
) -> tuple[Learned, ...]:
    """What is learned of columns of whose tables nobody was drawn who has rows there."""
    crowds, made = file.by_band, list[Learned]()
    for column in (attribute for attribute in file.sensitive if attribute not in names):
        rows = file.of_tables(file.columns[column].codes != MISSING)
        holders = distinct(crowds.person[crowds.having(rows)])
        if not len(holders) or np.isin(drawn, holders).any():
            continue
        some = rng.permutation(holders)[:FEWEST]
        units = _units_of(crowds, some)
        shows = _Shows(crowds, [file.columns[name] for name in names], crowds.crowd[units])
        known = shows.known(units, rng)
        at, fitting, _ = shows.fitting(known)
        others = [name for name in (*names, *file.sensitive) if name != column]
        of = None if len(some) == len(holders) else len(some)
        made += _learned(crowds, units, known, (at, fitting), others, of)
    return tuple(made)


def _units_of(crowds: Crowds, people: Codes) -> Ints:
    """The units of some people."""
    chosen = np.zeros(int(crowds.person.max()) + 1, dtype=np.bool_)
    chosen[people] = True
    return np.flatnonzero(chosen[crowds.person])


def _answers(chances: Floats, people: int) -> float:
    """How many yes-or-no answers of a mean vary as much as that of the chances of people drawn.

    p(1 − p)/m = s²/n · (1 − n/N); m = n where all chances are equal, which says little of others.
    """
    drawn, mean = len(chances), float(chances.mean())
    spread = float(chances.var(ddof=1)) * (1 - drawn / people)
    return max(drawn, drawn * mean * (1 - mean) / spread) if spread > 0 else drawn


def _percentile(ascending: Floats, whole: bool) -> Share:
    """The 95th percentile, a chance that somebody has; its interval by the error of its rank."""
    off = 0.0 if whole else NORMAL * np.sqrt(0.95 * 0.05 / len(ascending))
    value, low, high = (
        float(np.quantile(ascending, min(rank, 1.0), method="inverted_cdf"))
        for rank in (0.95, 0.95 - off, 0.95 + off)
    )
    return Share(value, low, high)


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known of units, an entry each time: one or two codes, `ANY` for nothing."""

    place: Ints
    unit: Ints
    first: Ints
    second: Ints


class _Shows:
    """What units show of a column, or of several together, as codes.

    A unit shows a value once, or twice and more: whoever knows two records with one value looks
    for units that have two. Of dates that are not as they were two records together are one code,
    and so are two under one parent: whoever knows two diagnoses of one stay looks for both in one.
    A record of which nothing is shown may be one of the two, and tells nothing; of several tables
    the records of those are known that have the columns.
    """

    def __init__(
        self, crowds: Crowds, columns: Sequence[FurtherColumn], asked: Sequence[int] | Codes
    ) -> None:
        self._crowds = crowds
        self._dates = next((column for column in columns if column.dated is not None), None)
        # Nobody outside of a crowd fits its people: most crowds of a large file need no look.
        looked = np.zeros(int(crowds.crowd.max()) + 1, dtype=np.bool_)
        looked[asked] = True
        self._units = np.flatnonzero(looked[crowds.crowd])
        tells = np.logical_or.reduce([column.codes != MISSING for column in columns])
        rows = np.flatnonzero(looked[crowds.crowd][crowds.unit] & crowds.file.of_tables(tells))
        rows = rows[np.argsort(crowds.unit[rows], kind="stable")]
        if self._dates is not None:
            rows = _some_of_each(rows, crowds.unit[rows], MOST_DATES)
        self._unit = crowds.unit[rows].astype(np.int64)
        self._starts = np.searchsorted(self._unit, np.arange(len(crowds.crowd) + 1))
        self._tells = tells[rows]
        plain = [column.codes[rows] for column in columns if column.dated is None]
        self._label = np.zeros(len(rows), dtype=np.int64)
        if plain and len(rows):
            self._label[:] = group(plain, [int(each.max()) + 1 for each in plain])[0]
        # A release writes one column of dates; others it counts in days after that one.
        if self._dates is not None:
            self._day = self._dates.codes[rows].astype(np.int64)
        self._parents = [parent[rows].astype(np.int64) for parent in crowds.file.parents]
        self._index()

    def _index(self) -> None:
        """List the units by crowd and code."""
        first, second = pairs_within(self._starts) if self._dates else self._siblings()
        both = self._tells[first] & self._tells[second]
        first, second = first[both], second[both]
        pairs = self._together(first, second)
        self._codes = distinct(pairs)
        tells = np.flatnonzero(self._tells)
        if self._dates is None:
            tells = tells[np.lexsort((self._label[tells], self._unit[tells]))]
        unit, code = self._unit[tells], self._alone(tells)
        if self._dates is None:
            code[1:] += (np.diff(unit) == 0) & (np.diff(code) == 0)
        unit = np.concatenate([unit, self._unit[first]])
        code = np.concatenate([code, self._pair(pairs)])
        self._width = np.int64(code.max(initial=0) + 1)
        shown = np.concatenate([self._units * self._width + ANY, unit * self._width + code])
        self._shown = distinct(shown)
        unit = self._shown // self._width
        keys = self._crowds.crowd[unit] * self._width + self._shown % self._width
        order = np.argsort(keys, kind="stable")
        self._keys, self._listed = keys[order], unit[order]

    def _alone(self, rows: Ints) -> Ints:
        """What a record tells alone; of one date only what stands beside it tells anything."""
        label = self._label[rows]
        return 1 + len(self._codes) + (2 * label if self._dates is None else label)

    def _pair(self, pairs: Ints) -> Ints:
        """The codes of two records that are known together."""
        return 1 + np.searchsorted(self._codes, pairs)

    def _siblings(self) -> tuple[Ints, Ints]:
        """Every two records of a unit that stand under one parent."""
        pairs = [np.zeros((2, 0), dtype=np.int64)]
        for parent in self._parents:
            under = np.flatnonzero(parent >= 0)
            under = under[np.lexsort((parent[under], self._unit[under]))]
            new = (np.diff(self._unit[under]) != 0) | (np.diff(parent[under]) != 0)
            starts = np.concatenate([[0], 1 + np.flatnonzero(new), [len(under)]])
            pairs.append(under[np.stack(pairs_within(starts))])
        first, second = np.concatenate(pairs, axis=1)
        return first, second

    def _are_siblings(self, first: Ints, second: Ints) -> Bools:
        """Which pairs of records stand under one parent."""
        siblings = np.zeros(len(first), dtype=np.bool_)
        for parent in self._parents:
            siblings |= (parent[first] == parent[second]) & (parent[first] >= 0)
        return siblings

    def _together(self, first: Ints, second: Ints) -> Ints:
        """Two records as one code: under one parent, or with the days between them."""
        labels = int(self._label.max(initial=0)) + 1
        if self._dates is None:
            low, high = np.sort([self._label[first], self._label[second]], axis=0)
            pairs: Ints = low * labels + high
            return pairs
        apart = self._day[second] - self._day[first]
        swapped = (apart < 0) | ((apart == 0) & (self._label[second] < self._label[first]))
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        apart = np.abs(apart)
        if self._dates.dated is Dated.ORDERED:
            apart = np.minimum(apart, 1)
        days = int(np.ptp(self._day)) + 1
        both: Ints = (self._label[first] * labels + self._label[second]) * days + apart
        return both

    def known(self, units: Ints, rng: np.random.Generator) -> _Known:
        """Two records of each unit, each two as often; the one that it has, or nothing."""
        number = np.diff(self._starts)[units]
        place, first, second = [], [], []
        for many in np.unique(number).tolist():
            own = np.flatnonzero(number == many)
            if many < 2:
                sets = np.array([[[0, 0]]])
            elif comb(many, 2) <= PAIRS:
                sets = np.array([[*combinations(range(many), 2)]])
            else:
                sets = drawn_sets(rng, many, 2, (len(own), PAIRS))
            rows = self._starts[units[own]][:, None, None] + sets
            place.append(np.repeat(own, rows.shape[1]))
            one, other = rows[..., 0].ravel(), rows[..., 1].ravel()
            some = self._two(one, other) if many > 1 else self._one(one, many)
            first.append(some[0])
            second.append(some[1])
        every = np.concatenate(place)
        return _Known(every, units[every], np.concatenate(first), np.concatenate(second))

    def _one(self, rows: Ints, many: int) -> tuple[Ints, Ints]:
        nothing = np.full(len(rows), ANY)
        return (self._code(rows) if many else nothing), nothing

    def _code(self, rows: Ints) -> Ints:
        """What one record tells alone."""
        return np.where(self._tells[rows], self._alone(rows), ANY)

    def _two(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        one, other = self._code(first), self._code(second)
        tell = (one != ANY) & (other != ANY)
        if self._dates is not None:
            both = np.where(tell, self._pair(self._together(first, second)), np.maximum(one, other))
            return both, np.full(len(both), ANY)
        same = (one == other) & tell
        one, other = one + same, np.where(same, ANY, other)
        tied = tell & self._are_siblings(first, second)
        pair = self._pair(self._together(first, second))
        return np.where(tied, pair, one), np.where(tied, ANY, other)

    def _lists(self, known: _Known) -> tuple[_Known, Ints, Ints]:
        """The same with the rarer code first, the place of its list, and how long that is."""
        crowd = self._crowds.crowd[known.unit] * self._width
        starts, lengths = [], []
        for code in (known.first, known.second):
            start = np.searchsorted(self._keys, crowd + code)
            starts.append(start)
            lengths.append(np.searchsorted(self._keys, crowd + code, side="right") - start)
        rarer = lengths[1] < lengths[0]
        first = np.where(rarer, known.second, known.first)
        second = np.where(rarer, known.first, known.second)
        start, length = (np.where(rarer, two[1], two[0]) for two in (starts, lengths))
        return _Known(known.place, known.unit, first, second), start, length

    def cost(self, known: _Known) -> int:
        """Candidates that are looked at."""
        return int(np.minimum(self._lists(known)[2], MOST_LISTED).sum())

    def fitting(self, known: _Known) -> tuple[Ints, Ints, Floats]:
        """Which units of the crowd show as much, and the unit itself always.

        Places in ``known``, units, and for how many units each stands.
        """
        known, start, length = self._lists(known)
        some = np.minimum(length, MOST_LISTED)
        at = np.repeat(np.arange(len(some)), some)
        nth = np.arange(len(at)) - np.repeat(np.cumsum(some) - some, some)
        unit = self._listed[start[at] + nth * length[at] // some[at]]
        # The unit itself may be between two that are looked at.
        at, unit = np.concatenate([at, np.arange(len(some))]), np.concatenate([unit, known.unit])
        at, unit = np.divmod(distinct(at * np.int64(len(self._starts)) + unit), len(self._starts))
        second = known.second[at]
        key = unit * self._width + second
        place = np.minimum(np.searchsorted(self._shown, key), len(self._shown) - 1)
        fits = self._shown[place] == key
        return at[fits], unit[fits], (length / some)[at[fits]]


def _some_of_each(rows: Ints, unit: Codes, most: int) -> Ints:
    """The rows of each unit, which lie together, or so many of them."""
    _, place, number = np.unique(unit, return_inverse=True, return_counts=True)
    nth = np.arange(len(rows)) - (np.cumsum(number) - number)[place]
    share = np.minimum(most / number, 1.0)[place]
    some: Ints = rows[np.floor(nth * share) > np.floor((nth - 1) * share)]
    return some
