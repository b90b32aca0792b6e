"""How many classes smaller samples would have shown."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Rarefaction:
    """Expected numbers of classes in subsamples of a sample.

    Drawing each person of the sample with probability q shows a class of size i with
    probability 1 - (1 - q)^i, and shows one person of it with probability i q (1 - q)^(i - 1).

    Parameters
    ----------
    sizes
        The class sizes i that occur, shape (sizes,).
    shares
        The probabilities q in (0, 1], shape (shares,).
    """

    def __init__(self, sizes: Ints, shares: Floats) -> None:
        missed = np.log1p(-np.minimum(shares, 1 - 1e-15))[:, None]
        self._seen = -np.expm1(sizes * missed)
        self._alone = sizes * shares[:, None] * np.exp((sizes - 1) * missed)
        self._alone[shares == 1.0] = sizes == 1

    def classes(self, counts: Floats) -> Floats:
        """Expected number of classes, of ``counts`` classes of each size; shape (shares, ...)."""
        classes: Floats = self._seen @ counts
        return classes

    def growth(self, counts: Floats) -> Floats:
        """Relative growth s = d log D / d log m: the classes of one person over all classes."""
        growth: Floats = (self._alone @ counts) / (self._seen @ counts)
        return growth
