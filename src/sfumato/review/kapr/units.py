"""KAPR as whole numbers: what accounts add up, so that no order of additions changes a score."""

from __future__ import annotations

from fractions import Fraction

UNITS = 10**9
"""Units of a row value of 1. A row's value is rounded up to whole units."""


def row_units(share: Fraction, set_size: int) -> int:
    """The value of one row, Σ_j p_ij / K_i, in units, rounded up.

    Parameters
    ----------
    share
        Σ_j p_ij.
    set_size
        K_i, at least 1.
    """
    return -(-share.numerator * UNITS // (share.denominator * set_size))


def kapr_of(units: int, k: int, rows: int, attributes: int) -> Fraction:
    """The KAPR that a number of units is.

    It is above the exact KAPR by less than k/d · 10⁻⁹, as each row's value is rounded up.

    Parameters
    ----------
    units
        Σ_i of the rows' values in units.
    k
        The minimum allowed anonymity-set size.
    rows, attributes
        n and d of the task.
    """
    return Fraction(k * units, rows * attributes * UNITS)


def units_of(budget: float, k: int, rows: int, attributes: int) -> int:
    """The most units that a budget of KAPR holds, rounded down.

    Parameters
    ----------
    budget
        KAPR; the decimal number as it is written, so that a budget of 0.3 holds three rows of 0.1.
    k
        The minimum allowed anonymity-set size.
    rows, attributes
        n and d of the task.
    """
    exact = Fraction(str(budget)) * rows * attributes * UNITS / k
    return exact.numerator // exact.denominator
