"""How many of the disclosed records an intruder with a register matches correctly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len

from sfumato.core.arrays import Floats, Integers, Ints

Complexes = npt.NDArray[np.complex128]
_TAIL = 41.5
"""exp(-41.5) < 1e-18: the probability of the counts beyond each end that is left out."""
_NEGLIGIBLE = 1e-20
_FIRST = 32
"""Groups of classes that are tried first, to find the frequencies that do not matter."""
# Groups times frequencies at once: complex, 3 MB a
# block, so that memory does not grow with classes.
_ELEMENTS = 200_000


@dataclass(frozen=True, eq=False)
class MatchDistribution:
    """How many of the disclosed records an intruder with a register matches correctly.

    Attributes
    ----------
    mean
        The expected number, n λ.
    low
        The first count that ``probabilities`` covers.
    probabilities
        P(low), P(low + 1), ...; the counts left out have less than 1e-17 together.
    """

    mean: float
    variance: float
    low: int
    probabilities: Floats

    @property
    def high(self) -> int:
        """The last count that ``probabilities`` covers."""
        return self.low + len(self.probabilities) - 1

    def quantile(self, probability: float) -> int:
        """The least count that is not exceeded with at least this probability."""
        # Sums of probabilities are rounded: a quantile that
        # is met exactly must not slip to the next count.
        below = int(np.searchsorted(np.cumsum(self.probabilities), probability - 1e-12))
        return self.low + min(below, len(self.probabilities) - 1)

    def quantiles(self, low: float = 0.025, high: float = 0.975) -> tuple[int, int]:
        """Two counts: ``low`` of the probability is below the first, ``high`` up to the second."""
        return self.quantile(low), self.quantile(high)

    def at_least(self, count: int) -> float:
        """The probability of this many correct matches or more."""
        return float(min(1.0, self.probabilities[max(count - self.low, 0) :].sum()))


def class_means(sizes: Floats, population_sizes: Floats) -> Floats:
    """Expected number f / F of correct matches of each class (paper 004, Theorem 1)."""
    return sizes / population_sizes


def class_variances(sizes: Floats, population_sizes: Floats, one_to_one: bool) -> Floats:
    """The variance of the number of correct matches of each class.

    f/F + f(f-1)/(F(F-1)) - (f/F)² for one-to-one mappings, (f/F)(1 - 1/F) for free ones.
    """
    means = class_means(sizes, population_sizes)
    if not one_to_one:
        return means * (1 - 1 / population_sizes)
    # A class of one person has the term (f − 1) = 0, whose F − 1 may be 0 too.
    others = np.where(sizes > 1, population_sizes - 1, 1.0)
    # f/F + f(f−1)/(F(F−1)) − (f/F)² with f/F taken out. Rounding may leave it below 0.
    return np.maximum(means * (1 + (sizes - 1) / others - means), 0.0)


def generating_less_one(
    sizes: Floats, population_sizes: Floats, steps: npt.NDArray[np.complex128]
) -> npt.NDArray[np.complex128]:
    """E[z^R] - 1 = Σ_{i≥1} (f)_i / (F)_i (z - 1)^i / i! of one-to-one mappings, by Horner's rule.

    Parameters
    ----------
    sizes
        f, shape (classes,).
    population_sizes
        F, shape (classes,).
    steps
        z - 1, of modulus at most 2, shape (points,).

    Returns
    -------
    npt.NDArray[np.complex128]
        Of shape (classes, points).
    """
    terms = min(int(sizes.max()), _enough_terms(float(np.abs(steps).max())))
    result = np.zeros((len(sizes), len(steps)), dtype=np.complex128)
    for i in range(terms - 1, -1, -1):
        # (f)_i is 0 beyond f, so that each class ends its own sum.
        left = np.maximum(sizes - i, 0.0)
        share = left / np.where(left > 0, population_sizes - i, 1.0) / (i + 1)
        result += 1
        result *= share[:, None]
        result *= steps
    return result


def _enough_terms(step: float) -> int:
    """The least i >= 1 with step^i / i! < 1e-19."""
    terms, left = 1, step
    while left > 1e-19:
        terms += 1
        left *= step / terms
    return terms


@dataclass(frozen=True, eq=False)
class _Groups:
    """Classes of equal (f, F), those with F = 1 left out; each array of shape (groups,)."""

    sizes: Floats
    population_sizes: Floats
    counts: Floats


def matches(
    sizes: Integers | Floats,
    population_sizes: Integers | Floats,
    one_to_one: bool = True,
    *,
    times: Ints | None = None,
) -> MatchDistribution:
    """The distribution of the number of correct matches, with its mean Σ f/F (Theorem 1).

    The classes are independent, so that the generating function of the total is the product of
    theirs. It is evaluated on the unit circle, once for each distinct (f, F), only where its
    modulus is above 1e-20, and inverted by a Fourier transform over a window of counts that
    holds all but 1e-17 of the probability: above, E z^R ≤ exp((z - 1) f/F) bounds the tail by
    the Poisson's; below, by Bernstein's inequality exp(-t² / (2 Σ E R²)).

    With estimates, pass 1 / E[1/F] as ``population_sizes``: the mean is then the estimated one,
    and the distribution of sample uniques is exact (R is 0 or 1, so that only E[1/F] counts).
    For larger classes the spread of F around its estimate is left out: the variance then lacks
    Σ f² Var(1/F), and the uncertainty of the estimator itself is in no part of it.

    Parameters
    ----------
    sizes
        f, whole numbers of at least 1, shape (classes,).
    population_sizes
        F, at least f; whole numbers where they are known, shape (classes,).
    times
        Number of classes that each entry stands for, shape (classes,); ``None`` for one each.

    Returns
    -------
    MatchDistribution
        Probabilities that sum to 1 within 1e-10; each is the exact one within that.
    """
    small, large = (np.asarray(each, dtype=np.float64) for each in (sizes, population_sizes))
    # 1 / E[1/F] may round to just below f, where the falling factorials have no meaning.
    large = np.where((large < small) & (large > small * (1 - 1e-12)), small, large)
    means = class_means(small, large)
    variances = class_variances(small, large, one_to_one)
    each = np.ones(len(small), dtype=np.int64) if times is None else times
    # F = 1 is matched surely: it only shifts all counts by one.
    open_ = large > 1
    sure = int(each[~open_].sum())
    most = int((small * each)[open_].sum())
    low, high = _window(means[open_], variances[open_], each[open_], most)
    # Counts beyond the window wrap around into it, and have less than 1e-17 together.
    length = next_fast_len(high - low + 1, real=True)
    groups = _groups(small[open_], large[open_], each[open_])
    transform = _transform(groups, low, length, one_to_one)
    found = irfft(transform, length)
    return MatchDistribution(
        mean=float((means * each).sum()),
        variance=float((variances * each).sum()),
        low=low + sure,
        probabilities=np.clip(found[: high - low + 1], 0.0, 1.0),
    )


def _window(means: Floats, variances: Floats, times: Ints, most: int) -> tuple[int, int]:
    """The first and the last count that matter, F = 1 left out."""
    mean = float((means * times).sum())
    # Σ E R² of Bernstein's bound exp(−t² / (2 Σ E R²)) below the mean.
    squares = float(((variances + means * means) * times).sum())
    below = np.sqrt(2 * _TAIL * squares)
    # Poisson's tail exp(−t² / (2 (μ + t/3))) = exp(−TAIL), solved for t.
    above = _TAIL / 3 + np.sqrt((_TAIL / 3) ** 2 + 2 * _TAIL * mean)
    return max(0, int(np.floor(mean - below))), min(most, int(np.ceil(mean + above)))


def _groups(sizes: Floats, population_sizes: Floats, times: Ints) -> _Groups:
    order = np.lexsort((population_sizes, sizes))
    sizes, population_sizes, times = sizes[order], population_sizes[order], times[order]
    new = np.ones(len(sizes), dtype=np.bool_)
    new[1:] = (np.diff(sizes) != 0) | (np.diff(population_sizes) != 0)
    first = np.flatnonzero(new)
    counts = np.add.reduceat(times, first) if len(first) else times
    return _Groups(sizes[first], population_sizes[first], counts.astype(np.float64))


def _transform(groups: _Groups, low: int, length: int, one_to_one: bool) -> Complexes:
    """The characteristic function of the count less ``low`` at the frequencies of a real FFT."""
    angles = -2 * np.pi * np.arange(length // 2 + 1) / length
    # e^(iθ) − 1 = 2i sin(θ/2) e^(iθ/2), without the loss of subtracting near angle 0.
    steps = 2j * np.sin(angles / 2) * np.exp(0.5j * angles)
    value: Complexes = np.exp(-1j * low * angles)
    alive = np.arange(len(value))
    spread = class_variances(groups.sizes, groups.population_sizes, one_to_one) * groups.counts
    first = np.zeros(len(spread), dtype=np.bool_)
    # Groups of the largest variance push most frequencies below 1e-20 at once; the rest skip these.
    first[np.argsort(spread)[-_FIRST:]] = True
    order = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
    at = 0
    while at < len(order) and len(alive):
        some = order[at : at + max(1, _ELEMENTS // len(alive))]
        at += len(some)
        value[alive] *= _product(groups, some, steps[alive], one_to_one)
        dead = np.abs(value[alive]) < _NEGLIGIBLE
        value[alive[dead]] = 0
        alive = alive[~dead]
    return value


def _product(
    groups: _Groups, some: npt.NDArray[np.intp], steps: Complexes, one_to_one: bool
) -> Complexes:
    """The product over some groups of E[z^R] to the power of their numbers of classes."""
    sizes, population_sizes = groups.sizes[some], groups.population_sizes[some]
    exponents = groups.counts[some]
    if one_to_one:
        less_one = generating_less_one(sizes, population_sizes, steps)
    else:
        exponents = exponents * sizes
        less_one = steps / population_sizes[:, None]
    # A power of 1 is the factor itself: a logarithm would only cost time and digits.
    once = exponents == 1
    logarithms = _logarithm(less_one[~once])
    powers = exponents[~once] @ logarithms.real + 1j * (exponents[~once] @ logarithms.imag)
    product: Complexes = np.exp(powers) * (1 + less_one[once]).prod(axis=0)
    return product


def _logarithm(less_one: Complexes) -> Complexes:
    """ln(1 + u) of complex u, without loss where u is small."""
    real, imaginary = less_one.real, less_one.imag
    square = 2 * real + real * real + imaginary * imaginary
    # Near u = −1 the square is lost to rounding, and the modulus itself is exact.
    small = square < -0.5
    result = np.empty_like(less_one)
    result.real = 0.5 * np.log1p(np.where(small, 0.0, square))
    result.real[small] = np.log(np.maximum(np.abs(1 + less_one[small]), 1e-300))
    result.imag = np.arctan2(imaginary, 1 + real)
    return result
