"""How an estimator does on subsamples of the sample, of which the population is known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.risk.population.estimate import EstimationFailedError, Estimator
from sfumato.risk.population.sample import SampleClasses

Floats = npt.NDArray[np.float64]

FEWEST = 50
"""Persons of a subsample from which on it tells something."""


@dataclass(frozen=True)
class SubsampleCheck:
    """Errors of an estimator on subsamples drawn at the sample's own fraction.

    Attributes
    ----------
    subsamples
        Number of subsamples for which it had a value.
    error
        Mean of the logarithm of estimate over realised λ; 0.05 is 5 % too high.
    scatter
        Standard deviation of that logarithm.
    """

    subsamples: int
    error: float
    scatter: float


def check_on_subsamples(
    estimator: Estimator, sample: SampleClasses, rng: np.random.Generator, repeats: int
) -> SubsampleCheck | None:
    """Take the sample for the population of its own subsamples, and compare.

    Parameters
    ----------
    estimator
        What is checked.
    sample
        The classes; fewer persons than the population.
    rng
        Draws the subsamples.
    repeats
        Number of subsamples.

    Returns
    -------
    SubsampleCheck or None
        ``None`` where subsamples would have under `FEWEST` persons, or the estimator has no
        value for them.
    """
    persons = round(sample.n * sample.fraction)
    if persons < FEWEST or persons >= sample.n:
        return None
    errors = []
    for _ in range(repeats):
        drawn = rng.multivariate_hypergeometric(sample.sizes, persons, method="marginals")
        realised = float((drawn / sample.sizes).sum()) / persons
        try:
            found = estimator.estimate(_shown(sample, drawn), rng)
        except EstimationFailedError:
            continue
        errors.append(float(np.log(found.marketer / realised)))
    if not errors:
        return None
    return SubsampleCheck(len(errors), float(np.mean(errors)), float(np.std(errors)))


def _shown(sample: SampleClasses, drawn: npt.NDArray[np.int64]) -> SampleClasses:
    shown = drawn > 0
    return replace(
        sample,
        sizes=drawn[shown],
        population=sample.n,
        keys=None if sample.keys is None else sample.keys[shown],
        weighted=None,
    )
