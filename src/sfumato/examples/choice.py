"""Weighted choices for millions of draws at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class WeightedChoice:
    """One weighted list of items per stratum, laid out for a single binary search.

    Attributes
    ----------
    edges
        Flat, ascending: stratum s holds its cumulative shares, shifted into (s, s + 1].
    items
        Number of items in each stratum.
    """

    edges: npt.NDArray[np.float64]
    items: int

    @classmethod
    def of(cls, weights: npt.ArrayLike) -> WeightedChoice:
        """Lay out weights.

        Parameters
        ----------
        weights
            Not negative, shape (items,) for one stratum or (strata, items); no row is all zero.
        """
        table = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        cumulative = np.cumsum(table, axis=1)
        shares = cumulative / cumulative[:, -1:]
        shares += np.arange(len(table))[:, None]
        return cls(shares.ravel(), table.shape[1])

    def draw(
        self, strata: npt.NDArray[np.integer], rng: np.random.Generator
    ) -> npt.NDArray[np.int16]:
        """Draw one item for each entry of ``strata``; an item of weight zero never comes.

        Parameters
        ----------
        strata
            The stratum of each draw.
        rng
            Source of randomness.
        """
        # 24 random bits: adding a stratum's number to them is exact, so no draw can round up
        # into the next stratum.
        points = rng.random(len(strata), dtype=np.float32).astype(np.float64)
        points += strata
        found = np.searchsorted(self.edges, points, side="right")
        found -= strata.astype(found.dtype) * self.items
        return found.astype(np.int16)


def zipf(count: int, shift: float = 0.0, slope: float = 1.0) -> npt.NDArray[np.float64]:
    """Zipf-Mandelbrot weights (rank + shift)^-slope of ranks 1 to ``count``, summing to 1."""
    weights = (np.arange(1, count + 1) + shift) ** -slope
    return np.asarray(weights / weights.sum(), dtype=np.float64)
