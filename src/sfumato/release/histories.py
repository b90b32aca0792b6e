"""What a release says of events, so that who knows some of a person's finds few.

Within a class every distinct event is written in one way: as it is, with a label above it, or as
``*``; whoever knows the class and the events knows how they are written. Which events, is found by
a search over all classes at one price for a person found (`sfumato.kernels.history_loops`): the
lowest price at which the promise is kept, and classes of the next lower one as far as it goes.
Where only what is learned counts, a person's records go out under several pseudonyms at the same
price, where that saves more than it loses. Where the percentile of the promise is too high and the
mean is not, those persons count more who are next below the few that may exceed it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.engines.embedded.counts import group
from sfumato.kernels.history_loops import (
    MOST_DIVIDED,
    NO_PLACE,
    Events,
    Rungs,
    divided,
    recodings,
    unit_risks,
)
from sfumato.release.promises.promise import TOLERANCE
from sfumato.release.promises.shared_events import KnownEvents, Success
from sfumato.release.techniques import Technique
from sfumato.schema import EventKind
from sfumato.table.sources import from_numpy, from_texts
from sfumato.table.table import MARK, MISSING, Codes, EventColumn

ANYTHING = "*"
ROLLED_UP = 0.9
"""What a code loses by the first label above it, of what it loses as ``*``."""
CHEAPEST, DEAREST = 0.02, 64.0
"""The prices of a person found between which the search looks."""
NEAR = 1.15
"""How near a price that is kept lies at last to one that is not."""
FIRST_SHARE, SHARES = 0.25, (0.05, 0.75)
"""How much of what is paid is for one event known at first, and at least and at most."""
AIMED = 0.047
"""Share of the persons who may exceed the 95th percentile, a little fewer than 5 %: whoever is
moved below it takes companions from others."""
PRESSED, PRESSURE, AMPLE = 2, 1.5, 1.3
"""How often persons count more at one price whose chance is too high; how much more, beside how
much too high it is; and how many of them for each that is too many."""
MARGIN = 3.0
"""Standard errors by which what drawn sets say has to stay below what is asked: the sets that say
whether it is kept are those that the search saw."""
FORBIDDING = 1e9
"""A price that nothing outweighs."""
MOST_RUNGS = 16
"""Ways to write one event that are tried."""


@dataclass(frozen=True, eq=False)
class _Rung:
    """One way to write events: a level of each column, and what is lost by it."""

    levels: tuple[int, ...]
    loss: float


@dataclass(frozen=True, eq=False)
class ColumnLevels:
    """The ways to write the values of a column of events.

    Attributes
    ----------
    texts
        What is written of each value at each level, 0 for the value itself; shape (levels, values).
    told
        What an intruder can tell of each value at each level, as far as values are known.
    losses
        What is lost at each level; 1 where nothing is said.
    """

    column: EventColumn
    names: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    told: tuple[tuple[str, ...], ...]
    losses: tuple[float, ...]

    @cached_property
    def labels(self) -> Ints:
        """Number of each text, equal texts having one; shape (levels, values + 1), last missing."""
        return _text_numbers(self.texts)

    @cached_property
    def told_labels(self) -> Ints:
        """The same of what is told."""
        return _text_numbers(self.told)


def _text_numbers(texts: Sequence[Sequence[str]]) -> Ints:
    number: dict[str, int] = {}
    rows = [[number.setdefault(text, len(number)) for text in row] for row in texts]
    return np.array([[*row, len(number)] for row in rows], dtype=np.int64)


def column_levels(column: EventColumn, weights: Mapping[Technique, float]) -> ColumnLevels:
    """The levels of a column of codes, places or amounts that the techniques allow."""
    assert column.domain is not None
    own = tuple(column.domain.label(code) for code in range(column.size))
    names, texts, losses = ["exact"], [own], [0.0]
    hierarchy, known = column.hierarchy, column.event.level
    above = [own]
    if hierarchy is not None:
        above += [
            tuple(hierarchy.labels[level][index] for index in hierarchy.ancestors[level])
            for level in range(1, hierarchy.height + 1)
        ]
    told = [above[known]]
    coarser = Technique.COARSEN_DATES if column.event.kind is EventKind.DATE else Technique.ROLL_UP
    if hierarchy is not None and coarser in weights:
        tops = hierarchy.height
        for level in range(1, tops + 1):
            if level == tops and all(map(_says_nothing, hierarchy.labels[level])):
                break
            # What is written at a level that is known tells no less than the value itself.
            if level <= known:
                continue
            names.append(f"level {level}")
            texts.append(above[level])
            told.append(above[level])
            part = ROLLED_UP + (1 - ROLLED_UP) * (level - 1) / max(tops, 1)
            losses.append(part * weights[coarser])
    if Technique.SUPPRESS_CELLS in weights:
        names.append("suppressed")
        texts.append(_nothing(column))
        told.append(texts[-1])
        losses.append(weights[Technique.SUPPRESS_CELLS])
    return ColumnLevels(column, tuple(names), tuple(texts), tuple(told), tuple(losses))


def _nothing(column: EventColumn) -> tuple[str, ...]:
    """What is written of each value where nothing is said; in which table it is, a reader sees."""
    if column.part_of is None:
        return (ANYTHING,) * column.size
    return tuple(f"{part}{MARK}{ANYTHING}" for part in column.part_of.tolist())


def _says_nothing(label: str) -> bool:
    return label.rpartition(MARK)[2] == ANYTHING


@dataclass(frozen=True, eq=False)
class Gathered:
    """The events of a file in classes, and the ways to write them.

    Attributes
    ----------
    told
        The records that show an event; the others have none.
    code_of_slot
        Code of each slot in each column; shape (columns, slots).
    labels
        What an intruder can tell apart of each slot at each rung; shape (slots, rungs).
    shown
        What is written of each slot at each rung, as one number; shape (slots, rungs).
    losses
        What is lost where a slot is at a rung, in persons; shape (slots, rungs).
    events
        The distinct events of units.
    bare
        Chance of each unit without an event to be found: as one of its class.
    """

    levels: tuple[ColumnLevels, ...]
    rungs: tuple[_Rung, ...]
    told: Ints
    slot_of_record: Ints
    event_of_record: Ints
    code_of_slot: Codes
    labels: Codes
    shown: Codes
    losses: Floats
    events: Events
    unit_of_record: Ints
    bare: Floats

    @property
    def units(self) -> int:
        """Number of units that have an event."""
        return len(self.events.event_start) - 1

    @cached_property
    def unit_of(self) -> Ints:
        """Unit of each event."""
        return np.repeat(np.arange(self.units), np.diff(self.events.event_start))

    @cached_property
    def class_of_slot(self) -> Ints:
        """Class of each slot."""
        return np.repeat(np.arange(self.events.classes), np.diff(self.events.slot_start))

    @cached_property
    def class_of_unit(self) -> Ints:
        """Class of each unit."""
        return np.repeat(np.arange(self.events.classes), np.diff(self.events.unit_start))

    @cached_property
    def silent(self) -> Bools:
        """Which labels say nothing; shape (labels,)."""
        nothing = [
            at
            for at, rung in enumerate(self.rungs)
            if all(
                all(map(_says_nothing, one.texts[level][:1]))
                for one, level in zip(self.levels, rung.levels, strict=True)
            )
        ]
        found = np.zeros(int(self.labels.max()) + 1, dtype=np.bool_)
        found[self.labels[:, nothing]] = True
        return found


@dataclass(frozen=True, eq=False)
class Times:
    """When the events of records were.

    Attributes
    ----------
    day
        The day of each record; shape (records,).
    apart
        Days from which on a reader tells two intervals apart; 0 where no intervals are shown,
        ``None`` where the release does not even show whether there is a date.
    """

    day: Ints
    dated: Bools
    apart: int | None


def gather(
    columns: Sequence[EventColumn],
    unit: Codes,
    class_of: Codes,
    classes: int,
    weights: Mapping[Technique, float],
    of: Success = Success.FOUND,
    times: Times | None = None,
) -> Gathered:
    """Number the events of a file, class by class.

    Parameters
    ----------
    unit
        What a reader sees as one person, of each record; shape (records,).
    of
        What an intruder must not do.
    times
        When they were; ``None`` where nothing says it.
    """
    levels = tuple(column_levels(event_column, weights) for event_column in columns)
    rungs = _rungs(levels)
    says = np.logical_or.reduce([column.codes != MISSING for column in columns])
    told = np.flatnonzero(says if times is None else says | times.dated)
    codes = [column.codes[told] for column in columns]
    shows_date = np.ones(len(told), dtype=np.int32)
    if times is not None and times.apart is not None:
        shows_date = times.dated[told].astype(np.int32)
    item, items = group(
        [*(code + 1 for code in codes), shows_date],
        [*(event_column.size + 1 for event_column in columns), 2],
    )
    first = np.empty(items, dtype=np.int64)
    first[item] = np.arange(len(item))
    code_of_item = np.stack([code[first] for code in codes])
    known, shown = _labels(levels, rungs, code_of_item, shows_date[first])
    # Those below one label side by side: the least exact label first, then the next.
    order = np.lexsort(shown.T)
    rank = np.empty(items, dtype=np.int64)
    rank[order] = np.arange(items)
    own_class = class_of[told].astype(np.int64)
    slots, slot_of_record = np.unique(own_class * items + rank[item], return_inverse=True)
    slot_start = np.searchsorted(slots // items, np.arange(classes + 1)).astype(np.int64)
    item_of_slot = order[slots % items]
    # Units by class, each with its events.
    by_class = own_class * (int(unit.max()) + 1) + unit[told]
    units, unit_of_record = np.unique(by_class, return_inverse=True)
    class_of_unit = units // (int(unit.max()) + 1)
    day = np.zeros(len(told), dtype=np.int64) if times is None else times.day[told]
    # Sorted by hand, which is several times as fast as rows that are unique.
    order = np.lexsort([day, slot_of_record, unit_of_record])
    key = np.stack([unit_of_record, slot_of_record, day])[:, order]
    new = (np.diff(key, prepend=-1) != 0).any(axis=0)
    event_of_record = np.empty(len(order), dtype=np.int64)
    event_of_record[order] = np.cumsum(new) - 1
    keys, rows = key[:, new], np.bincount(event_of_record)
    owner, slot_of = keys[0], keys[1].astype(np.int32)
    event_start = np.searchsorted(owner, np.arange(len(units) + 1)).astype(np.int64)
    own = np.diff(event_start)
    records = np.bincount(owner, rows, len(units))
    share = np.bincount(slot_of, rows / records[owner], len(slots))
    alone_one, alone_two, together = _weights(own, owner, of)
    everybody = np.unique(class_of.astype(np.int64) * (int(unit.max()) + 1) + unit)
    silent = np.setdiff1d(everybody, units, assume_unique=True) // (int(unit.max()) + 1)
    # Nothing is learned of them beside what is known.
    bare = (of is Success.FOUND) / np.bincount(everybody // (int(unit.max()) + 1))[silent]
    events = Events(
        slot_start,
        np.searchsorted(class_of_unit, np.arange(classes + 1)).astype(np.int64),
        event_start,
        slot_of,
        rows.astype(np.int32),
        alone_one,
        alone_two,
        together,
        _places(times, keys[2], shows_date[order][new]),
    )
    return Gathered(
        levels,
        rungs,
        told,
        slot_of_record,
        event_of_record,
        code_of_item[:, item_of_slot],
        np.ascontiguousarray(known[item_of_slot], dtype=np.int32),
        np.ascontiguousarray(shown[item_of_slot], dtype=np.int32),
        share[:, np.newaxis] * _slot_losses(levels, rungs, code_of_item[:, item_of_slot]),
        events,
        unit_of_record,
        bare,
    )


def _slot_losses(levels: Sequence[ColumnLevels], rungs: Sequence[_Rung], codes: Codes) -> Floats:
    """What is lost of each slot at each rung; of several tables by the columns that its has."""
    if not any(level.column.parts for level in levels):
        return np.array([[rung.loss for rung in rungs]])
    lost = np.array([[e.losses[at] for e, at in zip(levels, r.levels, strict=True)] for r in rungs])
    has = (codes != MISSING).astype(np.float64)
    losses: Floats = (has.T @ lost.T) / np.maximum(has.sum(axis=0), 1)[:, np.newaxis]
    return losses


def _places(times: Times | None, day: Ints, shows_date: Codes) -> Codes | None:
    """When events were, in steps that a reader can tell apart."""
    if times is None or not times.apart:
        return None
    return np.where(shows_date, day // times.apart, NO_PLACE).astype(np.int32)


def _rungs(levels: Sequence[ColumnLevels]) -> tuple[_Rung, ...]:
    """All levels of each column with all of the others; only the ends where they are many."""
    every: list[Sequence[int]] = [range(len(level.losses)) for level in levels]
    if prod(map(len, every)) > MOST_RUNGS:
        every = [sorted({0, len(places) - 1}) for places in every]
    if prod(map(len, every)) > MOST_RUNGS:
        # Even the ends of 28 columns are 268 million.
        chosen = [tuple(places[end] for places in every) for end in (0, -1)]
    else:
        chosen = [*product(*every)]
    rungs = [
        _Rung(one, float(np.mean([e.losses[at] for e, at in zip(levels, one, strict=True)])))
        for one in chosen
    ]
    # By loss, as the last rung has to be the one that says least: `_least` and `solve_shared` rely
    # on it.
    return tuple(sorted(rungs, key=lambda each: (each.loss, each.levels)))


def _labels(
    levels: Sequence[ColumnLevels], rungs: Sequence[_Rung], codes: Codes, shows_date: Codes
) -> tuple[Ints, Ints]:
    """What can be told apart, and what is written, of each event at each rung."""
    known: list[Ints] = []
    shown: list[Ints] = []
    for level, code in zip(levels, codes, strict=True):
        at = np.array([rung.levels[len(known)] for rung in rungs])
        shown.append(level.labels[:, code].T[:, at])
        known.append(level.told_labels[:, code].T[:, at])
    beside = np.repeat(shows_date[:, np.newaxis], len(rungs), axis=1).astype(np.int64)
    return _numbered([*known, beside]), _numbered([*shown, beside])


def _numbered(parts: Sequence[Ints]) -> Ints:
    """One number for the labels of all columns, over all rungs; shape (events, rungs)."""
    flat = [part.ravel() for part in parts]
    number, _ = group(
        [each.astype(np.int32) for each in flat], [int(each.max()) + 1 for each in flat]
    )
    numbered: Ints = number.reshape(parts[0].shape).astype(np.int64)
    return numbered


def _weights(own: Ints, owner: Ints, of: Success) -> tuple[Floats, Floats, Floats]:
    """The weights of questions for one event and for two; each unit's add up to 1.

    A unit with one event is asked for it by who knows two. Where only what is learned counts, none
    for a unit of which everything is known.
    """
    many = np.maximum(own, 1).astype(np.float64)
    more = of is Success.LEARNED
    alone = np.where(own > more, 1 / many, 0.0)
    pairs = np.where(own > 1 + more, 2 / np.maximum(many * (many - 1), 1), 0.0)
    single = np.where((own == 1) & (not more), 1.0, 0.0)
    return alone[owner], single[owner], pairs


@dataclass(frozen=True, eq=False)
class Solution:
    """How events are written, and what is lost by it.

    Attributes
    ----------
    part
        Which of its unit's pseudonyms shows each event; ``None`` where each has one.
    price
        Of a person found, at which it was written; ``None`` where nothing was weighed.
    """

    gathered: Gathered
    rung: Rungs
    part: Codes | None = None
    apart: float = 1.0
    price: float | None = None

    @property
    def lost(self) -> float:
        """Share of what events say that is lost, each person counting alike; in [0, 1]."""
        return float(self.lost_of_unit.sum()) / max(self.gathered.units, 1)

    @cached_property
    def lost_of_unit(self) -> Floats:
        """What is lost of each unit: 1 - what its events say · its pairs that stay together."""
        events, unit = self.gathered.events, self.gathered.unit_of
        loss = np.array([each.loss for each in self.gathered.rungs])[self.rung[events.slot_of]]
        records = np.bincount(unit, events.rows)
        lost: Floats = np.bincount(unit, loss * events.rows) / records
        if self.part is None:
            return lost
        rows = np.bincount(group_pairs(unit, self.part), events.rows)
        whose = unit[np.unique(group_pairs(unit, self.part), return_index=True)[1]]
        pairs = np.bincount(whose, rows * (rows - 1))
        divided = 1 - np.where(records > 1, pairs / np.maximum(records * (records - 1), 1), 1.0)
        lost += np.maximum(1 - lost, 0) * np.minimum(self.apart * divided, 1)
        return lost

    def risks(self, of: Success) -> Floats:
        """Chance of each unit to be found, or learned from, by one event and by two.

        Shape (units, 2); events that are known as exactly as they are.
        """
        gathered = self.gathered
        silent = gathered.silent if of is Success.LEARNED else None
        return unit_risks(
            gathered.events, gathered.labels, self.rung, part=self.part, silent=silent
        )

    def pseudonyms(self, person: Codes) -> Codes:
        """The pseudonym of each record of a file, of the person of each."""
        if self.part is None:
            return person
        part = np.zeros(len(person), dtype=np.int32)
        part[self.gathered.told] = self.part[self.gathered.event_of_record]
        return group_pairs(person, part).astype(np.int32)


def group_pairs(one: npt.NDArray[Any], other: Codes) -> Ints:
    """One number from 0 on for each two numbers that occur."""
    # Both are below 2^31, so that one integer holds the pair, which is quicker to sort than rows.
    pairs: Ints = np.unique(one.astype(np.int64) << 32 | other, return_inverse=True)[1]
    return pairs


Holds = Callable[[Solution], bool]
Reached = tuple[float, float]
"""The mean and the 95th percentile of persons' chances."""


