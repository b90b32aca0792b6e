"""Other ways to make the release of a point, tried where they have paid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import log, sqrt

import numpy as np

from sfumato.pipeline.tune.columns import ColumnChange, levels_to_spare
from sfumato.pipeline.tune.point import Point
from sfumato.release.options import Form, Recoding
from sfumato.schema import Schema

FACTORS = (0.25, 0.5, 2.0, 4.0)
SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
OPTIMISM = 0.3
Make = Callable[[Point, np.random.Generator], Point]


@dataclass
class Move:
    """One kind of change, with what it has brought.

    Attributes
    ----------
    name
        What it changes.
    make
        Changes a point.
    tried, won
        How often it was tried, and how often that was the best so far.
    """

    name: str
    make: Make
    tried: int = 0
    won: int = 0


@dataclass(frozen=True)
class Allowed:
    """What the search may change beside the constraints.

    Attributes
    ----------
    suppress
        The largest share of persons that may be suppressed.
    cap
        Whether the records of a person may be capped.
    recoding
        Whether one level for all records may be tried.
    columns
        Whether the schema's columns may be changed.
    """

    suppress: float = 0.02
    cap: bool = True
    recoding: bool = True
    columns: bool = False


@dataclass
class Bandit:
    """The moves, the one with the best record so far first.

    Attributes
    ----------
    moves
        The moves.
    """

    moves: list[Move] = field(default_factory=list)

    def choose(self) -> Move | None:
        """The move with the highest upper confidence bound (UCB1); ``None`` without moves."""
        total = sum(each.tried for each in self.moves) + 1

        def bound(move: Move) -> float:
            if not move.tried:
                return float("inf")
            return move.won / move.tried + OPTIMISM * sqrt(2 * log(total) / move.tried)

        return max(self.moves, key=bound, default=None)


def moves_of(allowed: Allowed, schema: Schema, form: Form, most_records: int) -> Bandit:
    """The moves that are allowed.

    Parameters
    ----------
    allowed
        What may be changed.
    schema
        The schema.
    form
        The form of released values.
    most_records
        The most records of a person.
    """
    moves = []
    shares = [each for each in SHARES if each <= allowed.suppress] or [allowed.suppress]
    if allowed.suppress > 0:
        moves.append(Move("suppress", lambda point, rng: _suppress(point, shares, rng)))
    if allowed.cap and most_records > 1:
        moves.append(Move("cap_records", lambda point, rng: _cap(point, most_records, rng)))
    if allowed.columns:
        moves += _of_columns(schema, form)
    return Bandit(moves)


def _suppress(point: Point, shares: list[float], rng: np.random.Generator) -> Point:
    if point.recoding == Recoding.FULL_DOMAIN:
        return point
    return replace(point, suppress=float(rng.choice([0.0, *shares])))


def _cap(point: Point, most: int, rng: np.random.Generator) -> Point:
    limits = point.limits
    cap = round(limits.pop("cap_records", most) * float(rng.choice([0.5, 0.7, 0.85, 1.2, 1.5])))
    if 0 < cap < most:
        limits["cap_records"] = cap
    return point.at(limits)


def _of_columns(schema: Schema, form: Form) -> list[Move]:
    names = list(schema.quasi_identifiers)
    moves = [Move("weight", lambda point, rng: _weigh(point, names, rng))]
    if len(names) > 1:
        moves.append(Move("leave out", lambda point, rng: _leave_out(point, names, rng)))
    spare = levels_to_spare(schema)
    if form is Form.HIERARCHY and spare:
        moves.append(Move("coarser", lambda point, rng: _coarsen(point, spare, rng)))
    return moves


def _weigh(point: Point, names: list[str], rng: np.random.Generator) -> Point:
    left = [each for each in names if each not in point.change.left_out]
    name, factor = str(rng.choice(left)), float(rng.choice(FACTORS))
    now = dict(point.change.weights).get(name, 1.0)
    return replace(point, change=point.change.weighted(name, min(max(now * factor, 1 / 16), 16.0)))


def _leave_out(point: Point, names: list[str], rng: np.random.Generator) -> Point:
    gone = point.change.left_out
    if gone and rng.random() < 0.5:
        fewer = replace(point.change, left_out=())
        return replace(point, change=fewer)
    left = [each for each in names if each not in gone]
    if len(left) < 2:
        return replace(point, change=ColumnChange())
    return replace(point, change=point.change.without(str(rng.choice(left))))


def _coarsen(point: Point, spare: dict[str, int], rng: np.random.Generator) -> Point:
    left = [each for each in spare if each not in point.change.left_out]
    if not left:
        return point
    name = str(rng.choice(left))
    return replace(point, change=point.change.coarsened(name, int(rng.integers(spare[name] + 1))))
