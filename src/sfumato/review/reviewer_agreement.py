"""What the workers' journals come to: progress, agreement corrected for chance, answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score

from sfumato.core.arrays import Ints
from sfumato.core.declaration import Progress, fields_of
from sfumato.core.measure import Measure
from sfumato.review import review_decisions, review_journal
from sfumato.review.anonymity_index import Index
from sfumato.review.review_project import Project, index_of, review_of
from sfumato.review.review_settings import plain_settings
from sfumato.review.review_sources import open_folder
from sfumato.review.worker_state import CombinedState, WorkerState

# Percentiles of 2.5 % then rest on a dozen samples at each end.
RESAMPLES = 500
LEVEL = 0.95
# Samples with one answer throughout have no kappa: leaving out many of them would bias the rest.
LEAST_DEFINED = 0.9
"""Share of the samples in which a statistic must be defined for an interval."""


def bootstrap(
    statistic: Callable[[Ints], float | None], counts: Ints, rng: np.random.Generator
) -> tuple[float, float] | None:
    """The 95 % percentile interval of a statistic over pairs drawn with replacement.

    Pairs with the same answers are drawn together: how often each kind is drawn is multinomial.

    Parameters
    ----------
    statistic
        Its value for a number of pairs of each kind; ``None`` where it is not defined.
    """
    # The same as drawing pairs with replacement, at the cost of the kinds and not the pairs.
    drawn = rng.multinomial(int(counts.sum()), counts / counts.sum(), RESAMPLES)
    values = [value for value in map(statistic, drawn) if value is not None]
    if len(values) < LEAST_DEFINED * RESAMPLES:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


_POINTS = np.array(sorted(review_decisions.Answer), dtype=np.int64)
_SIDES = np.array([-1, 1], dtype=np.int64)
_WHY = "95 % interval by drawing the pairs again 500 times"


@dataclass(frozen=True, slots=True)
class TwoWorkers:
    """How far two workers agree on the pairs that both have answered.

    A kappa is ``None`` where it is not defined: no such pair, or one answer throughout.

    Attributes
    ----------
    sides
        Cohen's kappa of same against different.
    points, linear, quadratic
        Cohen's kappa of the six points, and with weights by their distance and its square.
    """

    workers: tuple[str, str]
    pairs: int
    same_side: int
    equal: int
    sides: Measure | None
    points: Measure | None
    linear: Measure | None
    quadratic: Measure | None


@dataclass(frozen=True, slots=True)
class AllWorkers:
    """How far all workers agree on the pairs that two or more have answered.

    An alpha is ``None`` where it is not defined: no such pair, or one answer throughout.

    Attributes
    ----------
    sides
        Krippendorff's alpha of same against different, nominal.
    ordinal
        Of the six points in their order.
    """

    pairs: int
    answers: int
    sides: Measure | None
    points: Measure | None
    ordinal: Measure | None


def agreement_of_two(
    decisions: review_decisions.Decisions,
    one: str,
    two: str,
    rng: np.random.Generator | None = None,
) -> TwoWorkers:
    """How far two workers agree (Cohen 1960, 1968).

    Parameters
    ----------
    decisions
        All that happened; answers that stand count.
    rng
        Source of randomness for the intervals; without it there are none.
    """
    both = [
        (answers[one], answers[two])
        for answers in decisions.answers.values()
        if one in answers and two in answers
    ]
    given = np.array(both, dtype=np.int64).reshape(-1, 2).T
    side = np.sign(given)

    def kappa(name: str, values: Ints, labels: Ints, weights: _Weights = None) -> Measure | None:
        cells, counts = np.unique(values, axis=1, return_counts=True)

        def of(times: Ints) -> float | None:
            return _kappa(cells, times, labels, weights)

        return _measure(f"Cohen's kappa, {name}", of, counts, rng)

    return TwoWorkers(
        workers=(one, two),
        pairs=len(both),
        same_side=int(np.count_nonzero(side[0] == side[1])),
        equal=int(np.count_nonzero(given[0] == given[1])),
        sides=kappa("same or different", side, _SIDES),
        points=kappa("six points", given, _POINTS),
        linear=kappa("six points, linear weights", given, _POINTS, "linear"),
        quadratic=kappa("six points, quadratic weights", given, _POINTS, "quadratic"),
    )


def agreement_of_each_two(
    decisions: review_decisions.Decisions, rng: np.random.Generator | None = None
) -> tuple[TwoWorkers, ...]:
    """How far each two workers agree who have answered a pair in common.

    Parameters
    ----------
    rng
        Source of randomness for the intervals, which take about a second for each two workers;
        without it there are none.
    """
    # Only workers who met on a pair: of others there is nothing to compare.
    met = {
        two for answers in decisions.answers.values() for two in combinations(sorted(answers), 2)
    }
    return tuple(agreement_of_two(decisions, one, two, rng) for one, two in sorted(met))


def agreement_of_all(
    decisions: review_decisions.Decisions, rng: np.random.Generator | None = None
) -> AllWorkers:
    """How far all workers agree (Krippendorff 2004, Chapter 11).

    Parameters
    ----------
    rng
        Source of randomness for the intervals, which take about half a second for 1,000 pairs
        and half a minute for 100,000; without it there are none.
    """
    several = [list(answer.values()) for answer in decisions.answers.values() if len(answer) > 1]
    points = np.array(
        [[each.count(point) for point in sorted(review_decisions.Answer)] for each in several],
        dtype=np.int64,
    ).reshape(-1, len(_POINTS))
    sides = points.reshape(-1, 2, len(_POINTS) // 2).sum(axis=2)

    def alpha(name: str, counts: Ints, level: _Level) -> Measure | None:
        rows, often = np.unique(counts, axis=0, return_counts=True)

        def of(times: Ints) -> float | None:
            return _alpha(np.repeat(rows, times, axis=0), level)

        return _measure(f"Krippendorff's alpha, {name}", of, often, rng)

    return AllWorkers(
        pairs=len(several),
        answers=int(points.sum()),
        sides=alpha("same or different", sides, "nominal"),
        points=alpha("six points", points, "nominal"),
        ordinal=alpha("six points in order", points, "ordinal"),
    )


_Weights = Literal["linear", "quadratic"] | None
_Level = Literal["nominal", "ordinal"]


def _measure(
    name: str,
    statistic: Callable[[Ints], float | None],
    counts: Ints,
    rng: np.random.Generator | None,
) -> Measure | None:
    value = statistic(counts) if len(counts) else None
    if value is None:
        return None
    ends = None if rng is None else bootstrap(statistic, counts, rng)
    if ends is None:
        return Measure(name, value)
    return Measure(name, value, ends[0], ends[1], estimator="bootstrap over pairs", why=_WHY)


def _kappa(cells: Ints, times: Ints, labels: Ints, weights: _Weights) -> float | None:
    one, two = cells[:, times > 0]
    # With one answer throughout expected agreement is 1, and kappa is 0 / 0.
    if len(np.unique([one, two])) < 2:
        return None
    often = times[times > 0]
    return _defined(
        cohen_kappa_score(one, two, labels=labels, weights=weights, sample_weight=often)
    )


def _alpha(counts: Ints, level: _Level) -> float | None:
    # Likewise no disagreement can be expected, which alpha divides by.
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    domain = np.arange(counts.shape[1])
    return _defined(
        krippendorff.alpha(value_counts=counts, value_domain=domain, level_of_measurement=level)
    )


def _defined(value: Any) -> float | None:
    return float(value) if isfinite(value) else None


def review_progress(folder: Path, progress: Progress) -> dict[str, Any]:
    """Progress, KAPR, characters, accuracy and agreement, as plain values.

    Parameters
    ----------
    folder
        What ``sfumato link`` wrote, or a project.
    """
    project = open_folder(folder).project
    journals = review_journal.checked_journals(folder, project)
    result: dict[str, Any] = {
        "pairs": len(project.pair_ids),
        "gold": len(project.gold),
        "workers": [],
        "combined_kapr": None,
        "agreement": None,
        "each_two": [],
        "conflicts": 0,
    }
    if not journals:
        return result
    index = index_of(project, journals[0].beginning.settings, progress)
    several = len(journals) > 1
    combined = _combined(journals, project, index) if several else None
    states = [_restored(written, project, index, combined) for written in journals]
    everything = review_decisions.Decisions.of(each for _, own in states for each in own.values())
    right = review_decisions.accuracy(everything, project.gold)
    for written, (state, own) in zip(journals, states, strict=True):
        result["workers"].append(_worker(written, state, own, right))
    result["conflicts"] = len(review_decisions.find_conflicts(everything))
    if combined is not None:
        result["combined_kapr"] = combined.score
    if several:
        result["agreement"] = _plain(agreement_of_all(everything))
        result["each_two"] = [_plain(each) for each in agreement_of_each_two(everything)]
    return result


def _plain(each: AllWorkers | TwoWorkers) -> dict[str, Any]:
    figures = {own.name: getattr(each, own.name) for own in fields(each)}
    return {
        name: value.to_json() if isinstance(value, Measure) else value
        for name, value in figures.items()
    }


def _worker(
    written: review_journal.Written,
    state: WorkerState,
    own: dict[str, review_decisions.History],
    right: dict[str, Any],
) -> dict[str, Any]:
    now, worker = [each.present for each in own.values()], written.beginning.worker
    settings = plain_settings(written.beginning.settings, without={"budget"})
    correct = right.get(worker)
    return {
        "worker": worker,
        "pairs": len(state.pairs),
        "shown": len(state.account.shown),
        "decided": sum(each.answer is not None for each in now),
        "skipped": sum(each.skipped for each in now),
        "flagged": sum(each.flag is not None for each in now),
        "kapr": state.score,
        "budget": review_journal.budget_of(written.beginning, written.entries),
        "characters": state.characters,
        "accuracy": {"answered": 0} if correct is None else _plain_accuracy(correct),
        "settings": settings,
    }


def _combined(
    journals: list[review_journal.Written], project: Project, index: Index
) -> CombinedState | None:
    """The state that all are added to; ``None`` where their rules differ."""
    first = journals[0].beginning
    if all(review_journal.same_rules(first, journal.beginning) for journal in journals):
        return CombinedState(review_of(project, first.settings, index))
    return None


def _restored(
    written: review_journal.Written, project: Project, index: Index, combined: CombinedState | None
) -> tuple[WorkerState, dict[str, review_decisions.History]]:
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    settings = written.beginning.settings
    review = review_of(project, settings, index)
    # Under different rules units cannot be added up; a project's budget still asks for a state.
    together = combined or CombinedState(review)
    return review_journal.restored(review, number_of, written.beginning, written.entries, together)


def _plain_accuracy(each: review_decisions.Accuracy) -> dict[str, Any]:
    """How often a worker is right, as plain values."""
    counted = fields_of(each, "answered right false_same false_different")
    return {**counted, "share": None if each.share is None else each.share.to_json()}