def worse(each: Floats, many: Bools, variance: Floats | float = 0.0) -> Reached:
    """The mean and the 95th percentile of persons, or of those who have many events, if higher.

    Whoever has fewer events is asked for all of them, and hides those who have more. What is known
    up to a variance, the mean and the chance of each person, is taken `MARGIN` standard errors
    higher.
    """
    found = [(0.0, 0.0)]
    spread = np.broadcast_to(variance, each.shape)
    highest = np.minimum(each + MARGIN * np.sqrt(spread), 1.0)
    for some in (np.ones_like(many), many):
        if some.any():
            error = np.sqrt(spread[some].sum()) / some.sum()
            # A chance that occurs. More than 5 % of the persons might exceed an interpolated one.
            p95 = float(np.quantile(highest[some], 0.95, method="inverted_cdf"))
            found.append((float(each[some].mean() + MARGIN * error), p95))
    return max(one for one, _ in found), max(one for _, one in found)


def keeps(promise: KnownEvents, measured: Iterable[Reached]) -> bool:
    """Whether chances keep a promise; where k is promised, the worst stand for both."""
    if promise.k:
        return all(worst <= promise.risk * (1 + TOLERANCE) for worst, _ in measured)
    return all(
        mean <= promise.risk * (1 + TOLERANCE) and p95 <= promise.p95 + TOLERANCE
        for mean, p95 in measured
    )


