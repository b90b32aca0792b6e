"""Class sizes as Poisson counts whose rates are lognormal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import gammaln

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LARGEST = 200
"""Classes above this size are known well enough: the sample's share is taken for the rate's."""
NODES = np.linspace(-5.0, 5.0, 101)
"""Standard deviations from the mean at which the lognormal is evaluated."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Rates of classes: the expected numbers of their persons in a sample of the same size.

    Attributes
    ----------
    log_rates
        Logarithms of the rates, shape (nodes,).
    weights
        Share of the classes with each rate, shape (nodes,).
    classes
        Number of classes, those that the sample does not show included.
    """

    log_rates: Floats
    weights: Floats
    classes: float

    def posterior(self, sizes: Ints) -> Floats:
        """Probability of each rate given a class's size; shape (sizes, nodes)."""
        log_weights = np.log(self.weights)
        log = sizes[:, None] * self.log_rates - np.exp(self.log_rates) + log_weights
        log -= log.max(axis=1, keepdims=True)
        probability = np.exp(log)
        probability /= probability.sum(axis=1, keepdims=True)
        return probability


def fit_mixture(sizes: Ints, counts: Floats) -> Mixture:
    """Fit a Poisson-lognormal to the sizes up to `LARGEST`, a class of size 0 being unseen.

    Maximum likelihood of the zero-truncated distribution (Bulmer 1974), the integral over the
    lognormal being a sum over `NODES`. O(sizes x nodes) per evaluation.

    Parameters
    ----------
    sizes
        The class sizes that occur, shape (sizes,); one of them is at most `LARGEST`.
    counts
        Number of classes of each size.
    """
    kept = sizes <= LARGEST
    sizes, counts = sizes[kept], counts[kept]
    classes = float(counts.sum())
    weights = np.exp(-NODES * NODES / 2)
    weights /= weights.sum()
    factorials = gammaln(sizes + 1.0)[:, None]

    def log_rates(parameters: Floats) -> Floats:
        rates: Floats = parameters[0] + np.exp(parameters[1]) * NODES
        return np.clip(rates, -60.0, 30.0)

    def unseen(log: Floats) -> float:
        return float(np.exp(-np.exp(log)) @ weights)

    def loss(parameters: Floats) -> float:
        log = log_rates(parameters)
        likely = np.exp(sizes[:, None] * log - np.exp(log) - factorials) @ weights
        seen = np.log1p(-min(unseen(log), 1 - 1e-12))
        return float(seen - counts @ np.log(np.maximum(likely, 1e-300)) / classes)

    start = np.array([np.log(float(sizes @ counts) / classes), 0.0])
    options = {"xatol": 1e-3, "fatol": 1e-8, "maxiter": 200}
    best = minimize(loss, start, method="Nelder-Mead", options=options).x
    log = log_rates(best)
    return Mixture(log, weights, classes / max(1 - unseen(log), 1e-12))
