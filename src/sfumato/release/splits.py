"""Which cut is tried first: the three criteria of split."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.release.options import Split

Floats = npt.NDArray[np.float64]
TINY = np.finfo(np.float64).tiny
DROPPED = 16
"""Of the 53 significant bits of a double, those that are rounded away."""


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


def rounded(values: Floats) -> Floats:
    """The values at 37 significant bits, which is 11 significant digits; O(values).

    Sums of doubles differ in their last digits with the order in which they are added. Numbers
    that are compared are rounded first, so that those differences decide nothing: equal ones
    are then ordered by what is said next. Half of the last bit is rounded away from zero.

    Parameters
    ----------
    values
        Numbers; infinite ones stay so.
    """
    bits = values.astype(np.float64).view(np.int64)
    bits = (bits + (1 << (DROPPED - 1))) & -(1 << DROPPED)
    return bits.view(np.float64)
