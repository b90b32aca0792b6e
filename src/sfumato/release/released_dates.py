"""Dates of the tables of a database: of which stays they are written.

Within a class, stays whose record shows one code have their dates written alike: not at all, the
day of the stay, or all dates, as days after it; all moved by one offset a person. Which of these is
found after the codes, by what it gains and what it costs: from nothing on, at ever lower prices of
a person found, as far as the promise is kept by two events with the days between them. Codes are
written a little less exactly to make room for dates, where all together loses less then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.engines.embedded.counts import group
from sfumato.release import event_protection, histories
from sfumato.release.event_dates import LEAST_RANGE, TableDates
from sfumato.release.promises.promise import TOLERANCE
from sfumato.release.promises.shared_events import KnownEvents, Success
from sfumato.release.techniques import Technique
from sfumato.risk import known_events
from sfumato.risk.dated_events import DatedRows, KnownPairs, single_chances
from sfumato.risk.shown_file import When
from sfumato.table.table import MISSING, NO_DATE, Table

NOTHING, STAY, ALL = range(3)
"""What is written of the dates of a stay."""
DEAREST, CHEAPEST, CHEAPER = 16.0, 1 / 64, 2.0
"""Prices of what is promised, in what is lost of persons, between which the search looks, and its
step."""
EXCEEDING = 0.05
"""Share of the persons who may exceed the percentile."""
SHARES = (0.75, 0.5, 0.25)
"""Which part of what may be found is left to the codes, in the order in which they are tried."""
BUNDLES = 4
"""Parts into which the codes of one label are divided, some of which may be dated."""
MOST_PAIRS = 1 << 24
"""Pairs of rows of a person beyond which no date is looked at: each takes about 200 bytes."""
FAR = 1 << 40
"""More days than lie between any two."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of events of a draft, person by person, whatever is written of their dates.

    Attributes
    ----------
    record
        Their places in the file, ascending within a person; shape (rows,).
    label
        What is written of the code of each row, in its class and table.
    group
        The group of stays, written alike, of each; -1 of rows without a date.
    day, shows
        The day of the stay of each, and a number of what all dates tell beside it.
    is_anchor
        Which rows have the day of their stay.
    counted
        Which rows are dated where the day of their stay is written: those without a date of their
        own, and those that have it.
    before, after
        Days by which the day of the stay could be earlier and later, and the earliest and the
        latest of all dates of the row; shape (2, rows).
    event
        Number of the event of each, equal for equal codes and dates of one person.
    classes
        Class of each person; shape (persons,).
    """

    record: Ints
    person: Ints
    label: Ints
    group: Ints
    day: Ints
    shows: Ints
    is_anchor: Bools
    counted: Bools
    before: Ints
    after: Ints
    event: Ints
    parents: tuple[Ints, ...]
    classes: Ints
    room: tuple[Ints, Ints]

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
    def class_of_group(self) -> Ints:
        """Class of each group of stays."""
        class_of = np.zeros(int(self.group.max(initial=-1)) + 1, dtype=np.int64)
        has = self.group >= 0
        class_of[self.group[has]] = self.classes[self.person[has]]
        return class_of

    def way(self, ways: Ints) -> Ints:
        """What is written of the dates of each row, by that of its group."""
        found: Ints = np.where(self.group >= 0, ways[self.group], NOTHING)
        return found

    def shown(self, way: Ints) -> Ints:
        """A number of what is written of each row's dates, the day of its stay aside."""
        found: Ints = np.select(
            [way == ALL, way == STAY], [2 + self.shows, self.is_anchor.astype(np.int64)], 0
        )
        return found

    def reach(self, way: Ints) -> tuple[Ints, Ints]:
        """By how much all that is written of each person can be moved; shape (persons,) each."""
        found = []
        for room, limit in zip((self.before, self.after), self.room, strict=True):
            left = limit.copy()
            stay = (way > NOTHING) & self.is_anchor
            np.minimum.at(left, self.person[stay], room[0, stay])
            every = way == ALL
            np.minimum.at(left, self.person[every], room[1, every])
            found.append(left)
        return found[0], found[1]

    def dated(self, ways: Ints) -> DatedRows:
        """The rows as they are written."""
        way = self.way(ways)
        shown = self.shown(way)
        keys = (self.label * 3 + way) * (int(shown.max(initial=0)) + 1) + shown
        label = np.unique(keys, return_inverse=True)[1]
        return DatedRows(
            self.person, label, self.day, way > NOTHING, *self.reach(way), self.parents
        )


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for what is written of the dates of all groups of stays."""

    rows: _Rows
    promise: KnownEvents

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Every two rows of a person."""
        return self.rows.dated(self.nothing).pairs

    @property
    def nothing(self) -> Ints:
        """No dates."""
        return np.zeros(len(self.rows.class_of_group), dtype=np.int64)

    @cached_property
    def known(self) -> tuple[Ints, Ints, Ints]:
        """The pairs of two different events, and the number of the two events of each.

        The third array has the person of each number.
        """
        rows, (one, other) = self.rows, self.pairs
        at = np.flatnonzero(rows.event[one] != rows.event[other])
        low, high = np.sort([rows.event[one[at]], rows.event[other[at]]], axis=0)
        both = low * (int(rows.event.max(initial=0)) + 1) + high
        _, first, number = np.unique(both, return_index=True, return_inverse=True)
        return at, number, rows.person[one[at[first]]]

    @cached_property
    def pair_weights(self) -> Floats:
        """How much each pair counts in the mean of its person; shape (pairs,)."""
        at, number, person = self.known
        same = np.bincount(number, minlength=len(person))[number]
        many = np.bincount(person, minlength=len(self.rows.classes))
        weights = np.zeros(len(self.pairs[0]))
        weights[at] = 1 / (same * many[person[number]])
        return weights

    @cached_property
    def gains(self) -> Floats:
        """By group, the share of persons that is dated by each way; shape (groups, ways)."""
        rows = self.rows
        has = rows.group >= 0
        of_row = 1.0 / rows.of_person[rows.person]
        gains = np.zeros((len(rows.class_of_group), 3))
        for way, counted in ((STAY, has & rows.counted), (ALL, has)):
            at = np.flatnonzero(counted)
            gains[:, way] = np.bincount(rows.group[at], of_row[at], len(gains))
        return gains

    def told(self, ways: Ints, m: int) -> event_protection.SetShares:
        """What sets of m events tell, dates and what stands under one parent included."""
        rows, many = self.rows, self.rows.events_of_person
        dated = rows.dated(ways)
        chance, person = self._sets(dated, m)
        alone = np.flatnonzero(many == 0)
        if m > 1:
            # Whoever has one event is asked for that.
            lone, whose = self._sets(dated, 1)
            one = many[whose] == 1
            person = np.concatenate([person, whose[one]])
            chance = np.concatenate([chance, lone[one]])
        # Whoever has none is one of the class.
        bare = 1.0 / np.bincount(rows.classes)[rows.classes[alone]]
        person, chance = np.concatenate([person, alone]), np.concatenate([chance, bare])
        weight = 1.0 / np.bincount(person, minlength=len(rows.classes))[person]
        learned = np.where(many[person] > np.minimum(many[person], m), chance, 0.0)
        return event_protection.SetShares(person.astype(np.int32), weight, chance, learned, many)

    def _sets(self, dated: DatedRows, m: int) -> tuple[Floats, Ints]:
        """The highest chance by each one or two different events of a person, and the person.

        Several rows may show one event.
        """
        if m == 1:
            chance = single_chances(dated)
            _, first, number = np.unique(self.rows.event, return_index=True, return_inverse=True)
            person = self.rows.person[first]
        else:
            at, number, person = self.known
            chance = KnownPairs(dated).chances[at]
        highest = np.zeros(len(person))
        np.maximum.at(highest, number, chance)
        return highest, person

    def reached(self, means: Sequence[Floats]) -> list[histories.Reached]:
        """The mean and the 95th percentile of persons' chances, by one event first."""
        many = self.rows.events_of_person
        return [histories.worse(each, many >= m) for m, each in enumerate(means, 1)]

    def descended(self) -> _Dated:
        """What the lowest price writes that keeps the promise, in some classes the next lower."""
        good = _Dated(self, self.nothing)
        if not histories.keeps(self.promise, good.reached):
            return good
        state = _State(self)
        price = DEAREST
        while price >= CHEAPEST:
            state.spend(price)
            found = _Dated(self, state.ways.copy())
            if not histories.keeps(self.promise, found.reached):
                return self._filled(good, found)
            good = found
            price /= CHEAPER
        return good

    def _filled(self, good: _Dated, bad: _Dated) -> _Dated:
        """The better way, with as many classes of the cheaper one as the promise allows."""
        classes, own = int(self.rows.classes.max()) + 1, self.rows.class_of_group
        extra = np.bincount(self.rows.classes, bad.means[-1] - good.means[-1], classes)
        gain = np.bincount(own, bad.gained - good.gained, classes)
        order = np.argsort(-gain / np.maximum(extra, TOLERANCE), kind="stable")
        rank = np.empty(classes, dtype=np.int64)
        rank[order] = np.arange(classes)

        def kept(number: int) -> bool:
            # Classes do not touch each other's chances.
            cheap = rank[self.rows.classes] < number
            both = zip(bad.means, good.means, strict=True)
            return histories.keeps(
                self.promise, self.reached([np.where(cheap, a, b) for a, b in both])
            )

        low, high = 0, classes
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if kept(middle) else (low, middle)
        return _Dated(self, np.where(rank[own] < low, bad.ways, good.ways))


