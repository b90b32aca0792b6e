"""Precision and recall from three counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rates:
    """How what was found agrees with the truth.

    Attributes
    ----------
    precision
        Share of what was found that is true; 1 where nothing was found.
    recall
        Share of what is true that was found; 1 where nothing is.
    """

    precision: float
    recall: float


def rates(right: int, found: int, true: int) -> Rates:
    """Rates from the number of right ones among those found, those found, and those true."""
    return Rates(right / found if found else 1.0, right / true if true else 1.0)
