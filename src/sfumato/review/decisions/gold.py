"""Pairs of known truth among the others, and what they say of the workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.review.decisions.answers import Answer, Confidence
from sfumato.review.decisions.decisions import Decisions

_WHY = "answers about pairs of known truth; 95 % interval by Wilson"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often a worker is right about pairs of known truth.

    Attributes
    ----------
    answered, right
        Number of such pairs with an answer, and with a right one.
    false_same, false_different
        Number of different persons called the same, and of same ones called different.
    share
        Share of right answers, with Wilson's 95 % interval; ``None`` without an answer.
    by_confidence
        The same of the answers of each confidence; ``None`` where there is none.
    """

    answered: int
    right: int
    false_same: int
    false_different: int
    share: Measure | None
    by_confidence: Mapping[Confidence, Measure | None]


def gold_needed(others: int, share: float, there: int) -> int:
    """How many gold pairs make up a share of all pairs together with the others.

    Parameters
    ----------
    others
        Number of other pairs.
    share
        Share of gold pairs among all, in [0, 1).
    there
        Number of pairs of known truth.

    Raises
    ------
    InputError
        If the share is out of range, or more are needed than there are.
    """
    if not 0 <= share < 1:
        raise InputError("parameter share", "must be at least 0 and below 1")
    wanted = ceil(others * share / (1 - share) - 1e-9)
    if wanted > there:
        raise InputError(
            "the gold pairs",
            f"must be {wanted:,} for this share",
            found=f"{there:,} pairs of known truth",
            advice="give more of them, or ask for a smaller share",
        )
    return wanted


def accuracy(decisions: Decisions, truth: Mapping[str, bool]) -> dict[str, Accuracy]:
    """How often each worker is right; answers that stand count, whatever was resolved.

    Parameters
    ----------
    decisions
        All that happened.
    truth
        By pair, whether the two records are one person's.
    """
    given: dict[str, list[tuple[Answer, bool]]] = {}
    for pair, answers in decisions.answers.items():
        if pair in truth:
            for worker, answer in answers.items():
                given.setdefault(worker, []).append((answer, truth[pair]))
    workers = sorted({worker for _, worker in decisions.present})
    return {worker: _accuracy(given.get(worker, [])) for worker in workers}


def _accuracy(given: Sequence[tuple[Answer, bool]]) -> Accuracy:
    return Accuracy(
        answered=len(given),
        right=sum(answer.same is same for answer, same in given),
        false_same=sum(answer.same and not same for answer, same in given),
        false_different=sum(same and not answer.same for answer, same in given),
        share=_share("accuracy", given),
        by_confidence={
            level: _share(
                f"accuracy, {level.name.lower()} confidence",
                [each for each in given if each[0].confidence is level],
            )
            for level in Confidence
        },
    )


def _share(name: str, given: Sequence[tuple[Answer, bool]]) -> Measure | None:
    if not given:
        return None
    from scipy.stats import binomtest

    right = sum(answer.same is same for answer, same in given)
    ends = binomtest(right, len(given)).proportion_ci(0.95, method="wilson")
    return Measure(
        name,
        right / len(given),
        low=float(ends.low),
        high=float(ends.high),
        estimator="share of a sample",
        why=_WHY,
    )
