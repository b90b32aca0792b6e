"""What an estimate of the whole file means for each of its classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq, minimize
from scipy.special import expit, gammaln, logit, pdtr

from sfumato.risk.population.expected_inverse import poisson
from sfumato.risk.population.sample import SampleClasses

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LARGEST = 100
"""Above this size F is f/π: the sample tells all."""
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
GRID = 64
"""Values of the predictor at which expectations are tabulated."""
FITTED = 5_000
"""Classes that the regression is fitted on."""
EDGE = 1e-12


class PerClass:
    """The posterior of F_j given f_j and how common the class's values are.

    The rate of a class is lognormal around a line in the logarithm of what independent
    quasi-identifiers would give it; f_j is Poisson with that rate, truncated at 0, and F_j - f_j
    Poisson with (1 - π)/π times it. The line and the spread are fitted to the observed classes;
    what they miss of the whole is put right by moving the odds of all classes together.

    Parameters
    ----------
    sample
        The classes; fewer persons than the population.
    """

    def __init__(self, sample: SampleClasses) -> None:
        self._sample = sample
        self._ratio = (1 - sample.fraction) / sample.fraction
        expected = _independent(sample)
        intercept, slope, self._spread = _fitted(sample, expected)
        self._predictor = intercept + slope * expected
        self._odds = logit(np.clip(self._matches(), EDGE, 1 - EDGE))

    def shift(self, marketer: float) -> float:
        """By how much all odds move so that Σ f_j E[1/F_j] = n λ."""
        aim = min(marketer * self._sample.n, self._sample.classes * (1 - EDGE))

        def missing(shift: float) -> float:
            return self._sample.total(expit(self._odds + shift)) - aim

        return float(brentq(missing, -60.0, 60.0, xtol=1e-10))

    def inverse_sizes(self, shift: float) -> Floats:
        """E[1/F_j | f_j] of each class, in (0, 1/f_j]; shape (classes,)."""
        inverse: Floats = expit(self._odds + shift) / self._sample.sizes
        return inverse

    def at_most(self, size: int, shift: float) -> Floats:
        """P(F_j <= size | f_j) of each class; shape (classes,)."""
        sizes = self._sample.sizes
        chances = ((sizes / self._sample.fraction <= size) & (sizes > LARGEST)).astype(float)

        def table(own: int, rates: Floats) -> Floats:
            return np.asarray(pdtr(size - own, rates * self._ratio))

        self._fill(chances, table, min(size, LARGEST))
        inside = np.clip(chances, EDGE, 1 - EDGE)
        moved: Floats = np.where(
            (chances > 0) & (chances < 1), expit(logit(inside) + shift), chances
        )
        return moved

    def _matches(self) -> Floats:
        """Expected matches f_j E[1/F_j | f_j] of the fitted regression."""
        matches = np.full(len(self._sample.sizes), self._sample.fraction)

        def table(own: int, rates: Floats) -> Floats:
            inverse = poisson(np.full(rates.size, own), (rates * self._ratio).ravel())
            return own * inverse.reshape(rates.shape)

        self._fill(matches, table, LARGEST)
        return matches

    def _fill(self, values: Floats, table: Callable[[int, Floats], Floats], largest: int) -> None:
        """Set the values of classes up to a size: the posterior mean of ``table(size, rates)``."""
        grid = np.linspace(self._predictor.min(), self._predictor.max(), GRID)
        log = grid[:, None] + self._spread * NODES
        rates = np.exp(log)
        sizes = self._sample.sizes
        for size in np.unique(sizes[sizes <= largest]).tolist():
            here = np.flatnonzero(sizes == size)
            likely = size * log - rates
            likely = np.exp(likely - likely.max(axis=1, keepdims=True)) * WEIGHTS
            mean = (likely * table(size, rates)).sum(axis=1) / likely.sum(axis=1)
            values[here] = np.interp(self._predictor[here], grid, mean)


def _independent(sample: SampleClasses) -> Floats:
    """Logarithm of each class's expected size were the quasi-identifiers independent."""
    if sample.keys is None:
        return np.zeros(len(sample.sizes))
    expected = np.full(sample.classes, np.log(sample.n))
    for codes in sample.keys.T:
        expected += np.log(np.bincount(codes, sample.sizes)[codes] / sample.n)
    return expected


def _fitted(sample: SampleClasses, expected: Floats) -> tuple[float, float, float]:
    """Intercept, slope and spread of the regression, by maximum likelihood."""
    step = max(1, len(sample.sizes) // FITTED)
    sizes, expected = np.minimum(sample.sizes[::step], LARGEST), expected[::step]
    shares = sample.each[::step] / sample.each[::step].sum()
    factorials = gammaln(sizes + 1.0)[:, None]

    def loss(parameters: Floats) -> float:
        intercept, slope, log_spread = parameters
        log = (intercept + slope * expected)[:, None] + np.exp(min(log_spread, 2.0)) * NODES
        log = np.clip(log, -60.0, 30.0)
        likely = np.exp(sizes[:, None] * log - np.exp(log) - factorials) @ WEIGHTS
        seen = -np.expm1(-np.exp(log)) @ WEIGHTS
        each = np.log(np.maximum(likely, 1e-300) / np.maximum(seen, 1e-300))
        return -float(each @ shares)

    start = np.array([0.0, 0.5 if np.ptp(expected) else 0.0, 0.0])
    options = {"xatol": 1e-2, "fatol": 1e-6, "maxiter": 150}
    best = minimize(loss, start, method="Nelder-Mead", options=options).x
    return float(best[0]), float(best[1]), float(np.exp(min(best[2], 2.0)))
