"""Measures that read nothing but the sizes of the classes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt


def discernibility(sizes: npt.NDArray[np.int64], suppressed: int) -> int:
    """Discernibility Σ N_t² + suppressed · N (Bayardo & Agrawal 2005), as an exact integer.

    Each record costs the number of records that it cannot be told from; a suppressed one
    cannot be told from any of the file.

    Parameters
    ----------
    sizes
        Number of records N_t of each class; shape (classes,).
    suppressed
        Number of suppressed records.
    """
    distinct, counts = np.unique(sizes, return_counts=True)
    return discernibility_of(dict(zip(distinct.tolist(), counts.tolist(), strict=True)), suppressed)


def discernibility_of(classes: Mapping[int, int], suppressed: int) -> int:
    """The same of how many classes have each number of records.

    Parameters
    ----------
    classes
        Number of classes, by their number of records.
    suppressed
        Number of suppressed records.
    """
    squares = sum(size * size * count for size, count in classes.items())
    kept = sum(size * count for size, count in classes.items())
    return squares + suppressed * (kept + suppressed)
