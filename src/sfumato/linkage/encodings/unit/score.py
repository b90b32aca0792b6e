"""Pairs of encodings with the probability that they are one person's."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.shared_options import Progress, silent
from sfumato.linkage.encodings.assign import assigned, runners_up
from sfumato.linkage.encodings.blocking import BitSampling, plan_blocking
from sfumato.linkage.encodings.encoded import Encoded
from sfumato.linkage.encodings.mixture import ScoreMixture, fit_scores
from sfumato.linkage.encodings.similar import Scored, chance_similarity, similar_pairs

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ALL_PAIRS = 20_000_000_000
"""Pairs of records up to which all are compared; about a minute of some processors."""
LEAST_PROBABILITY = 0.01
"""Pairs that are less likely one person's than this are not kept."""
SAMPLE = 4_000
"""Records from whose pairs with all others the probability is estimated, where not all are."""
MISS = 0.01
"""Probability with which blocking may miss a pair at the threshold."""


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs of encodings and what is known of them.

    Attributes
    ----------
    left, right
        Positions of the records in their sources; shape (pairs,).
    score
        Probability that a pair is one person's; its Dice similarity where that was given.
    threshold
        Dice similarity from which a pair is more likely a match than not, or that was given.
    mixture
        What the probabilities come from; None where the similarity was given.
    blocking
        How pairs were brought together; None where all were compared.
    lost
        Expected number of true matches that are not among the pairs; 0 where it is unknown.
    """

    left: Ints
    right: Ints
    score: Floats
    threshold: float
    mixture: ScoreMixture | None
    blocking: BitSampling | None
    lost: float


def score_pairs(
    left: Encoded,
    right: Encoded,
    *,
    similarity: float | None = None,
    one_to_one: bool = False,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> ScoredPairs:
    """Pairs of two sources, or within one, that may be one person's.

    Up to 20,000,000,000 pairs all are compared, as far as their numbers of bits allow similarity.
    Beyond, the probability is estimated from the pairs of 4,000 records with all others, and
    pairs are brought together by blocking on bits (`plan_blocking`), which misses a pair at the
    threshold with a probability of 0.01, and fewer of more similar ones.

    Parameters
    ----------
    left, right
        Encodings of two sources; the same object twice for pairs within one.
    similarity
        Dice similarity from which pairs are taken, in place of an estimated probability.
    one_to_one
        Whether a record has at most one match in the other source, the most similar pairs first.
    rng
        Source of randomness.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the encodings cannot be compared, or there are too few of them to estimate from.
    """
    everything = len(left) * len(right) <= ALL_PAIRS
    if similarity is not None:
        blocking = None if everything or similarity == 1 else _blocked(left, right, similarity, rng)
        pairs = similar_pairs(
            left, right, similarity, blocking=blocking, rng=rng, progress=progress
        )
        pairs = _one_to_one(pairs, left, right) if one_to_one else pairs
        return ScoredPairs(*pairs, similarity, None, blocking, 0.0)
    least, blocking = chance_similarity(left, right, rng), None
    if everything:
        pairs = similar_pairs(left, right, least, rng=rng, progress=progress)
        mixture, matches = _fitted(pairs, len(left), len(right), one_to_one)
    else:
        drawn = _some(left, rng)
        seen = similar_pairs(drawn, right, least, rng=rng)
        mixture, matches = _fitted(seen, len(drawn), len(right), one_to_one)
        matches *= len(left) / len(drawn)
        blocking = _blocked(left, right, mixture.threshold(), rng)
        least = max(least, mixture.threshold(LEAST_PROBABILITY))
        pairs = similar_pairs(left, right, least, blocking=blocking, rng=rng, progress=progress)
    if one_to_one:
        pairs = _one_to_one(pairs, left, right)
    score = mixture.probability(pairs[2])
    kept = score >= LEAST_PROBABILITY
    one, other, score = pairs[0][kept], pairs[1][kept], score[kept]
    lost = max(0.0, matches - float(score.sum()))
    return ScoredPairs(one, other, score, mixture.threshold(), mixture, blocking, lost)


def _blocked(
    left: Encoded, right: Encoded, similarity: float, rng: np.random.Generator
) -> BitSampling | None:
    return plan_blocking(left, right, similarity=similarity, miss=MISS, rng=rng)


def _one_to_one(pairs: Scored, left: Encoded, right: Encoded) -> Scored:
    own = assigned(pairs, len(left), len(right))
    return pairs[0][own], pairs[1][own], pairs[2][own]


def _fitted(pairs: Scored, left: int, right: int, one_to_one: bool) -> tuple[ScoreMixture, float]:
    """The mixture of the similarities, and the number of records that have a match by it."""
    own = assigned(pairs, left, right)
    mixture = fit_scores(pairs[2][own], runners_up(pairs, own, left))
    return replace(mixture, one_to_one=one_to_one), mixture.matched * int(np.count_nonzero(own))


def _some(encoded: Encoded, rng: np.random.Generator) -> Encoded:
    """Some records, drawn at random."""
    rows = np.sort(rng.choice(len(encoded), min(SAMPLE, len(encoded)), replace=False))
    return replace(encoded, ids=encoded.ids.take(pa.array(rows)), bits=encoded.bits[rows])
