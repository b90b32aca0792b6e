"""The promise about known events, kept and measured on classes: how wide they are, what is written.

Wider classes lose of the quasi-identifiers and gain for the events. Classes are widened step by
step, each time with the events written as exactly as the promise allows, until both together lose
more; what is kept is then measured as in every assessment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.errors import ConstraintsNotMetError
from sfumato.core.measure import Measure
from sfumato.engines.embedded.counts import group
from sfumato.kernels.class_counts import count_holders
from sfumato.kernels.history_loops import Rungs
from sfumato.release import event_dates, histories
from sfumato.release.information_loss import normalized_error
from sfumato.release.partitioning import Draft
from sfumato.release.promises.shared_events import KnownEvents, Success
from sfumato.release.techniques import Technique
from sfumato.risk import known_events
from sfumato.risk.tied_events import Ties
from sfumato.schema import Event, EventKind
from sfumato.table.table import MISSING, Codes, EventColumn, LabelDomain, Table

LOOKED_AT, FEWEST_LOOKED_AT, HOPELESS = 8, 1000, 1.5
"""Of how many classes one is looked at first, of how many persons at least, and by how much its
mean chance must be too high."""
WIDENING = 1.6
"""By how much the least number of persons of a class grows from one attempt to the next."""
WIDEN_COUNTS = 3.0
"""How much the loss of the quasi-identifiers counts, as a share of what one class for all would
lose, beside what events lose."""
DRAWN: tuple[known_events.Drawn, ...] = ("random", "worst")
SETS_OF_A_PERSON = 30
"""Sets of three known events or more of a person that are looked at, where all are more."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What a reader sees of a draft, and what is known of numbers of records.

    Attributes
    ----------
    counts
        What is told apart of the number of records of a pseudonym; ``None`` where none is known.
    """

    draft: Draft
    pseudonym_of: Codes
    counts: known_events.Told | None = None

    @cached_property
    def apart(self) -> tuple[Codes, int]:
        """Where an event is written in one way: the class of each record, and how many there are.

        Of people who are told apart by their number of records, each number by itself; a person of
        several pseudonyms may have several numbers.
        """
        of, classes = self.draft.class_of, self.draft.classes
        if self.counts is None or self.is_divided:
            return of, classes
        number = self.counts(np.bincount(self.pseudonym_of))[self.pseudonym_of]
        return group([of, number], [classes, int(number.max()) + 1])

    @cached_property
    def is_divided(self) -> bool:
        """Whether people have several pseudonyms."""
        return not np.array_equal(self.pseudonym_of, self.draft.table.person)


@dataclass(frozen=True, eq=False)
class Protection:
    """What is written of the events of a draft, and what was measured.

    Attributes
    ----------
    cells
        The columns of events that say less than they did; shape (records,) each.
    lost
        Share of what events say that is lost, each person counting alike.
    dates
        How dates are written; ``None`` without any.
    price
        Of a person found, as `histories.Solution` has it.
    measure
        Says what an assessment says of it, where there are dates: their intervals are known, too.
    """

    cells: Mapping[str, pa.Array]
    shown: known_events.Shown
    done: Mapping[str, Mapping[str, float]]
    exact: Bools
    lost: float
    pseudonym_of: Codes
    dates: event_dates.Dates | None = None
    price: float | None = None
    measure: Callable[[], known_events.EventRisk] | None = None


def protect(
    seen: Seen,
    promise: KnownEvents,
    weights: Mapping[Technique, float],
    offset_of: Callable[[int], Ints],
    below: float = np.inf,
    pricing: histories.Pricing = histories.USUAL,
) -> Protection | None:
    """Write the events of classes as exactly as the promise allows; ``None`` where none is enough.

    Parameters
    ----------
    offset_of
        The offset of each person, as days of at most so many either way.
    below
        What dates may not lose: other ways to write them are not looked at.
    pricing
        As in `histories.solve`; what is found roughly is not counted again.
    """
    table = seen.draft.table
    dated = [event for event in table.events if event.event.kind is EventKind.DATE]
    columns = [event for event in table.events if event.event.kind is not EventKind.DATE]
    if not dated:
        return _protect(seen, columns, promise, weights, None, pricing)
    first, *others = dated
    columns += [known_events.interval_column(first, other) for other in others]
    best: Protection | None = None
    weekdays_tell = event_dates.weekdays_tell(first, table.person)
    for scheme in event_dates.date_schemes(weights):
        if weekdays_tell and scheme.has_days and scheme.period % 7:
            continue
        # Schemes come by rising loss of the dates alone, so that no later one can lose less than
        # this.
        if scheme.loss / (len(columns) + 1) >= (below if best is None else min(below, best.lost)):
            break
        dates = event_dates.dates_by(first, scheme, table.person, offset_of)
        protection = _protect(seen, columns, promise, weights, dates, pricing)
        if protection is not None:
            lost = (len(columns) * protection.lost + scheme.loss) / (len(columns) + 1)
            cells, shown = dict(protection.cells), dates.cells()
            if shown is not None:
                cells[first.name] = shown
            done = {name: of for name, of in protection.done.items() if name}
            done[first.name] = {scheme.words: 1.0}
            for other in others:
                done[other.name] = _as_intervals(done[other.name], first, other)
            if best is None or lost < best.lost:
                best = replace(protection, cells=cells, done=done, lost=lost, dates=dates)
    return best


def _as_intervals(
    done: Mapping[str, float], first: EventColumn, other: EventColumn
) -> dict[str, float]:
    """What was done of a second date, whose levels are numbers of days after the first."""
    widths = known_events.interval_widths(max(first.event.days, other.event.days))
    periods = {"exact": "days"} | {
        f"level {place}": event_dates.PERIODS.get(width, f"{width} days")
        for place, width in enumerate(widths, 1)
    }
    return {
        f"{event_dates.AFTER}{first.name}, {periods[way]}" if way in periods else way: share
        for way, share in done.items()
        if share or way == "exact"
    }


def _protect(
    seen: Seen,
    columns: Sequence[EventColumn],
    promise: KnownEvents,
    weights: Mapping[Technique, float],
    dates: event_dates.Dates | None,
    pricing: histories.Pricing,
) -> Protection | None:
    """The same with dates written in one way."""
    pseudonym_of, table = seen.pseudonym_of, seen.draft.table
    class_of, classes = seen.apart
    events = known_events.event_codes(table)
    assert events is not None
    gathered = histories.gather(
        columns or [_without_codes(table.records)],
        pseudonym_of,
        class_of,
        classes,
        weights if columns else {},
        promise.of,
        None if dates is None else dates.times,
    )

    dated = None if dates is None else _Dated(gathered, dates, pseudonym_of, promise)

    def parted(found: histories.Solution) -> Seen:
        return replace(seen, pseudonym_of=found.pseudonyms(pseudonym_of))

    def measured(found: histories.Solution, shown: known_events.Shown | None = None) -> Chances:
        if dated is not None:
            return dated.chances(found.rung)
        return chances(events, seen, shown or _shown(found, parted(found)), promise)

    def holds(found: histories.Solution) -> bool:
        if dated is not None and dated.is_hopeless(found.rung):
            return False
        return histories.keeps(promise, measured(found))

    # What the search counts is what is measured, but for people of several pseudonyms.
    exactly = dates is None and promise.m <= 2 and not any(column.event.level for column in columns)
    exactly = exactly and not seen.is_divided and not table.parents
    found: histories.Solution | None
    if promise.k:
        found, broken = histories.solve_shared(gathered, promise.k, promise.m)
        if len(broken) and (dates is not None or Technique.SPLIT_PSEUDONYMS not in weights):
            return None
        # Nothing is said of their events, and each stands alone.
        pseudonym_of = _each_alone(pseudonym_of, np.isin(class_of, broken))
    else:
        # Several pseudonyms hide nothing from who looks for the person, only what is beside.
        learned = dates is None and promise.of is Success.LEARNED
        apart = weights.get(Technique.SPLIT_PSEUDONYMS) if learned else None
        asked = None if exactly else holds
        found = histories.solve(gathered, promise, asked, apart, pricing)
        if found is None:
            return None
        if not (exactly or pricing.is_rough or histories.keeps(promise, measured(found))):
            return None
        pseudonym_of = found.pseudonyms(pseudonym_of)
    shown = _shown(found, replace(seen, pseudonym_of=pseudonym_of))
    # Who has most of the records of a class is found by any of them, each alone or not.
    if promise.k and not histories.keeps(promise, measured(found, shown)):
        return None
    cells = histories.written(gathered, found.rung, table.source)
    exact = np.ones(table.records, dtype=np.bool_)
    exact[gathered.told] = found.rung[gathered.slot_of_record] == 0
    risk = None if dated is None else partial(_dated_risk, dated, found.rung, promise.m, events)
    return Protection(
        cells,
        shown,
        _done(gathered, found),
        exact,
        found.lost,
        pseudonym_of,
        price=found.price,
        measure=risk,
    )


def _without_codes(records: int) -> EventColumn:
    """A column that says nothing, where events are dates alone."""
    domain = LabelDomain(("",))
    return EventColumn("", np.full(records, MISSING, dtype=np.int32), 1, Event(), domain)


Chances = Iterator[tuple[float, float]]
"""Mean and 95th percentile by each number of known events, the largest first."""


@dataclass(frozen=True, eq=False)
class _SetShares:
    """What sets of known events tell of persons; an entry per set.

    Attributes
    ----------
    events
        Number of distinct events of each person; shape (persons,).
    """

    person: Codes
    weight: Floats
    found: Floats
    learned: Floats
    events: Ints


class _Dated:
    """Events with their dates, and what sets of known ones tell of persons."""

    def __init__(
        self,
        gathered: histories.Gathered,
        dates: event_dates.Dates,
        pseudonym_of: Codes,
        promise: KnownEvents,
    ) -> None:
        self._gathered, self._promise = gathered, promise
        self._of = partial(event_dates.dated_events, gathered, dates, pseudonym_of)
        starts = gathered.events.slot_start
        classes = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        self._class_of_slot = classes.astype(np.int32)
        self._kept: dict[tuple[int, bytes], _SetShares] = {}

    @cached_property
    def _every(self) -> event_dates.DatedEvents:
        return self._of()

    def told(self, rung: Rungs, m: int) -> _SetShares:
        """What sets of m events tell where slots are at some rungs."""
        key = m, rung.tobytes()
        if key not in self._kept:
            # Only of the last way of writing: each has sets of its own for every m, and the search
            # seldom returns to one.
            self._kept = {each: told for each, told in self._kept.items() if each[1] == key[1]}
            self._kept[key] = self._told(self._every, rung, m)
        return self._kept[key]

    def _told(self, events: event_dates.DatedEvents, rung: Rungs, m: int) -> _SetShares:
        persons, sets, weight = known_sets(events.start, m)
        label = self._gathered.labels[np.arange(len(rung)), rung]
        label, _ = group([self._class_of_slot, label], [len(label) + 1, int(label.max()) + 1])
        chance = 1.0 / events.candidates(label, sets)
        more = np.diff(events.shown.start)[persons] > (sets >= 0).sum(axis=1)
        learned = np.where(more, chance, 0.0)
        return _SetShares(persons, weight, chance, learned, np.diff(events.start))

    def chances(self, rung: Rungs) -> Chances:
        """What up to as many events reach as are promised, intervals between dates known."""
        promise = self._promise
        # The most known events first: they break the promise most often, and nothing after that is
        # counted.
        return (_reached(self.told(rung, m), promise, m) for m in range(promise.m, 0, -1))

    def is_hopeless(self, rung: Rungs) -> bool:
        """Whether a part of the classes has a chance so far off that the others need no look."""
        starts = self._gathered.events.unit_start
        classes = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        # Whole classes, as a chance depends on all persons of a class.
        some = classes % LOOKED_AT == 0
        if self._promise.k or some.sum() < FEWEST_LOOKED_AT:
            return False
        part = self._told(self._of(some), rung, self._promise.m)
        return _reached(part, self._promise, self._promise.m)[0] > HOPELESS * self._promise.risk


def _dated_risk(
    dated: _Dated, rung: Rungs, most: int, events: known_events.EventCodes
) -> known_events.EventRisk:
    """What an assessment says of a release with dates: their intervals count as known."""
    risks: list[known_events.KnownEventRisk] = []
    units = len(dated.told(rung, 1).events)
    for m in range(1, max(most, 2) + 1):
        told = dated.told(rung, m)
        several = told.events >= m
        exact = bool(several.sum() == 0) or m <= 2
        for drawn in DRAWN:
            each = (told.found, told.learned, (told.found == 1).astype(np.float64))
            shares = [_of_persons(told, one, drawn, units) for one in each]
            name = f"_{m}" if drawn == "random" else f"_{m}_worst"
            with_m = float(shares[0][several].mean()) if several.any() else 0.0
            found, learned, alone = (
                Measure(what + name, float(share.mean()))
                for what, share in zip(("found", "learned", "alone"), shares, strict=True)
            )
            risks.append(
                known_events.KnownEventRisk(
                    m,
                    drawn,
                    found,
                    learned,
                    alone,
                    with_m=Measure("found_with" + name, with_m),
                    persons=units,
                    exact=exact,
                    **known_events.upper_chances(name, shares[0], shares[1], several),
                )
            )
    return known_events.EventRisk(events.columns, events.named, False, units, tuple(risks), (), 0)


def _of_persons(told: _SetShares, chance: Floats, drawn: str, persons: int) -> Floats:
    """The mean, or the largest, chance of each person over sets of known events."""
    if drawn == "random":
        mean = np.bincount(told.person, chance * told.weight, minlength=persons)
        return mean.astype(np.float64)
    worst = np.zeros(persons)
    np.maximum.at(worst, told.person, chance)
    return worst


def _each_alone(pseudonym_of: Codes, alone: Bools) -> Codes:
    """Pseudonyms, some records having one of their own."""
    own = np.where(alone, pseudonym_of.max() + 1 + np.arange(len(alone)), pseudonym_of)
    return np.unique(own, return_inverse=True)[1].astype(np.int32)


def _shown(found: histories.Solution, seen: Seen) -> known_events.Shown:
    """What an intruder sees of each record's events."""
    gathered = found.gathered
    labels = np.full(seen.draft.table.records, MISSING, dtype=np.int32)
    own = gathered.slot_of_record
    labels[gathered.told] = gathered.labels[own, found.rung[own]]
    pseudonym = seen.pseudonym_of if seen.is_divided else None
    return known_events.Shown(labels, labels, labels, pseudonym, silent=gathered.silent)


