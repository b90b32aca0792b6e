"""Counting into bins, for plots only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LEAST_RISK = 0.01
"""Left end of a plot of risks."""


@dataclass(frozen=True, eq=False)
class SizeBins:
    """Bins for counts of 1 or more, each about twice as wide as the one before.

    Attributes
    ----------
    starts
        The first count of each bin, ascending.
    labels
        ``1``, ``2``, ``3-4``, ``5-9``, ...; the last one is open.
    """

    starts: Ints
    labels: tuple[str, ...]

    def shares(self, sizes: Ints, times: Ints | None = None) -> Floats:
        """Share of the sizes in each bin, each as often as ``times`` says; shape (bins,)."""
        bin_of = np.searchsorted(self.starts, sizes, side="right") - 1
        counts = np.bincount(bin_of, times, len(self.starts))
        number = len(sizes) if times is None else int(times.sum())
        return np.asarray(counts / max(number, 1), dtype=np.float64)


def size_bins(largest: int) -> SizeBins:
    """Bins 1, 2, 3-4, 5-9, 10-19, 20-49, 50-99, ... up to the one that holds ``largest``."""
    starts = [1, 2, 3, 5]
    while starts[-1] <= largest:
        lead = int(str(starts[-1])[0])
        starts.append(starts[-1] * 5 // 2 if lead == 2 else starts[-1] * 2)
    starts = [start for start in starts if start <= largest] or [1]
    labels = [f"{low:,}" if high == low + 1 else f"{low:,}–{high - 1:,}"
              for low, high in pairwise(starts)]  # fmt: skip
    return SizeBins(np.array(starts, dtype=np.int64), (*labels, _last(starts[-1], largest)))


def _last(start: int, largest: int) -> str:
    return f"{start:,}" if start == largest else f"{start:,}+"


def records_by_risk(persons: Ints, records: Ints) -> list[tuple[float, float]]:
    """Share of the records whose class has a risk 1/persons of x or more, as points (x, share).

    Ascending by x, from `LEAST_RISK` to 1; between two points the share is that of the right
    one.

    Parameters
    ----------
    persons, records
        Persons and records of each class, or of all classes of each size; shape (classes,).
    """
    largest = int(1 / LEAST_RISK)
    within = np.minimum(persons, largest + 1)
    by_size = np.bincount(within, weights=records, minlength=largest + 2)
    up_to = np.cumsum(by_size)[: largest + 1] / records.sum()
    held = [size for size in range(largest, 0, -1) if by_size[size]]
    points = [(1 / size, float(up_to[size])) for size in held]
    first = [] if points and points[0][0] <= LEAST_RISK else [(LEAST_RISK, float(up_to[-1]))]
    last = [] if points and points[-1][0] == 1 else [(1.0, 0.0)]
    return [*first, *points, *last]
