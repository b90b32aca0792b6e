"""Which score makes a match: calibration, expected errors, thresholds.

A score is the probability that two records are one person's. So of the pairs from a threshold on,
Σ(1 − p) are expected to be false matches; of those below it, Σ p to be missed. No value that is
passed on here holds an attribute of a record.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.optimize import isotonic_regression
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit

from sfumato.core.arrays import Bools, Floats, Ints, Levels
from sfumato.core.errors import InputError


class Outcome(StrEnum):
    """What is said of a pair of records."""

    MATCH = "match"
    POSSIBLE_MATCH = "possible match"
    NON_MATCH = "non-match"


@dataclass(frozen=True, eq=False)
class Records:
    """Whose records are linked.

    A record's number counts through the sources in their order. The ids of each source are text and
    distinct within it.
    """

    sources: tuple[str, ...]
    ids: tuple[pa.Array, ...]

    @property
    def starts(self) -> Ints:
        """Number of the first record of each source, and the number of all; (sources + 1,)."""
        return np.concatenate([[0], np.cumsum([len(each) for each in self.ids])]).astype(np.int64)

    @property
    def count(self) -> int:
        """Number of all records."""
        return int(self.starts[-1])

    def source_of(self, record: Ints) -> Ints:
        """Index of the source of each record."""
        return np.searchsorted(self.starts, record, side="right").astype(np.int64) - 1


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs of records; every array has shape (pairs,).

    Attributes
    ----------
    score
        Probability that they are one person's, in [0, 1].
    levels
        Per compared attribute, the comparison level: -1 where a value is missing, 0 for
        entirely different, the highest for equal.
    block
        Index of the blocking rule that brought them together first.
    """

    left: Ints
    right: Ints
    score: Floats
    levels: Mapping[str, Levels]
    block: npt.NDArray[np.int16]

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.left)

    def take(self, which: Ints | Bools) -> Pairs:
        """Some of the pairs: their numbers, or which they are."""
        levels = {name: level[which] for name, level in self.levels.items()}
        return Pairs(
            self.left[which], self.right[which], self.score[which], levels, self.block[which]
        )