def _reached(told: _SetShares, promise: KnownEvents, m: int) -> tuple[float, float]:
    """As `histories.worse`, of sets of m events, of which those of some persons are drawn.

    The highest chance of all instead of both where k is promised.
    """
    person, weight, events = told.person, told.weight, told.events
    if promise.k:
        return float(told.found.max(initial=0)), float(told.found.max(initial=0))
    chance = told.learned if promise.of is Success.LEARNED else told.found
    mean, square = (
        np.bincount(person, weight * each, minlength=len(events)).astype(np.float64)
        for each in (chance, chance**2)
    )
    drawn = np.array([_are_drawn(many, m) for many in range(int(events.max(initial=0)) + 1)])
    # The mean of n drawn sets has the variance s²/n, with s² = n/(n - 1) · (mean of squares -
    # squared mean).
    variance = np.where(drawn[events], (square - mean**2) / (SETS_OF_A_PERSON - 1), 0.0)
    return histories.worse(mean, events >= m, np.maximum(variance, 0.0))


def _done(gathered: histories.Gathered, found: histories.Solution) -> dict[str, dict[str, float]]:
    """The share of the records at each level of each column, by what is written."""
    done = {}
    rung = found.rung[gathered.slot_of_record]
    for at, each in enumerate(gathered.levels):
        level = np.array([rung.levels[at] for rung in gathered.rungs])[rung]
        codes = gathered.code_of_slot[at][gathered.slot_of_record]
        for name, mine in each.column.places(codes):
            own = level[mine] if each.column.parts else level
            shares = np.bincount(own, minlength=len(each.names)) / max(len(own), 1)
            done[name] = dict(zip(each.names, shares.tolist(), strict=True))
    return done


