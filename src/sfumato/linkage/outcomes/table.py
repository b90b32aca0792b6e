"""A table of thresholds: what each one would give and cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sfumato.linkage.outcomes.expected import curve
from sfumato.linkage.values import Floats

THRESHOLDS = (0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999)
"""The thresholds of the table, where none are asked for."""


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """What is expected if pairs from a threshold on are called matches.

    Attributes
    ----------
    threshold
        The least score of a match.
    matches
        Number of pairs from it on.
    precision
        Expected share of true matches among them; ``None`` where there is no pair.
    recall
        Expected share of the candidate pairs' true matches that are among them.
    recall_of_all
        The same as a share of all true matches, those that blocking has lost included.
    review
        Number of pairs below the threshold, but from the lower one on: people look at them.
    """

    threshold: float
    matches: int
    precision: float | None
    recall: float
    recall_of_all: float
    review: int


def threshold_table(
    score: Floats,
    *,
    thresholds: Iterable[float] = THRESHOLDS,
    lower: float = 0.0,
    probability: Floats | None = None,
    lost: float = 0.0,
) -> list[ThresholdRow]:
    """Expected precision, recall and pairs for review at each threshold, ascending.

    Parameters
    ----------
    score
        Score of each candidate pair.
    thresholds
        Scores from which pairs would be called matches.
    lower
        Least score of a pair that people look at.
    probability
        Probability of each pair, where labels have corrected it (see `calibrate`).
    lost
        Expected number of true matches that blocking has lost.
    """
    at = curve(score, probability)
    above = np.append(at.above, 0)
    false, missed = np.append(at.false, 0.0), np.append(at.missed, at.true)
    reviewed = int(above[np.searchsorted(at.score, lower)])
    rows = []
    for threshold in sorted(thresholds):
        place = np.searchsorted(at.score, threshold)
        matches, found = int(above[place]), at.true - float(missed[place])
        rows.append(
            ThresholdRow(
                threshold=threshold,
                matches=matches,
                precision=1 - float(false[place]) / matches if matches else None,
                recall=found / at.true if at.true > 0 else 1.0,
                recall_of_all=found / (at.true + lost) if at.true + lost > 0 else 1.0,
                review=max(0, reviewed - matches),
            )
        )
    return rows