@dataclass(frozen=True, eq=False)
class _Priced:
    """What is written at a price.

    Attributes
    ----------
    risks
        Chance of each unit by one event and by two; shape (units, 2).
    weights
        How much the questions about each unit counted; shape (units, 2).
    share
        Of what is paid, how much was for one event known; the rest is for two.
    """

    solution: Solution
    risks: Floats
    weights: Floats
    share: float


@dataclass(frozen=True)
class Pricing:
    """How the lowest price of a person found is searched for.

    Attributes
    ----------
    first
        The price that is tried first.
    step
        How much lower or higher the next one is, until one keeps the promise and one does not.
    near
        How near these two are at last.
    """

    first: float = 2.0
    step: float = 2.0
    near: float = NEAR

    @property
    def is_rough(self) -> bool:
        """Whether what is found is only to be compared."""
        return self.near > NEAR

    @classmethod
    def about(cls, price: float | None) -> Pricing:
        """The search where a price is known to be about the lowest."""
        return USUAL if price is None else cls(price, NEAR)


USUAL, ROUGH = Pricing(), Pricing(near=1.5)


def solve(
    gathered: Gathered,
    promise: KnownEvents,
    holds: Holds | None,
    apart: float | None = None,
    pricing: Pricing = USUAL,
) -> Solution | None:
    """Write events as exactly as a promise allows; ``None`` where nothing that is tried keeps it.

    Parameters
    ----------
    holds
        Whether a way to write them keeps the promise; ``None`` where the chances of units by one
        event and by two say it.
    apart
        How much a pair of records counts that several pseudonyms divide; ``None`` where none may.
    pricing
        How the lowest price is searched for.
    """
    # Pseudonyms that are divided may lead the search to where it loses more than without them.
    ways = [
        _Search(gathered, promise, holds, each, pricing) for each in dict.fromkeys((apart, None))
    ]
    kept = [each for each in (way.found() for way in ways) if each is not None]
    return min(kept, key=lambda each: each.lost, default=None)


