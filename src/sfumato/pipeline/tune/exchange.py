"""Ask less of one constraint and more of another: where two together lose less than one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log

from sfumato.pipeline.tune.bisect import run_together
from sfumato.pipeline.tune.knobs import KNOBS
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.space import Space
from sfumato.pipeline.tune.tighten import Tightening
from sfumato.pipeline.tune.trial import Trial
from sfumato.pipeline.tune.trials import Trials

WIDE, STARTS = 0.3, 3
"""How much looser constraints that are tried in pairs are than alone, and how many begin."""
WIDTHS = (0.4, 0.2, 0.1, 0.05)
"""How much looser one constraint is made: parts of its limit."""
AGAIN = 2
"""Most rounds at one width; a second one only where the first found a better point."""
LOOSENED = 2
"""Constraints that are made looser in a round, those first that save most loss per excess."""
TIGHTENED = 2
"""Constraints that are made stricter once the largest width showed which lose least."""
STAGE_PAIRS, STAGE = "two constraints", "exchange"


def in_pairs(trials: Trials, space: Space, alone: Mapping[str, float], like: Point) -> None:
    """Constraints a part looser than alone, each other one stricter until the thresholds are met.

    Parameters
    ----------
    trials
        Where points are tried.
    space
        The limits that are searched.
    alone
        Position of each constraint that is nearly enough alone.
    like
        A point whose options and columns are taken.
    """
    looser = {name: max(at - WIDE, space.start(name)) for name, at in alone.items()}
    found = trials.run([space.point({name: at}, like) for name, at in looser.items()], STAGE_PAIRS)
    starts = [pair for pair in zip(alone, found, strict=True) if pair[1].made and not pair[1].met]
    starts.sort(key=lambda pair: pair[1].loss * pair[1].excess)
    tightened = [
        Tightening(space, other, each)
        for name, each in starts[:STARTS]
        for other in alone
        if other != name
    ]
    run_together(trials, tightened, STAGE_PAIRS)


def exchange(trials: Trials, space: Space) -> None:
    """From the best point on, exchange a part of one constraint for another, in smaller parts.

    Parameters
    ----------
    trials
        Where points are tried.
    space
        The limits that are searched.
    """
    others: Sequence[str] = space.names
    for width in WIDTHS:
        for _ in range(AGAIN):
            before = trials.best
            if before is None:
                return
            prices = _round(trials, space, before, width, others)
            if trials.best is before:
                break
        if prices:
            others = sorted(prices, key=prices.__getitem__)[:TIGHTENED]


def _round(
    trials: Trials, space: Space, best: Trial, width: float, others: Sequence[str]
) -> dict[str, float]:
    """Make single limits looser, then others stricter until the thresholds are met.

    Returns
    -------
    dict
        By the name of each that was made stricter, loss per excess that it took away.
    """
    looser = {name: _looser(space, best.point, name, width) for name in best.point.limits}
    names = [name for name, point in looser.items() if point is not None]
    found = trials.run([each for each in looser.values() if each is not None], STAGE)
    loosened = [
        (_price(best, each), name, each)
        for name, each in zip(names, found, strict=True)
        if each.made and not each.met and each.loss < best.loss
    ]
    loosened.sort(key=lambda found: found[0], reverse=True)
    tightened = [
        Tightening(space, other, each)
        for _, name, each in loosened[:LOOSENED]
        for other in others
        if other != name
    ]
    run_together(trials, tightened, STAGE)
    prices: dict[str, float] = {}
    for each in tightened:
        price = min((_price(found, each.loosened) for found in each.found), default=inf)
        prices[each.name] = min(price, prices.get(each.name, inf))
    return prices


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
        at = min(at, knob.position(limit + (1 if name == "cap_records" else -1)))
    wanted = space.value(name, max(at, space.start(name)))
    if knob.position(wanted) >= knob.position(limit):
        return None
    return point.at(point.limits | {name: wanted})
