"""Dates of the tables of a database: how finely each is written.

Within a class all dates of one table beside one written code have a precision: the day, a period of
days, or nothing. It is found after the codes, by what it gains and what it costs: from nothing on,
at ever lower prices of a person found, as far as the promise is kept by two events with the days
between them. Codes are written a little less exactly to make room for dates, where all together
loses less then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.engines.embedded.counts import group
from sfumato.release import event_protection, histories
from sfumato.release.dated_rows import NEVER, Marks, Rows, Written
from sfumato.release.event_dates import LEAST_RANGE, DateScheme, Dating, TableDates, date_schemes
from sfumato.release.promises.promise import TOLERANCE
from sfumato.release.promises.shared_events import KnownEvents, Success
from sfumato.release.techniques import Technique
from sfumato.risk import known_events
from sfumato.table.table import MISSING, Table

DEAREST, CHEAPEST, CHEAPER = 16.0, 1 / 64, 2.0
"""Prices of what is promised, in what is lost of persons, between which the search looks, and its
step."""
EXCEEDING = 0.05
"""Share of the persons who may exceed the percentile."""
SHARES = (0.75, 0.5, 0.25)
"""Which part of what may be found is left to the codes, in the order in which they are tried."""
MOST_PAIRS = 1 << 24
"""Pairs of rows of a person beyond which no date is looked at: each takes about 200 bytes."""


@dataclass(frozen=True, eq=False)
class _Steps:
    """What may be written more finely, and what it gains.

    Attributes
    ----------
    periods
        Days to which a date may be written, and what is lost by each; the last is 0, not at all.
    group
        The group of each row that has a date of its own, -1 of others; shape (rows,).
    counted
        The group that dates each row, -1 for none; shape (rows,).
    class_of
        Class of each group; shape (groups,).
    """

    periods: tuple[int, ...]
    losses: Floats
    group: Ints
    counted: Ints
    class_of: Ints

    @classmethod
    def of(cls, rows: Rows, label: Ints, schemes: Sequence[DateScheme]) -> _Steps:
        """The groups of rows whose dates are written alike: those of one label of a class."""
        nearest = rows.sources[0]
        own = np.flatnonzero(nearest == np.arange(len(label)))
        labels, group = np.unique(label[own], return_inverse=True)
        of_row = np.full(len(label), MISSING, dtype=np.int64)
        of_row[own] = group
        class_of = np.empty(len(labels), dtype=np.int64)
        class_of[group] = rows.class_of[own]
        losses = np.array([*(each.loss for each in schemes), 1.0])
        counted = np.where(nearest >= 0, of_row[nearest], MISSING)
        return cls((*(each.period for each in schemes), 0), losses, of_row, counted, class_of)


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for the periods of all groups."""

    written: Written
    promise: KnownEvents
    steps: _Steps

    @cached_property
    def pair_weights(self) -> Floats:
        """How much each pair counts in the mean of its person; shape (pairs,)."""
        at, number, person = self.written.rows.known
        people = len(self.written.rows.classes)
        same = np.bincount(number, minlength=len(person))[number]
        weights = np.zeros(len(self.written.rows.pairs[0]))
        weights[at] = 1 / (same * np.bincount(person, minlength=people)[person[number]])
        return weights

    @cached_property
    def per_row(self) -> Floats:
        """The share of its person that each row is; shape (rows,)."""
        rows = self.written.rows
        return 1.0 / rows.of_person[rows.person]

    def fineness(self, way: Ints) -> Ints:
        """Days to which the date of each row is written, each group in its way; shape (rows,)."""
        days, group = np.array([*self.steps.periods]), self.steps.group
        fineness: Ints = np.where(group >= 0, days[way[group]], 0)
        return fineness

    def lost_of_person(self, way: Ints) -> Floats:
        """What is lost of the dates of each person; shape (persons,)."""
        rows, group = self.written.rows, self.steps.counted
        of_row = np.where(group >= 0, self.steps.losses[way[group]], 1.0)
        lost = np.bincount(rows.person, of_row * self.per_row, len(rows.classes))
        return lost.astype(np.float64)

    def descended(self) -> _Dated:
        """What the lowest price writes that keeps the promise, in some classes the next lower."""
        good = _Dated(self, np.full(len(self.steps.class_of), len(self.steps.periods) - 1))
        state = _State(self, good.way.copy())
        price = DEAREST
        while price >= CHEAPEST:
            state.spend(price)
            found = _Dated(self, state.way.copy())
            if not histories.keeps(self.promise, found.reached):
                return self._filled(good, found)
            good = found
            price /= CHEAPER
        return good

    def _filled(self, good: _Dated, bad: _Dated) -> _Dated:
        """The better way, with as many classes of the cheaper one as the promise allows."""
        rows = self.written.rows
        classes = int(rows.classes.max()) + 1
        extra = bad.means[-1] - good.means[-1]
        fewer = good.lost_of_person - bad.lost_of_person
        gain, cost = (np.bincount(rows.classes, each, classes) for each in (fewer, extra))
        order = np.argsort(-gain / np.maximum(cost, TOLERANCE), kind="stable")
        rank = np.empty(classes, dtype=np.int64)
        rank[order] = np.arange(classes)

        def kept(number: int) -> bool:
            # Classes do not touch each other's chances.
            cheap = rank[rows.classes] < number
            both = zip(bad.means, good.means, strict=True)
            means = [np.where(cheap, one, other) for one, other in both]
            return histories.keeps(self.promise, self.reached(means))

        low, high = 0, classes
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if kept(middle) else (low, middle)
        return _Dated(self, np.where(rank[self.steps.class_of] < low, bad.way, good.way))

    def reached(self, means: Sequence[Floats]) -> list[histories.Reached]:
        """The mean and the 95th percentile of persons' chances, by one event first."""
        many = self.written.rows.events_of_person
        return [histories.worse(each, many >= m) for m, each in enumerate(means, 1)]


