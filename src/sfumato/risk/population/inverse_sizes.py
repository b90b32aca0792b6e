"""E[1/F | f]: the expected inverse of a class's size in the population, given the sample's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Floats

FloatsLike = npt.NDArray[np.integer] | npt.NDArray[np.floating] | int | float
"""Numbers of any kind, one or many."""

# The arrays of a step are 64 kB each: several fit into the
# cache, and the recursions pass over them again and again.
_BLOCK = 8_192
_UPWARD_TO = 24
"""Sizes up to here go upward from size 1 where that is stable; the fraction would be slow."""


def in_blocks(function: Callable[..., Floats], *parameters: FloatsLike) -> Floats:
    """What a function of flat arrays gives for parameters that broadcast together."""
    together = np.broadcast_arrays(
        *(np.asarray(parameter, dtype=np.float64) for parameter in parameters)
    )
    flat = [np.ravel(parameter) for parameter in together]
    result = np.empty(len(flat[0]))
    for low in range(0, len(result), _BLOCK):
        block = slice(low, low + _BLOCK)
        result[block] = function(*(parameter[block] for parameter in flat))
    return result.reshape(together[0].shape)


def confluent(a: int, size: FloatsLike, v: FloatsLike) -> Floats:
    """1F1(a; size + a; -v): the mean of exp(-v B) where B is Beta(a, size).

    With a = 1 it is R_k(v) = k E[1/F | f = k] of the Poisson model; a = 2 and 3 give its first
    and second derivative, which the goodness of fit of a log-linear model needs (Skinner and
    Shlomo 2008, JASA 103:989-1001): dR_k/dv = -1F1(2; k + 2; -v) / (k + 1) and
    d²R_k/dv² = 2 1F1(3; k + 3; -v) / ((k + 1)(k + 2)).

    With d_n = k + n + v - (n + 1) v / d_{n+1}, the ratio of 1F1(a; k + a; -v) to
    1F1(a - 1; k + a - 1; -v) is (k + a - 1) / d_{a-1} (the fraction of Perron that matches the
    series at 0 and at infinity), and 1F1(0; k; -v) = 1. The recursion is run from its tail: its
    terms are positive, each step damps the error of the one before, and no power or exponential
    is formed, so the relative error is a few units of rounding at any v.

    Parameters
    ----------
    a
        1, 2 or 3.
    size
        k, whole numbers of at least 1.
    v
        Numbers of at least 0; broadcasts with ``size``.

    Returns
    -------
    Floats
        In (0, 1], of the common shape.
    """
    return in_blocks(partial(_ratios, a), size, v)


def _ratios(a: int, size: Floats, v: Floats) -> Floats:
    """The product of (k + i) / d_i for i < a."""
    terms = enough_terms(float(size.min())) + a
    # The tail starts at the fixed point of t = k + n + v − (n + 1) v / t: no ratio is known there.
    tail = 0.5 * (size + v + terms)
    tail += np.sqrt(tail * tail - (terms + 1) * v)
    base = size + v
    result = np.ones_like(base)
    for n in range(terms - 1, -1, -1):
        np.divide(v, tail, out=tail)
        tail *= -(n + 1)
        tail += base
        tail += n
        if n < a:
            # Only the first a ratios are factors; the ones before served to find them.
            result *= (size + n) / tail
    return result


def enough_terms(smallest: float) -> int:
    """Number of terms after which the fraction stands still, for sizes from the smallest on.

    For size 1 the worst v needs 49 terms, for 10 it needs 18, for 1,000 it needs 5 (to two units
    of rounding, over v from 1e-9 to 1e9).
    """
    return 8 + int(np.ceil(48 / np.sqrt(smallest)))


def poisson(sizes: FloatsLike, v: FloatsLike) -> Floats:
    """E[1/F | f] = 1F1(1; f + 1; -v) / f, where F - f is Poisson with mean v.

    Paper 004, Section 2.4.2: v = (1 - π) λ, λ the fitted **population** mean of the cell.

    Parameters
    ----------
    sizes
        f, the sizes of the classes in the sample, at least 1.
    v
        Expected number of persons of the class who are not in the sample, at least 0.

    Returns
    -------
    Floats
        In (0, 1 / f], of the common shape; relative error within a few units of rounding.
    """
    inverse: Floats = confluent(1, sizes, v) / np.asarray(sizes, dtype=np.float64)
    return inverse


def negative_binomial(sizes: FloatsLike, shape: FloatsLike, success: FloatsLike) -> Floats:
    """E[1/F | f], where F - f is negative binomial with shape ``shape + f``.

    Paper 004, Section 2.4.3 (Bethlehem): a class's rate is Gamma with shape α, so that F - f
    given f has shape α + f and success probability s = (N p + 1/β) / (N + 1/β). α = 0 is the
    model of Argus. Then, with w = (1 - s) / s,

        E[1/F | f] = s^(α + f) / f · 2F1(α + f, f; f + 1; 1 - s) = 2F1(1, α + f; f + 1; -w) / f

    (Pfaff), which is the mean of F's inverse, E_f. Two stable ways, neither with a power:

    - upward in f, where w ≥ 1: E_1 = (1 - s^α) / (α w) and E_{f+1} = (1 - f E_f) / ((α + f) w),
      by parts of E_f = s ∫ x^(f-1) (s + (1-s) x)^(α-1) dx over (0, 1); an error is multiplied
      by f / ((α + f) w) ≤ 1 in each step;
    - Nörlund's fraction otherwise: E_f = s / e_0, e_n = s (f + n) + (α + f + 2n)(1 - s)
      - (n + 1)(α + f + n)(1 - s) / e_{n+1}, from its tail, whose errors are damped.

    Parameters
    ----------
    sizes
        f, the sizes of the classes in the sample, at least 1.
    shape
        α of the Gamma distribution, at least 0; not the shape of F - f.
    success
        s, in (0, 1]: the share of F that the sample holds, on average, where f is large.

    Returns
    -------
    Floats
        In (0, 1 / f], of the common shape; relative error below 1e-13.
    """
    return in_blocks(_block, sizes, shape, success)


def _block(size: Floats, shape: Floats, success: Floats) -> Floats:
    # s < 0.5 is w > 1, where each step upward damps the error by f / ((α + f) w) ≤ 1.
    few = (size <= _UPWARD_TO) & (success < 0.5)
    if few.all():
        return _upward(size, shape, success)
    if not few.any():
        return _fraction(size, shape, success)
    result = np.empty_like(size)
    result[few] = _upward(size[few], shape[few], success[few])
    result[~few] = _fraction(size[~few], shape[~few], success[~few])
    return result


def _upward(size: Floats, shape: Floats, success: Floats) -> Floats:
    odds = (1 - success) / success
    log = np.log(success)
    gamma = np.where(shape > 0, shape, 1.0)
    # E_1 = (1 − s^α) / (α w), and its limit −log s / w for α = 0. The 1 in gamma avoids 0 / 0.
    inverse = np.where(shape > 0, -np.expm1(shape * log) / gamma, -log) / odds
    for number in range(1, int(size.max())):
        # E_{f+1} = (1 − f E_f) / ((α + f) w).
        above = (1 - number * inverse) / ((shape + number) * odds)
        # Each entry stops at its own size.
        inverse = np.where(size > number, above, inverse)
    return inverse


def _fraction(size: Floats, shape: Floats, success: Floats) -> Floats:
    missed = 1 - success
    total = shape + size
    terms = _enough_terms(float(size.min()))
    base = success * size + missed * total
    tail = 0.5 * (base + terms * (success + 2 * missed))
    # The tail starts at the fixed point of the recursion for e_n, as in `_ratios`.
    steps = (terms + 1) * (total + terms) * missed
    tail += np.sqrt(np.maximum(tail * tail - steps, 0.0))
    for n in range(terms - 1, -1, -1):
        # e_n = s (f + n) + (α + f + 2n)(1 − s) − (n + 1)(α + f + n)(1 − s) / e_{n+1}.
        steps = (n + 1) * (total + n) * missed / tail
        tail = base + n * (1 + missed) - steps
    return success / tail


def _enough_terms(smallest: float) -> int:
    """Number of terms after which the fraction stands still, for sizes from the smallest on.

    Where s ≥ 0.5 size 1 needs up to 61 terms, size 8 25; where s is small size 25 needs 25, size
    100 9 (to three units of rounding, over α from 0 to 1e6 and s from 1e-6 to 1 - 1e-9).
    """
    return 12 + int(np.ceil(64 / np.sqrt(smallest)))
