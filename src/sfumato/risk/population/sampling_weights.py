"""Estimates where persons have sampling weights; without them those of `accumulation`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.number_text import percentage
from sfumato.risk.population.accumulation_estimator import Accumulation
from sfumato.risk.population.estimator_protocol import Estimate, SampleClasses

EQUAL = 1.02
"""Ratio of the largest to the smallest weight up to which they count as equal."""
STRATA = 8
"""Groups of weights, at most."""
FEWEST = 200
"""Persons of a group."""
ALIKE = 9
"""Digits of the logarithms of weights that must agree for weights to be the same."""
SAME = 10.0 ** (-2 * ALIKE) / 4
"""Less than the squares of logarithms that are not all the same can add up to."""


@dataclass(frozen=True)
class Weighted:
    """`Accumulation`, in strata of near weights as far as weights belong to classes.

    Where the quasi-identifiers determine the weights, each group of classes with near weights
    is a sample of its own, and λ = Σ n_h λ_h / n. Where weights scatter within classes, the
    strata would be drawn by chance, and the sample counts as one of equal probabilities. In
    between, by the share of the variance of the weights' logarithms that lies ``between``
    classes, the logarithms of both are averaged, and the interval is as much wider.
    """

    between: float = 1.0

    @property
    def name(self) -> str:
        """``accumulation``, as that is what is taken."""
        return "accumulation"

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """What the accumulation of classes says, positive sums of weights taken into account."""
        # First in any case, so that the same seed gives
        # the same numbers whether weights count or not.
        equal = Accumulation().estimate(replace(sample, weighted=None), rng)
        if sample.weighted is None or _equal(sample) or self.between <= 0:
            return equal
        strata = _in_strata(sample, rng)
        return strata if self.between >= 1 else _between(equal, strata, self.between)


def share_between(class_of: Ints, weights: Floats) -> float:
    """Share of the variance of the logarithms of weights that lies between classes.

    The intraclass correlation by analysis of variance, over classes of two persons and more;
    1 where there are none. In [0, 1].

    Parameters
    ----------
    class_of
        Class of each person (once for every class that they are in), shape (persons,).
    weights
        Their sampling weights, positive, shape (persons,).
    """
    sizes = np.bincount(class_of)
    # A class of one person has no variance within.
    kept = sizes[class_of] > 1
    if not kept.any():
        return 1.0
    _, number = np.unique(class_of[kept], return_inverse=True)
    # Rounded, as weights that were meant to be equal may differ in their last digit.
    values = np.round(np.log(weights[kept]), ALIKE)
    # Variances do not change, and the squares of small numbers keep their digits.
    values -= values[0]
    sizes = np.bincount(number)
    means = np.bincount(number, values) / sizes
    inside = float(((values - means[number]) ** 2).sum())
    return share_of_sums(sizes, np.ones(len(sizes), dtype=np.int64), means, inside)


def share_of_sums(
    sizes: Ints, times: Ints, means: Floats, inside: float, scatter: float = 0.0
) -> float:
    """The share that `share_between` gives, from sums over classes.

    Parameters
    ----------
    sizes
        Persons of each class, at least 2; shape (entries,).
    times
        Number of classes that each entry stands for, shape (entries,).
    means
        Mean of the logarithms of weights, rounded to `ALIKE` digits, of the persons of each
        class, shape (entries,); of an entry for several, the mean of theirs.
    inside
        Sum over persons of the squared difference from the mean of their class.
    scatter
        Sum over persons of the squared difference of the mean of their class from the mean of
        the entry.
    """
    members = sizes * times
    persons, classes = int(members.sum()), int(times.sum())
    if not classes:
        return 1.0
    # One class has no variance between classes: its
    # weights are equal, and so its own, or they are not.
    if classes == 1:
        return float(inside < SAME)
    # Sum of squares between classes.
    among = float(members @ (means - members @ means / persons) ** 2) + scatter
    if among + inside < SAME:
        return 0.0
    within = inside / (persons - classes)
    # n_0 = (n − Σ n_j² / n) / (k − 1), the class size that makes E[MS_between] = σ_w² + n_0 σ_b².
    size = (persons - float(members @ sizes) / persons) / (classes - 1)
    # σ_b² by moments, and σ_b² / (σ_b² + σ_w²) is the intraclass correlation.
    variance = (among / (classes - 1) - within) / size
    return float(np.clip(variance / max(variance + within, 1e-300), 0.0, 1.0))


def _between(equal: Estimate, strata: Estimate, share: float) -> Estimate:
    """Both estimates averaged on the logarithm."""

    def average(one: float | None, other: float | None) -> float | None:
        if one is None or other is None:
            return None
        # Errors of counts and risks are ratios, whose mean is geometric.
        return float(one ** (1 - share) * other**share)

    marketer = equal.marketer ** (1 - share) * strata.marketer**share
    # The distance to the nearer of the two, which is 0 where one of them is sure.
    apart = abs(float(np.log(strata.marketer / equal.marketer))) * min(share, 1 - share)
    low, high = average(equal.low, strata.low), average(equal.high, strata.high)
    return replace(
        equal,
        marketer=marketer,
        class_count=average(equal.class_count, strata.class_count),
        expected_uniques=average(equal.expected_uniques, strata.expected_uniques),
        unique_matches=average(equal.unique_matches, strata.unique_matches),
        low=None if low is None else low * float(np.exp(-apart)),
        high=None if high is None else min(high * float(np.exp(apart)), 1.0),
        path=(
            f"{percentage(share)} of the weights' variance lies between classes",
            *strata.path,
        ),
    )


def _equal(sample: SampleClasses) -> bool:
    weights = _mean_weights(sample)
    return bool(weights.max() <= EQUAL * weights.min())


def _mean_weights(sample: SampleClasses) -> Floats:
    if sample.weighted is None:
        return np.full(len(sample.sizes), 1 / sample.fraction)
    return sample.weighted / sample.sizes


def _in_strata(sample: SampleClasses, rng: np.random.Generator) -> Estimate:
    stratum = _strata(sample)
    parts = []
    for number in range(int(stratum.max()) + 1):
        here = stratum == number
        parts.append((here, Accumulation().estimate(_part(sample, here), rng)))
    members = sample.sizes * sample.each
    # λ = Σ n_h λ_h / n; classes, uniques and matches are sums.
    shares = np.array([members[here].sum() for here, _ in parts]) / sample.n

    def total(values: list[float | None], weights: Floats) -> float:
        return float(weights @ np.array(values, dtype=float))

    def found(matches: list[float | None]) -> float | None:
        return None if None in matches else total(matches, ones)

    ones = np.ones(len(parts))
    return Estimate(
        estimator="accumulation",
        marketer=total([part.marketer for _, part in parts], shares),
        class_count=total([part.class_count for _, part in parts], ones),
        expected_uniques=total([part.expected_uniques for _, part in parts], ones),
        unique_matches=found([part.unique_matches for _, part in parts]),
        # Ends are added as if all strata erred the same way: their models have the same faults.
        low=total([part.marketer if part.low is None else part.low for _, part in parts], shares),
        high=total(
            [part.marketer if part.high is None else part.high for _, part in parts], shares
        ),
        path=(f"{len(parts)} strata of sampling weights",),
    )


def _strata(sample: SampleClasses) -> Ints:
    """Groups of classes with near weights, of at least `FEWEST` persons each."""
    weights = np.round(np.log(_mean_weights(sample)), ALIKE)
    order = np.argsort(weights, kind="stable")
    persons = np.cumsum((sample.sizes * sample.each)[order])
    groups = max(1, min(STRATA, sample.n // FEWEST))
    number = np.empty(len(order), dtype=np.int64)
    # Cuts by persons and not by classes, in integers:
    # equal files have equal strata on every machine.
    number[order] = np.minimum((persons - 1) * groups // sample.n, groups - 1)
    _, together = np.unique(weights, return_inverse=True)
    first = np.full(int(together.max()) + 1, groups, dtype=np.int64)
    # Classes of the same weight stay in one stratum, or the order of the file would divide them.
    np.minimum.at(first, together, number)
    return np.unique(first[together], return_inverse=True)[1].astype(np.int64)


def _part(sample: SampleClasses, here: Bools) -> SampleClasses:
    persons = (sample.sizes * sample.each)[here]
    weights = _mean_weights(sample)[here]
    return SampleClasses(
        sizes=sample.sizes[here],
        # N_h = Σ w. Weights below 1 cannot make a population smaller than its sample.
        population=max(round(float(weights @ persons)), int(persons.sum())),
        keys=None if sample.keys is None else sample.keys[here],
        domains=sample.domains,
        times=None if sample.times is None else sample.times[here],
        clusters=None if sample.clusters is None else sample.clusters.take(here),
    )
