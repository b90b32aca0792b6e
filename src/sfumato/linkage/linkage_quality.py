"""How good a linkage is: against truth, or against a sample of pairs that was checked."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Integers, Ints
from sfumato.core.errors import InputError
from sfumato.core.measure import NORMAL, Measure
from sfumato.linkage.match_decisions import SAME, Verdicts
from sfumato.linkage.match_thresholds import Pairs


@dataclass(frozen=True, slots=True)
class Rates:
    """How what was found agrees with the truth; 1 where nothing was found, or nothing is true."""

    precision: float
    recall: float


def rates(right: int, found: int, true: int) -> Rates:
    """Rates from the number of right ones among those found, those found, and those true."""
    return Rates(right / found if found else 1.0, right / true if true else 1.0)


Labels = Integers


@dataclass(frozen=True, slots=True)
class PairQuality:
    """Pairs of records that are one person's: found, true, and both."""

    right: int
    found: int
    true: int

    @property
    def rates(self) -> Rates:
        """Precision and recall."""
        return rates(self.right, self.found, self.true)


def quality_of_pairs(person: Labels, truth: Labels, source: Labels | None = None) -> PairQuality:
    """Pairs of records of one person as found against those of one person in truth.

    Counted from sizes, never pair by pair: O(N log N).

    Parameters
    ----------
    person
        Person of each record as found; shape (records,).
    truth
        True person of each record, -1 where unknown: such records are left out.
    source
        Source of each record, where only pairs across sources count, as in link-only.
    """
    known = truth >= 0
    own, true = person[known], truth[known]
    both = _joint(own, true)
    sources = None if source is None else source[known]
    return PairQuality(_pairs(both, sources), _pairs(own, sources), _pairs(true, sources))


def _joint(one: Labels, other: Labels) -> Ints:
    """A number for each combination of two labels."""
    _, one = np.unique(one, return_inverse=True)
    values, other = np.unique(other, return_inverse=True)
    return (one * len(values) + other).astype(np.int64)


