"""The most frequent pattern of comparison levels among the pairs of an outcome."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.linkage.links import Links
from sfumato.linkage.outcomes.thresholds import MATCH, NON_MATCH, POSSIBLE_MATCH
from sfumato.reports.linkage.words import comparison_name
from sfumato.reports.numbers import count

SATURATED = 39.0
"""Match weight in bits from which a score does not tell the weight any more."""
FEWEST = 3
"""Pairs that a pattern must have to be shown."""
_TITLES = {
    MATCH: "How a match adds up",
    POSSIBLE_MATCH: "How a possible match adds up",
    NON_MATCH: "How a non-match adds up",
}


@dataclass(frozen=True)
class Pattern:
    """Pairs that agree and differ in the same way.

    Attributes
    ----------
    outcome
        Code of their outcome by score.
    pairs
        Number of them.
    steps
        What adds up to their match weight: name and bits.
    of
        Number of pairs of the outcome.
    with_frequency
        Whether a step says what the frequency of the values adds.
    """

    outcome: int
    pairs: int
    steps: tuple[tuple[str, float], ...]
    of: int
    with_frequency: bool

    @property
    def title(self) -> str:
        """What a picture of it is called."""
        return _TITLES[self.outcome]

    @property
    def note(self) -> str:
        """Which pairs it stands for."""
        return (
            f"The most frequent pattern of levels: {count(self.pairs)} of {count(self.of)} pairs "
            "of this outcome. Levels only; no value of a record is in this picture."
            + ("" if self.with_frequency else " How frequent the values are is not in it.")
        )


def patterns_of(links: Links) -> list[Pattern]:
    """The most frequent pattern of each outcome, where at least three pairs have it.

    Parameters
    ----------
    links
        The linkage.
    """
    if not links.pairs.levels:
        return []
    found = (_most_frequent(links, outcome) for outcome in (MATCH, POSSIBLE_MATCH, NON_MATCH))
    return [pattern for pattern in found if pattern is not None and pattern.pairs >= FEWEST]


def _largest_group(
    levels: list[npt.NDArray[np.int8]],
) -> tuple[list[int], int, npt.NDArray[np.bool_]]:
    """The most frequent combination of levels, its number of pairs, and which they are."""
    group: npt.NDArray[np.int64] = np.zeros(len(levels[0]), dtype=np.int64)
    for level in levels:
        joint = group * (int(level.max()) + 2) + level + 1
        _, group = np.unique(joint, return_inverse=True)
    counts = np.bincount(group)
    alike = group == int(np.argmax(counts))
    first = int(np.argmax(alike))
    return [int(level[first]) for level in levels], int(counts.max()), alike


def _most_frequent(links: Links, outcome: int) -> Pattern | None:
    own = np.flatnonzero(links.settled.by_score == outcome)
    if not len(own):
        return None
    first, number, alike = _largest_group([level[own] for level in links.pairs.levels.values()])
    score = np.clip(links.pairs.score[own[alike]], 1e-15, 1 - 1e-15)
    final = float(np.mean(np.log2(score / (1 - score))))
    weights = {(each.comparison, each.level): each for each in links.model.weights}
    prior = links.model.prior
    steps = [("prior: two records at random", float(np.log2(prior / (1 - prior))))]
    for name, level in zip(links.pairs.levels, first, strict=True):
        each = weights.get((name, level))
        label = "missing" if each is None else each.label
        bits = 0.0 if each is None else each.weight
        steps.append((f"{comparison_name(name)}: {label}", bits))
    if final < SATURATED:
        rest = final - sum(bits for _, bits in steps)
        steps.append(("frequency of the values (mean)", rest))
    return Pattern(outcome, number, tuple(steps), len(own), final < SATURATED)
