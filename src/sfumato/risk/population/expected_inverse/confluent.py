"""Kummer's function 1F1(a; k + a; -v), of class sizes k and expected unseen persons v."""

from __future__ import annotations

from functools import partial

import numpy as np

from sfumato.core.errors import InputError
from sfumato.risk.population.expected_inverse.blocks import (
    Floats,
    FloatsLike,
    class_sizes,
    in_blocks,
    not_negative,
)

_ORDERS = (1, 2, 3)


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

    Raises
    ------
    InputError
        If a parameter is outside what is said above.
    """
    if a not in _ORDERS:
        raise InputError(
            "parameter a", "must be an order of the fraction", accepted="1, 2 or 3", found="another"
        )
    return in_blocks(partial(_ratios, a), class_sizes(size), not_negative("v", v))


def _ratios(a: int, size: Floats, v: Floats) -> Floats:
    """The product of (k + i) / d_i for i < a."""
    terms = enough_terms(float(size.min())) + a
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
            result *= (size + n) / tail
    return result


def enough_terms(smallest: float) -> int:
    """Number of terms after which the fraction stands still, for sizes from the smallest on.

    For size 1 the worst v needs 49 terms, for 10 it needs 18, for 1,000 it needs 5 (to two units
    of rounding, over v from 1e-9 to 1e9).
    """
    return 8 + int(np.ceil(48 / np.sqrt(smallest)))