def chances(
    events: known_events.EventCodes, seen: Seen, shown: known_events.Shown, promise: KnownEvents
) -> Chances:
    """The mean and the 95th percentile of the persons' chances, for every number of known events.

    Over all persons or over those who have as many events, whichever is more. Of three events or
    more that are drawn, both are taken higher (`histories.MARGIN`).
    """
    draft = seen.draft
    holding = known_events.holding(
        events, draft.table.person, draft.class_of, draft.classes, shown, counts=seen.counts
    )
    assert shown.labels is not None
    ties = None
    if draft.table.parents:
        ties = Ties(draft.table, draft.class_of, draft.classes, shown.labels, events.codes)
    for m in range(promise.m, 0, -1):
        persons, sets, weight = known_sets(holding.known_starts, m)
        answers = known_events.with_ties(
            count_holders(holding, persons, sets), holding, persons, sets, ties
        )
        number = np.diff(holding.known_starts)
        set_shares = _SetShares(persons, weight, answers.found, answers.learned, number)
        yield _reached(set_shares, promise, m)


def known_sets(starts: Ints, m: int) -> tuple[Codes, Codes, Floats]:
    """The events that are known of each person: all sets of m, or some where they are many.

    Every person's own are drawn, the same each time.

    Parameters
    ----------
    starts
        First event of each person, and the end.
    m
        How many are known; all of a person who has fewer.

    Returns
    -------
    tuple
        The person of each set, its places, and its weight among those of the person.
    """
    counts = np.diff(starts)
    # Always the same seed, so that the search and the final check see the same sets.
    rng = np.random.default_rng(m)
    persons, sets, weights = [], [], []
    for many in np.unique(counts).tolist():
        own = np.flatnonzero(counts == many)
        if _are_drawn(many, m):
            some = known_events.drawn_sets(rng, many, m, (len(own), SETS_OF_A_PERSON))
        elif many <= m:
            some = np.array([[[*range(many), *[-1] * (m - many)]]])
        else:
            some = np.array([[*combinations(range(many), m)]])
        places = np.where(some < 0, -1, starts[own][:, np.newaxis, np.newaxis] + some)
        persons.append(np.repeat(own, some.shape[1]))
        sets.append(places.reshape(-1, m))
        weights.append(np.full(len(persons[-1]), 1 / some.shape[1]))
    return (
        np.concatenate(persons).astype(np.int32),
        np.concatenate(sets).astype(np.int32),
        np.concatenate(weights),
    )


