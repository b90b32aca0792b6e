"""The few sums over a sample's class sizes that the estimators share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64] | npt.NDArray[np.float64]
"""Class sizes i, or numbers of classes f_i; shape (sizes that occur,)."""


class Totals(NamedTuple):
    """What the formulas ask of a sample of n of N persons.

    Attributes
    ----------
    persons
        n, the number of persons of the sample.
    classes
        d, the number of classes of the sample.
    ones
        f_1, the number of classes that one person of the sample is in.
    fraction
        q = n / N, in (0, 1].
    """

    persons: float
    classes: float
    ones: float
    fraction: float


def totals(sizes: Counts, classes: Counts, population: float) -> Totals:
    """The persons, classes, classes of one person, and sampling fraction of a sample.

    Parameters
    ----------
    sizes
        The class sizes i that occur, ascending, at least 1; shape (k,).
    classes
        f_i, the number of classes of each size; shape (k,).
    population
        N, the number of persons of the population.
    """
    persons = float(sizes @ classes)
    ones = float(classes[0]) if sizes[0] == 1 else 0.0
    return Totals(persons, float(classes.sum()), ones, persons / population)


def pairs_within(sizes: Counts, classes: Counts) -> float:
    """Σ i (i − 1) f_i, the number of ordered pairs of persons who share a class."""
    size = sizes.astype(np.float64)
    return float((size * (size - 1)) @ classes)


def squared_variation(sizes: Counts, classes: Counts, population: float, count: float) -> float:
    """γ², the squared coefficient of variation of the population's class sizes.

    γ²(D) = max(0, (D / n²) Σ i (i − 1) f_i + D / N − 1) for D classes (Haas & Stokes 1998,
    JASA 93:1475-1487).
    """
    persons = float(sizes @ classes)
    pairs = pairs_within(sizes, classes) / persons**2
    return max(0.0, count * pairs + count / population - 1)