@dataclass(frozen=True, eq=False)
class _Dated:
    """Groups of stays of whose dates something is written."""

    search: _Search
    ways: Ints

    @cached_property
    def means(self) -> list[Floats]:
        """The mean chance of each person by one event, and by two where these are promised."""
        return [self._means(m) for m in range(1, self.search.promise.m + 1)]

    def _means(self, m: int) -> Floats:
        told = self.search.told(self.ways, m)
        means = np.bincount(told.person, told.found * told.weight, len(told.events))
        return means.astype(np.float64)

    @cached_property
    def reached(self) -> list[histories.Reached]:
        """As `_Search.reached`."""
        return self.search.reached(self.means)

    @property
    def gained(self) -> Floats:
        """What each group dates, in persons."""
        every = np.arange(len(self.ways))
        gained: Floats = self.search.gains[every, self.ways]
        return gained

    @property
    def lost(self) -> float:
        """Share of what dates say that is lost, each person with events counting alike."""
        return 1.0 - float(self.gained.sum()) / int((self.search.rows.of_person > 0).sum())


class _State:
    """Groups as they are written so far, and what each way would cost, as far as is known."""

    def __init__(self, search: _Search) -> None:
        self._search, self.ways, rows = search, search.nothing, search.rows
        self._chance = KnownPairs(rows.dated(self.ways)).chances
        one, _ = search.pairs
        weighed = self._chance * search.pair_weights
        self._mean = np.bincount(rows.person[one], weighed, len(rows.classes))
        self._cost = np.zeros((len(self.ways), 3))

    def spend(self, price: float) -> None:
        """Write more dates of groups where that gains more than it costs at a price.

        In every class the group that promises most is looked at, until none promises anything.
        """
        gains, class_of = self._search.gains, self._search.rows.class_of_group
        every = np.arange(len(self.ways))
        while True:
            gain = gains - gains[every, self.ways][:, None]
            profit = np.where(gain > 0, gain - price * self._cost, 0.0)
            best = profit.argmax(axis=1)
            value = profit[every, best]
            order = np.lexsort((-value, class_of))
            first = order[np.flatnonzero(np.diff(class_of[order], prepend=-1))]
            chosen = first[value[first] > 0]
            if not len(chosen):
                return
            self._try(chosen, best[chosen], gain[chosen, best[chosen]], price)

    def _try(self, groups: Ints, new: Ints, gain: Floats, price: float) -> None:
        """Look at one way for one group in each of some classes, and keep what is worth it."""
        search, rows = self._search, self._search.rows
        class_of, promise = rows.class_of_group, search.promise
        ways = self.ways.copy()
        ways[groups] = new
        moved = rows.way(ways) != rows.way(self.ways)
        touched = np.zeros(int(rows.label.max()) + 1, dtype=np.bool_)
        touched[rows.label[moved]] = True
        one, other = search.pairs
        pairs = np.flatnonzero(touched[rows.label[one]] | touched[rows.label[other]])
        chance = KnownPairs(rows.dated(ways), pairs).chances
        more = (chance - self._chance[pairs]) * search.pair_weights[pairs]
        mean = self._mean + np.bincount(rows.person[one[pairs]], more, len(rows.classes))
        over = (mean > promise.p95).astype(np.float64) - (self._mean > promise.p95)
        dearer = (mean - self._mean) / promise.risk + over / EXCEEDING
        classes = int(rows.classes.max()) + 1
        cost = np.bincount(rows.classes, dearer, minlength=classes)[class_of[groups]]
        self._cost[groups, new] = np.maximum(cost, 0.0)
        worth = gain > price * cost
        kept = np.zeros(classes, dtype=np.bool_)
        kept[class_of[groups[worth]]] = True
        self.ways[groups[worth]] = new[worth]
        self._mean = np.where(kept[rows.classes], mean, self._mean)
        mine = kept[rows.classes[rows.person[one[pairs]]]]
        self._chance[pairs[mine]] = chance[mine]


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of the dates of a release.

    Attributes
    ----------
    offset_of
        The offset of each person of a table, as days of at most so many either way.
    """

    promise: KnownEvents
    weights: Mapping[Technique, float]
    offset_of: Callable[[Table, int], Ints]

    @property
    def may_move(self) -> bool:
        """Whether any date may be written."""
        promise = self.promise
        moves = Technique.SHIFT_DATES in self.weights
        return moves and not promise.k and promise.of is Success.FOUND


def widened(
    attempt: Callable[[int], event_protection.Attempt],
    first: event_protection.Attempt,
    asked: Asked,
) -> event_protection.Attempt:
    """The attempt that loses least with its dates, from one without dates on to wider classes.

    Parameters
    ----------
    attempt
        As in `event_protection.widened`, without dates.
    """
    persons = int(first.made.draft.table.persons)
    width = max(float(first.width), persons / first.made.draft.classes)
    best = with_dates(first, asked)
    may_widen = asked.may_move and Technique.WIDEN in asked.weights
    while may_widen and (width := width * event_protection.WIDENING) < persons:
        wider = attempt(int(width))
        # Without dates nothing of them is kept.
        least = best.lost if best.is_dated else best.least + 1
        found = wider if wider.protection is None else with_dates(wider, asked)
        if found.is_dated and found.lost < least:
            best = found
        elif best.is_dated or found.least >= least:
            break
    return best


def with_dates(found: event_protection.Attempt, asked: Asked) -> event_protection.Attempt:
    """An attempt with the dates that its promise allows; as it is where none is worth it."""
    codes, table = found.protection, found.made.draft.table
    assert codes is not None
    if not asked.may_move or table.stay_dates is None:
        return found
    seen = event_protection.Seen(found.made.draft, found.made.pseudonym_of)
    told = _Told.of(seen, asked)
    many = np.bincount(table.person[told.gathered.told], minlength=1)
    if int((many * (many - 1) // 2).sum()) > MOST_PAIRS:
        return found
    best = found
    for share in SHARES:
        dated = told.protected(share, codes)
        if dated is None:
            continue
        lost = found.least + dated.lost
        if best.is_dated and lost >= best.lost:
            break
        best = replace(found, protection=dated, lost=lost)
    return best


@dataclass(frozen=True, eq=False)
class _Told:
    """The events of a draft, whose codes are not yet written.

    Attributes
    ----------
    offset
        Days by which the dates of each person are moved, at most `most` either way.
    """

    seen: event_protection.Seen
    asked: Asked
    gathered: histories.Gathered
    offset: Ints
    most: int

    @classmethod
    def of(cls, seen: event_protection.Seen, asked: Asked) -> _Told:
        """The events of a draft: a code on a day."""
        table, stays = seen.draft.table, seen.draft.table.stay_dates
        assert stays is not None
        class_of, classes = seen.apart
        gathered = histories.gather(
            table.events,
            table.person,
            class_of,
            classes,
            asked.weights,
            asked.promise.of,
            histories.Times(stays.day, stays.anchor >= 0, None),
        )
        known = stays.first[stays.first != NO_DATE]
        most = max(int(stays.last.max() - known.min()), LEAST_RANGE)
        return cls(seen, asked, gathered, asked.offset_of(table, most), most)

    def rows(self, found: histories.Solution) -> _Rows:
        """The rows, their codes as they are found; a reader sees of which table each is."""
        table, gathered = self.seen.draft.table, self.gathered
        stays, part = table.stay_dates, table.part_of
        assert stays is not None
        assert part is not None
        class_of, classes = self.seen.apart
        order = np.argsort(table.person[gathered.told], kind="stable")
        record = gathered.told[order]
        slot = gathered.slot_of_record[order]
        own = gathered.labels[slot, found.rung[slot]]
        label, _ = group(
            [class_of[record].astype(np.int32), part[record], own],
            [classes, int(part.max()) + 1, int(own.max(initial=0)) + 1],
        )
        of_class = np.zeros(table.persons, dtype=np.int64)
        of_class[table.person] = class_of
        # Whoever was born within the days of the file was not there before.
        late = np.zeros(classes, dtype=np.bool_)
        late[class_of[stays.born]] = True
        place = np.full(table.records + 1, MISSING, dtype=np.int64)
        place[record] = np.arange(len(record))
        anchor = place[stays.place][record]
        anchor[late[class_of[record]]] = MISSING
        groups = np.full(len(record), MISSING, dtype=np.int64)
        has = anchor >= 0
        alike = _bundles(
            label.astype(np.int64), slot, np.flatnonzero(anchor == np.arange(len(record)))
        )
        groups[has] = np.unique(alike[anchor[has]], return_inverse=True)[1]
        delays = stays.delays[:, record]
        _, shows = np.unique(delays, axis=1, return_inverse=True)
        before, after = self._room(record, delays)
        events = known_events.event_codes(table)
        assert events is not None
        person = table.person[record].astype(np.int64)
        on = np.where(has, stays.day[record], -FAR)
        keys = np.stack([person, part[record], events.codes[record], on, shows.ravel()])
        _, event = np.unique(keys, axis=1, return_inverse=True)
        is_anchor = anchor == np.arange(len(record))
        return _Rows(
            record,
            person,
            label.astype(np.int64),
            groups,
            stays.day[record],
            shows.ravel(),
            is_anchor,
            is_anchor | (delays == NO_DATE).all(axis=0),
            before,
            after,
            event.ravel(),
            tuple(parent[record].astype(np.int64) for parent in table.parents),
            of_class,
            (self.most - self.offset, self.most + self.offset),
        )

    def _room(self, record: Ints, delays: Ints) -> tuple[Ints, Ints]:
        """As in `_Rows`: of the day of the stay, and of the dates of each row."""
        stays, part = self.seen.draft.table.stay_dates, self.seen.draft.table.part_of
        assert stays is not None
        assert part is not None
        own, day = part[record], stays.day[record]
        has = delays != NO_DATE
        earlier = np.where(has, day + delays - stays.first[:, own], FAR)
        later = np.where(has, stays.last[:, own] - day - delays, FAR)
        return (
            np.stack([earlier[0], earlier.min(axis=0)]),
            np.stack([later[0], later.min(axis=0)]),
        )

    def protected(
        self, share: float, codes: event_protection.Protection
    ) -> event_protection.Protection | None:
        """Codes that use a part of what may be found, with dates; ``None`` where none keep it."""
        promise, gathered = self.asked.promise, self.gathered
        part = KnownEvents(promise.m, promise.risk * share, p95=promise.p95 * share)

        def holds(found: histories.Solution) -> bool:
            search = _Search(self.rows(found), part)
            many = range(part.m, 0, -1)
            return histories.keeps(
                part,
                (event_protection.reached(search.told(search.nothing, m), part, m) for m in many),
            )

        pricing = histories.Pricing.about(codes.price)
        found = histories.solve(gathered, part, holds, None, pricing)
        if found is None:
            return None
        search = _Search(self.rows(found), promise)
        best = search.descended()
        kept = event_protection.protection_of(found, self.seen)
        events = known_events.event_codes(self.seen.draft.table)
        assert events is not None
        # Whoever knows no dates is asked for other sets: codes that differ.
        told = event_protection.chances(events, self.seen, kept.shown, promise)
        if not (best.ways.any() and histories.keeps(promise, [*best.reached, *told])):
            return None
        return replace(
            kept,
            lost=_lost(kept.lost, best.lost),
            table_dates=self.dates(search.rows, best.ways),
            measure=partial(
                event_protection.dated_risk, partial(search.told, best.ways), promise.m, events
            ),
        )

    def dates(self, rows: _Rows, ways: Ints) -> TableDates:
        """How the dates of all records are written."""
        table = self.seen.draft.table
        stays = table.stay_dates
        assert stays is not None
        way, shows = np.zeros(table.records, np.int64), np.full(table.records, -1, np.int64)
        of_row = rows.way(ways)
        way[rows.record], shows[rows.record] = of_row, rows.shown(of_row)
        # A record that says nothing of an event may belong to a stay that is dated.
        dated = np.append(way > NOTHING, False)[stays.place]
        when = When(stays.day, dated, shows, *rows.reach(of_row))
        anchor = np.zeros(table.records, dtype=np.bool_)
        anchor[rows.record] = rows.is_anchor
        written = np.where(
            (way == ALL)[None, :], stays.delays, np.where((way == STAY) & anchor, 0, NO_DATE)
        )
        written[1:, way == STAY] = NO_DATE
        offset = self.offset[table.person]
        return TableDates(stays.record, stays.day + offset, written, way == ALL, when)


def _bundles(label: Ints, slot: Ints, anchors: Ints) -> Ints:
    """Which rows with the day of a stay are written alike: some codes of one label, -1 of others.

    One code alone would mostly be the first of its label that is dated, and stand out by that.
    """
    slots, of, number = np.unique(slot[anchors], return_inverse=True, return_counts=True)
    shown = np.zeros(len(slots), dtype=np.int64)
    shown[of] = label[anchors]
    order = np.lexsort((-number, shown))
    total = np.bincount(shown, number)
    # Of each code, the share of those of its label that come before it.
    before = np.cumsum(number[order]) - number[order]
    starts = np.flatnonzero(np.diff(shown[order], prepend=-1))
    before -= np.repeat(before[starts], np.diff(np.append(starts, len(order))))
    bundle = np.empty(len(slots), dtype=np.int64)
    bundle[order] = before * BUNDLES // total[shown[order]]
    bundles = np.full(len(label), MISSING, dtype=np.int64)
    bundles[anchors] = label[anchors] * BUNDLES + bundle[of]
    return bundles


def _lost(codes: float, dates: float) -> float:
    """What is lost of both: 1 - the geometric mean of what is kept of each.

    Histories without dates serve as little as dates of nothing: one is not given for the other.
    """
    return 1 - float(np.sqrt((1 - codes) * (1 - dates)))
