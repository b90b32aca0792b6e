"""The number of correct matches within one equivalence class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, xlog1py, xlogy

Floats = npt.NDArray[np.float64]
_TERMS = 30
"""Terms of an alternating sum; 1 / 30! < 1e-32 is left out."""


def class_matches(size: int, population_size: float, one_to_one: bool = True) -> Floats:
    """P(R = r) for r = 0, ..., f: an intruder maps the f records of a class to its F persons.

    A free mapping takes each record to any of the F persons: R is binomial(f, 1/F). A one-to-one
    mapping is a random injection: R is its number of fixed points. Given i records, an injection
    fixes all of them with probability (F - i)! / F!, so that E[R(R-1)...(R-i+1)] =
    (f)_i / (F)_i with falling factorials, and by inclusion and exclusion

        P(R = r) = Σ_{i=0}^{f-r} (-1)^i C(r + i, r) (f)_{r+i} / ((F)_{r+i} (r + i)!).

    For f = F the ratio of the factorials is 1: the distribution of paper 004, Section 2.3,
    P(R = r) = (1 / r!) Σ_{i=0}^{F-r} (-1)^i / i!. The mean is f/F under both mappings
    (Theorem 1).

    Parameters
    ----------
    size
        f, the size of the class in the sample.
    population_size
        F, its size in the population, at least f; need not be whole where it is an estimate.
    one_to_one
        Whether no two records go to the same person.

    Returns
    -------
    Floats
        Of shape (f + 1,).
    """
    if not one_to_one:
        return _binomial(size, 1 / population_size)
    before = np.arange(size + _TERMS, dtype=np.float64)
    left = np.maximum(size - before, 0.0)
    ratios = left / np.where(left > 0, population_size - before, 1.0) / (before + 1)
    moments = np.concatenate([[1.0], np.cumprod(ratios)])
    result = np.zeros(size + 1)
    choose = np.ones(size + 1)
    counts = np.arange(size + 1)
    for i in range(_TERMS):
        result += (-1) ** i * choose * moments[counts + i]
        choose *= (counts + i + 1) / (i + 1)
    return np.maximum(result, 0.0)


def _binomial(trials: int, success: float) -> Floats:
    """P(0), ..., P(trials)."""
    counts = np.arange(trials + 1)
    logarithms = (
        xlogy(counts, success)
        + xlog1py(trials - counts, -success)
        - np.log(trials + 1)
        - betaln(trials - counts + 1, counts + 1)
    )
    return np.asarray(np.exp(logarithms), dtype=np.float64)


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
    others = np.where(sizes > 1, population_sizes - 1, 1.0)
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
