"""Shlosser's estimator, and Haas & Stokes' third form of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.risk.population.class_counts.estimator import ClassCountEstimator
from sfumato.risk.population.class_counts.totals import Counts, totals


def shlosser(sizes: Counts, classes: Counts, population: float) -> float:
    """Shlosser's class count, right where class sizes vary a lot.

    d + f_1 Σ (1 − q)^i f_i / Σ i q (1 − q)^(i − 1) f_i; Shlosser 1981; Haas et al., VLDB 1995,
    Section 3.2.
    """
    known = totals(sizes, classes, population)
    if not known.ones or known.fraction >= 1:
        return known.classes
    return known.classes + known.ones * _unseen_by_ones(sizes, classes, known.fraction)


def sh3(sizes: Counts, classes: Counts, population: float) -> float:
    """Shlosser's estimator with the bias correction that keeps it from erratic values.

    d + f_1 [Σ i q² (1 − q²)^(i − 1) f_i / Σ ((1 − q²)^i − (1 − q)^i) f_i] s², s being
    Shlosser's Σ (1 − q)^i f_i / Σ i q (1 − q)^(i − 1) f_i; Haas & Stokes 1998, where the
    denominator is Σ (1 − q)^i ((1 + q)^i − 1) f_i, of which (1 + q)^i overflows.
    """
    known = totals(sizes, classes, population)
    q = known.fraction
    if not known.ones or q >= 1:
        return known.classes
    log_miss = np.log1p(-q * q)
    seen_once = sizes * np.exp((sizes - 1) * log_miss) * q * q
    gained = -np.exp(sizes * log_miss) * np.expm1(-sizes * np.log1p(q))
    ratio = float(seen_once @ classes) / float(gained @ classes)
    return known.classes + known.ones * ratio * _unseen_by_ones(sizes, classes, q) ** 2


def _unseen_by_ones(sizes: Counts, classes: Counts, fraction: float) -> float:
    """Σ (1 − q)^i f_i / Σ i q (1 − q)^(i − 1) f_i, for q < 1 and f_1 > 0."""
    log_miss = np.log1p(-fraction)
    unseen = np.exp(sizes * log_miss)
    seen_once = sizes * np.exp((sizes - 1) * log_miss) * fraction
    return float(unseen @ classes) / float(seen_once @ classes)


@dataclass(frozen=True)
class Shlosser(ClassCountEstimator):
    """Shlosser's estimator."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "shlosser"

    def formula(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃ as the formula gives it; see `shlosser`."""
        return shlosser(sizes, classes, population)


@dataclass(frozen=True)
class Sh3(ClassCountEstimator):
    """Haas & Stokes' third form of Shlosser's estimator."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "sh3"

    def formula(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃ as the formula gives it; see `sh3`."""
        return sh3(sizes, classes, population)
