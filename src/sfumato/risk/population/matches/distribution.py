"""The distribution of a count of matches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MatchDistribution:
    """How many of the disclosed records an intruder with a register matches correctly.

    Attributes
    ----------
    mean
        The expected number, n λ.
    variance
        Its variance over the intruder's mappings.
    low
        The first count that ``probabilities`` covers.
    probabilities
        P(low), P(low + 1), ...; the counts left out have less than 1e-17 together.
    """

    mean: float
    variance: float
    low: int
    probabilities: Floats

    @property
    def high(self) -> int:
        """The last count that ``probabilities`` covers."""
        return self.low + len(self.probabilities) - 1

    def quantile(self, probability: float) -> int:
        """The least count that is not exceeded with at least this probability.

        Raises
        ------
        InputError
            If the probability is not between 0 and 1.
        """
        if not 0 <= probability <= 1:
            raise InputError(
                "parameter probability", "must be between 0 and 1", found="another number"
            )
        below = int(np.searchsorted(np.cumsum(self.probabilities), probability - 1e-12))
        return self.low + min(below, len(self.probabilities) - 1)

    def quantiles(self, low: float = 0.025, high: float = 0.975) -> tuple[int, int]:
        """Two counts: ``low`` of the probability lies below the first, ``high`` up to the second.

        Raises
        ------
        InputError
            If one of them is not between 0 and 1.
        """
        return self.quantile(low), self.quantile(high)

    def at_least(self, count: int) -> float:
        """The probability of this many correct matches or more."""
        return float(min(1.0, self.probabilities[max(count - self.low, 0) :].sum()))
