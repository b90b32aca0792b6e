"""The referee on all attacks of a run together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.intruder.referee.intervals import UPPER
from sfumato.intruder.referee.outcome import Outcome

_TOLERANCE = 1e-12


def judge_run(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Say which predictions count as broken, given how many attacks were made.

    If all predictions are true, one or more count as broken with probability at most 2.5 %,
    however the attacks depend on each other: Holm's step-down procedure (Holm 1979,
    Scandinavian Journal of Statistics 6:65-70). What each attack is allowed stays.

    Parameters
    ----------
    outcomes
        The attacks of a run, each judged alone.
    """
    tested = sorted(
        (each.p_value, place) for place, each in enumerate(outcomes) if each.p_value is not None
    )
    broken: set[int] = set()
    for rank, (p_value, place) in enumerate(tested):
        if p_value > (1 - UPPER) / (len(tested) - rank) + _TOLERANCE:
            break
        broken.add(place)
    return tuple(replace(each, broken=place in broken) for place, each in enumerate(outcomes))
