"""The estimator of Argus (paper 004, Section 2.4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.risk.population.estimate import Estimate, EstimationFailedError
from sfumato.risk.population.expected_inverse import argus
from sfumato.risk.population.models.from_inverse_sizes import from_inverse_sizes
from sfumato.risk.population.sample import SampleClasses

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Argus:
    """F given f is the number of trials up to the f-th success; each class by itself.

    The success probability is n / N for every class, or f / Σ w where persons have sampling
    weights w (at most 1). A class whose f is small by chance looks like a small one, so that λ
    tends to be too low where many classes are seen once.
    """

    @property
    def name(self) -> str:
        """``argus``."""
        return "argus"

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """E[1/F] of each class, and what follows from it; P(F = 1 | f = 1) = p.

        Parameters
        ----------
        sample
            The classes of the sample.
        rng
            Not used.

        Raises
        ------
        EstimationFailedError
            If the sampling weights of a class do not sum to a positive number.
        """
        share = _shares(sample)
        return from_inverse_sizes(
            self.name, sample, _per_class(argus(sample.sizes, share), sample), share
        )


def _per_class(inverse_sizes: Floats, sample: SampleClasses) -> Floats:
    return np.minimum(inverse_sizes, 1.0 / sample.sizes)


def _shares(sample: SampleClasses) -> Floats | float:
    """Probability with which the persons of each class were sampled, or one for all."""
    if sample.weighted is None:
        return sample.fraction
    if not np.all((sample.weighted > 0) & np.isfinite(sample.weighted)):
        raise EstimationFailedError(
            "estimator argus needs sampling weights whose sum in each class is positive"
        )
    return np.minimum(sample.sizes / sample.weighted, 1.0)