@dataclass(frozen=True, eq=False)
class _Dated:
    """Groups that are written in some way each.

    Attributes
    ----------
    way
        Place of each group's period among those that are tried; shape (groups,).
    """

    search: _Search
    way: Ints

    @cached_property
    def written(self) -> Written:
        """The rows as they are written."""
        return replace(self.search.written, fineness=self.search.fineness(self.way))

    @cached_property
    def means(self) -> list[Floats]:
        """The mean chance of each person by one event, and by two where these are promised."""
        return [mean_chances(self.written, m) for m in range(1, self.search.promise.m + 1)]

    @cached_property
    def reached(self) -> list[histories.Reached]:
        """As `_Search.reached`."""
        return self.search.reached(self.means)

    @cached_property
    def lost_of_person(self) -> Floats:
        """What is lost of the dates of each person, all of who has none; shape (persons,)."""
        return self.search.lost_of_person(self.way)

    @property
    def lost(self) -> float:
        """Share of what dates say that is lost, each person with events counting alike."""
        return float(self.lost_of_person[self.search.written.rows.of_person > 0].mean())


def mean_chances(written: Written, m: int) -> Floats:
    """The mean chance of each person to be found by m of its events; shape (persons,)."""
    told = written.told(m)
    means = np.bincount(told.person, told.found * told.weight, len(told.events))
    return means.astype(np.float64)


