"""E[1/F | f] of the model of Argus."""

from __future__ import annotations

from sfumato.risk.population.expected_inverse.blocks import Floats, FloatsLike
from sfumato.risk.population.expected_inverse.negative_binomial import negative_binomial


def argus(sizes: FloatsLike, p: FloatsLike) -> Floats:
    """E[1/F | f] = p^f / f · 2F1(f, f; f + 1; 1 - p): F is the f-th success's number of trials.

    Paper 004, Section 2.4.1: F | f is negative binomial with success probability p, which is
    the negative binomial model's limit for α → 0. For f = 1 it is -p ln(p) / (1 - p).

    Parameters
    ----------
    sizes
        f, the sizes of the classes in the sample, at least 1.
    p
        Probability with which a person of the class was sampled, in (0, 1].

    Returns
    -------
    Floats
        In (0, 1 / f], of the common shape; relative error below 1e-13.

    Raises
    ------
    InputError
        If a size is not a whole number of at least 1, or p is outside (0, 1].
    """
    return negative_binomial(sizes, 0.0, p)
