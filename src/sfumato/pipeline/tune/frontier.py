"""The trials that nobody beats in both risk and loss."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.pipeline.tune.trial import Trial, ratio


def frontier_of(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials with the least loss at their worst measure or a lower one, lowest risk first.

    Risk is the largest measure over its limit: at most 1 where all thresholds are met.

    Parameters
    ----------
    trials
        All of them.
    """
    return _front([(each.excess, each) for each in trials if each.made])


def frontier_of_measure(trials: Sequence[Trial], place: int) -> tuple[Trial, ...]:
    """The trials of least loss at a measure or a better one, of those that meet the others.

    Parameters
    ----------
    trials
        All of them.
    place
        Place of the measure in `Trial.held`.
    """
    found = []
    for each in trials:
        if not each.made:
            continue
        others = [held for at, held in enumerate(each.held) if at != place]
        if all(ratio(held) <= 1 for held in others):
            held = each.held[place]
            sign = -1.0 if held.bound == "at least" else 1.0
            found.append((sign * held.value, each))
    return _front(found)


def _front(pairs: list[tuple[float, Trial]]) -> tuple[Trial, ...]:
    front: list[Trial] = []
    for _, trial in sorted(pairs, key=lambda pair: (pair[0], pair[1].loss, pair[1].number)):
        if not front or trial.loss < front[-1].loss:
            front.append(trial)
    return tuple(front)
