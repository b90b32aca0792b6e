"""Match encodings of two sources, or of one with itself, without an identifier in sight."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.kernels.merging import merge
from sfumato.linkage.encodings.blocking import BitSampling
from sfumato.linkage.encodings.encoded import Encoded
from sfumato.linkage.encodings.mixture import ScoreMixture, fit_scores
from sfumato.linkage.encodings.similar import Scored, chance_similarity, similar_pairs

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class EncodedMatches:
    """Pairs of encodings taken for matches.

    Attributes
    ----------
    left, right
        Positions of the records in their encodings; shape (pairs,).
    dice
        Dice similarity of each pair; shape (pairs,).
    probability
        That the pair is a match by the mixture; None where a threshold was given.
    threshold
        The Dice similarity from which pairs were taken.
    mixture
        What the threshold comes from; None where it was given.
    """

    left: Ints
    right: Ints
    dice: Floats
    probability: Floats | None
    threshold: float
    mixture: ScoreMixture | None


def match_encodings(
    left: Encoded,
    right: Encoded | None = None,
    *,
    threshold: float | None = None,
    one_to_one: bool = False,
    blocking: BitSampling | None = None,
    rng: np.random.Generator,
) -> EncodedMatches:
    """Pairs whose encodings are similar enough, by Dice similarity.

    Parameters
    ----------
    left, right
        Encodings of two sources; of one source only, pairs within it.
    threshold
        Lowest Dice similarity of a match. If None, it comes from the scores: from there on a
        pair is more likely a match than not (`fit_scores`), if a record has one match at most
        in the other source, as a rule. Within one source it must be given.
    one_to_one
        Whether a record has at most one match: the most similar pairs are taken first, ties by
        position. Not within one source.
    blocking
        As in `similar_pairs`.
    rng
        Source of randomness.

    Raises
    ------
    InputError
        If the encodings cannot be compared, there are too many pairs to compare all, there are
        too few to find a threshold, or within one source no threshold is given or one-to-one is
        asked.
    """
    if right is None and one_to_one:
        raise InputError("parameter one_to_one", "must be asked between two sources")
    if right is None and threshold is None:
        raise InputError("parameter threshold", "must be given within one source")
    other = left if right is None else right
    least = chance_similarity(left, other, rng) if threshold is None else threshold
    pairs = similar_pairs(left, other, least, blocking=blocking, rng=rng)
    mixture, own = None, np.ones(len(pairs[0]), np.bool_)
    if threshold is None or one_to_one:
        own = assigned(pairs, len(left), len(other))
    if threshold is None:
        mixture = fit_scores(pairs[2][own], runners_up(pairs, own, len(left)))
        mixture = replace(mixture, one_to_one=one_to_one)
        threshold = mixture.threshold()
    taken = pairs[2] >= threshold
    if one_to_one:
        taken &= own
    dice = pairs[2][taken]
    probability = None if mixture is None else mixture.probability(dice)
    return EncodedMatches(pairs[0][taken], pairs[1][taken], dice, probability, threshold, mixture)


def assigned(pairs: Scored, left: int, right: int) -> Bools:
    """Whether each pair is one of a one-to-one assignment, the most similar pairs first.

    Parameters
    ----------
    pairs
        Positions and similarities.
    left, right
        Number of records of both sources.
    """
    one, other, dice = pairs
    order = np.argsort(-dice, kind="stable")
    # A cluster has at most one record of each limited group: here, of each source.
    group = (np.arange(left + right) >= left).astype(np.int64)
    joins = np.ones(len(order), np.bool_)
    _, kept = merge(one[order], other[order] + left, joins, group)
    result = np.zeros(len(order), np.bool_)
    result[order] = kept
    return result


def runners_up(pairs: Scored, own: Bools, left: int) -> Floats:
    """Score of the best pair of each left record that is not its own, where there is one.

    Parameters
    ----------
    pairs
        Positions and similarities.
    own
        Whether each pair is the record's own, as `assigned` says.
    left
        Number of left records.
    """
    best = np.zeros(left)
    np.maximum.at(best, pairs[0][~own], pairs[2][~own])
    return best[best > 0]
