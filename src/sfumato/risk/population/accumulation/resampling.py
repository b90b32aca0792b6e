"""Samples of a population like the one behind a sample: how far the estimate scatters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.risk.population.accumulation.mixture import LARGEST, Mixture, fit_mixture
from sfumato.risk.population.sample import SampleClasses, counts_of, most_shown

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SAMPLES = 200
"""Samples that are drawn."""
ENOUGH = 2
"""Different sizes that a mixture needs."""
EXACT = 600
"""Persons of a class of the population up to which classes are kept apart by their sizes."""
RATIO = 1.05
"""Ratio of neighbouring sizes beyond."""
DRAWN = 100_000
"""Classes that are drawn for those of one size, or not shown; each may stand for several."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """Samples of one population, those without anybody left out.

    Attributes
    ----------
    sizes
        The class sizes that occur, shape (sizes,).
    counts
        Number of classes of each size in each sample, shape (sizes, samples).
    marketer
        The share λ of each sample's persons whom an intruder matches, shape (samples,).
    """

    sizes: Ints
    counts: Floats
    marketer: Floats


def resampled(sample: SampleClasses, rng: np.random.Generator) -> Resampled:
    """Draw `SAMPLES` samples from a population that the sample may come from.

    The population's classes are the sample's, with the persons that a `Mixture` gives each, and
    the unseen ones. Every person is drawn with probability π. Classes with more than `LARGEST`
    persons are in every sample at their size.

    Parameters
    ----------
    sample
        The classes; fewer persons than the population.
    rng
        Draws population and samples.
    """
    from scipy.stats import binom

    fraction = sample.fraction
    members, numbers = _population(sample, rng)
    reach = [most_shown(size, fraction) for size in members.tolist()]
    counts = np.zeros((max(reach, default=0) + 1, SAMPLES))
    matches = np.zeros(SAMPLES)
    for size, number, top in zip(members.tolist(), numbers.tolist(), reach, strict=True):
        own = np.arange(top + 1)
        chances = binom.pmf(own, size, fraction)
        drawn = rng.multinomial(number, chances / chances.sum(), size=SAMPLES)
        counts[: top + 1] += drawn.T
        matches += drawn @ own / size
    known, held = sample.counts_of_sizes
    large, held = known[known > LARGEST], held[known > LARGEST]
    sizes = np.concatenate([np.arange(1, len(counts)), large])
    always = np.repeat(held[:, None].astype(float), SAMPLES, axis=1)
    counts = np.concatenate([counts[1:], always])
    matches += held.sum() * fraction
    persons = sizes @ counts
    some = persons > 0
    return Resampled(sizes, counts[:, some], matches[some] / persons[some])


def _population(sample: SampleClasses, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Sizes of the population's classes, and the number of classes of each."""
    sizes, counts = sample.counts_of_sizes
    small = sizes <= LARGEST
    sizes, counts = sizes[small], counts[small]
    if len(sizes) < ENOUGH:
        whole = np.maximum(np.round(sizes / sample.fraction), 1).astype(np.int64)
        alone = sizes == 1
        return np.where(alone, 1, whole), np.where(alone, sample.population, counts)
    mixture = fit_mixture(sizes, counts.astype(float))
    rates = np.exp(mixture.log_rates)
    ratio = (1 - sample.fraction) / sample.fraction
    parts = []
    for size, count, chances in zip(sizes, counts, mixture.posterior(sizes), strict=True):
        drawn = min(int(count), DRAWN)
        own = rates[rng.choice(len(chances), drawn, p=chances)]
        members = _rounded(size + rng.poisson(np.minimum(own * ratio, 1e15)))
        found, often = np.unique(members, return_counts=True)
        parts.append((found, np.round(often * (count / drawn)).astype(np.int64)))
    seen, numbers = counts_of(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    unseen, others = _unseen(mixture, rates, ratio, sample.population, rng)
    return np.concatenate([seen, unseen]), np.concatenate([numbers, others])


def _unseen(
    mixture: Mixture, rates: Floats, ratio: float, population: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Sizes of the population's classes that the sample does not show, and their numbers."""
    rest = rates * ratio
    mass = mixture.classes * mixture.weights * np.exp(-rates) * -np.expm1(-rest)
    count = min(round(float(mass.sum())), population)
    if count == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    drawn = min(count, DRAWN)
    own = rest[rng.choice(len(rates), drawn, p=mass / mass.sum())]
    first = -np.log1p(-rng.random(drawn) * -np.expm1(-own))
    members = 1 + rng.poisson(np.clip(own - first, 0.0, 1e15))
    sizes, numbers = np.unique(_rounded(members), return_counts=True)
    return sizes, np.round(numbers * (count / drawn)).astype(np.int64)


def _rounded(members: Ints) -> Ints:
    """Sizes above `EXACT` as the nearest of a geometric row."""
    steps = np.round(np.log(np.maximum(members, EXACT) / EXACT) / np.log(RATIO))
    row = np.round(EXACT * RATIO**steps).astype(np.int64)
    return np.where(members <= EXACT, members, row)
