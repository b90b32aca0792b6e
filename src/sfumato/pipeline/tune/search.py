"""The search: what is surely enough, the loosest of each constraint, exchanges, then nearby."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf, log

import numpy as np

from sfumato.pipeline.tune.bisect import Bisection, run_together
from sfumato.pipeline.tune.exchange import exchange, in_pairs
from sfumato.pipeline.tune.knobs import KNOBS, rounded
from sfumato.pipeline.tune.moves import Allowed, moves_of
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.refine import Refinement
from sfumato.pipeline.tune.space import Space, seen
from sfumato.pipeline.tune.trial import Trial
from sfumato.pipeline.tune.trials import Trials
from sfumato.release.options import Recoding
from sfumato.table.table import Table

STEPS = 8
OUT_STEPS, LOOSER, LEAST_HOPE = 4, 0.25, 0.93
"""Steps with something left out, how much looser the constraint may be there than without, and
what part of the loss that might save."""
CAPS, NEARLY_ALL = 7, 0.97
"""Caps that are tried, and the share of the persons whom the strictest leaves as they are."""
SUPPRESSED = (0.04, 0.1, 0.3)
"""Parts of the largest share that may be suppressed."""
RELAXED_STEPS = 6
FACTORS = (0.5, 0.75, 1.5, 2.0)
"""Other limits, of those that are asked, whose loss the frontier shows."""
WORTH_A_FRONTIER = 40
"""Fewest trials of a search that looks at other limits too."""


def search(trials: Trials, space: Space, allowed: Allowed, rng: np.random.Generator) -> None:
    """Search the point of least loss that meets the thresholds.

    First a release that keeps what is needed, and one that keeps what is surely enough; where
    neither can be made, ways to leave something out. Then, for each constraint that can move
    what is not met yet, the loosest limit that meets it; from the best point on, exchanges of
    one constraint for another; and small steps that a model of all trials chooses, and other
    options that a bandit chooses.

    Parameters
    ----------
    trials
        Where points are tried.
    space
        The limits that are searched.
    allowed
        What may be changed beside the constraints.
    rng
        Source of random choices.
    """
    table = trials.setting.table
    plain, sure = Point.of(space.needed, distance=space.distance), space.point({}, None)
    sure = sure.at(space.enough)
    first = trials.run([plain, sure], "start")[0]
    like = plain.manner
    if not first.made:
        space, like = _ways_out(trials, space, allowed)
        made = [each for each in trials.done if each.made]
        if not made:
            _relax(trials, space)
            return
        first = made[0]
    space = seen(space, first, table)
    if allowed.recoding and trials.setting.register is None and not like.coarsen_counts:
        trials.run([replace(plain, recoding=Recoding.FULL_DOMAIN.value)], "full-domain")
    if not first.met:
        alone = [each for each in _alone(trials, space, like) if each.name != "cap_records"]
        enough = {each.name: each.high for each in alone if each.best is not None}
        _leaving_some_out(trials, space, enough, allowed, like, first.loss)
        in_pairs(trials, space, {each.name: each.crossing for each in alone}, like)
    else:
        _leaving_some_out(trials, space, {}, allowed, like, first.loss)
    if trials.best is None:
        _last_resorts(trials, space, allowed, like)
    else:
        exchange(trials, space)
        _other_limits(trials, space, trials.best.point)
    most = int(np.bincount(table.person).max())
    bandit = moves_of(allowed, table.schema, trials.setting.options.values, most)
    Refinement(trials, space, bandit, rng).run()


def _ways_out(trials: Trials, space: Space, allowed: Allowed) -> tuple[Space, Point]:
    """Options under which what is needed can be kept, the one of least loss first."""
    ways = _leaving_out(Point.of(space.needed, distance=space.distance), allowed)
    trials.run(ways, "leave out")
    made = [each for each in trials.done if each.made]
    if made:
        return space, min(made, key=lambda each: (not each.met, each.loss)).point.manner
    plain = Point((), distance=space.distance)
    if not allowed.cap:
        return space, plain
    high = KNOBS["cap_records"].position(1)
    low = KNOBS["cap_records"].position(int(np.bincount(trials.setting.table.person).max()))
    strict = trials.run([space.point({"cap_records": high})], "leave out")[0]
    while strict.made and high - low > 0.1:
        middle = (low + high) / 2
        looser = trials.run([space.point({"cap_records": middle})], "leave out")[0]
        low, high = (low, middle) if looser.made else (middle, high)
    if strict.made:
        cap = {"cap_records": KNOBS["cap_records"].value(high)}
        space = replace(space, needed=space.needed | cap, enough=space.enough | cap)
    return space, plain


def _leaving_out(point: Point, allowed: Allowed) -> list[Point]:
    ways = []
    if allowed.suppress > 0:
        ways.append(replace(point, suppress=allowed.suppress))
    if "shared_counts" in point.limits:
        ways.append(replace(point, coarsen_counts="drop"))
        if allowed.suppress > 0:
            ways.append(replace(ways[-1], suppress=allowed.suppress))
    return ways


def _alone(trials: Trials, space: Space, like: Point) -> list[Bisection]:
    """The loosest limit of each constraint alone that meets the thresholds, best first."""
    bisections = [
        Bisection(space, name, {}, space.start(name), space.end(name), STEPS, like)
        for name in space.movers
        if space.end(name) > space.start(name)
    ]
    run_together(trials, bisections, "one constraint")
    return sorted(bisections, key=lambda each: inf if each.best is None else each.best.loss)


def _leaving_some_out(
    trials: Trials,
    space: Space,
    alone: Mapping[str, float],
    allowed: Allowed,
    like: Point,
    loosest: float,
) -> None:
    """The best constraint again, from where it met the thresholds, with caps and suppression."""
    base = space.point({}, like)
    caps = _caps(trials.setting.table) if allowed.cap and "cap_records" not in space.needed else []
    ways = [base.at(base.limits | {"cap_records": cap}) for cap in caps]
    if allowed.suppress > 0 and not like.suppress:
        ways += [replace(base, suppress=rounded(allowed.suppress * each)) for each in SUPPRESSED]
    name = next(iter(alone), None)
    if name is None or trials.best is None:
        trials.run(ways, "leave out")
        return
    position, best = KNOBS["cap_records"].position, trials.best.loss
    bisections = [
        Bisection(
            space,
            name,
            {"cap_records": position(cap)} if (cap := each.limits.get("cap_records")) else {},
            max(space.start(name), alone[name] - LOOSER),
            space.end(name),
            OUT_STEPS,
            each,
            first=alone[name],
            hope=max(min(loosest / best, 1.0), LEAST_HOPE) if best > 0 else 1.0,
        )
        for each in ways
    ]
    run_together(trials, bisections, "leave out")


def _caps(table: Table) -> list[int]:
    """Caps between the most records of a person and those of nearly all, by equal factors."""
    counts = np.bincount(table.person)
    most, least = int(counts.max()), max(int(np.quantile(counts, NEARLY_ALL)), 1)
    found = {round(each) for each in np.geomspace(least, most, CAPS + 1)}
    return sorted(found - {most})


def _other_limits(trials: Trials, space: Space, best: Point) -> None:
    """What the best point would lose at other limits of what is needed: the frontier."""
    if trials.most is not None and trials.most < WORTH_A_FRONTIER:
        return
    points = []
    for name, limit in space.needed.items():
        knob = KNOBS[name]
        if name == "cap_records" or name in space.movers:
            continue
        for factor in FACTORS:
            other = knob.value(knob.position(limit) + log(factor))
            points.append(best.at(best.limits | {name: other}))
    trials.run(points, "frontier")


def _last_resorts(trials: Trials, space: Space, allowed: Allowed, like: Point) -> None:
    """Where no constraint alone was enough: all that is surely enough, with all options."""
    sure = Point.of(space.enough, distance=space.distance)
    ways = [replace(sure, suppress=like.suppress, coarsen_counts=like.coarsen_counts)]
    trials.run(ways + _leaving_out(sure, allowed), "all at once")
    if trials.best is None:
        _nearest(trials, space, like)


def _nearest(trials: Trials, space: Space, like: Point) -> None:
    """Several knobs turned together, from their loose ends to their strict ones."""
    low, high = 0.0, 1.0
    for _ in range(RELAXED_STEPS):
        middle = (low + high) / 2
        turned = {
            name: space.start(name) + middle * (space.end(name) - space.start(name))
            for name in space.movers
            if name != "cap_records"
        }
        trial = trials.run([space.point(turned, like)], "all at once")[0]
        if trial.met or not trial.made:
            high = middle
        else:
            low = middle


def _relax(trials: Trials, space: Space) -> None:
    """The nearest releases that can be made: what is needed, each limit made looser alike."""
    low, high = 0.0, 1.0
    for _ in range(RELAXED_STEPS):
        middle = (low + high) / 2
        asked = {
            name: KNOBS[name].value(middle * KNOBS[name].position(limit))
            for name, limit in space.needed.items()
            if name != "cap_records"
        }
        trial: Trial = trials.run([Point.of(asked, distance=space.distance)], "nearest")[0]
        low, high = (middle, high) if trial.made else (low, middle)
    trials.run([Point.of({}, distance=space.distance)], "nearest")
