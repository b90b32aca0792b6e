"""E[1/F | f] where the persons who were not sampled are negative binomial."""

from __future__ import annotations

import numpy as np

from sfumato.risk.population.expected_inverse.blocks import (
    Floats,
    FloatsLike,
    class_sizes,
    in_blocks,
    not_negative,
    probabilities,
)

_UPWARD_TO = 24
"""Sizes up to here go upward from size 1 where that is stable; the fraction would be slow."""


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

    Raises
    ------
    InputError
        If a parameter is outside what is said above.
    """
    return in_blocks(
        _block, class_sizes(sizes), not_negative("shape", shape), probabilities("success", success)
    )


def _block(size: Floats, shape: Floats, success: Floats) -> Floats:
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
    inverse = np.where(shape > 0, -np.expm1(shape * log) / gamma, -log) / odds
    for one in range(1, int(size.max())):
        above = (1 - one * inverse) / ((shape + one) * odds)
        inverse = np.where(size > one, above, inverse)
    return inverse


def _fraction(size: Floats, shape: Floats, success: Floats) -> Floats:
    missed = 1 - success
    total = shape + size
    terms = _enough_terms(float(size.min()))
    base = success * size + missed * total
    tail = 0.5 * (base + terms * (success + 2 * missed))
    steps = (terms + 1) * (total + terms) * missed
    tail += np.sqrt(np.maximum(tail * tail - steps, 0.0))
    for n in range(terms - 1, -1, -1):
        steps = (n + 1) * (total + n) * missed / tail
        tail = base + n * (1 + missed) - steps
    return success / tail


def _enough_terms(smallest: float) -> int:
    """Number of terms after which the fraction stands still, for sizes from the smallest on.

    Where s ≥ 0.5 size 1 needs up to 61 terms, size 8 25; where s is small size 25 needs 25, size
    100 9 (to three units of rounding, over α from 0 to 1e6 and s from 1e-6 to 1 - 1e-9).
    """
    return 12 + int(np.ceil(64 / np.sqrt(smallest)))