class _State:
    """Groups as they are written so far, and what each finer way would cost, as far as is known."""

    def __init__(self, search: _Search, way: Ints) -> None:
        self._search, self.way = search, way
        steps, rows = search.steps, search.written.rows
        self._written = replace(search.written, fineness=search.fineness(way))
        self._chance = self._written.chances(np.arange(len(rows.pairs[0])))
        people = len(rows.classes)
        one, _ = rows.pairs
        self._mean = np.bincount(rows.person[one], self._chance * search.pair_weights, people)
        ways = len(steps.periods)
        self._cost = np.zeros((len(way), ways))
        at = np.flatnonzero(steps.counted >= 0)
        self._worth = np.bincount(steps.counted[at], search.per_row[at], len(way))

    def spend(self, price: float) -> None:
        """Write groups more finely where that gains more than it costs at a price.

        In every class the group that promises most is looked at, until none promises anything.
        """
        steps = self._search.steps
        classes = int(steps.class_of.max(initial=-1)) + 1
        while True:
            gain = self._worth[:, None] * (steps.losses[self.way][:, None] - steps.losses)
            profit = np.where(gain > 0, gain - price * self._cost, 0.0)
            best = profit.argmax(axis=1)
            value = profit[np.arange(len(best)), best]
            order = np.lexsort((-value, steps.class_of))
            first = order[np.flatnonzero(np.diff(steps.class_of[order], prepend=-1))]
            chosen = first[value[first] > 0]
            if not len(chosen):
                return
            self._try(chosen, best[chosen], gain[chosen, best[chosen]], price, classes)

    def _try(self, groups: Ints, ways: Ints, gain: Floats, price: float, classes: int) -> None:
        """Look at one way for one group in each of some classes, and keep what is worth it."""
        search, rows, written = self._search, self._search.written.rows, self._written
        way = self.way.copy()
        way[groups] = ways
        new = replace(written, fineness=search.fineness(way))
        moved = np.flatnonzero((written.period != new.period) | (written.source != new.source))
        touched = np.zeros(int(written.label.max()) + 1, dtype=np.bool_)
        touched[written.label[moved]] = True
        one, other = rows.pairs
        pairs = np.flatnonzero(touched[written.label[one]] | touched[written.label[other]])
        chance = new.chances(pairs)
        more = (chance - self._chance[pairs]) * search.pair_weights[pairs]
        mean = self._mean + np.bincount(rows.person[one[pairs]], more, len(rows.classes))
        p95 = search.promise.p95
        over = (mean > p95).astype(np.float64) - (self._mean > p95)
        dearer = (mean - self._mean) / search.promise.risk + over / EXCEEDING
        cost = np.bincount(rows.classes, dearer, minlength=classes)[search.steps.class_of[groups]]
        self._cost[groups, ways] = np.maximum(cost, 0.0)
        worth = gain > price * cost
        kept = np.zeros(classes, dtype=np.bool_)
        kept[search.steps.class_of[groups[worth]]] = True
        self.way[groups[worth]] = ways[worth]
        self._written = replace(written, fineness=search.fineness(self.way))
        own = kept[rows.classes]
        self._mean = np.where(own, mean, self._mean)
        mine = kept[rows.class_of[one[pairs]]]
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
    def schemes(self) -> list[DateScheme]:
        """The ways to write a date that say anything, by what they lose."""
        if self.promise.k or self.promise.of is not Success.FOUND:
            return []
        every = date_schemes(self.weights)
        return [each for each in every if each.dating is Dating.SHIFTED and each.loss < 1]


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
    may_widen = bool(asked.schemes) and Technique.WIDEN in asked.weights
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
    if not asked.schemes or table.moments is None:
        return found
    seen = event_protection.Seen(found.made.draft, found.made.pseudonym_of)
    told = _Told.of(seen, asked)
    many = told.rows.of_person
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
    place
        Place of each row among the records that ``gathered`` tells of; shape (rows,).
    """

    seen: event_protection.Seen
    asked: Asked
    gathered: histories.Gathered
    rows: Rows
    marks: Marks
    place: Ints

    @classmethod
    def of(cls, seen: event_protection.Seen, asked: Asked) -> _Told:
        """The events of a draft: a code on a day."""
        table, moments = seen.draft.table, seen.draft.table.moments
        assert moments is not None
        class_of, classes = seen.apart
        days = np.append(moments.day, 0)[moments.places[0]]
        gathered = histories.gather(
            table.events,
            table.person,
            class_of,
            classes,
            asked.weights,
            asked.promise.of,
            histories.Times(days, moments.places[0] >= 0, None),
        )
        rows = _rows_of(seen, gathered.told, days)
        own = moments.day[moments.own]
        first, last = int(own.min()), int(own.max())
        most = max(last - first, LEAST_RANGE)
        marks = Marks(first, last, asked.offset_of(table, most), most)
        place = np.empty(table.records, dtype=np.int64)
        place[gathered.told] = np.arange(len(gathered.told))
        return cls(seen, asked, gathered, rows, marks, place[rows.record])

    def written(self, found: histories.Solution) -> Written:
        """The rows without dates, codes as they are found; a reader sees of which table each is."""
        slot = self.gathered.slot_of_record[self.place]
        part = self.seen.draft.table.part_of
        assert part is not None
        own = self.gathered.labels[slot, found.rung[slot]]
        label, _ = group(
            [self.rows.class_of.astype(np.int32), part[self.rows.record], own],
            [self.seen.apart[1], int(part.max()) + 1, int(own.max()) + 1],
        )
        nothing = np.zeros(len(label), dtype=np.int64)
        return Written(self.rows, self.marks, label.astype(np.int64), nothing)

    def protected(
        self, share: float, codes: event_protection.Protection
    ) -> event_protection.Protection | None:
        """Codes that use a part of what may be found, with dates; ``None`` where none keep it."""
        promise, gathered = self.asked.promise, self.gathered
        part = KnownEvents(promise.m, promise.risk * share, p95=promise.p95 * share)

        def holds(found: histories.Solution) -> bool:
            written = self.written(found)
            many = range(part.m, 0, -1)
            return histories.keeps(
                part, (event_protection.reached(written.told(m), part, m) for m in many)
            )

        pricing = histories.Pricing.about(codes.price)
        found = histories.solve(gathered, part, holds, None, pricing)
        if found is None:
            return None
        written = self.written(found)
        dated = _Search(written, promise, _Steps.of(self.rows, written.label, self.asked.schemes))
        best = dated.descended()
        kept = event_protection.protection_of(found, self.seen)
        events = known_events.event_codes(self.seen.draft.table)
        assert events is not None
        # Whoever knows no dates is asked for other sets: codes that differ.
        told = event_protection.chances(events, self.seen, kept.shown, promise)
        if not (best.written.fineness.any() and histories.keeps(promise, told)):
            return None
        return replace(
            kept,
            lost=_lost(kept.lost, best.lost),
            table_dates=self.dates(best.written),
            measure=partial(event_protection.dated_risk, best.written.told, promise.m, events),
        )

    def dates(self, written: Written) -> TableDates:
        """How the dates of all records are written."""
        table = self.seen.draft.table
        assert table.moments is not None
        period, shown = (np.zeros(table.records, dtype=np.int64) for _ in range(2))
        at = np.flatnonzero(written.fineness > 0)
        period[self.rows.record[at]] = written.fineness[at]
        shown[self.rows.record[at]] = written.shown[at]
        return TableDates(table.moments.record, period, shown, self.marks.most)


def _lost(codes: float, dates: float) -> float:
    """What is lost of both: 1 - the geometric mean of what is kept of each.

    Histories without dates serve as little as dates of nothing: one is not given for the other.
    """
    return 1 - float(np.sqrt((1 - codes) * (1 - dates)))


def _rows_of(seen: event_protection.Seen, told: Ints, days: Ints) -> Rows:
    """The rows of events of a draft.

    Parameters
    ----------
    days
        The day of the date that is nearest to each record.
    """
    table, moments = seen.draft.table, seen.draft.table.moments
    events = known_events.event_codes(table)
    assert moments is not None
    assert table.part_of is not None
    assert events is not None
    record = told[np.argsort(table.person[told], kind="stable")]
    place = np.full(table.records + 1, MISSING, dtype=np.int64)
    place[record] = np.arange(len(record))
    class_of, _ = seen.apart
    classes = np.zeros(table.persons, dtype=np.int64)
    classes[table.person] = class_of
    nearest = np.where(moments.places[0] >= 0, days, -NEVER)
    keys = np.stack([table.person, table.part_of, events.codes, nearest])[:, record]
    _, event = np.unique(keys, axis=1, return_inverse=True)
    return Rows(
        record,
        table.person[record].astype(np.int64),
        class_of[record].astype(np.int64),
        moments.day[record],
        tuple(place[each[record]] for each in moments.places),
        event.ravel(),
        tuple(parent[record].astype(np.int64) for parent in table.parents),
        classes,
    )
