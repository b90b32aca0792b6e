"""What one estimator says of the population behind a sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import SfumatoError
from sfumato.risk.population.sample import SampleClasses

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """What one estimator says; ``None`` where it says nothing.

    Attributes
    ----------
    estimator
        Its name on the command line and in the report.
    marketer
        λ, the expected share of the sample's persons whom an intruder with a register matches
        correctly (paper 004, Theorem 1); in (0, 1].
    class_count
        J̃, the number of classes of the population.
    population_uniques
        τ1, the expected number of sample uniques that are population uniques.
    unique_matches
        τ2, the expected number of correct matches among the sample uniques: Σ 1/F_j.
    inverse_sizes
        E[1/F_j] of each class of the sample, shape (classes,), in (0, 1 / f_j].
    low, high
        Ends of an interval that holds the realised λ of the sample in 95 % of cases, where the
        estimator has one of its own.
    path
        The models that a search went through, in words that are publishable.
    """

    estimator: str
    marketer: float
    class_count: float | None = None
    population_uniques: float | None = None
    unique_matches: float | None = None
    inverse_sizes: Floats | None = None
    low: float | None = None
    high: float | None = None
    path: tuple[str, ...] = field(default=())


class EstimationFailedError(SfumatoError):
    """An estimator has no value for this sample; the message says why and is publishable."""


class Estimator(Protocol):
    """One way from a sample to its population."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """What it says of the population behind the sample.

        Raises
        ------
        EstimationFailedError
            If it has no value for this sample.
        """
