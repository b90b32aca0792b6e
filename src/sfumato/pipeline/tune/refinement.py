"""How the search goes on near the best point: a model says where, a bandit says how else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.pipeline.tune.limits import CAP, KNOBS
from sfumato.pipeline.tune.line_search import LEAST_RATIO, Bisection, Space, run_together
from sfumato.pipeline.tune.point import Allowed, ColumnChange, Point, levels_to_spare
from sfumato.pipeline.tune.trials import Setting, Trial, Trials, ratio
from sfumato.release.release_options import Form, Recoding
from sfumato.schema import Schema

Generator = np.random.Generator
RIDGE, MOST_RATIO = 1e-3, 1e3
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
WEIGHTS, MOST_WEIGHT = (0.25, 0.5, 2.0, 4.0), 16.0
SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
CAPS = (0.5, 0.7, 0.85, 1.2, 1.5)
OPTIMISM = 0.3
STAGE = "refine"


class Surrogate:
    """Linear models of the logarithms of loss and measures, near one point.

    Parameters
    ----------
    positions
        Positions of the knobs of each trial, shape (trials, knobs).
    centre
        The point near which the models are to hold, shape (knobs,).
    width
        How near: trials weigh exp(-(distance/width)²).
    """

    def __init__(
        self, positions: Floats, trials: Sequence[Trial], centre: Floats, width: float
    ) -> None:
        self.centre = centre
        ratios = [
            [max(min(ratio(each), MOST_RATIO), LEAST_RATIO) for each in trial.held]
            for trial in trials
        ]
        losses = np.log(np.maximum([each.loss for each in trials], 1e-9))
        apart = positions - centre
        near = np.exp(-((apart**2).sum(axis=1) / width**2)) + 1e-6
        features = np.column_stack([np.ones(len(trials)), apart])
        weighted = features * near[:, None]
        # The slopes are shrunk, not the level; it gets what keeps the system solvable.
        square = features.T @ weighted + RIDGE * np.diag([1e-9, *np.ones(apart.shape[1])])
        wanted = np.column_stack([losses, np.log(ratios)])
        self._slopes = np.linalg.solve(square, weighted.T @ wanted)
        left = wanted - features @ self._slopes
        self.spread = np.sqrt((near[:, None] * left**2).sum(axis=0) / near.sum())

    def best(self, candidates: Floats, margin: float) -> int:
        """The candidate that loses least of those that should meet every threshold.

        Where none should, the one that is nearest to it.

        Parameters
        ----------
        candidates
            Positions, shape (candidates, knobs).
        margin
            By how many spreads the measures must lie below their limits.
        """
        features = np.column_stack([np.ones(len(candidates)), candidates - self.centre])
        found = features @ self._slopes
        over = (found[:, 1:] + margin * self.spread[1:]).max(axis=1, initial=-np.inf)
        return int(np.lexsort((found[:, 0], np.maximum(over, 0.0)))[0])


@dataclass
class Move:
    """One kind of change of how a release is made, with what it has brought.

    Attributes
    ----------
    tried, won
        How often it was tried, and how often that was the best so far.
    """

    change: Callable[[Point, Generator], Point]
    tried: int = 0
    won: int = 0


def moves_of(allowed: Allowed, setting: Setting) -> list[Move]:
    """The moves that are allowed and of use for a file."""
    moves = []
    shares = [each for each in SHARES if each <= allowed.suppress] or [allowed.suppress]
    if allowed.suppress > 0:
        moves.append(Move(lambda point, rng: _suppress(point, shares, rng)))
    most = setting.most_records
    if allowed.cap and most > 1:
        moves.append(Move(lambda point, rng: _cap(point, most, rng)))
    if allowed.columns:
        moves += _moves_of_columns(setting.table.schema, setting.options.values)
    return moves


def _moves_of_columns(schema: Schema, form: Form) -> list[Move]:
    names = list(schema.quasi_identifiers)
    moves = [Move(lambda point, rng: _weigh(point, names, rng))]
    if len(names) > 1:
        moves.append(Move(lambda point, rng: _leave_out(point, names, rng)))
    spare = levels_to_spare(schema)
    if form is Form.HIERARCHY and spare:
        moves.append(Move(lambda point, rng: _coarsen(point, spare, rng)))
    return moves


def _best_move(moves: Sequence[Move]) -> Move | None:
    """The move with the highest upper confidence bound; ``None`` without moves.

    UCB1 of Auer, Cesa-Bianchi and Fischer (2002, Machine Learning 47), figure 1, its bound scaled
    down, for few trials are left for moves.
    """
    total = sum(each.tried for each in moves) + 1

    def bound(move: Move) -> float:
        if not move.tried:
            return float("inf")
        return move.won / move.tried + OPTIMISM * sqrt(2 * log(total) / move.tried)

    return max(moves, key=bound, default=None)


def _suppress(point: Point, shares: list[float], rng: Generator) -> Point:
    if point.recoding == Recoding.FULL_DOMAIN:
        return point
    return replace(point, suppress=float(rng.choice([0.0, *shares])))


def _cap(point: Point, most: int, rng: Generator) -> Point:
    limits = point.limits
    cap = round(limits.pop(CAP, most) * float(rng.choice(CAPS)))
    return point.at(limits | {CAP: cap} if 0 < cap < most else limits)


def _weigh(point: Point, names: list[str], rng: Generator) -> Point:
    left = [each for each in names if each not in point.change.left_out]
    name, factor = str(rng.choice(left)), float(rng.choice(WEIGHTS))
    weight = dict(point.change.weights).get(name, 1.0) * factor
    weight = min(max(weight, 1 / MOST_WEIGHT), MOST_WEIGHT)
    return replace(point, change=point.change.weighted(name, weight))


def _leave_out(point: Point, names: list[str], rng: Generator) -> Point:
    gone = point.change.left_out
    if gone and rng.random() < 0.5:
        return replace(point, change=replace(point.change, left_out=()))
    left = [each for each in names if each not in gone]
    if len(left) < 2:
        return replace(point, change=ColumnChange())
    return replace(point, change=point.change.without(str(rng.choice(left))))


def _coarsen(point: Point, spare: dict[str, int], rng: Generator) -> Point:
    left = [each for each in spare if each not in point.change.left_out]
    if not left:
        return point
    name = str(rng.choice(left))
    return replace(point, change=point.change.coarsened(name, int(rng.integers(spare[name] + 1))))


class Refinement:
    """The search around the best point.

    Parameters
    ----------
    trials
        Where points are tried; it holds a best one.
    """

    def __init__(self, trials: Trials, space: Space, moves: Sequence[Move], rng: Generator) -> None:
        self.trials, self.space, self.moves, self.rng = trials, space, moves, rng
        self.names = tuple(
            each for each in space.names if space.end(each) > space.start(each) + SAME
        )
        self.step = FIRST_STEP
        self.loosest = np.array([space.start(name) for name in self.names])
        self.strictest = np.array([space.end(name) for name in self.names])
        usual = {CAP, *space.movers[:1]}
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
        name, point = self.space.movers[0], trial.point
        fixed = self.space.others(point, name)
        if CAP in point.limits:
            fixed[CAP] = KNOBS[CAP].position(point.limits[CAP])
        ends = self.space.positions(point)[name], self.space.end(name)
        self._bisect(name, fixed, ends, REPAIRS, point)

    def _loosen(self) -> None:
        """Turn one knob of a new best point back to where the thresholds are just met."""
        best = self.trials.best
        if best is None or not self.space.movers:
            return
        at = self.space.positions(best.point)
        name = max(self.space.movers, key=lambda each: at[each] - self.space.start(each))
        fixed = self.space.others(best.point, name)
        low = max(self.space.start(name), at[name] - 2 * self.step)
        self._bisect(name, fixed, (low, at[name]), BACK, best.point)

    def _bisect(
        self, name: str, fixed: dict[str, float], ends: tuple[float, float], steps: int, like: Point
    ) -> None:
        search = Bisection(self.space, name, *ends, steps, fixed, like)
        run_together(self.trials, [search], STAGE)

    def _proposals(self, best: Trial) -> tuple[list[Point], Move | None]:
        """Points that were not tried; the last one by the move, where there is one."""
        found: list[Point] = []
        self._bound(best)
        for margin in (0.0, 1.0) if self.names else ():
            self._add(found, self._modelled(best, margin))
        while self.names and len(found) < BATCH - 1:
            if not self._add(found, self._nearby(best)):
                break
        move = _best_move(self.moves)
        if move is not None:
            # Counted even where the point is known: a move that finds nothing new has had its turn.
            move.tried += 1
            if not self._add(found, move.change(best.point, self.rng)):
                move = None
        return found, move

    def _add(self, found: list[Point], point: Point) -> bool:
        """Add a point that is new; whether it is."""
        new = point not in found and not self.trials.has_tried(point)
        if new:
            found.append(point)
        return new

    def _bound(self, best: Trial) -> None:
        """Let knobs that the best point leaves alone begin where they bite, or a step before."""
        limits = best.point.limits
        self.loosest = np.array(
            [
                self.space.start(name)
                if name in limits or name == CAP
                else max(self.space.bites(name, best) - self.step, self.space.start(name))
                for name in self.names
            ]
        )

    def _nearby(self, best: Trial) -> Point:
        return self._point(self._around(self._at(best.point), 1)[0], best.point)

    def _modelled(self, best: Trial, margin: float) -> Point:
        """The point that a model of the trials made in the same manner takes for the best."""
        alike = [each for each in self.trials.releases if each.point.manner == best.point.manner]
        if len(alike) < len(self.names) + 2:
            return self._nearby(best)
        centre = self._at(best.point)
        positions = np.array([self._at(each.point) for each in alike])
        model = Surrogate(positions, alike, centre, max(6 * self.step, 0.1))
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
        # Two knobs that do the work of one are often no better than the other one alone.
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
        if CAP in like.limits and CAP not in self.names:
            point = point.at(point.limits | {CAP: like.limits[CAP]})
        return point
