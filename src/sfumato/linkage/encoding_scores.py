"""Scores of pairs of encodings: candidates, similarity, and one partner each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.kernels.record_pairs import merge, pairs_above
from sfumato.linkage.encoding import Encoded, check_comparable

MOST_BITS = 63
_SAMPLE = 100_000
_KEY_COST = 50.0
"""Cost of making and sorting a record's key, as a multiple of a comparison of two encodings."""


@dataclass(frozen=True, slots=True)
class BitSampling:
    """Locality-sensitive hashing by bit sampling (Indyk and Motwani 1998, STOC, Section 4).

    Two encodings are compared if they agree in all sampled bits of at least one of the tables.

    Attributes
    ----------
    bits
        Positions sampled for each table.
    tables
        Number of tables.
    similarity, miss
        What it was planned for: a pair of this Dice similarity, with as many bits as 95 % of the
        encodings have at most, is never compared with at most this probability.
    comparisons
        Expected number of comparisons, a pair counted in every table that brings it together.
    """

    bits: int
    tables: int
    similarity: float
    miss: float
    comparisons: float


def plan_blocking(
    left: Encoded,
    right: Encoded,
    *,
    similarity: float,
    miss: float = 0.01,
    rng: np.random.Generator,
) -> BitSampling | None:
    """Choose bits and tables that miss few similar pairs, at the least expected cost.

    A pair with Hamming distance h agrees in s of l bits, drawn without replacement, with
    probability p = C(l - h, s) / C(l, s), and is missed by T tables with (1 - p)^T. With a and b
    bits and Dice similarity d, h = (a + b)(1 - d). How often other pairs come together is
    estimated from a sample of pairs. None where comparing all pairs is expected to cost less.

    Parameters
    ----------
    left, right
        What will be compared; the same object twice for pairs within one source.
    similarity
        Dice similarity, in (0, 1), from which pairs must not be missed.
    miss
        Probability, in (0, 1), with which such a pair may be missed.
    """
    check_comparable(left, right)
    for name, value in (("similarity", similarity), ("miss", miss)):
        if not 0 < value < 1:
            raise InputError(f"parameter {name}", "must be above 0 and below 1", found=f"{value}")
    if not len(left) or not len(right):
        raise InputError("the encodings", "must hold records to plan their blocking")
    length = left.length
    # Encodings with more bits differ in more at one similarity: planned for nearly the worst.
    many = max(float(np.quantile(each.counts, 0.95)) for each in (left, right))
    # h = a + b − 2c with d = 2c / (a + b): h = (a + b)(1 − d).
    distance = min(math.ceil(2 * many * (1 - similarity)), length - 1)
    shares = _distances(left, right, rng)
    best: BitSampling | None = None
    least = float(len(left) * len(right))
    for bits in range(1, min(MOST_BITS, length - distance) + 1):
        agree = float(agreement(np.array([distance]), bits, length)[0])
        # (1 − p)^T ≤ miss, solved for T.
        tables = max(1, math.ceil(math.log(miss) / math.log1p(-agree))) if agree < 1 else 1
        together = float(agreement(np.arange(length + 1), bits, length) @ shares)
        comparisons = len(left) * len(right) * together * tables
        cost = comparisons + _KEY_COST * tables * (len(left) + len(right))
        if cost < least:
            least = cost
            best = BitSampling(bits, tables, similarity, miss, comparisons)
    return best


def agreement(distances: Ints, bits: int, length: int) -> Floats:
    """Probability that patterns of some Hamming distances agree in ``bits`` sampled bits.

    C(length - h, bits) / C(length, bits): the sample is drawn without replacement.

    Parameters
    ----------
    distances
        Hamming distances, h.
    bits
        Bits sampled.
    length
        Bits of a pattern.
    """
    drawn = np.arange(bits)
    # C(l − h, s) / C(l, s) as a product of s ratios: the binomials themselves overflow.
    kept = np.maximum(length - distances[:, None] - drawn, 0) / (length - drawn)
    return np.asarray(kept.prod(axis=1), dtype=np.float64)


