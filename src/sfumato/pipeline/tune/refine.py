"""Go on from the best point: a model says where, a bandit says how else."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.pipeline.tune.bisect import Bisection, run_together
from sfumato.pipeline.tune.knobs import KNOBS
from sfumato.pipeline.tune.moves import Bandit, Move
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.space import Space
from sfumato.pipeline.tune.surrogate import Surrogate
from sfumato.pipeline.tune.trial import Trial
from sfumato.pipeline.tune.trials import Trials

Floats = npt.NDArray[np.float64]
BATCH = 4
"""Points tried at a time; the same on every machine, so that a seed says what is found."""
CANDIDATES = 256
TURNED, DROPPED, OTHERS = 1.5, 0.06, 0.4
"""Knobs that a step turns beside one, the share that it turns back wholly, and the share of the
steps that may turn knobs which the best point leaves alone."""
FIRST_STEP, LEAST_STEP = 0.2, 0.01
SAME = 1e-9
"""Positions that are the same but for rounding."""
BACK = 3
"""Steps that turn a knob back."""
REPAIRS = 4
"""Steps that make a point meet the thresholds that loses less and does not."""
PATIENCE = 15
"""Rounds without a better point after which the search ends."""
STAGE = "refine"


class Refinement:
    """The search around the best point.

    Parameters
    ----------
    trials
        Where points are tried; it holds a best one.
    space
        The limits that are searched.
    bandit
        Other ways to make a release.
    rng
        Source of random choices.
    """

    def __init__(
        self, trials: Trials, space: Space, bandit: Bandit, rng: np.random.Generator
    ) -> None:
        self.trials, self.space, self.bandit, self.rng = trials, space, bandit, rng
        self.names = tuple(
            each for each in space.names if space.end(each) > space.start(each) + SAME
        )
        self.step = FIRST_STEP
        self.loosest = np.array([space.start(name) for name in self.names])
        self.strictest = np.array([space.end(name) for name in self.names])
        usual = {"cap_records", *space.movers[:1]}
        self.usual = np.array([name in usual for name in self.names], dtype=bool)

    def run(self) -> None:
        """Try points until nothing better is found for long."""
        failed = 0
        while failed < PATIENCE:
            best = self.trials.best
            if best is None:
                return
            points, move = self._proposals(best)
            if not points:
                failed += 1
                self.step = min(self.step * 2, FIRST_STEP)
                continue
            found = self.trials.run(points, STAGE)
            if move is not None:
                self._repair(found[-1], best)
            now = self.trials.best
            better = now is not None and now is not best
            if move is not None and now is not None and better:
                move.won += now.number >= found[-1].number
            if better:
                self._loosen()
            self.step = min(self.step * 1.3, FIRST_STEP) if better else self.step * 0.85
            self.step = max(self.step, LEAST_STEP)
            failed = 0 if better else failed + 1

    def _repair(self, trial: Trial, best: Trial) -> None:
        """Where a move loses less and does not meet the thresholds: make one knob stricter."""
        if trial.met or not trial.made or trial.loss >= best.loss or not self.space.movers:
            return
        name = self.space.movers[0]
        at = self.space.positions(trial.point)
        fixed = {each: at[each] for each in at if each in trial.point.limits and each != name}
        if "cap_records" in trial.point.limits:
            cap = KNOBS["cap_records"]
            fixed["cap_records"] = cap.position(trial.point.limits["cap_records"])
        low, high = at[name], self.space.end(name)
        run_together(
            self.trials,
            [Bisection(self.space, name, fixed, low, high, REPAIRS, trial.point)],
            STAGE,
        )

    def _loosen(self) -> None:
        """Turn one knob of a new best point back to where the thresholds are just met."""
        best = self.trials.best
        if best is None or not self.space.movers:
            return
        at = self.space.positions(best.point)
        name = max(self.space.movers, key=lambda each: at[each] - self.space.start(each))
        fixed = {each: at[each] for each in at if each in best.point.limits and each != name}
        low = max(self.space.start(name), at[name] - 2 * self.step)
        run_together(
            self.trials,
            [Bisection(self.space, name, fixed, low, at[name], BACK, best.point)],
            STAGE,
        )

    def _proposals(self, best: Trial) -> tuple[list[Point], Move | None]:
        """Points that were not tried; the last one by the move, where there is one."""
        found: list[Point] = []
        self._bounded(best)
        for margin in (0.0, 1.0) if self.names else ():
            self._add(found, self._modelled(best, margin))
        while self.names and len(found) < BATCH - 1:
            before = len(found)
            self._add(found, self._nearby(best))
            if len(found) == before:
                break
        move = self.bandit.choose()
        if move is not None:
            move.tried += 1
            before = len(found)
            self._add(found, move.make(best.point, self.rng))
            if len(found) == before:
                move = None
        return found, move

    def _add(self, found: list[Point], point: Point) -> None:
        if point not in found and not self.trials.known(point):
            found.append(point)

    def _bounded(self, best: Trial) -> None:
        """Let knobs that the best point leaves alone begin where they bite, or a step before."""
        asked = best.point.limits
        self.loosest = np.array(
            [
                self.space.start(name)
                if name in asked or name == "cap_records"
                else max(self.space.bites(name, best) - self.step, self.space.start(name))
                for name in self.names
            ]
        )

    def _nearby(self, best: Trial) -> Point:
        centre = self._at(best.point)
        return self._point(self._around(centre, 1)[0], best.point)

    def _modelled(self, best: Trial, margin: float) -> Point:
        """The point that a model of the trials made in the same manner takes for the best."""
        alike = [each for each in self.trials.done if each.made and _alike(each, best)]
        centre = self._at(best.point)
        if len(alike) < len(self.names) + 2:
            return self._nearby(best)
        positions = np.array([self._at(each.point) for each in alike])
        width = max(6 * self.step, 0.1)
        model = Surrogate(positions, alike, centre, width)
        candidates = self._around(centre, CANDIDATES)
        return self._point(candidates[model.best(candidates, margin)], best.point)

    def _around(self, centre: Floats, count: int) -> Floats:
        """Positions near a centre: each is one or more knobs away."""
        shape = (count, len(self.names))
        turned = self.rng.random(shape) < TURNED / len(self.names)
        turned[np.arange(count), self.rng.integers(len(self.names), size=count)] = True
        asked = (centre > self.loosest + SAME) | self.usual
        turned &= asked | (self.rng.random((count, 1)) < OTHERS)
        steps = self.rng.normal(0.0, self.step, shape) * turned
        near = np.clip(centre + steps, self.loosest, self.strictest)
        near[self.rng.random(shape) < DROPPED] = -np.inf
        bounded: Floats = np.maximum(near, self.loosest)
        return bounded

    def _at(self, point: Point) -> Floats:
        positions = self.space.positions(point)
        found: Floats = np.maximum([positions[name] for name in self.names], self.loosest)
        return found

    def _point(self, positions: Floats, like: Point) -> Point:
        """Knobs at their loose end ask for no more than is needed."""
        turned = {
            name: float(at)
            for name, at, loose in zip(self.names, positions, self.loosest, strict=True)
            if at > loose + SAME
        }
        point = self.space.point(turned, like)
        if "cap_records" in like.limits and "cap_records" not in self.names:
            point = point.at(point.limits | {"cap_records": like.limits["cap_records"]})
        return point


def _alike(trial: Trial, other: Trial) -> bool:
    """Whether two releases are made in the same manner, only their limits apart."""
    return trial.point.manner == other.point.manner
