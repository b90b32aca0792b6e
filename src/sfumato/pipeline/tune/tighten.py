"""Make one constraint stricter, from where it begins to bite, until the thresholds are met."""

from __future__ import annotations

from math import inf, log

from sfumato.pipeline.tune.bisect import CLOSE, LEAST_PART
from sfumato.pipeline.tune.knobs import KNOBS
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.space import Space
from sfumato.pipeline.tune.trial import Trial

STEPS = 3
FIRST_STEP = 0.02
FARTHER = 2.5
"""How much farther than so far a step may reach where no limit was strict enough."""


class Tightening:
    """The search along one knob from a point that loses less and misses a threshold.

    Parameters
    ----------
    space
        The limits that are searched.
    name
        The knob.
    loosened
        A trial of that point.
    """

    def __init__(self, space: Space, name: str, loosened: Trial) -> None:
        self.space, self.name, self.loosened = space, name, loosened
        self.like = loosened.point
        self.found: list[Trial] = []
        self.low = space.bites(name, loosened)
        self.high = space.end(name)
        self._below = loosened
        self._above: Trial | None = None
        self._falls = 1.0
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
        self.found.append(trial)
        if trial.met or not trial.made:
            self.high, self._above = at, trial if trial.met else None
        else:
            fallen = log(self._below.excess) - log(trial.excess)
            self._falls = max(fallen / max(at - self.low, CLOSE), 1 / FARTHER)
            self.low = max(at, self.space.bites(self.name, trial))
            self._below = trial
        lost = trial.made and not trial.met and trial.loss >= least
        self.over = lost or len(self.found) >= STEPS or not self._room()

    def _next(self) -> float:
        """Where the worst measure should cross its limit."""
        room = self.high - self.low
        missing = log(self._below.excess) if self._below.excess < inf else 1.0
        if self._above is not None:
            to_spare = -log(max(self._above.excess, 1e-3))
            part = missing / max(missing + to_spare, 1e-9)
            return self.low + room * min(max(part, LEAST_PART), 1 - LEAST_PART)
        step = max(missing / self._falls, FIRST_STEP)
        knob = KNOBS[self.name]
        if knob.whole:
            now = knob.value(self.low)
            step = max(
                step, knob.position(now + (-1 if self.name == "cap_records" else 1)) - self.low
            )
        strict = room if self.high == self.space.end(self.name) else room / 2
        return self.low + min(step, strict)

    def _point(self, position: float) -> Point:
        limit = self.space.value(self.name, position)
        return self.like.at(self.like.limits | {self.name: limit})

    def _room(self) -> bool:
        """Whether there is a limit left between the two ends."""
        return self.high - self.low > CLOSE and self._point(self.high) != self._point(self.low)
