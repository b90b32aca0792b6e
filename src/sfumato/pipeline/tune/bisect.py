"""Find the loosest limit of one constraint under which the thresholds are met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log
from typing import Protocol

from sfumato.pipeline.tune.knobs import KNOBS
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.space import Space
from sfumato.pipeline.tune.trial import Trial, ratio
from sfumato.pipeline.tune.trials import Trials

CLOSE = 0.003
"""Positions that are as good as equal: 0.3 % of a limit."""
LEAST_PART = 0.2
"""How near to one of two limits the next one may lie, of their distance."""
HOPELESS = 5
"""Steps after which a constraint is given up that met nothing."""


class Steps(Protocol):
    """A search along one knob, step by step."""

    over: bool

    def point(self) -> Point:
        """What to try next."""

    def tell(self, trial: Trial, least: float) -> None:
        """Take in what it gave, and the least loss that met the thresholds so far."""


class Bisection:
    """The search along one knob, the others fixed.

    A measure falls as its constraint becomes stricter, nearly: the loosest limit that meets the
    thresholds is where it crosses them, and most often what loses least.

    Parameters
    ----------
    space
        The limits that are searched.
    name
        The knob.
    fixed
        Positions of other knobs.
    low, high
        Where the knob is looser than can be, and where it is strict enough or too strict.
    steps
        Most trials.
    like
        A point whose options and columns are taken.
    first
        Where to begin; in the middle without it.
    hope
        What part of the loss of a point that meets the thresholds might be left at the loose end.
    """

    def __init__(
        self,
        space: Space,
        name: str,
        fixed: Mapping[str, float],
        low: float,
        high: float,
        steps: int,
        like: Point | None = None,
        *,
        first: float | None = None,
        hope: float = 0.0,
    ) -> None:
        self.space = space
        self.name = name
        self.fixed = dict(fixed)
        self.low, self.high = low, high
        self.steps = steps
        self.like = like
        self.first = first
        self.hope = hope
        self.asked = 0
        self._below: Trial | None = None
        self._above: Trial | None = None
        self.best: Trial | None = None
        self.over = not self._room()

    def point(self) -> Point:
        """What to try next."""
        return self._point(self._next())

    def tell(self, trial: Trial, least: float) -> None:
        """Take in what it gave.

        Parameters
        ----------
        trial
            The trial of `point`.
        least
            The least loss that met the thresholds so far, by any way.
        """
        at = self._next()
        self.asked += 1
        if trial.met and (self.best is None or trial.loss < self.best.loss):
            self.best = trial
        if trial.met or not trial.made:
            self.high, self._above = at, trial if trial.met else None
        else:
            self.low, self._below = max(at, self.space.bites(self.name, trial)), trial
        hope = self.hope if trial.met else 1.0
        worse = trial.made and hope * trial.loss >= least
        hopeless = self.best is None and self.asked >= HOPELESS
        self.over = worse or hopeless or self.asked >= self.steps or not self._room()

    @property
    def crossing(self) -> float:
        """Position from which the thresholds should be met, as far as the trials tell."""
        if self._below is not None and self._above is not None:
            return self._next()
        return self.low if self.best is None else self.high

    def _next(self) -> float:
        """Between the ends: where the measure that is too high should cross its limit."""
        if self.first is not None and not self.asked:
            return self.first
        part = 0.5 if self.first is None or self._above is None else 1 - LEAST_PART
        if self._below is not None and self._above is not None:
            over = [ratio(each) for each in self._below.held]
            worst = over.index(max(over))
            falls = log(over[worst]) - log(max(ratio(self._above.held[worst]), 1e-3))
            if falls > 0:
                part = min(max(log(over[worst]) / falls, LEAST_PART), 1 - LEAST_PART)
        return self.low + part * (self.high - self.low)

    def _point(self, position: float) -> Point:
        return self.space.point({**self.fixed, self.name: position}, self.like)

    def _room(self) -> bool:
        """Whether there is a limit left between the two ends."""
        if self.high - self.low < CLOSE:
            return False
        knob = KNOBS[self.name]
        if not knob.whole:
            return True
        ends = knob.value(self.low), knob.value(self.high)
        return abs(ends[0] - ends[1]) > 1


def run_together(trials: Trials, searches: Sequence[Steps], stage: str) -> None:
    """Take the steps of several searches at the same time.

    Parameters
    ----------
    trials
        Where they are tried.
    searches
        The searches.
    stage
        The part of the search that asks.
    """
    while active := [each for each in searches if not each.over]:
        found = trials.run([each.point() for each in active], stage)
        for each, trial in zip(active, found, strict=True):
            each.tell(trial, inf if trials.best is None else trials.best.loss)
