"""From scored pairs and decisions to outcomes and persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sfumato.core.measure import Measure
from sfumato.linkage.outcomes.calibrate import calibrate
from sfumato.linkage.outcomes.choose import thresholds_for_rates
from sfumato.linkage.outcomes.expected import Workload, workload
from sfumato.linkage.outcomes.thresholds import (
    MATCH,
    Codes,
    Thresholds,
    after_review,
    classify,
)
from sfumato.linkage.persons.clusters import Persons, find_persons, limited_sources
from sfumato.linkage.persons.contradictions import Contradiction, find_contradictions
from sfumato.linkage.persons.decisions import Decisions
from sfumato.linkage.persons.verdicts import DIFFERENT, SAME, Verdicts, join_workers, no_verdicts
from sfumato.linkage.quality.by_model import expected_quality
from sfumato.linkage.spec.model import WantedRates
from sfumato.linkage.values import Floats, Pairs, Records

USUAL = Thresholds(lower=0.1, upper=0.9)
"""The thresholds where nobody asked for others."""
LABELS = 50
"""Decided pairs from which the scores are corrected by them."""


class Wishes(Protocol):
    """What a specification says of outcomes and persons."""

    @property
    def thresholds(self) -> Limits | None:
        """The thresholds."""

    @property
    def rates(self) -> WantedRates | None:
        """The error rates from which they are found."""

    @property
    def one_per_source(self) -> tuple[str, ...]:
        """Names of the sources that have at most one record per person."""


class Limits(Protocol):
    """Least score of a possible match, and of a match."""

    @property
    def lower(self) -> float:
        """Of a possible match."""

    @property
    def upper(self) -> float:
        """Of a match."""


@dataclass(frozen=True, eq=False)
class Settled:
    """What is said of the pairs and whose the records are.

    Attributes
    ----------
    thresholds
        The thresholds.
    probability
        Probability of each pair, corrected by decisions where there are enough, else its score.
    calibrated
        Number of decided pairs that corrected it; 0 where none did.
    by_score
        Code of each pair's outcome by its score.
    outcome
        The same with what people decided.
    verdicts
        What they decided.
    persons
        Whose each record is.
    contradictions
        Decisions that cannot all be true.
    workload
        Pairs of each outcome by score, and the errors to be expected.
    quality
        Expected precision and recall of the pairs that the score calls a match.
    """

    thresholds: Thresholds
    probability: Floats
    calibrated: int
    by_score: Codes
    outcome: Codes
    verdicts: Verdicts
    persons: Persons
    contradictions: tuple[Contradiction, ...]
    workload: Workload
    quality: tuple[Measure, Measure]


def settle(
    records: Records,
    pairs: Pairs,
    spec: Wishes,
    decisions: Decisions | None = None,
    *,
    lost: float = 0.0,
) -> Settled:
    """Outcomes and persons from scores and decisions.

    Thresholds are those of the specification, or found from its error rates; by then scores are
    corrected by what people decided where there are 50 decided pairs or more of both kinds.

    Parameters
    ----------
    records
        The records.
    pairs
        The candidate pairs.
    spec
        What is linked, and how.
    decisions
        What people answered.
    lost
        Expected number of true matches that blocking has lost.

    Raises
    ------
    InputError
        If ``one_per_source`` names no source.
    """
    verdicts = no_verdicts() if decisions is None else join_workers(decisions, pairs)
    probability, calibrated = _probability(pairs, verdicts, spec)
    thresholds = _thresholds(pairs, probability, spec)
    by_score = classify(pairs.score, thresholds)
    matches = by_score == MATCH
    limited = limited_sources(records, spec.one_per_source)
    return Settled(
        thresholds=thresholds,
        probability=probability,
        calibrated=calibrated,
        by_score=by_score,
        outcome=after_review(by_score, verdicts.pair, verdicts.result),
        verdicts=verdicts,
        persons=find_persons(records, pairs, matches, verdicts, one_per_source=spec.one_per_source),
        contradictions=tuple(find_contradictions(verdicts, records.count, limited)),
        workload=workload(pairs.score, thresholds, probability),
        quality=expected_quality(probability, matches, lost=lost),
    )


def _probability(pairs: Pairs, verdicts: Verdicts, spec: Wishes) -> tuple[Floats, int]:
    decided = (verdicts.pair >= 0) & (verdicts.result != 0)
    kinds = set(verdicts.result[decided].tolist())
    if spec.rates is None or np.count_nonzero(decided) < LABELS or kinds != {SAME, DIFFERENT}:
        return pairs.score, 0
    score = pairs.score[verdicts.pair[decided]]
    fitted = calibrate(score, verdicts.result[decided] == SAME)
    return fitted(pairs.score), fitted.labels


def _thresholds(pairs: Pairs, probability: Floats, spec: Wishes) -> Thresholds:
    if spec.thresholds is not None:
        return Thresholds(spec.thresholds.lower, spec.thresholds.upper)
    if spec.rates is None:
        return USUAL
    return thresholds_for_rates(
        pairs.score,
        false_match_rate=spec.rates.false_match_rate,
        missed_match_rate=spec.rates.missed_match_rate,
        probability=probability,
    )
