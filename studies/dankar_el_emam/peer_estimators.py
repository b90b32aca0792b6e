"""The estimators of the paper and its peers by their names, and those in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.errors import InputError
from sfumato.risk.population import estimator_protocol as protocol
from sfumato.risk.population.inverse_sizes import negative_binomial, poisson
from sfumato.risk.population.sampling_weights import Weighted
from studies.dankar_el_emam.class_count_estimators import CLASS_COUNTS
from studies.dankar_el_emam.log_linear import LogLinear, LogLinearCount, of_inverse_sizes


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

    def estimate(
        self, sample: protocol.SampleClasses, rng: np.random.Generator
    ) -> protocol.Estimate:
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
        inverse = negative_binomial(sample.sizes, 0.0, share)
        return of_inverse_sizes(self.name, sample, _per_class(inverse, sample), share)


def _per_class(inverse_sizes: Floats, sample: protocol.SampleClasses) -> Floats:
    return np.minimum(inverse_sizes, 1.0 / sample.sizes)


def _shares(sample: protocol.SampleClasses) -> Floats | float:
    """Probability with which the persons of each class were sampled, or one for all."""
    if sample.weighted is None:
        return sample.fraction
    if not np.all((sample.weighted > 0) & np.isfinite(sample.weighted)):
        raise protocol.EstimationFailedError(
            "estimator argus needs sampling weights whose sum in each class is positive"
        )
    return np.minimum(sample.sizes / sample.weighted, 1.0)


_NUMBERS = (int, float, np.integer)
_AS_POISSON = 1e-8
"""Below this (N - n) β the two models differ by less than rounding would."""


@dataclass(frozen=True)
class NegativeBinomial:
    """Classes whose shares of the population are Gamma(α, β), with αβ = 1 / J̃.

    The sample's f given the share γ is Poisson(nγ), and F - f Poisson((N - n) γ); so γ given f
    is Gamma with shape α + f and rate n + 1/β, and F - f given f is negative binomial with
    shape α + f and success probability (n + 1/β) / (N + 1/β).

    Attributes
    ----------
    classes
        J̃, the number of classes of the population, or the estimator that counts them; Haas and
        Stokes' hybrid (1998) unless another is given, as in the paper. Held between the
        sample's d and d + N - n.

    Raises
    ------
    InputError
        If it is a number that is not positive and finite.
    """

    classes: float | protocol.Estimator = CLASS_COUNTS["hybrid"]

    def __post_init__(self) -> None:
        if isinstance(self.classes, _NUMBERS) and not 0 < float(self.classes) < float("inf"):
            raise InputError(
                "parameter classes",
                "must be a number of classes or an estimator of it",
                found="another number",
                accepted="a number above 0",
            )

    @property
    def name(self) -> str:
        """``negative-binomial``."""
        return "negative-binomial"

    def estimate(
        self, sample: protocol.SampleClasses, rng: np.random.Generator
    ) -> protocol.Estimate:
        """E[1/F] of each class, and what follows from it; P(F = 1 | f = 1) = s^(α + 1).

        Var f = n/J̃ + n² α β² over all J̃ classes, those that the sample lacks included, gives
        β = (J̃ S²/n - 1)/n, α = 1/(J̃ β) by the method of moments. Where β ≤ 0 the sizes vary no
        more than those of equal classes would: the limit β → 0, α β = 1/J̃, in which every share
        is 1/J̃ and F - f is Poisson with mean (N - n) / J̃.

        Parameters
        ----------
        sample
            The classes of the sample.
        rng
            Passed on to the estimator of J̃.

        Raises
        ------
        EstimationFailedError
            If the estimator of J̃ has no value.
        """
        count, path = self._class_count(sample, rng)
        shape, scale = gamma(sample, count)
        unseen = sample.population - sample.n
        if unseen * scale < _AS_POISSON:
            inverse = poisson(sample.sizes, unseen / count)
            alone = float(np.exp(-unseen / count))
            if unseen:
                path = (*path, "sizes vary no more than those of equal classes: Poisson")
        else:
            success = (sample.n * scale + 1) / (sample.population * scale + 1)
            inverse = negative_binomial(sample.sizes, shape, success)
            alone = float(success ** (shape + 1))
        inverse = np.minimum(inverse, 1.0 / sample.sizes)
        return of_inverse_sizes(self.name, sample, inverse, alone, count, path)

    def _class_count(
        self, sample: protocol.SampleClasses, rng: np.random.Generator
    ) -> tuple[float, tuple[str, ...]]:
        """J̃, at least the sample's d and at most d + N - n, and how it was reached."""
        path: tuple[str, ...] = ()
        if isinstance(self.classes, _NUMBERS):
            count = float(self.classes)
        else:
            counted = self.classes.estimate(sample, rng)
            if counted.class_count is None:
                raise protocol.EstimationFailedError(
                    f"estimator {self.name} needs a number of classes, and "
                    f"{counted.estimator} gives none"
                )
            count = counted.class_count
            path = (f"number of classes from {counted.estimator}", *counted.path)
        most = sample.classes + sample.population - sample.n
        return float(np.clip(count, sample.classes, most)), path


def gamma(sample: protocol.SampleClasses, classes: float) -> tuple[float, float]:
    """α and β of the classes' shares by the method of moments; β ≤ 0 where they look equal.

    Parameters
    ----------
    sample
        The classes of the sample.
    classes
        J̃, the number of classes of the population.

    Returns
    -------
    tuple[float, float]
        α (infinite where β is 0) and β.
    """
    mean = sample.n / classes
    sizes = sample.sizes.astype(np.float64)
    variance = float((sample.each * sizes) @ sizes) / classes - mean * mean
    scale = (variance / mean - 1) / sample.n
    return (1 / (classes * scale) if scale else float("inf")), scale


PEERS: Mapping[str, protocol.Estimator] = {
    "argus": Argus(),
    "negative-binomial": NegativeBinomial(),
    "log-linear": LogLinear(),
    "log-linear-uniques": LogLinear("uniques"),
    "log-linear-independence": LogLinear("independence"),
    "log-linear-all-two-way": LogLinear("all-two-way"),
    "log-linear-count": LogLinearCount(),
    **CLASS_COUNTS,
}
"""The published estimators by their names."""


def estimator_named(name: str) -> protocol.Estimator:
    """A published estimator, or ``auto``, which `sfumato.assess` takes."""
    return Weighted() if name == protocol.AUTO else PEERS[name]