def _pairs(label: Labels, source: Labels | None) -> int:
    """Number of pairs of records with one label, across sources where those are given."""
    _, counts = np.unique(label, return_counts=True)
    # Σ n (n − 1) / 2 in whole numbers: exact, where a float loses pairs beyond 2^53.
    total = int(np.sum(counts.astype(np.int64) * (counts - 1) // 2))
    # Pairs across sources are all pairs less those within one.
    return total if source is None else total - _pairs(_joint(label, source), None)


EDGES = (0.0, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, np.inf)
"""Ends of the strata of scores; the threshold of a match is one more."""
# A choice: Wilson's interval of three pairs reaches beyond ½ even where none is a match.
LEAST = 5
"""Pairs of each stratum that are looked at, where it has as many."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Strata of candidate pairs by ascending score, from ``low`` up to, but without, ``high``.

    Arrays have shape (strata,).
    """

    low: Floats
    high: Floats
    match: Bools
    pairs: Ints
    expected: Floats
    size: Ints
    precision_half_width: float
    recall_half_width: float

    def stratum(self, score: Floats) -> Ints:
        """Stratum of each score."""
        return np.maximum(np.searchsorted(self.low, score, side="right") - 1, 0)


def plan_checks(
    score: Floats, upper: float, half_width: float, *, probability: Floats | None = None
) -> Plan:
    """Fewest pairs to look at for precision and recall with intervals as narrow as wanted.

    Strata by score; sizes by Neyman's allocation (Cochran 1977, Sampling Techniques, Section
    5.5) for the linearised ratio, with the finite population correction. The spread of a
    stratum is what Wilson's interval has at the model's mean probability: so many pairs that the
    model calls non-matches need checks, although it expects none to be a match. Where the model
    is wrong about the strata, the intervals come out wider than planned.

    Parameters
    ----------
    half_width
        Wanted half width of both 95 % intervals, in (0, 0.5).
    probability
        Probability of each pair, where labels have corrected it.
    """
    if not 0 < half_width < 0.5:
        raise InputError("parameter half_width", "must be a share", accepted="above 0, below 0.5")
    if not len(score):
        raise InputError("the candidate pairs", "must be one at least", found="none")
    low, high, stratum = _strata(score, upper)
    pairs = np.bincount(stratum, minlength=len(low)).astype(np.int64)
    mean = np.bincount(stratum, score if probability is None else probability, len(low)) / pairs
    match = low >= upper
    size = np.minimum(pairs, LEAST)
    true = max(float(pairs @ mean), 1.0)
    moves = weights(pairs, match, true, float(pairs[match] @ mean[match]) / true)
    # The larger of both sizes, so that precision and recall are as narrow as wanted at once.
    for weight in moves:
        size = np.maximum(size, _allocated(pairs, mean, weight, half_width))
    widths = [_half_width(pairs, mean, weight, size) for weight in moves]
    return Plan(low, high, match, pairs, mean, size, widths[0], widths[1])


def draw_checks(plan: Plan, score: Floats, rng: np.random.Generator) -> Ints:
    """Draw the pairs to look at, at random within each stratum; their numbers, ascending."""
    # Shuffled, then sorted stably by stratum: the first n of each stratum are a random sample of
    # it.
    order = rng.permutation(len(score))
    order = order[np.argsort(plan.stratum(score[order]), kind="stable")]
    starts = np.cumsum(plan.pairs) - plan.pairs
    drawn = [
        order[start : start + size]
        for start, size in zip(starts.tolist(), plan.size.tolist(), strict=True)
    ]
    return np.sort(np.concatenate(drawn))


def _strata(score: Floats, upper: float) -> tuple[Floats, Floats, Ints]:
    """Ends of the strata that hold a pair, and the stratum of each pair."""
    # The threshold is an end, so that a stratum is wholly matches or wholly not.
    edges = np.unique(np.append(EDGES, upper))
    stratum = np.searchsorted(edges, score, side="right") - 1
    there, stratum = np.unique(stratum, return_inverse=True)
    ends = np.array(list(pairwise(edges)))[there]
    return ends[:, 0], ends[:, 1], stratum.astype(np.int64)


def weights(pairs: Ints, match: Bools, true: float, recall: float) -> tuple[Floats, Floats]:
    """What the share of true matches in each stratum moves in precision, and in recall.

    With T true matches called a match and L others, recall R = T/(T + L) has the derivatives (1 −
    R)/(T + L) in T and −R/(T + L) in L.
    """
    # P = Σ N_h p_h / N over the called strata: its derivative in p_h is N_h / N.
    called = max(int(pairs[match].sum()), 1)
    return (
        np.where(match, pairs / called, 0.0),
        np.where(match, 1 - recall, -recall) * pairs / true,
    )


def _spread(mean: Floats, size: Ints) -> Floats:
    """Standard deviation of a pair of each stratum, as wide as Wilson's interval has it."""
    square = NORMAL**2
    return np.asarray(np.sqrt(size * (size * mean * (1 - mean) + square / 4)) / (size + square))


def _half_width(pairs: Ints, mean: Floats, weight: Floats, size: Ints) -> float:
    # σ_h √((1 − n_h/N_h) / n_h): a stratum that is looked at in full has no error left.
    reach = weight * _spread(mean, size) * np.sqrt(1 / size - 1 / pairs)
    return float(NORMAL * np.linalg.norm(reach))


def _allocated(pairs: Ints, mean: Floats, weight: Floats, half_width: float) -> Ints:
    """Sizes of the smallest total that gives the half width, by bisection on the total."""
    # Bisection, as Wilson's spread depends on the sizes and leaves no closed form for them.
    fewest, most = 0, int(pairs.sum())
    while fewest < most:
        total = (fewest + most) // 2
        if _half_width(pairs, mean, weight, _sizes(pairs, mean, weight, total)) <= half_width:
            most = total
        else:
            fewest = total + 1
    return _sizes(pairs, mean, weight, most)


def _sizes(pairs: Ints, mean: Floats, weight: Floats, total: int) -> Ints:
    """Neyman's allocation; the spread depends on the size, so a few rounds."""
    size = np.minimum(pairs, LEAST)
    for _ in range(8):
        use = np.abs(weight) * _spread(mean, size)
        size = np.minimum(pairs, np.ceil(total * use / max(float(use.sum()), 1e-300)))
        size = np.maximum(size, np.minimum(pairs, LEAST)).astype(np.int64)
    return size


BY_CHECKS = "stratified sample"
_WHY = "pairs checked by hand; 95 % interval from Wilson's intervals of the strata"


def checked_quality(
    plan: Plan, score: Floats, match: Bools, *, lost: float = 0.0
) -> tuple[Measure, Measure]:
    """Precision and recall of the matches, with 95 % intervals, from the checked pairs.

    The value is the stratified estimate, Σ N_h · x_h / n_h over the strata. Its interval puts
    together Wilson's interval of each stratum by their distances from the estimates, as squares
    (Zou and Donner 2008, Statistics in Medicine 27:1693-1702), shrunk by the finite population
    correction; recall by its derivatives. It has a width even where no error was found.

    Parameters
    ----------
    plan
        The strata; the sizes that were really checked may differ from the plan's.
    score
        Score of each checked pair; shape (checked,).
    match
        Whether its two records are one person's, whatever it is called.
    """
    stratum = plan.stratum(score)
    size = np.bincount(stratum, minlength=len(plan.pairs))
    # The estimate of a stratum is x / n: without a pair it could be anything.
    if np.any(size == 0):
        raise InputError(
            "the checked pairs",
            "must hold some of every stratum of scores",
            found=f"none of stratum {int(np.argmin(size)) + 1} of {len(size)}",
            advice="check the pairs that the plan draws",
        )
    if np.any(size > plan.pairs):
        raise InputError(
            "the checked pairs", "must each be given once", found="more than there are"
        )
    # x_h / n_h, from which N_h x_h / n_h is the number of true matches.
    share = np.bincount(stratum[match], minlength=len(size)) / size
    true = plan.pairs * share
    total = float(true.sum()) + lost
    recall = float(true[plan.match].sum()) / total if total > 0 else 1.0
    called = int(plan.pairs[plan.match].sum())
    precision = float(true[plan.match].sum()) / called if called else 1.0
    by_precision, by_recall = weights(plan.pairs, plan.match, max(total, 1.0), recall)
    below, beyond = _distances(plan, share, size)
    return (
        _measure("precision", precision, by_precision, below, beyond),
        _measure("recall", recall, by_recall, below, beyond),
    )


def _distances(plan: Plan, share: Floats, size: Integers) -> tuple[Floats, Floats]:
    """How far Wilson's interval of each stratum reaches below and beyond its share."""
    square = NORMAL**2
    middle = (size * share + square / 2) / (size + square)
    reach = NORMAL * np.sqrt(size * share * (1 - share) + square / 4) / (size + square)
    # The finite population correction: pairs that were looked at have nothing uncertain left.
    unseen = np.sqrt(1 - size / plan.pairs)
    return (share - middle + reach) * unseen, (middle + reach - share) * unseen


def _measure(name: str, value: float, weight: Floats, below: Floats, beyond: Floats) -> Measure:
    """The value between the ends at which the strata's distances add up as squares."""
    # Where a stratum lowers recall, its upper end makes the lower end of recall.
    down, up = np.where(weight >= 0, below, beyond), np.where(weight >= 0, beyond, below)
    return Measure(
        name,
        value,
        low=max(0.0, value - float(np.linalg.norm(weight * down))),
        high=min(1.0, value + float(np.linalg.norm(weight * up))),
        estimator=BY_CHECKS,
        why=_WHY,
    )


@dataclass(frozen=True, eq=False)
class Checks:
    """Pairs drawn from all scores, so that precision and recall get intervals.

    Attributes
    ----------
    half_width
        Wanted half width of both 95 % intervals.
    number
        Their numbers, ascending.
    """

    half_width: float
    upper: float
    number: Ints
    table: pa.Table


@dataclass(frozen=True)
class Checked:
    """What the answers say, once some of every stratum of scores have one.

    Until then there is no quality (precision and recall of the matches by score, with 95 %
    intervals).
    """

    drawn: int
    answered: int
    quality: tuple[Measure, Measure] | None


def draw_pairs(
    pairs: Pairs, probability: Floats, upper: float, half_width: float, rng: np.random.Generator
) -> Ints:
    """Numbers of the pairs to check: as few as give 95 % intervals of the wanted half width."""
    plan = plan_checks(pairs.score, upper, half_width, probability=probability)
    return draw_checks(plan, pairs.score, rng)


def check_answers(checks: Checks, pairs: Pairs, verdicts: Verdicts, lost: float) -> Checked:
    """Precision and recall of the matches from the checked pairs."""
    plan = plan_checks(pairs.score, checks.upper, checks.half_width)
    decided = (verdicts.result != 0) & np.isin(verdicts.pair, checks.number)
    score = pairs.score[verdicts.pair[decided]]
    whole = set(plan.stratum(score).tolist()) == set(range(len(plan.pairs)))
    quality = None
    if whole:
        quality = checked_quality(plan, score, verdicts.result[decided] == SAME, lost=lost)
    return Checked(len(checks.number), int(np.count_nonzero(decided)), quality)
