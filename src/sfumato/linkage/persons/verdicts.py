"""What several workers together say of a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.linkage.persons.decisions import Decisions
from sfumato.linkage.values import Floats, Ints, Pairs

SAME = 1
DIFFERENT = -1


@dataclass(frozen=True, eq=False)
class Verdicts:
    """One result for each two records that somebody answered about; arrays of shape (verdicts,).

    Attributes
    ----------
    left, right
        Numbers of the two records, left below right; ascending.
    pair
        0-based number among the candidate pairs, -1 where those do not hold the two records.
    result
        1 same person, -1 different persons, 0 undecided.
    confidence
        Size of the mean answer: 1 low, 2 medium, 3 high; 0 where undecided.
    workers
        Number of workers whose answer counts.
    agreed
        Whether all of them gave answers of one side.
    """

    left: Ints
    right: Ints
    pair: Ints
    result: npt.NDArray[np.int8]
    confidence: Floats
    workers: Ints
    agreed: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        """Number of verdicts."""
        return len(self.left)


def join_workers(decisions: Decisions, pairs: Pairs) -> Verdicts:
    """Join all answers about the same two records into one result.

    Of each worker the latest answer counts (of the same time, the later row); where it is
    withdrawn, the worker has no say until there is a new one. An answer is a vote with its
    confidence as weight: answers are added up, a positive sum says same, a negative one
    different, and a sum of 0 leaves the pair undecided, a possible match.

    Parameters
    ----------
    decisions
        The answers.
    pairs
        The candidate pairs.
    """
    if not len(decisions):
        return no_verdicts()
    low = np.minimum(decisions.left, decisions.right)
    high = np.maximum(decisions.left, decisions.right)
    counts = _in_force(decisions, low, high)
    low, high, answer = low[counts], high[counts], decisions.answer[counts].astype(np.int64)
    order = np.lexsort((high, low))
    low, high, answer = low[order], high[order], answer[order]
    starts = np.flatnonzero(_changes(low, high))
    if not len(starts):
        return no_verdicts()
    total = np.add.reduceat(answer, starts)
    workers = np.diff(np.append(starts, len(answer)))
    return Verdicts(
        left=low[starts],
        right=high[starts],
        pair=_numbers(low[starts], high[starts], pairs),
        result=np.sign(total).astype(np.int8),
        confidence=np.abs(total) / workers,
        workers=workers,
        agreed=np.abs(np.add.reduceat(np.sign(answer), starts)) == workers,
    )


def no_verdicts() -> Verdicts:
    """Nobody has answered."""
    none = np.zeros(0, dtype=np.int64)
    return Verdicts(
        left=none,
        right=none,
        pair=none,
        result=none.astype(np.int8),
        confidence=none.astype(np.float64),
        workers=none,
        agreed=none.astype(np.bool_),
    )


def _in_force(decisions: Decisions, low: Ints, high: Ints) -> Ints:
    """Rows that are their worker's latest about the two records, and not withdrawn."""
    _, worker = np.unique(decisions.worker.astype(str), return_inverse=True)
    order = np.lexsort((decisions.time, worker, high, low))  # stable: equal times keep file order
    change = _changes(low[order], high[order], worker[order])
    latest = order[np.append(change[1:], True)]
    in_force: Ints = latest[~decisions.withdrawn[latest]]
    return in_force


def _changes(*columns: Ints) -> npt.NDArray[np.bool_]:
    """Where a row of sorted columns differs from the one before; true for the first."""
    change = np.ones(len(columns[0]), dtype=np.bool_)
    if len(change):
        change[1:] = np.any([np.diff(column) != 0 for column in columns], axis=0)
    return change


def _numbers(low: Ints, high: Ints, pairs: Pairs) -> Ints:
    """Number of the pair of each two records, sorted, among all; O(pairs · log verdicts)."""
    space = 1 + max(int(high.max()), int(pairs.right.max()) if len(pairs) else 0)
    keys = low * space + high
    sought = pairs.left * space + pairs.right
    place = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    found = np.flatnonzero(keys[place] == sought)
    number = np.full(len(keys), -1, dtype=np.int64)
    number[place[found]] = found
    return number
