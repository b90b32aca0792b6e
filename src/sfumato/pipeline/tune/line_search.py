"""How far a limit is turned so that the thresholds are just met, alone or for another's part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, log

from sfumato.pipeline.tune.limits import (
    CAP,
    KNOBS,
    Limits,
    Target,
    distance_of,
    stricter,
    strictest_of,
)
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.trials import Trial, Trials, ratio
from sfumato.table.table import Table

CLOSE = 0.003
"""Positions that are as good as equal: 0.3 % of a limit."""
LEAST_PART, LEAST_RATIO = 0.2, 1e-3
"""How near to one of two limits the next one may lie, of their distance; and the least ratio of a
measure to its limit that is told from less."""
HOPELESS = 5
"""Steps after which a knob is given up that met nothing."""
STEPS, FIRST_STEP = 3, 0.02
"""Most steps that make a knob stricter, and the least size of the first."""
FARTHER = 2.5
"""How much farther than so far a step may reach where no limit was strict enough."""
WIDE, STARTS = 0.3, 3
"""How much looser limits that are tried in pairs are than alone, and how many begin."""
WIDTHS = (0.4, 0.2, 0.1, 0.05)
"""How much looser one limit is made: parts of it."""
AGAIN = 2
"""Most rounds at one width; a second one only where the first found a better point."""
LOOSENED = 2
"""Limits that are made looser in a round, those first that save most loss per excess."""
TIGHTENED = 2
"""Limits that are made stricter once the largest width showed which lose least."""
STAGE_PAIRS, STAGE = "two constraints", "exchange"


@dataclass(frozen=True)
class Space:
    """The limits that are searched.

    Attributes
    ----------
    enough
        Limits under which every release meets those thresholds that have such limits.
    movers
        Knobs that can move a measure where what is needed is not enough.
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
        needed = strictest_of([each.needed for each in targets])
        found = strictest_of([each.enough for each in targets if each.enough is not None])
        movers = dict.fromkeys(name for each in targets for name in each.movers)
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

    def value(self, name: str, position: float) -> float:
        """The limit at a position of a knob, never looser than what is needed."""
        limit = KNOBS[name].value(position)
        return stricter(name, self.needed[name], limit) if name in self.needed else limit

    def plain(self, limits: Limits) -> Point:
        """A point of limits alone, its release made as usual."""
        return Point.of(limits, distance=self.distance)

    def point(self, positions: Mapping[str, float], like: Point | None = None) -> Point:
        """What is needed, and knobs at positions."""
        limits = self.needed | {name: self.value(name, at) for name, at in positions.items()}
        return self.plain(limits) if like is None else like.at(limits)

    def positions(self, point: Point) -> dict[str, float]:
        """Strictness of the knobs of a point, those that are not asked at their loose end."""
        limits = point.limits
        return {
            name: KNOBS[name].position(limits[name]) if name in limits else self.start(name)
            for name in self.names
        }

    def others(self, point: Point, name: str) -> dict[str, float]:
        """Strictness of the knobs that a point asks for, but for one."""
        return {
            each: at
            for each, at in self.positions(point).items()
            if each in point.limits and each != name
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The knobs that are searched: those that move something, then those that are needed."""
        return tuple(dict.fromkeys((*self.movers, *self.needed)))

    def start(self, name: str) -> float:
        """Position of a knob from which it changes something."""
        if name in self.needed:
            return max(KNOBS[name].position(self.needed[name]), self.loose.get(name, -inf))
        return self.loose.get(name, 0.0)

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

    def end(self, name: str) -> float:
        """The strictest position of a knob that is of use."""
        if name in self.enough:
            return max(KNOBS[name].position(self.enough[name]), self.start(name))
        return max(self.ends[name], self.start(name))


def _next_whole(name: str, limit: float, towards: int) -> float:
    """Position of the next whole limit: ``1`` towards stricter ones, ``-1`` towards looser."""
    return KNOBS[name].position(limit + (-towards if name == CAP else towards))


@dataclass(eq=False)
class LineSearch(ABC):
    """The search along one knob, step by step, the others fixed.

    A measure falls as its constraint becomes stricter, nearly: the loosest limit that meets the
    thresholds is where it crosses them, and most often what loses least.

    Attributes
    ----------
    low, high
        Where the knob is looser than can be, and where it is strict enough or too strict.
    """

    space: Space
    name: str
    low: float
    high: float
    steps: int
    found: list[Trial] = field(default_factory=list, init=False)
    over: bool = field(default=False, init=False)
    _below: Trial | None = field(default=None, init=False)
    _above: Trial | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.over = not self._has_room()

    def point(self) -> Point:
        """What to try next."""
        return self._point(self._next())

    def tell(self, trial: Trial, least: float) -> None:
        """Take in what the trial of `point` gave.

        Parameters
        ----------
        least
            The least loss that met the thresholds so far, by any way.
        """
        at = self._next()
        self.found.append(trial)
        if trial.met or not trial.made:
            self.high, self._above = at, trial if trial.met else None
        else:
            self._missed(trial, at)
        self.over = (
            len(self.found) >= self.steps or self._gives_up(trial, least) or not self._has_room()
        )

    def _missed(self, trial: Trial, at: float) -> None:
        """Take in a trial that misses a threshold: the knob has to be stricter."""
        self.low, self._below = max(at, self.space.bites(self.name, trial)), trial

    @abstractmethod
    def _next(self) -> float: ...

    @abstractmethod
    def _point(self, position: float) -> Point: ...

    @abstractmethod
    def _gives_up(self, trial: Trial, least: float) -> bool: ...

    @abstractmethod
    def _has_room(self) -> bool:
        """Whether there is a limit left between the two ends."""


@dataclass(eq=False)
class Bisection(LineSearch):
    """The search between two ends of a knob.

    Attributes
    ----------
    first
        Where to begin; in the middle without it.
    hope
        What part of the loss of a point that meets the thresholds might be left at the loose end.
    """

    fixed: Mapping[str, float]
    like: Point | None = None
    first: float | None = None
    hope: float = 0.0

    @property
    def best(self) -> Trial | None:
        """The trial of least loss that meets the thresholds."""
        met = [each for each in self.found if each.met]
        return min(met, key=lambda each: each.loss, default=None)

    @property
    def crossing(self) -> float:
        """Position from which the thresholds should be met, as far as the trials tell."""
        if self._below is not None and self._above is not None:
            return self._next()
        return self.low if self.best is None else self.high

    def _gives_up(self, trial: Trial, least: float) -> bool:
        hope = self.hope if trial.met else 1.0
        worse = trial.made and hope * trial.loss >= least
        return worse or (self.best is None and len(self.found) >= HOPELESS)

    def _next(self) -> float:
        """Between the ends: where the measure that is too high should cross its limit."""
        if self.first is not None and not self.found:
            return self.first
        part = 0.5 if self.first is None or self._above is None else 1 - LEAST_PART
        if self._below is not None and self._above is not None:
            over = [ratio(each) for each in self._below.held]
            worst = over.index(max(over))
            falls = log(over[worst]) - log(max(ratio(self._above.held[worst]), LEAST_RATIO))
            # A least measure of 0 misses its limit by an infinite factor, which says nothing.
            if 0 < falls < inf:
                part = min(max(log(over[worst]) / falls, LEAST_PART), 1 - LEAST_PART)
        return self.low + part * (self.high - self.low)

    def _point(self, position: float) -> Point:
        return self.space.point({**self.fixed, self.name: position}, self.like)

    def _has_room(self) -> bool:
        if self.high - self.low < CLOSE:
            return False
        knob = KNOBS[self.name]
        return not knob.whole or abs(knob.value(self.low) - knob.value(self.high)) > 1


class Tightening(LineSearch):
    """The search from a point that loses less and misses a threshold, from where a knob bites.

    Parameters
    ----------
    space, name
        As `LineSearch` takes them.
    """

    def __init__(self, space: Space, name: str, loosened: Trial) -> None:
        self.loosened = loosened
        self._falls = 1.0
        super().__init__(space, name, space.bites(name, loosened), space.end(name), STEPS)

    @property
    def _strictest(self) -> Trial:
        """The strictest trial that misses a threshold."""
        return self._below or self.loosened

    def _missed(self, trial: Trial, at: float) -> None:
        fallen = log(self._strictest.excess) - log(trial.excess)
        self._falls = max(fallen / max(at - self.low, CLOSE), 1 / FARTHER)
        super()._missed(trial, at)

    def _gives_up(self, trial: Trial, least: float) -> bool:
        return trial.made and not trial.met and trial.loss >= least

    def _next(self) -> float:
        """Where the worst measure should cross its limit."""
        room, excess = self.high - self.low, self._strictest.excess
        missing = log(excess) if isfinite(excess) else 1.0
        if self._above is not None:
            to_spare = -log(max(self._above.excess, LEAST_RATIO))
            part = missing / max(missing + to_spare, 1e-9)
            return self.low + room * min(max(part, LEAST_PART), 1 - LEAST_PART)
        step = max(missing / self._falls, FIRST_STEP)
        knob = KNOBS[self.name]
        if knob.whole:
            step = max(step, _next_whole(self.name, knob.value(self.low), 1) - self.low)
        strict = room if self.high == self.space.end(self.name) else room / 2
        return self.low + min(step, strict)

    def _point(self, position: float) -> Point:
        like = self.loosened.point
        return like.at(like.limits | {self.name: self.space.value(self.name, position)})

    def _has_room(self) -> bool:
        return self.high - self.low > CLOSE and self._point(self.high) != self._point(self.low)


def run_together(trials: Trials, searches: Sequence[LineSearch], stage: str) -> None:
    """Take the steps of several searches at the same time.

    Parameters
    ----------
    trials
        Where they are tried.
    """
    while active := [each for each in searches if not each.over]:
        found = trials.run([each.point() for each in active], stage)
        for each, trial in zip(active, found, strict=True):
            each.tell(trial, inf if trials.best is None else trials.best.loss)


def in_pairs(trials: Trials, space: Space, alone: Mapping[str, float], like: Point) -> None:
    """Limits a part looser than alone, each other one stricter until the thresholds are met.

    Parameters
    ----------
    trials
        Where points are tried.
    alone
        Position of each knob that is nearly enough alone.
    like
        A point whose options and columns are taken.
    """
    looser = {name: max(at - WIDE, space.start(name)) for name, at in alone.items()}
    found = trials.run([space.point({name: at}, like) for name, at in looser.items()], STAGE_PAIRS)
    starts = [pair for pair in zip(alone, found, strict=True) if pair[1].made and not pair[1].met]
    starts.sort(key=lambda pair: pair[1].loss * pair[1].excess)
    _tighten(trials, space, starts[:STARTS], alone, STAGE_PAIRS)


def exchange(trials: Trials, space: Space) -> None:
    """From the best point on, exchange a part of one limit for another, in smaller parts."""
    others: Sequence[str] = space.names
    for width in WIDTHS:
        for _ in range(AGAIN):
            before = trials.best
            if before is None:
                return
            prices = _exchange_once(trials, space, before, width, others)
            if trials.best is before:
                break
        if prices:
            others = sorted(prices, key=prices.__getitem__)[:TIGHTENED]


def _exchange_once(
    trials: Trials, space: Space, best: Trial, width: float, others: Sequence[str]
) -> dict[str, float]:
    """Make single limits looser, then others stricter until the thresholds are met.

    Returns
    -------
    dict
        By the name of each that was made stricter, loss per excess that it took away.
    """
    looser = {name: _looser(space, best.point, name, width) for name in best.point.limits}
    points = {name: point for name, point in looser.items() if point is not None}
    found = trials.run(list(points.values()), STAGE)
    loosened = [
        (name, each)
        for name, each in zip(points, found, strict=True)
        if each.made and not each.met and each.loss < best.loss
    ]
    loosened.sort(key=lambda pair: _price(best, pair[1]), reverse=True)
    prices: dict[str, float] = {}
    for each in _tighten(trials, space, loosened[:LOOSENED], others, STAGE):
        price = min((_price(found, each.loosened) for found in each.found), default=inf)
        prices[each.name] = min(price, prices.get(each.name, inf))
    return prices


def _tighten(
    trials: Trials,
    space: Space,
    loosened: Sequence[tuple[str, Trial]],
    others: Sequence[str] | Mapping[str, float],
    stage: str,
) -> list[Tightening]:
    """From points with one limit looser, make each other one stricter."""
    searches = [
        Tightening(space, other, each)
        for name, each in loosened
        for other in others
        if other != name
    ]
    run_together(trials, searches, stage)
    return searches


def _price(strict: Trial, loose: Trial) -> float:
    """Loss per excess that a stricter point takes away, both on a scale of equal factors."""
    if not strict.made or strict.excess >= loose.excess or loose.loss <= 0:
        return inf
    return log(strict.loss / loose.loss) / log(loose.excess / strict.excess)


def _looser(space: Space, point: Point, name: str, width: float) -> Point | None:
    """A point with one limit looser; ``None`` where that would ask for less than is needed."""
    knob, limit = KNOBS[name], point.limits[name]
    at = knob.position(limit) - width
    if knob.whole:
        at = min(at, _next_whole(name, limit, -1))
    wanted = space.value(name, max(at, space.start(name)))
    if knob.position(wanted) >= knob.position(limit):
        return None
    return point.at(point.limits | {name: wanted})
