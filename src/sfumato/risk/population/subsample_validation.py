"""How sure an estimator is: its errors on subsamples, and the interval that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.number_text import percentage
from sfumato.risk.population import estimator_protocol as protocol

FEWEST = 50
"""Persons of a subsample from which on it tells something."""
UNSURE = 0.15
"""Mean error on subsamples from which on an estimate is called unsure."""


@dataclass(frozen=True)
class SubsampleCheck:
    """Errors of an estimator on subsamples drawn at the sample's own fraction.

    Attributes
    ----------
    error
        Mean of the logarithm of estimate over realised λ; 0.05 is 5 % too high.
    scatter
        Standard deviation of that logarithm.
    """

    subsamples: int
    error: float
    scatter: float


def check_on_subsamples(
    estimator: protocol.Estimator,
    sample: protocol.SampleClasses,
    rng: np.random.Generator,
    repeats: int,
) -> SubsampleCheck | None:
    """Take the sample for the population of its own subsamples, and compare.

    It has fewer persons than the population; ``None`` where subsamples would have under `FEWEST` of
    them.
    """
    # At the sample's own fraction, so that the estimator
    # has as far to go as from sample to population.
    persons = round(sample.n * sample.fraction)
    if persons < FEWEST or persons >= sample.n:
        return None
    errors = []
    for _ in range(repeats):
        drawn, realised = _drawn(sample, persons, rng)
        found = estimator.estimate(drawn, rng)
        # On the logarithm, where half and double count alike.
        errors.append(float(np.log(found.marketer / realised)))
    return SubsampleCheck(len(errors), float(np.mean(errors)), float(np.std(errors)))


def _drawn(
    sample: protocol.SampleClasses, persons: int, rng: np.random.Generator
) -> tuple[protocol.SampleClasses, float]:
    """A subsample of so many persons, or about as many, and its realised λ."""
    if sample.times is not None:
        return _thinned(sample, sample.times, rng)
    # Without replacement, as a sample is drawn. "marginals"
    # needs memory for the classes alone, not for each person.
    drawn = rng.multivariate_hypergeometric(sample.sizes, persons, method="marginals")
    shown = drawn > 0
    subsample = replace(
        sample,
        sizes=drawn[shown],
        population=sample.n,
        keys=None if sample.keys is None else sample.keys[shown],
        # The check is of the estimator by persons of equal
        # probability; weights would be of the population.
        weighted=None,
    )
    return subsample, float((drawn / sample.sizes).sum()) / persons


def _thinned(
    sample: protocol.SampleClasses, times: Ints, rng: np.random.Generator
) -> tuple[protocol.SampleClasses, float]:
    """Where only the numbers of classes of each size are known: every person with a chance π."""
    from scipy.stats import binom

    parts, matches = [], 0.0
    for size, number in zip(sample.sizes.tolist(), times.tolist(), strict=True):
        top = protocol.most_shown(size, sample.fraction)
        # A draw per class or one of counts per size: whichever has fewer numbers to draw.
        if number > top:
            chances = binom.pmf(np.arange(top + 1), size, sample.fraction)
            counts = rng.multinomial(number, chances / chances.sum())
            sizes = np.flatnonzero(counts)
            counts = counts[sizes]
        else:
            drawn = rng.binomial(size, sample.fraction, size=number)
            sizes, counts = np.unique(drawn, return_counts=True)
        # Σ f / F, where the sample's size is F.
        matches += float(sizes @ counts) / size
        parts.append((sizes[sizes > 0], counts[sizes > 0].astype(np.int64)))
    sizes, often = protocol.counts_of(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    subsample = replace(sample, sizes=sizes, population=sample.n, weighted=None, times=often)
    return subsample, matches / subsample.n


def reason(
    name: str, sample: protocol.SampleClasses, check: SubsampleCheck | None, *, auto: bool
) -> str:
    """Say why the estimator was taken, what its interval covers, and how it was checked."""
    taken = (
        "of all estimators it erred least over the populations of the documentation's simulation"
        if auto
        else "asked for"
    )
    covers = "the interval is for the realised share of the file, not its expectation"
    return f"{name}: {taken}; {covers}; {_design_in_words(sample)}; {_check_in_words(check)}"


def _design_in_words(sample: protocol.SampleClasses) -> str:
    """How persons were drawn; where nobody said so, what clusters could do: F_j is at least f_j."""
    if sample.clusters is not None:
        taken = "taken whole" if sample.clusters.within == 1 else "drawn in two stages"
        return f"people were drawn in clusters that were {taken}"
    return (
        "people count as drawn one by one: if whole areas, practices or households were, it is up "
        f"to {percentage(sample.classes / sample.n)} (name their column: cluster)"
    )


def _check_in_words(check: SubsampleCheck | None) -> str:
    """How an estimator did on subsamples; ``None`` where the file is too small for them."""
    if check is None:
        return "not checked on subsamples of people"
    error = f"{percentage(abs(check.error))} too {'high' if check.error > 0 else 'low'}"
    said = f"on {check.subsamples} subsamples of the file it was {error} on average"
    return f"{said}: not sure" if abs(check.error) > UNSURE else said