def joined(left: Ints, right: Ints, count: int) -> Ints:
    """A number for each of so many records, one for all that pairs join, directly or by others."""
    graph = coo_array((np.ones(len(left), dtype=np.bool_), (left, right)), (count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


OUTCOMES = (Outcome.NON_MATCH, Outcome.POSSIBLE_MATCH, Outcome.MATCH)
"""The outcomes by their codes 0, 1, 2."""
NON_MATCH, POSSIBLE_MATCH, MATCH = 0, 1, 2

Codes = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Pairs from ``upper`` on are matches, those below ``lower`` are non-matches.

    Attributes
    ----------
    lower
        Least score of a possible match, in [0, 1], or that of a match if the two are equal.
    upper
        Least score of a match, at least ``lower``; infinite where no pair is a match before
        somebody has looked at it.
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        """Check the order."""
        for name, value in (("lower", self.lower), ("upper", self.upper)):
            if not (0 <= value <= 1 or (name == "upper" and value == math.inf)):
                raise InputError(f"threshold {name}", "must be a score", accepted="0 to 1")
        if self.lower > self.upper:
            raise InputError("threshold lower", "must not be above the upper threshold")


def classify(score: Floats, thresholds: Thresholds) -> Codes:
    """Code of each pair's outcome: 0 non-match, 1 possible match, 2 match."""
    edges = np.array([thresholds.lower, thresholds.upper])
    return np.searchsorted(edges, score, side="right").astype(np.int8)


def after_review(outcome: Codes, pair: Ints, result: Levels) -> Codes:
    """Outcomes with what people decided: a pair left undecided is a possible match.

    Parameters
    ----------
    outcome
        Codes by the score; shape (pairs,).
    pair
        Numbers of the pairs that somebody answered about, -1 for none of these.
    result
        What was decided about each: 1 same person, -1 different persons, 0 undecided.
    """
    decided = outcome.copy()
    # Results −1, 0, 1 are the codes 0, 1, 2.
    decided[pair[pair >= 0]] = result[pair >= 0] + 1
    return decided


# Niculescu-Mizil and Caruana (2005) find it better than Platt's from about a thousand labels on.
ISOTONIC_FROM = 1000
"""Labels from which isotonic regression is taken: with fewer it follows their noise."""
_EDGE = 1e-15
"""Scores nearer than this to 0 or 1 count as this near, so that their logits are finite."""
_STEPS, _SETTLED = 100, 1e-4
"""Rounds at most, and the change of a probability below which it has settled."""


class Method(StrEnum):
    """How probabilities were made from scores."""

    PLATT = "Platt scaling"
    ISOTONIC = "isotonic regression"


@dataclass(frozen=True, eq=False)
class Calibration:
    """A map from scores to probabilities that never falls.

    Attributes
    ----------
    slope, intercept
        Platt: the logit of the probability is slope · logit(score) + intercept.
    score, probability
        Isotonic: the probability at some scores, ascending; between them linear in the score.
    """

    method: Method
    labels: int
    slope: float = 1.0
    intercept: float = 0.0
    score: tuple[float, ...] = ()
    probability: tuple[float, ...] = ()

    def __call__(self, score: Floats) -> Floats:
        """Probability of each score."""
        if self.method is Method.PLATT:
            return np.asarray(expit(self.slope * _logit(score) + self.intercept))
        return np.interp(score, self.score, self.probability)


def calibrate(score: Floats, match: Bools | Floats, method: Method | None = None) -> Calibration:
    """Fit the probabilities to labelled pairs, drawn by their scores or at random.

    Platt scaling (Platt 1999) moves and stretches the match weights; isotonic regression takes
    any rising shape and needs more labels (Niculescu-Mizil and Caruana 2005, ICML). Both take
    Platt's targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) for n₊ matches and n₋ others, so that labels
    which the scores separate make no certainty of them. Labels that fall as the score rises
    give a constant.

    Parameters
    ----------
    match
        Labels, or how likely each is; shape (pairs,).
    method
        How; by default Platt scaling below 1,000 labels.
    """
    if not np.any(match) or np.all(match == 1):
        raise InputError(
            "the labelled pairs",
            "must hold matches and non-matches",
            found="one kind only" if len(match) else "none",
        )
    if method is None:
        method = Method.ISOTONIC if len(match) >= ISOTONIC_FROM else Method.PLATT
    if method is Method.PLATT:
        slope, intercept = _platt(_logit(score), match)
        return Calibration(method, len(match), slope, intercept)
    knots, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    # Ties are pooled first: equal scores must have one probability.
    share = np.bincount(inverse, _targets(match)) / counts
    fitted = isotonic_regression(share, weights=counts).x
    return Calibration(
        method, len(match), score=tuple(knots.tolist()), probability=tuple(fitted.tolist())
    )


def _logit(score: Floats) -> Floats:
    return np.asarray(logit(np.clip(score, _EDGE, 1 - _EDGE)))


def _targets(match: Bools | Floats) -> Floats:
    """What a label says of the probability: not 0 or 1, as other labels would not all agree."""
    matches = float(np.sum(match))
    others = len(match) - matches
    return match * (matches + 1) / (matches + 2) + (1.0 - match) / (others + 2)


def calibrated_by_answers(score: Floats, evidence: Floats) -> Calibration:
    """Probabilities fitted to answers that may be wrong, by their likelihood.

    By expectation maximisation (Dempster, Laird and Rubin 1977, JRSS B 39:1-38): the label of a
    pair is as likely as what is fitted and its answers say together, and the fit is that to those.
    The evidence is the log odds of the answers about each pair, positive for one person; shape
    (pairs,).
    """
    fitted = calibrate(score, evidence > 0)
    likely = fitted(score)
    for _ in range(_STEPS):
        before = likely
        fitted = calibrate(score, expit(_logit(likely) + evidence))
        likely = fitted(score)
        if np.max(np.abs(likely - before)) < _SETTLED:
            break
    return fitted


def _platt(weight: Floats, match: Bools | Floats) -> tuple[float, float]:
    """Slope and intercept of greatest likelihood, the slope 0 at least, by Newton steps.

    With Platt's targets the likelihood has one maximum; steps are halved until they raise it.
    """
    target = _targets(match)
    matches = float(np.sum(match))
    odds = (matches + 1) / (len(match) - matches + 1)
    design = np.column_stack([weight, np.ones(len(weight))])
    at = np.array([0.0, np.log(odds)])

    def loss(place: Floats) -> float:
        margin = design @ place
        return float(np.sum(np.logaddexp(0, margin) - target * margin))

    for _ in range(_STEPS):
        fitted = expit(design @ at)
        gradient = design.T @ (fitted - target)
        # The little on the diagonal keeps it invertible where all scores are the same.
        curvature = (design * (fitted * (1 - fitted))[:, None]).T @ design + 1e-12 * np.eye(2)
        step, size = np.linalg.solve(curvature, gradient), 1.0
        while loss(at - size * step) > loss(at) and size > 1e-10:
            size /= 2
        at = at - size * step
        if np.max(np.abs(size * step)) < 1e-10:
            break
    # A falling map would call the surer pairs the less likely ones: the labels say nothing then.
    if at[0] < 0:
        share = float(target.mean())
        return 0.0, float(np.log(share / (1 - share)))
    return float(at[0]), float(at[1])


@dataclass(frozen=True, eq=False)
class Curve:
    """What is expected at every threshold that makes a difference; shape (distinct scores,).

    Attributes
    ----------
    score
        The distinct scores, ascending: each as a threshold.
    above, false, missed
        Pairs from it on; of them, expected false ones; expected true matches below it.
    true
        Expected number of true matches among all pairs.
    """

    score: Floats
    above: Ints
    false: Floats
    missed: Floats
    pairs: int
    true: float

    @property
    def precision(self) -> Floats:
        """Expected share of true matches from each threshold on."""
        return 1 - self.false / self.above

    @property
    def recall(self) -> Floats:
        """Expected share of the candidate pairs' true matches that lie from each threshold on."""
        return 1 - self.missed / self.true if self.true > 0 else np.ones(len(self.score))


def curve(score: Floats, probability: Floats | None = None) -> Curve:
    """Expected errors at every threshold: O(P log P).

    The probability of a pair does not fall as the score rises (see `calibrate`).
    """
    probability = score if probability is None else probability
    distinct, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    true: Floats = np.bincount(inverse, probability, len(distinct)).astype(np.float64)
    false: Floats = np.bincount(inverse, 1 - probability, len(distinct)).astype(np.float64)
    return Curve(
        score=distinct,
        above=np.cumsum(counts[::-1])[::-1],
        false=np.cumsum(false[::-1])[::-1],
        # Those below the threshold, without the pairs at it.
        missed=np.cumsum(true) - true,
        pairs=len(score),
        true=float(true.sum()),
    )


@dataclass(frozen=True, slots=True)
class Workload:
    """What two thresholds do to the pairs, before anybody has looked at one.

    Attributes
    ----------
    matches, possible_matches, non_matches
        Number of pairs of each outcome; the possible matches are what people have to look at.
    false_matches
        Expected number of pairs called a match that are none.
    false_match_rate
        Expected share of false ones among the pairs called a match; 0 where there is none.
    missed_match_rate
        Expected share of the candidate pairs' true matches that are called a non-match.
    """

    matches: int
    possible_matches: int
    non_matches: int
    false_matches: float
    missed_matches: float
    found_in_review: float
    false_match_rate: float
    missed_match_rate: float


def workload(score: Floats, thresholds: Thresholds, probability: Floats | None = None) -> Workload:
    """How many pairs people will have to look at, and how many errors are expected beside."""
    probability = score if probability is None else probability
    match, non_match = score >= thresholds.upper, score < thresholds.lower
    matches, non_matches = int(np.count_nonzero(match)), int(np.count_nonzero(non_match))
    false = float(np.sum(1 - probability[match]))
    missed, true = float(np.sum(probability[non_match])), float(np.sum(probability))
    return Workload(
        matches=matches,
        possible_matches=len(score) - matches - non_matches,
        non_matches=non_matches,
        false_matches=false,
        missed_matches=missed,
        found_in_review=float(np.sum(probability[~match & ~non_match])),
        false_match_rate=false / matches if matches else 0.0,
        missed_match_rate=missed / true if true > 0 else 0.0,
    )


THRESHOLDS = (0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999)
"""The thresholds of the table, where none are asked for."""


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """What is expected if pairs from a threshold on are called matches.

    Attributes
    ----------
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

    Labels may have corrected the probability of a pair (see `calibrate`).
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
                # Matches that blocking has lost are missed at any threshold.
                recall_of_all=found / (at.true + lost) if at.true + lost > 0 else 1.0,
                review=max(0, reviewed - matches),
            )
        )
    return rows


_SLACK = 1e-12
"""Relative slack of a rate that is met exactly, for the rounding of sums."""


def thresholds_for_rates(
    score: Floats,
    *,
    false_match_rate: float,
    missed_match_rate: float,
    probability: Floats | None = None,
) -> Thresholds:
    """The thresholds with the fewest pairs for review whose expected rates are as wanted.

    The false-match rate is the expected share of false ones among the pairs called a match
    (Belin and Rubin 1995, JASA 90:694-707); the missed-match rate the expected share of the
    candidate pairs' true matches that are called a non-match. The upper threshold is the least
    that keeps to the first, the lower one the greatest that keeps to the second. Where they
    would cross, nobody has to look at a pair: both are the score nearest to 0.5 between them.

    Parameters
    ----------
    false_match_rate, missed_match_rate
        The wanted rates, in [0, 1].
    probability
        Probability of each pair, where labels have corrected it (see `calibrate`).
    """
    for name, rate in (
        ("false_match_rate", false_match_rate),
        ("missed_match_rate", missed_match_rate),
    ):
        if not 0 <= rate <= 1:
            raise InputError(f"parameter {name}", "must be a share", accepted="0 to 1")
    if not len(score):
        raise InputError("the candidate pairs", "must be one at least", found="none")
    at = curve(score, probability)
    # Expected false matches over pairs called a match, without dividing.
    clean = at.false <= false_match_rate * at.above * (1 + _SLACK)
    upper = float(at.score[np.argmax(clean)]) if np.any(clean) else math.inf
    # One more candidate than there are scores: the threshold at which no pair is a match.
    above_all = min(float(np.nextafter(at.score[-1], 2.0)), 1.0)
    edges, missed = np.append(at.score, above_all), np.append(at.missed, at.true)
    kept = missed <= missed_match_rate * at.true * (1 + _SLACK)  # true for the lowest score
    lower = float(edges[np.flatnonzero(kept)[-1]])
    if lower <= upper:
        return Thresholds(lower, upper)
    between = edges[(edges >= upper) & (edges <= lower)]
    # Any threshold between keeps both rates; the nearest to ½ has the fewest errors.
    best = float(between[np.argmin(np.abs(between - 0.5))])
    return Thresholds(best, best)
