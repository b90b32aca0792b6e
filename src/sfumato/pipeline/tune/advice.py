"""Why no point meets the thresholds, and what would help."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.pipeline.tune.trial import Trial, ratio
from sfumato.risk.risk_thresholds import Held

MOST_SUPPRESSED = 0.2


def nearest_of(trials: Sequence[Trial]) -> Trial | None:
    """The trial whose worst measure lies nearest to its limit, of those with a release.

    Parameters
    ----------
    trials
        All of them.
    """
    made = [each for each in trials if each.made]
    return min(made, key=lambda each: (each.excess, each.loss), default=None)


def problems(trials: Sequence[Trial], nearest: Trial | None) -> tuple[str, ...]:
    """Which thresholds stand in the way.

    Parameters
    ----------
    trials
        All of them.
    nearest
        The nearest one.
    """
    if nearest is None:
        return trials[0].failures if trials else ("Nothing was tried.",)
    said = []
    for place, held in enumerate(nearest.held):
        found = [each.held[place] for each in trials if each.made]
        best = min(found, key=ratio)
        if ratio(best) > 1:
            said.append(
                f"{_asked(held)}: no release that was tried meets it; the best has "
                f"{held.printed(_worst(best))}."
            )
    if not said:
        said = [
            f"{_asked(held)}: can be met, but not together with the others; the nearest point "
            f"has {held.printed(_worst(held))}."
            for held in nearest.held
            if ratio(held) > 1
        ]
    failed = next((each.failures for each in trials if each.stage == "start"), ())
    return (*said, *failed)


def helps(
    trials: Sequence[Trial], nearest: Trial | None, suppress: float, *, cut_short: bool
) -> tuple[str, ...]:
    """What could be done.

    Parameters
    ----------
    trials
        All of them.
    nearest
        The nearest one.
    suppress
        The largest share of persons that might be suppressed.
    cut_short
        Whether the search ended before it had tried what it knows.
    """
    said = []
    if nearest is not None:
        wider = [
            f"{held.label} {held.bound} {_worst(held):.4g}"
            for held in nearest.held
            if ratio(held) > 1
        ]
        said.append(f"ask for {' and '.join(wider)}: the nearest point, trial {nearest.number}")
    said += next((each.helps for each in trials if each.helps), ())
    if suppress < MOST_SUPPRESSED:
        said.append(f"allow more persons to be suppressed than {100 * suppress:g} %")
    if cut_short:
        said.append("try more: a larger number of trials, or more time")
    return tuple(said)


def _asked(held: Held) -> str:
    return f"{held.label} {held.bound} {held.printed(held.limit)}"


def _worst(held: Held) -> float:
    end = held.low if held.bound == "at least" else held.high
    return held.value if end is None else end
