"""Goodness of fit for many class sizes at once, from tables over the fitted mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, sqrt

import numpy as np
from scipy.special import gammaln, lambertw

from sfumato.risk.population.log_linear.cells import Floats, Ints
from sfumato.risk.population.log_linear.goodness import Coefficients, of_direction, of_size

_STEP = 0.05
_SMALLEST = 1e-16
_NEGLIGIBLE = -300.0
_BEYOND = 13.0

Band = tuple[int, ...]
"""Class sizes that are searched together; ``MISSED`` for the classes that the sample missed."""
MISSED: Band = (0,)


class Criteria:
    """B / √variance of one model for many bands of class sizes.

    The coefficients are tabulated at means whose positions log μ + 2√μ are equally spaced (the
    Poisson probability of a size is a bump of width about 1 there), and interpolated by cubics:
    B and the variance are then the products of one table with sums over the cells, whatever the
    number of bands. The relative error is about 10⁻⁶ where a size is likely; `goodness` has the
    exact sums.

    Parameters
    ----------
    bands
        The class sizes; a band's criterion is that of the sum of its sizes' risks.
    fraction
        π, the sampling fraction.
    """

    def __init__(self, bands: Sequence[Band], fraction: float) -> None:
        largest = max(size for band in bands for size in band)
        self._largest = (sqrt(largest) + _BEYOND) ** 2
        self._first = log(_SMALLEST) + 2 * sqrt(_SMALLEST) - 2 * _STEP
        last = log(self._largest) + 2 * sqrt(self._largest)
        nodes = int((last - self._first) / _STEP) + 5
        means = _mean_at(self._first + _STEP * np.arange(nodes, dtype=np.float64))
        self._linear = np.empty((len(bands), nodes))
        self._square = np.empty_like(self._linear)
        for row, band in enumerate(bands):
            self._linear[row], self._square[row] = _of_band(band, means, fraction)
        self._variance = means * self._linear**2 + 2 * (means * self._square) ** 2

    def of(self, sizes: Ints | Floats, means: Floats, weights: Floats) -> Floats:
        """B / √variance of each band; 0 where a band has no variance.

        Parameters
        ----------
        sizes
            f, the persons of each cell, 0 for empty cells.
        means
            μ, the fitted mean of each cell, at least 0.
        weights
            Number of cells of the full table that each one stands for.
        """
        place = (_position(np.clip(means, _SMALLEST, self._largest)) - self._first) / _STEP
        node = place.astype(np.int64)
        shares = _cubic(place - node)
        apart = sizes - means
        sums = [weights * apart, weights * (apart * apart - sizes), weights]
        linear, square, count = (self._spread(node, shares, values) for values in sums)
        bias = self._linear @ linear + self._square @ square
        deviation = np.sqrt(np.maximum(self._variance @ count, 0.0))
        return np.divide(bias, deviation, out=np.zeros_like(bias), where=deviation > 0)

    def _spread(self, node: Ints, shares: Sequence[Floats], values: Floats) -> Floats:
        nodes = self._linear.shape[1]
        total = np.zeros(nodes)
        for offset, share in enumerate(shares):
            total += np.bincount(node + (offset - 1), weights=share * values, minlength=nodes)
        return total


def _position(means: Floats) -> Floats:
    position: Floats = np.log(means) + 2 * np.sqrt(means)
    return position


def _mean_at(position: Floats) -> Floats:
    """The mean whose position it is: √μ + log √μ = position / 2."""
    half = position / 2
    root = np.empty_like(half)
    small = half < 300
    root[small] = lambertw(np.exp(half[small])).real
    large = half[~small]
    guess = large - np.log(large)
    for _ in range(4):
        guess -= (guess + np.log(guess) - large) / (1 + 1 / guess)
    root[~small] = guess
    return root * root


def _cubic(t: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Lagrange's weights of the four nodes around a point at share t between the middle two."""
    before, after, beyond = t + 1, 1 - t, 2 - t
    return (
        -t * after * beyond / 6,
        before * after * beyond / 2,
        before * t * beyond / 2,
        -before * t * after / 6,
    )


def _of_band(band: Band, means: Floats, fraction: float) -> Coefficients:
    total = Coefficients(np.zeros_like(means), np.zeros_like(means))
    kind: Callable[[int, Floats, float], Coefficients] = of_direction if band == MISSED else of_size
    for size in band:
        likely = size * np.log(means) - means - gammaln(size + 1) > _NEGLIGIBLE
        if likely.any():
            a, b = kind(size, means[likely], fraction)
            total.a[likely] += a
            total.b[likely] += b
    return total
