"""The measures of a file that follow from its classes' E[1/F] (paper 004, Theorem 1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.risk.population.estimate import Estimate
from sfumato.risk.population.sample import SampleClasses

Floats = npt.NDArray[np.float64]


def from_inverse_sizes(
    name: str,
    sample: SampleClasses,
    inverse_sizes: Floats,
    alone: Floats | float,
    class_count: float | None = None,
    path: tuple[str, ...] = (),
) -> Estimate:
    """λ = Σ f E[1/F] / n, and over the sample uniques τ2 = Σ E[1/F] and τ1 = Σ P(F = 1).

    Parameters
    ----------
    name
        The estimator's name.
    sample
        The classes of the sample.
    inverse_sizes
        E[1/F | f] of each class, shape (classes,).
    alone
        P(F = 1 | f = 1) of each class, shape (classes,), read only where f = 1; or one for all.
    class_count
        The number of classes of the population that the model took.
    path
        How it was reached, in publishable words.
    """
    unique = sample.sizes == 1
    every = np.broadcast_to(np.asarray(alone, dtype=np.float64), unique.shape)
    return Estimate(
        estimator=name,
        marketer=float((sample.each * sample.sizes) @ inverse_sizes) / sample.n,
        class_count=class_count,
        population_uniques=float((every * sample.each)[unique].sum()),
        unique_matches=float((inverse_sizes * sample.each)[unique].sum()),
        inverse_sizes=inverse_sizes,
        path=path,
    )