def _are_drawn(many: int, m: int) -> bool:
    return m > 2 and comb(many, m) > SETS_OF_A_PERSON


@dataclass(frozen=True, eq=False)
class Attempt:
    """A release of classes of at least some persons.

    Attributes
    ----------
    protection
        What is written of its events; ``None`` where nothing keeps the promise.
    least
        What is lost of quasi-identifiers alone.
    """

    made: Any
    protection: Protection | None
    lost: float
    least: float
    width: int


def quasi_identifier_loss(table: Table, class_of: Codes, classes: int) -> float:
    """ANE of classes, each column as its weight says; shape of ``class_of`` (records,)."""
    columns = table.quasi_identifiers
    own = [normalized_error(column, class_of, classes, table.person)[0] for column in columns]
    return float(np.array([column.weight for column in columns]) @ own)


def widened(
    attempt: Callable[[int, float], Attempt],
    promise: KnownEvents,
    first: int,
    *,
    may_widen: bool,
    every: bool = False,
) -> Attempt:
    """The attempt that loses least, from classes as they are on to ever wider ones.

    Parameters
    ----------
    attempt
        Makes a release of classes of at least so many persons, which need not lose as much as the
        second number.
    first
        Least number of persons of a class in the first attempt.
    may_widen
        Whether classes may be wider than the other promises ask for.
    every
        Whether all widths are tried that may lose less, not only up to the first that loses more.

    Raises
    ------
    ConstraintsNotMetError
        If no width keeps the promise, or classes may not be widened and as they are do not.
    """
    best = attempt(first, np.inf)
    persons = int(best.made.draft.table.persons)
    # Classes are this wide on average already. A smaller width would only make the same ones again.
    width = max(float(first), persons / best.made.draft.classes)
    if best.protection is not None and not may_widen:
        return best
    # How dates are written changes in steps, so that a loss may rise before it falls.
    events = best.made.draft.table.events
    every = every or any(event.event.kind is EventKind.DATE for event in events)
    done = False
    while width < persons and not done:
        found = attempt(int(width), best.lost)
        if best.protection is None or found.lost < best.lost:
            best = found
        else:
            # Wider classes lose more of the quasi-identifiers. Where that alone is too much, no
            # later width is better.
            done = found.least >= best.lost or not (every or found.protection is None)
        if best.protection is not None and not may_widen:
            raise _too_narrow(promise, int(width))
        width *= WIDENING
    if best.protection is None:
        raise _too_few(promise, persons)
    return best


def _too_narrow(promise: KnownEvents, width: int) -> ConstraintsNotMetError:
    return ConstraintsNotMetError(
        (
            (
                f"known_events ({promise.known}) is not kept in classes as they are, whatever is "
                "written of their events."
            ),
        ),
        (f"classes of at least {width} people (pid_k = {width}), or the technique 'widen'",),
    )


def _too_few(promise: KnownEvents, persons: int) -> ConstraintsNotMetError:
    return ConstraintsNotMetError(
        (
            (
                f"known_events ({promise.known}) is not kept by one class of all {persons} "
                "people, whatever is written of their events."
            ),
        ),
        ("a higher risk, fewer known events, or more techniques",),
    )
