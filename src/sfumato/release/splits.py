"""Which cut is tried first: the three criteria of split."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
TINY = np.finfo(np.float64).tiny


class Split(StrEnum):
    """The criterion that orders the candidate cuts of a node."""

    BALANCE = "balance"
    """Least balance-variance ratio Δg/v (paper 003, Definition 4)."""
    VARIANCE = "variance"
    """Largest normalised variance: the kd-tree of Friedman et al. 1977."""
    RANGE = "range"
    """Widest normalised range: Mondrian of LeFevre et al. 2006."""


def split_keys(split: Split, g_change: Floats, variance: Floats, width: Floats) -> Floats:
    """The key of each candidate; the smallest is tried first.

    Parameters
    ----------
    split
        The criterion.
    g_change
        Δg of the cut (Equation 4, with the factor g1 that its print loses).
    variance
        Population variance of the normalised values over records; positive.
    width
        Normalised range of the values.
    """
    if split is Split.BALANCE:
        return g_change / np.maximum(variance, TINY)
    return -variance if split is Split.VARIANCE else -width


def g_changes(
    records: npt.NDArray[np.int64],
    squares: npt.NDArray[np.int64],
    left_records: npt.NDArray[np.int64],
    left_squares: npt.NDArray[np.int64],
) -> Floats:
    """Δg = g_p - (N1/N)·g1 - (N2/N)·g2 of each cut, N counting records (Equation 4).

    With S = Σc² this is (S1/N1 + S2/N2)/N - S/N².
    """
    whole = records.astype(np.float64)
    left = left_squares / left_records
    right = (squares - left_squares) / (records - left_records)
    change: Floats = (left + right) / whole - squares / whole**2
    return change