def _distances(left: Encoded, right: Encoded, rng: np.random.Generator) -> Floats:
    """Share of each Hamming distance, from 0 to the length, among pairs drawn at random."""
    one, other = sampled_pairs(left, right, rng)
    length = left.length
    found = np.bitwise_count(left.words[one] ^ right.words[other]).sum(axis=1, dtype=np.int64)
    counts = np.bincount(found, minlength=length + 1)
    return np.asarray(counts / max(len(found), 1), dtype=np.float64)


def sampled_pairs(left: Encoded, right: Encoded, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Records of pairs drawn at random, none of a record with itself."""
    one = rng.integers(0, len(left), _SAMPLE)
    if left is not right:
        return one, rng.integers(0, len(right), _SAMPLE)
    if len(left) == 1:
        return one[:0], one[:0]
    # A step of 1 to n − 1 leads to another record for sure.
    return one, (one + rng.integers(1, len(left), _SAMPLE)) % len(left)


def keys_of(encoded: Encoded, positions: Ints) -> Ints:
    """The bits at some positions, 63 at most, as one number per record."""
    keys = np.zeros(len(encoded), np.int64)
    for position in positions.tolist():
        bit = (encoded.bits[:, position // 8] >> np.uint8(7 - position % 8)) & np.uint8(1)
        keys <<= 1
        keys |= bit
    return keys


Scored = tuple[Ints, Ints, Floats]

MOST_COMPARISONS = 200_000_000_000
"""Comparisons that are made without blocking; about an hour of one processor."""
AT_ONCE = 500_000_000
"""Comparisons between two signs of progress, about."""
CHANCE_PAIRS = 10
"""Pairs per record that chance may bring above the lowest similarity that is looked at."""


def similar_pairs(
    left: Encoded,
    right: Encoded,
    least: float,
    *,
    blocking: BitSampling | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Scored:
    """All pairs, or those that blocking brings together, of Dice similarity at least ``least``.

    Parameters
    ----------
    left, right
        Encodings of two sources; the same object twice for pairs within one source, of which
        only those with left below right are given.
    least
        Lowest Dice similarity, above 0.
    blocking
        Compare only what it brings together; all pairs whose numbers of bits allow it if None.
    rng
        Source of randomness, for the bits that blocking samples.

    Returns
    -------
    tuple
        Positions in both and similarity of each pair, by left and right; shape (pairs,).
    """
    check_comparable(left, right)
    if not 0 < least <= 1:
        raise InputError("the lowest similarity", "must be above 0 and at most 1")
    if blocking is None:
        if len(left) * len(right) > MOST_COMPARISONS:
            raise InputError(
                "the encodings",
                f"must make at most {MOST_COMPARISONS:,} pairs where all are compared",
                found=f"{len(left) * len(right):,}",
                advice="plan their blocking",
            )
        found = [_all(left, right, least, progress)]
    else:
        found = [_in_one_table(left, right, least, blocking.bits, rng)]
        for table in range(1, blocking.tables):
            progress("match", table / blocking.tables)
            found.append(_in_one_table(left, right, least, blocking.bits, rng))
            # Tables find the same pairs again: removed when they double, so that memory stays in
            # proportion.
            if sum(len(one) for one, *_ in found[1:]) > len(found[0][0]):
                found = [_distinct(found, len(right))]
    one, other, dice = _distinct(found, len(right))
    if left is right:
        once = one < other
        return one[once], other[once], dice[once]
    return one, other, dice


def chance_similarity(left: Encoded, right: Encoded, rng: np.random.Generator) -> float:
    """The Dice similarity that about ten pairs per record exceed by chance, from a sample."""
    one, other = sampled_pairs(left, right, rng)
    if not len(one):
        return 0.5
    common = np.bitwise_count(left.words[one] & right.words[other]).sum(axis=1, dtype=np.int64)
    bits = np.maximum(left.counts[one] + right.counts[other], 1)
    # Ten per record of n · m pairs are a share of 10 / m.
    share = 1 - min(1.0, CHANCE_PAIRS / min(len(left), len(right)))
    return max(float(np.quantile(2 * common / bits, share)), 0.01)


def _all(left: Encoded, right: Encoded, least: float, progress: Progress) -> Scored:
    """All pairs: 2 min(a, b) / (a + b) >= least bounds the numbers of bits, a and b."""
    counts = right.counts
    order = np.argsort(counts, kind="stable")
    # For rounding: a bound that is met exactly must not drop a pair.
    bits, slack = left.counts, 1e-9
    # From 2 min(a, b) / (a + b) ≥ d: b ≥ a d / (2 − d), and b ≤ a (2 − d) / d.
    low = np.searchsorted(counts[order], bits * (least / (2 - least)) - slack, side="left")
    high = np.searchsorted(counts[order], bits * ((2 - least) / least) + slack, side="right")
    found, words, sorted_words = [], left.words, right.words[order]
    rows = max(1, AT_ONCE // max(len(right), 1))
    for start in range(0, max(len(left), 1), rows):
        progress("match", start / max(len(left), 1))
        part = slice(start, start + rows)
        one, other, dice = pairs_above(words[part], sorted_words, low[part], high[part], least)
        found.append((one + start, order[other], dice))
    if len(found) == 1:
        return found[0]
    one, other, dice = (np.concatenate(each) for each in zip(*found, strict=True))
    return one, other, dice


def _in_one_table(
    left: Encoded, right: Encoded, least: float, bits: int, rng: np.random.Generator
) -> Scored:
    """Pairs that agree in some bits drawn at random."""
    positions = rng.choice(left.length, bits, replace=False)
    mine, theirs = keys_of(left, positions), keys_of(right, positions)
    first, order = np.argsort(mine, kind="stable"), np.argsort(theirs, kind="stable")
    low = np.searchsorted(theirs[order], mine[first], side="left")
    high = np.searchsorted(theirs[order], mine[first], side="right")
    one, other, dice = pairs_above(left.words[first], right.words[order], low, high, least)
    return first[one], order[other], dice


def _distinct(found: list[Scored], width: int) -> Scored:
    """Each pair once, by left and right."""
    one, other, dice = (np.concatenate(each) for each in zip(*found, strict=True))
    _, places = np.unique(one * width + other, return_index=True)
    return one[places], other[places], dice[places]


def assigned(pairs: Scored, left: int, right: int) -> Bools:
    """Whether each pair is one of a one-to-one assignment, the most similar pairs first."""
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
    """Score of the best pair of each left record that `assigned` does not say is its own.

    Records without one are left out.
    """
    best = np.zeros(left)
    np.maximum.at(best, pairs[0][~own], pairs[2][~own])
    return best[best > 0]


@dataclass(frozen=True, eq=False)
class Rivals:
    """What each record of one source would be linked to, if its partner were not there.

    Attributes
    ----------
    own
        Score of its own pair; 0 without one. Shape (records,).
    rival
        Highest score of another pair that its partner is not preferred in; 0 without one.
    """

    own: Floats
    rival: Floats

    def linked(self, upper: float) -> int:
        """Number of records with a pair of their own from a score on."""
        return int(np.count_nonzero(self.own >= upper))

    def wrong(self, upper: float) -> tuple[float, float]:
        """Expected number of records that are linked without a partner, and its upper end of 95 %.

        Linked records tell how often one finds a stranger who is similar enough. As many of the
        records that have no partner do.
        """
        from scipy.stats import betanbinom

        number = self.linked(upper)
        rivals = int(np.count_nonzero((self.own >= upper) & (self.rival >= upper)))
        # Jeffreys' prior of a share, so that none among few is not taken for none at all.
        a, b = number - rivals + 0.5, rivals + 0.5
        # Until so many records without a partner found nobody, how many others found a stranger.
        alone = len(self.own) - number
        # At most all of the linked are such; where the sum stays below, they are.
        reached = np.cumsum(betanbinom.pmf(np.arange(number), alone + 1, a, b))
        return min(alone * b / a, number), float(np.searchsorted(reached, 0.975))


def rivals(pairs: Scored, own: Bools, left: int, right: int) -> tuple[Rivals, Rivals]:
    """What the records of both sources would be linked to without their partners, as `assigned`."""
    places, dice = pairs[:2], pairs[2]
    best = np.zeros(left), np.zeros(right)
    for side in (0, 1):
        best[side][places[side][own]] = dice[own]
    found = []
    for side in (0, 1):
        # A stranger whose own pair is more similar would not be had.
        had = ~own & (dice > best[1 - side][places[1 - side]])
        rival = np.zeros(len(best[side]))
        np.maximum.at(rival, places[side][had], dice[had])
        found.append(Rivals(best[side], rival))
    return found[0], found[1]


FEWEST = 30
"""Scores of each kind that a fit needs."""
_ROUNDS = 500
_LARGEST = 0.999
_GRID = 2_000


@dataclass(frozen=True, slots=True)
class ScoreMixture:
    """The best score of a record as a mixture of matches and best non-matches.

    Attributes
    ----------
    matched
        Share of the records that have a match.
    location, scale
        Of the Gumbel distribution of the best of many non-matches.
    lowest
        No score at or below it is taken for a match's.
    one_to_one
        Whether it speaks of each record's best pair; else of any pair, where all the pairs that
        chance makes count, exp(-(x - location) / scale) of them above x for each record.
    """

    matched: float
    location: float
    scale: float
    a: float
    b: float
    lowest: float
    one_to_one: bool = True

    def probability(self, scores: Floats) -> Floats:
        """Probability that a pair is a match, never falling with its score."""
        grid = np.linspace(0.0, _LARGEST, _GRID)
        odds = _posterior(grid, self)
        odds[grid <= self.lowest] = 0.0
        # The ratio of Beta and Gumbel may fall again, but a more similar pair is no less likely a
        # match.
        return np.interp(np.minimum(scores, _LARGEST), grid, np.maximum.accumulate(odds))

    def threshold(self, probability: float = 0.5) -> float:
        """The score from which a pair is a match with at least this probability."""
        grid = np.linspace(0.0, 1.0, _GRID)
        enough = np.flatnonzero(self.probability(grid) >= probability)
        return float(grid[enough[0]]) if len(enough) else 1.0


def fit_scores(best: Floats, runner_up: Floats) -> ScoreMixture:
    """Fit the mixture by EM, with the non-matches' part known from the runners-up.

    If every record has one match at most, a record's second best pair is a non-match, and the
    best of many: an extreme value, so its distribution is taken as Gumbel and fitted by
    quartiles (those with a second match do not move it). The matches are Beta distributed; their
    share and moments come by EM from the best scores.

    Parameters
    ----------
    best
        Score of each record's own pair, after one-to-one assignment.
    runner_up
        Score of each record's best other pair, where there is one.
    """
    if min(len(best), len(runner_up)) < FEWEST:
        raise InputError(
            "the similarities",
            f"must be at least {FEWEST} best ones and {FEWEST} second best ones",
            advice="give a similarity",
        )
    # By quartiles: some runners-up are true second matches, which moments would follow.
    low, middle, high = np.quantile(runner_up, [0.25, 0.5, 0.75])
    # Gumbel's quantile is μ − β log(−log p): this is the distance of its quartiles over β.
    spread = np.log(np.log(4)) - np.log(np.log(4 / 3))
    scale = max(float((high - low) / spread), 1e-4)
    location = float(middle + scale * np.log(np.log(2)))
    scores = np.minimum(best, _LARGEST)
    chance = _gumbel(scores, location, scale)
    # EM begins with scores that hardly any runner-up reaches.
    weights = (scores > np.quantile(runner_up, 0.99)).astype(np.float64)
    model = _model(scores, weights, location, scale, float(middle))
    for _ in range(_ROUNDS):
        match = model.matched * _beta(scores, model.a, model.b)
        new = match / (match + (1 - model.matched) * chance)
        # A broad Beta would else reach below the non-matches and call the least similar pairs
        # matches.
        new[scores <= middle] = 0.0
        moved = float(np.max(np.abs(new - weights)))
        weights = new
        model = _model(scores, weights, location, scale, float(middle))
        if moved < 1e-6:
            break
    return model


def _model(
    scores: Floats, weights: Floats, location: float, scale: float, lowest: float
) -> ScoreMixture:
    """Share and moments of the matches, each score counted by its weight."""
    weights = weights + 1e-9
    mean = float(np.average(scores, weights=weights))
    variance = max(float(np.average((scores - mean) ** 2, weights=weights)), 1e-6)
    # Method of moments: var = m (1 − m) / (a + b + 1).
    size = max(mean * (1 - mean) / variance - 1, 2.0)
    matched = min(max(float(weights.mean()), 1e-6), 1 - 1e-6)
    return ScoreMixture(matched, location, scale, mean * size, (1 - mean) * size, lowest)


def _posterior(scores: Floats, model: ScoreMixture) -> Floats:
    match = model.matched * _beta(scores, model.a, model.b)
    if model.one_to_one:
        other = (1 - model.matched) * _gumbel(scores, model.location, model.scale)
    else:
        # Between these ends exp neither overflows nor underflows in what follows.
        z = np.clip((scores - model.location) / model.scale, -30.0, 600.0)
        other = np.exp(-z) / model.scale
    return np.asarray(match / np.maximum(match + other, 1e-300))


def _gumbel(scores: Floats, location: float, scale: float) -> Floats:
    z = np.clip((scores - location) / scale, -30.0, 600.0)
    return np.asarray(np.exp(-z - np.exp(-z)) / scale)


def _beta(scores: Floats, a: float, b: float) -> Floats:
    from scipy.special import betaln

    # The density may be infinite at 0 and 1, and one equal pair would decide the fit.
    inside = np.clip(scores, 1e-6, _LARGEST)
    return np.asarray(np.exp((a - 1) * np.log(inside) + (b - 1) * np.log1p(-inside) - betaln(a, b)))


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
    rivals
        Of the left and the right records; none where the similarity was given.
    """

    left: Ints
    right: Ints
    score: Floats
    threshold: float
    mixture: ScoreMixture | None
    blocking: BitSampling | None
    lost: float
    rivals: tuple[Rivals, ...]


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
    """
    everything = len(left) * len(right) <= ALL_PAIRS
    if similarity is not None:
        blocking = None if everything or similarity == 1 else _blocked(left, right, similarity, rng)
        pairs = similar_pairs(
            left, right, similarity, blocking=blocking, rng=rng, progress=progress
        )
        own = assigned(pairs, len(left), len(right)) if one_to_one else slice(None)
        one, other, score = pairs[0][own], pairs[1][own], pairs[2][own]
        return ScoredPairs(one, other, score, similarity, None, blocking, 0.0, ())
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
    own = assigned(pairs, len(left), len(right))
    sides = tuple(
        Rivals(mixture.probability(rival.own), mixture.probability(rival.rival))
        for rival in rivals(pairs, own, len(left), len(right))
    )
    score = mixture.probability(pairs[2])
    kept = score >= LEAST_PROBABILITY
    if one_to_one:
        kept &= own
    one, other, score = pairs[0][kept], pairs[1][kept], score[kept]
    lost = max(0.0, matches - float(score.sum()))
    return ScoredPairs(one, other, score, mixture.threshold(), mixture, blocking, lost, sides)


def _blocked(
    left: Encoded, right: Encoded, similarity: float, rng: np.random.Generator
) -> BitSampling | None:
    return plan_blocking(left, right, similarity=similarity, miss=MISS, rng=rng)


def _fitted(pairs: Scored, left: int, right: int, one_to_one: bool) -> tuple[ScoreMixture, float]:
    """The mixture of the similarities, and the number of records that have a match by it."""
    own = assigned(pairs, left, right)
    mixture = fit_scores(pairs[2][own], runners_up(pairs, own, left))
    return replace(mixture, one_to_one=one_to_one), mixture.matched * int(np.count_nonzero(own))


def _some(encoded: Encoded, rng: np.random.Generator) -> Encoded:
    """Some records, drawn at random."""
    rows = np.sort(rng.choice(len(encoded), min(SAMPLE, len(encoded)), replace=False))
    return replace(encoded, ids=encoded.ids.take(pa.array(rows)), bits=encoded.bits[rows])
