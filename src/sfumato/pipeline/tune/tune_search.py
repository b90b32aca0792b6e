"""The search: one bisection per knob, in order of loss, then a part of one limit for another's."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, log

import numpy as np

from sfumato.pipeline.tune.limits import (
    CAP,
    COUNTS,
    KNOBS,
    Limits,
    Target,
    distance_of,
    rounded,
    stricter,
    strictest_of,
)
from sfumato.pipeline.tune.point import Point, changes_of
from sfumato.pipeline.tune.trials import Trial, Trials
from sfumato.pipeline.tune_options import Searching
from sfumato.release.release_options import Recoding
from sfumato.table.table import Table

CLOSE = 0.003
"""Positions that are as good as equal: 0.3 % of a limit."""
LEAST_PART, LEAST_RATIO = 0.2, 1e-3
"""How near to one of two limits the next one may lie, of their distance; and the least ratio of a
measure to its limit that is told from less."""
ALONE_STEPS, STEPS = 8, 3
"""Most steps of a knob alone, and of one that takes the place of a part of another."""
FIRST_STEP, FARTHER = 0.02, 2.5
"""The least size of a first step, and how much farther than so far a step may reach where no limit
was strict enough."""
LOOSER = 0.25
"""How much looser the limit may be with something left out than without."""
WIDTHS = (0.4, 0.2, 0.1, 0.05)
"""How much looser one limit is made: parts of it."""
AGAIN = 2
"""Most rounds at one width; a second one only where the first found a better point."""
LOOSENED, PARTNERS = 2, 3
"""Limits that are made looser in a round, those first that save most loss per excess, and knobs
that take their place, those that lose least per excess."""
NEARBY = (0.04, 0.02, 0.01, 0.005)
"""Steps to both sides of the best limits: the search for classes is a local one, so that a limit
that is a little stricter may lose less."""
CAPS, NEARLY_ALL = 7, 0.97
"""Caps that are tried, and the share of the persons whom the strictest leaves as they are."""
SUPPRESSED = (0.04, 0.1, 0.3)
"""Parts of the largest share that may be suppressed."""
HALVES = 6
"""Times that the way between too loose and too strict is halved."""
FACTORS = (0.5, 0.75, 1.5, 2.0)
"""Other limits, of those that are asked, whose loss the frontier shows."""
WORTH_A_FRONTIER = 40
"""Fewest trials of a search that looks at other limits too."""

Steps = Generator[Point, Trial, None]
"""Points to try one after the other; each is told what the one before gave."""


@dataclass(frozen=True)
class Space:
    """The limits that are searched.

    Attributes
    ----------
    enough
        Limits under which every release meets those thresholds that have such limits.
    movers
        Knobs that can move a measure where what is needed is not enough.
    ends
        The strictest position of each knob that is of use.
    loose
        Position from which each knob changes something.
    """

    needed: dict[str, float]
    enough: dict[str, float]
    movers: tuple[str, ...]
    ends: Mapping[str, float]
    distance: str
    loose: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, targets: Sequence[Target], table: Table, *, cap: bool) -> Space:
        """The space of targets in a file, whose records per person may be capped or not."""
        needed = strictest_of([target.needed for target in targets])
        found = strictest_of([target.enough for target in targets if target.enough is not None])
        movers = dict.fromkeys(name for target in targets for name in target.movers)
        if not cap:
            movers.pop(CAP, None)
        return cls(
            needed,
            strictest_of([needed, found]),
            tuple(movers),
            {name: knob.strictest(table) for name, knob in KNOBS.items()},
            distance_of(targets),
        )

    def from_reached(self, trial: Trial, most_records: int) -> Space:
        """The same, its knobs beginning where a release that keeps what is needed is by itself."""
        loose = {
            name: KNOBS[name].position(value)
            for name, value in trial.reached
            if value > 0 and (name not in self.needed or name in self.movers)
        }
        return replace(self, loose=loose | {CAP: KNOBS[CAP].position(most_records)})

    def plain(self, limits: Limits) -> Point:
        """A point of limits alone, its release made as usual."""
        return Point.of(limits, distance=self.distance)

    def turned(self, point: Point, name: str, position: float) -> Point:
        """A point with a knob at a position, never looser than what is needed."""
        limit = KNOBS[name].value(position)
        if name in self.needed:
            limit = stricter(name, self.needed[name], limit)
        return point.at(point.limits | {name: limit})

    def start(self, name: str) -> float:
        """Position of a knob from which it changes something."""
        if name in self.needed:
            return max(KNOBS[name].position(self.needed[name]), self.loose.get(name, -inf))
        return self.loose.get(name, 0.0)

    def end(self, name: str) -> float:
        """The strictest position of a knob that is of use."""
        if name in self.enough:
            return max(KNOBS[name].position(self.enough[name]), self.start(name))
        return max(self.ends[name], self.start(name))

    def bites(self, name: str, trial: Trial) -> float:
        """Position of a knob from which it changes the release of a trial.

        That is what the release keeps by itself. Classes that look the same are one after the tree
        is made, so that a somewhat looser limit may change something as well.
        """
        found = [self.start(name)]
        if name in trial.point.limits:
            found.append(KNOBS[name].position(trial.point.limits[name]))
        if (reached := dict(trial.reached).get(name, 0)) > 0:
            found.append(KNOBS[name].position(reached))
        return min(max(found), self.end(name))


def bisected(
    trials: Trials,
    space: Space,
    name: str,
    base: Point,
    below: Trial | None,
    *,
    first: float | None = None,
    steps: int = STEPS,
) -> Steps:
    """Look for the loosest limit of a knob that meets the thresholds, the others fixed.

    A measure falls as its constraint becomes stricter, nearly: that limit is where it crosses
    its threshold, and most often what loses least. Each step goes to where the worst measure
    should cross, by what was tried on both sides, or by how fast it fell so far. What is not met
    and loses more than the best point is given up: a stricter limit loses more still.

    Parameters
    ----------
    below
        A trial of the others that misses a threshold; ``None`` where they were not tried.
    first
        Where to begin without it.
    """
    high, above, falls = space.end(name), None, 1.0
    low = space.start(name) if below is None else space.bites(name, below)
    if below is None and first is not None:
        low = max(low, first - LOOSER)
    for step in range(steps):
        if high - low <= CLOSE or space.turned(base, name, high) == space.turned(base, name, low):
            return
        at = _crossing(name, low, high, below, above, falls)
        at = first if step == 0 and below is None and first is not None else at
        trial = yield space.turned(base, name, at)
        if trial.met or not trial.made:
            high, above = at, trial if trial.met else None
            continue
        if trials.best is not None and trial.loss >= trials.best.loss:
            return
        if below is not None:
            fallen = log(below.excess) - log(trial.excess)
            # A least measure of 0 misses its limit by an infinite factor, which says nothing.
            falls = max(fallen / max(at - low, CLOSE), 1 / FARTHER) if isfinite(fallen) else 1.0
        low, below = max(at, space.bites(name, trial)), trial


def _crossing(
    name: str, low: float, high: float, below: Trial | None, above: Trial | None, falls: float
) -> float:
    """Position between two ends where the worst measure should cross its limit."""
    room = high - low
    if below is None:
        return low + room / 2
    missing = log(below.excess) if isfinite(below.excess) else 1.0
    if above is not None:
        to_spare = -log(max(above.excess, LEAST_RATIO))
        part = missing / max(missing + to_spare, 1e-9)
        return low + room * min(max(part, LEAST_PART), 1 - LEAST_PART)
    return low + min(max(missing / falls, FIRST_STEP, _to_next(name, low)), room)


def _to_next(name: str, position: float, towards: int = 1) -> float:
    """How far the next whole limit is, stricter or looser (-1); 0 for a limit that is no number."""
    knob = KNOBS[name]
    if not knob.whole:
        return 0.0
    other = knob.value(position) + (-towards if name == CAP else towards)
    return abs(knob.position(other) - position)


def run_together(trials: Trials, searches: Iterable[Steps], stage: str) -> list[list[Trial]]:
    """Take the steps of several searches at the same time; what each of them tried."""
    every = list(searches)
    tried: list[list[Trial]] = [[] for _ in every]
    active = [(place, point) for place, each in enumerate(every) if (point := next(each, None))]
    while active:
        found = trials.run([point for _, point in active], stage)
        going = []
        for (place, _), trial in zip(active, found, strict=True):
            tried[place].append(trial)
            try:
                going.append((place, every[place].send(trial)))
            except StopIteration:
                continue
        active = going
    return tried


def _price(strict: Trial, loose: Trial) -> float:
    """Loss per excess that a stricter point takes away, both on a scale of equal factors."""
    if not strict.made or strict.excess >= loose.excess or loose.loss <= 0:
        return inf
    # No number is a multiple of a risk that is gone, 0; the looser one misses, at 1 or more.
    fallen = loose.excess / max(strict.excess, LEAST_RATIO)
    return log(strict.loss / loose.loss) / log(fallen)


class Search:
    """The search of the point of least loss that meets the thresholds.

    First a release that keeps what is needed, and one that keeps what is surely enough; where
    neither can be made, ways to leave something out. Then, for each constraint that can move
    what is not met yet, the loosest limit that meets it; from the best point on, a part of one
    limit for another's, other ways to make the release, and a few points near by.

    Parameters
    ----------
    trials
        Where points are tried.
    allowed
        What may be changed beside the constraints.
    """

    def __init__(self, trials: Trials, space: Space, allowed: Searching) -> None:
        self.trials, self.space, self.allowed = trials, space, allowed
        self.base = space.plain(space.needed)
        """What is needed, with the options under which it can be kept."""
        self.order = [name for name in space.movers if space.end(name) > space.start(name)]
        """The knobs that move something; by their loss, once each was tried alone."""

    def run(self) -> None:
        """Search until nothing better is found.

        Raises
        ------
        SearchEnded
            If the number of the trials or the time is used up before.
        """
        trials = self.trials
        # Both at once: on large files two trials run beside each other.
        start = trials.run([self.base, self.space.plain(self.space.enough)], "start")[0]
        first = start if start.made else self._way_out()
        if first is None:
            self._relax_needed()
            return
        self.space = self.space.from_reached(first, trials.setting.most_records)
        if self.allowed.recoding and not self.base.coarsen_counts:
            trials.run([replace(self.base, recoding=Recoding.FULL_DOMAIN.value)], "full-domain")
        if not first.met:
            self._alone(first)
        if trials.best is None:
            self._all_at_once()
        if trials.best is None:
            return
        self._exchange()
        self._otherwise(self._left_out(trials.best.point), "leave out")
        while self.allowed.columns and self._otherwise(
            self._other_columns(trials.best.point), "columns"
        ):
            pass
        self._other_limits(trials.best.point)
        self._near_by()

    def _way_out(self) -> Trial | None:
        """Options under which what is needed can be kept, or a cap; the first release of all."""
        trials, cap = self.trials, KNOBS[CAP]
        trials.run(self._fewer(self.base), "leave out")
        if not trials.releases and self.allowed.cap_records:
            most = cap.position(trials.setting.most_records)

            def capped(part: float) -> Point:
                return self.space.turned(self.base, CAP, most + part * (cap.position(1) - most))

            if trials.run_one(capped(1), "leave out").made:
                self._halve(capped, "leave out", lambda trial: not trial.made)
        made = min(trials.releases, key=lambda each: (not each.met, each.loss), default=None)
        self.base = self.base if made is None else made.point
        return made

    def _fewer(self, point: Point) -> list[Point]:
        """A point with persons or counts left out, and with both."""
        ways = []
        if self.allowed.suppress > 0:
            ways.append(replace(point, suppress=self.allowed.suppress))
        if COUNTS in point.limits:
            ways += [replace(each, coarsen_counts="drop") for each in (point, *ways)]
        return ways

    def _alone(self, first: Trial) -> None:
        """The loosest limit of each knob alone that meets the thresholds, side by side."""
        searches = [
            bisected(self.trials, self.space, name, self.base, first, steps=ALONE_STEPS)
            for name in self.order
        ]
        prices = {}
        for name, tried in zip(
            self.order, run_together(self.trials, searches, "one promise"), strict=True
        ):
            prices[name] = min((_price(each, first) for each in tried), default=inf)
        self.order.sort(key=prices.__getitem__)

    def _exchange(self) -> None:
        """From the best point on, exchange a part of one limit for another, in smaller parts."""
        trials = self.trials
        for width in (width for width in WIDTHS for _ in range(AGAIN)):
            best = trials.best
            assert best is not None
            self._exchange_once(best, width)

    def _exchange_once(self, best: Trial, width: float) -> None:
        """Make single limits looser, then others stricter until the thresholds are met."""
        trials, space = self.trials, self.space
        names = list(best.point.limits)
        points = [self._beside(best, name, -width) for name in names]
        loosened = [
            (name, each)
            for name, each in zip(names, trials.run(points, "exchange"), strict=True)
            if each.made and not each.met and each.loss < best.loss
        ]
        loosened.sort(key=lambda pair: _price(best, pair[1]), reverse=True)
        searches = [
            bisected(trials, space, other, each.point, each)
            for name, each in loosened[:LOOSENED]
            for other in self.order[:PARTNERS]
            if other != name
        ]
        run_together(trials, searches, "exchange")

    def _beside(self, trial: Trial, name: str, by: float) -> Point:
        """A point with one limit stricter, or looser (below 0), by a whole one at least."""
        knob, limit = KNOBS[name], trial.point.limits.get(name)
        at = self.space.bites(name, trial) if limit is None else knob.position(limit)
        if knob.whole:
            least = _to_next(name, at, 1 if by > 0 else -1)
            by = max(by, least) if by > 0 else min(by, -least)
        return self.space.turned(trial.point, name, max(at + by, self.space.start(name)))

    def _otherwise(self, ways: Sequence[Point], stage: str) -> bool:
        """Other ways to make the best release, its limit that was turned most just met again.

        Returns
        -------
        bool
            Whether one of them is better.
        """
        trials, space, best = self.trials, self.space, self.trials.best
        assert best is not None
        limits = best.point.limits
        turned = {name: KNOBS[name].position(limits[name]) for name in self.order if name in limits}
        name = max(turned, key=lambda name: turned[name] - space.start(name), default=None)
        if name is None:
            trials.run(ways, stage)
        else:
            first = turned[name]
            run_together(
                trials,
                [bisected(trials, space, name, way, None, first=first) for way in ways],
                stage,
            )
        return trials.best is not best

    def _left_out(self, point: Point) -> list[Point]:
        """A point with caps, and with suppression."""
        ways = []
        if self.allowed.cap_records and CAP not in point.limits:
            caps = _caps(self.trials.setting.table)
            ways = [point.at(point.limits | {CAP: cap}) for cap in caps]
        if self.allowed.suppress > 0 and not point.suppress:
            shares = [rounded(self.allowed.suppress * each) for each in SUPPRESSED]
            ways += [replace(point, suppress=share) for share in shares]
        return ways

    def _other_columns(self, point: Point) -> list[Point]:
        """A point with one more change of a column."""
        setting = self.trials.setting
        changes = changes_of(point.change, setting.table.schema, setting.options.values)
        return [replace(point, change=change) for change in changes]

    def _other_limits(self, best: Point) -> None:
        """What the best point would lose at other limits of what is needed: the frontier."""
        if self.trials.most is not None and self.trials.most < WORTH_A_FRONTIER:
            return
        points = []
        for name, limit in self.space.needed.items():
            if name == CAP or name in self.space.movers:
                continue
            knob = KNOBS[name]
            for factor in FACTORS:
                other = knob.value(knob.position(limit) + log(factor))
                points.append(best.at(best.limits | {name: other}))
        self.trials.run(points, "frontier")

    def _near_by(self) -> None:
        """Limits a little stricter and looser than those of the best point."""
        for step in (step for step in NEARBY for _ in range(AGAIN)):
            best = self.trials.best
            assert best is not None
            names = dict.fromkeys((*best.point.limits, *self.order[:PARTNERS]))
            self.trials.run(
                [self._beside(best, name, by) for name in names for by in (step, -step)], "near by"
            )

    def _all_at_once(self) -> None:
        """Where no constraint alone was enough: all that is surely enough, with all options."""
        space, sure = self.space, self.base.at(strictest_of([self.base.limits, self.space.enough]))
        self.trials.run([sure, *self._fewer(sure)], "all at once")
        if self.trials.best is not None:
            return

        def turned(part: float) -> Point:
            """Several knobs turned together, from their loose ends to their strict ones."""
            point = self.base
            for name in self.order:
                if name != CAP:
                    start, end = space.start(name), space.end(name)
                    point = space.turned(point, name, start + part * (end - start))
            return point

        self._halve(turned, "all at once", lambda trial: trial.made and not trial.met)

    def _relax_needed(self) -> None:
        """The nearest releases that can be made: what is needed, each limit made looser alike."""

        def relaxed(part: float) -> Point:
            limits = {
                name: KNOBS[name].value(part * KNOBS[name].position(limit))
                for name, limit in self.space.needed.items()
                if name != CAP
            }
            return self.space.plain(limits)

        self._halve(relaxed, "nearest", lambda trial: trial.made)
        self.trials.run([self.space.plain({})], "nearest")

    def _halve(
        self, point: Callable[[float], Point], stage: str, is_loose: Callable[[Trial], bool]
    ) -> None:
        """Halve the way from a point that is too loose, 0, to one that is too strict, 1."""
        low, high = 0.0, 1.0
        for _ in range(HALVES):
            middle = (low + high) / 2
            trial = self.trials.run_one(point(middle), stage)
            low, high = (middle, high) if is_loose(trial) else (low, middle)


def _caps(table: Table) -> list[int]:
    """Caps between the most records of a person and those of nearly all, by equal factors."""
    counts = np.bincount(table.person)
    most, least = int(counts.max()), max(int(np.quantile(counts, NEARLY_ALL)), 1)
    found = {round(each) for each in np.geomspace(least, most, CAPS + 1)}
    return sorted(found - {most})
