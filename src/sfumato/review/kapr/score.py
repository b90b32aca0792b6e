"""KAPR exactly, as fractions: the information disclosure state and its norm (001, Section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

State = Sequence[Sequence[Fraction]]
"""M of Definition 4.5: per row, per attribute, p_ij / K_i."""


def row_value(share: Fraction | int, set_size: int) -> Fraction:
    """The value of one row, Σ_j p_ij / K_i.

    Parameters
    ----------
    share
        Σ_j p_ij: the shares of the characters of each attribute that the row discloses, added.
    set_size
        K_i, the records in the row's anonymity set; at least 1, the row's own.
    """
    return Fraction(share) / set_size


def disclosure_state(
    shares: Sequence[Sequence[Fraction]], set_sizes: Sequence[int]
) -> tuple[tuple[Fraction, ...], ...]:
    """The information disclosure state M = [p_ij / K_i] (001, Definition 4.5).

    Parameters
    ----------
    shares
        p_ij per row and attribute, in [0, 1].
    set_sizes
        K_i per row.
    """
    return tuple(
        tuple(Fraction(share) / size for share in row)
        for row, size in zip(shares, set_sizes, strict=True)
    )


def kapr(state: State, k: int, rows: int, attributes: int) -> Fraction:
    """KAPR = k / (n·d) · Σ_i Σ_j abs(M_ij), the scaled entrywise L1 norm (001, Definition 4.6).

    Parameters
    ----------
    state
        The information disclosure state of the rows shown so far.
    k
        The minimum allowed anonymity-set size.
    rows
        n, the rows of the whole task, shown yet or not: else one more masked pair would lower
        the score.
    attributes
        d, the attributes of the task.
    """
    total = sum((abs(entry) for row in state for entry in row), Fraction(0))
    return k * total / (rows * attributes)
