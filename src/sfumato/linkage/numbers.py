"""The numbers that every linkage can give, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from sfumato.linkage.found import Found
from sfumato.linkage.outcomes.thresholds import MATCH, NON_MATCH, POSSIBLE_MATCH

_BY_MODEL = (
    "false_matches",
    "missed_matches",
    "true_matches_found_in_review",
    "false_match_rate",
    "missed_match_rate",
    "precision",
    "recall",
)
"""What is known only as well as the model's probabilities are."""


def records_json(found: Found) -> dict[str, int]:
    """Number of records of each source.

    Parameters
    ----------
    found
        The linkage.
    """
    records = found.records
    return {name: len(ids) for name, ids in zip(records.sources, records.ids, strict=True)}


def thresholds_json(found: Found) -> dict[str, float | None]:
    """Both thresholds; ``None`` where no score makes a match.

    Parameters
    ----------
    found
        The linkage.
    """
    at = found.thresholds
    return {"possible_match": at.lower, "match": at.upper if isfinite(at.upper) else None}


def outcomes_json(found: Found) -> dict[str, int]:
    """Number of pairs of each outcome.

    Parameters
    ----------
    found
        The linkage.
    """
    return {
        "match": int(np.count_nonzero(found.outcomes == MATCH)),
        "possible_match": int(np.count_nonzero(found.outcomes == POSSIBLE_MATCH)),
        "non_match": int(np.count_nonzero(found.outcomes == NON_MATCH)),
    }


def expected_json(found: Found) -> dict[str, float]:
    """The errors to be expected by the scores.

    Parameters
    ----------
    found
        The linkage.
    """
    work = found.settled.workload
    precision, recall = found.quality
    return {
        "pairs_to_review": work.possible_matches,
        "false_matches": work.false_matches,
        "missed_matches": work.missed_matches,
        "true_matches_found_in_review": work.found_in_review,
        "false_match_rate": work.false_match_rate,
        "missed_match_rate": work.missed_match_rate,
        "lost_to_blocking": found.lost,
        "precision": precision.value,
        "recall": recall.value,
        "labels": found.settled.calibrated,
    }


def unless_contradicted(
    expected: Mapping[str, Any], checks: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The errors to be expected, where pairs checked by hand do not contradict them.

    Parameters
    ----------
    expected
        As `expected_json` has them.
    checks
        Precision and recall by checked pairs with their intervals, where there are some.

    Returns
    -------
    dict
        The same; or, where the expected precision or recall lies outside its interval, ``None``
        for all that rests on the model alone, and the names of those two that do under
        ``contradicted``.
    """
    names = [
        name
        for name in ("precision", "recall")
        if (held := (checks or {}).get(name)) is not None
        and expected[name] is not None
        and not held["low"] <= expected[name] <= held["high"]
    ]
    if not names:
        return dict(expected)
    return {**expected, **dict.fromkeys(_BY_MODEL), "contradicted": names}


def persons_json(found: Found) -> dict[str, Any]:
    """Number of persons, and of those with each number of records.

    Parameters
    ----------
    found
        The linkage.
    """
    sizes, counts = np.unique(found.person_sizes, return_counts=True)
    return {
        "count": found.settled.persons.count,
        "by_records": {
            str(size): int(count)
            for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)
        },
    }