@dataclass(frozen=True, eq=False)
class _Search:
    """The lowest price for a person found at which a promise is kept; fields as in `solve`."""

    gathered: Gathered
    promise: KnownEvents
    holds: Holds | None
    apart: float | None
    pricing: Pricing

    def found(self) -> Solution | None:
        """What is written at it, and in some classes at the next lower one."""
        least = self._least()
        # If not even saying nothing keeps the promise, no price does.
        if not self._keeps(self._measured(least, self._even, 0.0)):
            return None
        if len(self.gathered.rungs) == 1 and self.apart is None:
            return least
        good, bad, price = self._priced()
        if good is None:
            return least
        if bad is None or self.pricing.is_rough:
            return good.solution
        found = [self._filled(good, bad)]
        # Persons are weighed by their own chances, which are at hand only where the search measures
        # them itself.
        if self.holds is None and self._is_near(bad):
            good, bad = self._eased(good, bad, price)
            found.append(self._filled(good, bad))
        return min(found, key=lambda each: each.lost)

    def _priced(self) -> tuple[_Priced | None, _Priced | None, float]:
        """What the lowest price writes that keeps the promise, what a lower one does, and it."""
        price, low, high = self.pricing.first, CHEAPEST, DEAREST
        step = self.pricing.step
        good: _Priced | None = None
        bad: _Priced | None = None
        while low * self.pricing.near < high and low <= price <= high:
            found = self._written(price, self._even, self._balanced(good or bad), good)
            if self._keeps(found):
                good, high = found, price
            else:
                bad, low = found, price
            if good is None or bad is None:
                price = price * step if good is None else price / step
            else:
                # Halved on a logarithmic scale, as `near` is a ratio of prices.
                price = (low * high) ** 0.5
        return good, bad, high

    def _is_near(self, found: _Priced) -> bool:
        """Whether a percentile is too high, and no mean is by much."""
        reached = self._reached(found)
        too_high = any(p95 > self.promise.p95 for _, p95 in reached)
        return too_high and all(mean <= AMPLE * self.promise.risk for mean, _ in reached)

    def _eased(self, good: _Priced, bad: _Priced, price: float) -> tuple[_Priced, _Priced]:
        """The same at lower prices, those counting more who have to come below the percentile.

        A mean and a percentile are two things to pay for: one price for both lowers the mean
        further than is promised.
        """
        near = good
        while price > CHEAPEST:
            price /= NEAR
            found = bad
            if price != bad.solution.price:
                found = self._written(price, near.weights, self._balanced(near), near)
            for _ in range(PRESSED):
                if not self._is_near(found):
                    break
                found = self._written(price, self._pressed(found), self._balanced(found), near)
            if not self._keeps(found):
                return good, found
            if found.solution.lost >= near.solution.lost:
                break
            good = near = found
        return good, bad

    def _least(self) -> Solution:
        """What says least: all events at the last rung, each alone where they may be divided."""
        rungs, starts = len(self.gathered.rungs), self.gathered.events.event_start
        top = np.full(len(self.gathered.losses), rungs - 1, dtype=np.int8)
        if self.apart is None:
            return Solution(self.gathered, top)
        unit = self.gathered.unit_of
        alone = (np.arange(len(unit)) - starts[unit]).astype(np.int32)
        # The compiled search divides no unit of more events, so that these keep one pseudonym here,
        # too.
        alone[np.diff(starts)[unit] > MOST_DIVIDED] = 0
        return Solution(self.gathered, top, alone, self.apart)

    @property
    def _even(self) -> Floats:
        return np.ones((self.gathered.units, 2))

    def _reached(self, found: _Priced) -> list[Reached]:
        """What up to two known events reach, one event first."""
        bare = self.gathered.bare
        own = np.append(np.diff(self.gathered.events.event_start), np.zeros(len(bare), int))
        upto = range(1, min(self.promise.m, 2) + 1)
        return [worse(np.append(found.risks[:, m - 1], bare), own >= m) for m in upto]

    def _keeps(self, found: _Priced) -> bool:
        if self.holds is None:
            return keeps(self.promise, self._reached(found))
        return self.holds(found.solution)

    def _balanced(self, near: _Priced | None) -> float:
        """The share for one event known, more where it is nearer than two to what is promised."""
        if self.promise.m == 1:
            return 1.0
        if self.promise.of is Success.FOUND:
            return 0.0  # two events find whoever one does
        if near is None:
            return FIRST_SHARE
        of = self.promise
        one, two = (max(mean / of.risk, p95 / of.p95) for mean, p95 in self._reached(near))
        return float(np.clip(near.share * np.sqrt(one / max(two, TOLERANCE)), *SHARES))

    def _pressed(self, found: _Priced) -> Floats:
        """The weights with more for those who have to come below the percentile."""
        weights, own = found.weights.copy(), np.diff(self.gathered.events.event_start)
        for m in range(1, min(self.promise.m, 2) + 1):
            each = found.risks[:, m - 1]
            over = np.flatnonzero((own >= m) & (each > self.promise.p95))
            over = over[np.argsort(each[over], kind="stable")]
            many = len(over) - int(AIMED * (own >= m).sum())
            eased = over[: max(int(AMPLE * many), 0)]
            weights[eased, m - 1] *= PRESSURE * each[eased] / self.promise.p95
        return weights

    def _written(
        self, price: float, weights: Floats, share: float, above: _Priced | None
    ) -> _Priced:
        """Events and pseudonyms at a price, the questions about each unit counting so much.

        What a higher price has written is a nearer start than events that say nothing.
        """
        gathered, labels = self.gathered, self.gathered.labels
        one, two = weights[gathered.unit_of].T
        events = replace(
            gathered.events,
            alone_one=gathered.events.alone_one * one,
            alone_two=gathered.events.alone_two * two,
            together=gathered.events.together * weights[:, 1],
        )
        start = None if above is None else above.solution.rung
        rung = recodings(
            events, labels, gathered.losses, np.array([price]), share=share, start=start
        ).rung[0]
        if self.apart is None:
            return self._measured(Solution(gathered, rung, price=price), weights, share)
        part, _ = divided(
            events,
            labels,
            rung,
            kept=np.maximum(1 - np.array([each.loss for each in gathered.rungs]), 0),
            silent=gathered.silent,
            rate=price,
            share=share,
            weight=self.apart,
            learned=self.promise.of is Success.LEARNED,
        )
        return self._measured(Solution(gathered, rung, part, self.apart, price), weights, share)

    def _measured(self, solution: Solution, weights: Floats, share: float) -> _Priced:
        return _Priced(solution, solution.risks(self.promise.of), weights, share)

    def _filled(self, good: _Priced, bad: _Priced) -> Solution:
        """The better way, with as many classes of the cheaper one as the promise allows.

        Those come first that gain most for what they cost.
        """
        gathered = self.gathered
        of_unit, classes = gathered.class_of_unit, gathered.events.classes
        extra = (bad.risks - good.risks) @ [good.share, 1 - good.share]
        fewer = good.solution.lost_of_unit - bad.solution.lost_of_unit
        gain, cost = (np.bincount(of_unit, each, classes) for each in (fewer, extra))
        order = np.argsort(-gain / np.maximum(cost, TOLERANCE), kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        rank_of_slot = rank[gathered.class_of_slot]
        rank_of_event = rank_of_slot[gathered.events.slot_of]

        def mixed(many: int) -> _Priced:
            cheap, dear = bad.solution, good.solution
            part = None
            if cheap.part is not None and dear.part is not None:
                part = np.where(rank_of_event < many, cheap.part, dear.part)
            rung: Rungs = np.where(rank_of_slot < many, cheap.rung, dear.rung)
            # Classes do not touch each other's chances.
            risks = np.where((rank[of_unit] < many)[:, np.newaxis], bad.risks, good.risks)
            return replace(good, solution=replace(dear, rung=rung, part=part), risks=risks)

        low, high = 0, len(order)
        while high - low > max(len(order) // 100, 1):
            middle = (low + high) // 2
            if self._keeps(mixed(middle)):
                low = middle
            else:
                high = middle
        return mixed(low).solution


def solve_shared(gathered: Gathered, k: int, m: int) -> tuple[Solution, Ints]:
    """Write events as exactly as every m of a unit's are shared by k units of its class.

    Also the classes in which even saying nothing does not suffice, because fewer than k units have
    as many rows as some unit has events.
    """
    events, labels, losses = gathered.events, gathered.labels, gathered.losses
    # Where saying nothing does not suffice, nothing that is written can. These classes are set
    # apart first.
    top = np.full(len(losses), losses.shape[1] - 1, dtype=np.int8)
    broken = _unshared(gathered, top, k, m)
    start = recodings(events, labels, losses, np.array([FORBIDDING]), share=0.5, fewest=k)
    rung = (
        start.rung[0]
        if m > 1
        else recodings(events, labels, losses, np.array([FORBIDDING]), share=1.0, fewest=k).rung[0]
    )
    failing = np.setdiff1d(_unshared(gathered, rung, k, m), broken)
    while len(failing):
        # The rarest events of a class say less, step by step, until its larger sets are shared.
        rung = _rarest_hidden(gathered, rung, failing)
        failing = np.setdiff1d(_unshared(gathered, rung, k, m), broken)
    # These classes cannot keep the promise by any rung; the caller takes their pseudonyms apart.
    rung[np.isin(gathered.class_of_slot, broken)] = losses.shape[1] - 1
    return Solution(gathered, rung), broken


def _rarest_hidden(gathered: Gathered, rung: Rungs, classes: Ints) -> Rungs:
    """The same with the rarest event of some classes that says something saying nothing."""
    events, top = gathered.events, gathered.losses.shape[1] - 1
    holders = np.bincount(events.slot_of, minlength=len(rung))
    rung = rung.copy()
    for each in classes.tolist():
        own = np.arange(events.slot_start[each], events.slot_start[each + 1])
        telling = own[rung[own] < top]
        rung[telling[holders[telling] == holders[telling].min()]] = top
    return rung


def _unshared(gathered: Gathered, rung: Rungs, k: int, m: int) -> Ints:
    """The classes in which up to m events of a unit are shared by fewer than k of its units."""
    events = gathered.events
    costs = unit_risks(events, gathered.labels, rung, fewest=k)
    found = np.unique(gathered.class_of_unit[costs[:, : min(m, 2)].max(axis=1, initial=0) > 0])
    if m <= 2:
        return found
    label = gathered.labels[events.slot_of, rung[events.slot_of]]
    larger = [
        number for number in range(events.classes) if not _all_shared(events, label, number, k, m)
    ]
    return np.union1d(found, np.array(larger, dtype=np.int64))


def _all_shared(events: Events, label: Codes, group: int, k: int, m: int) -> bool:
    """Whether k units of a class show every set of labels that up to m events of one have."""
    sharing: Counter[tuple[int, ...]] = Counter()
    asked: set[tuple[int, ...]] = set()
    for unit in range(events.unit_start[group], events.unit_start[group + 1]):
        own = slice(events.event_start[unit], events.event_start[unit + 1])
        labels = label[own].tolist()
        asked |= _parts_of(labels, m)
        sharing.update(_parts_of(np.repeat(labels, events.rows[own]).tolist(), m))
    return all(sharing[each] >= k for each in asked)


def _parts_of(labels: Sequence[int], m: int) -> set[tuple[int, ...]]:
    """The multisets of at most m of some labels."""
    parts: set[tuple[int, ...]] = {()}
    for label, many in sorted(Counter(labels).items()):
        parts |= {
            (*part, *[label] * more)
            for part in parts
            for more in range(1, min(many, m - len(part)) + 1)
        }
    return parts


def written(gathered: Gathered, rung: Rungs, source: pa.Table) -> dict[str, pa.Array]:
    """The cells of the columns of events, of all records; those that are unchanged are left out."""
    found = {}
    for at, each in enumerate(gathered.levels):
        level_of_rung = np.array([rung.levels[at] for rung in gathered.rungs])
        level = level_of_rung[rung[gathered.slot_of_record]]
        codes = gathered.code_of_slot[at][gathered.slot_of_record]
        texts = [*dict.fromkeys(text for row in each.texts for text in row)]
        plain = from_texts(
            text.rpartition(MARK)[2] if each.column.parts else text for text in texts
        )
        for name, mine in each.column.places(codes):
            if not level[mine].any() and each.column.event.kind is not EventKind.DATE:
                continue
            label = np.full(source.num_rows, -1, dtype=np.int32)
            label[gathered.told] = np.where(mine, each.labels[level, codes], -1)
            cells = pa.DictionaryArray.from_arrays(
                from_numpy(np.maximum(label, 0), label < 0), plain.cast(pa.string())
            )
            # Without their column labels may be equal, which a dictionary must not hold.
            found[name] = (
                cells.dictionary_decode().dictionary_encode() if each.column.parts else cells
            )
    return found
