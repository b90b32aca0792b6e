"""How the values of two quasi-identifiers go together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from sfumato.risk.population.accumulation.margins import UNSEEN, Margin

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SPARSE = 0.15
"""Share of persons alone with their two values, from which on the pair tells too little."""
GAIN = 1e-4
"""Least gain of a pair that goes together."""
DENSE = 4_000_000
"""Pairs of values up to which all are counted in one array."""


class Pair:
    """The joint distribution of two quasi-identifiers, between independence and the sample's.

    q(a, b) = w n_ab / n + (1 - w) p_a p_b: with probability w the second value is that of
    somebody who has the first, else anybody's. w is the one under which every person is best
    foretold by the others (leave-one-out likelihood), so that pairs which the sample cannot tell
    from independent ones get w = 0.

    Parameters
    ----------
    first, second
        Values of each class, shape (classes,).
    margins
        Those of the two.
    sizes
        Persons of each class, shape (classes,).
    """

    def __init__(
        self, first: Codes, second: Codes, margins: tuple[Margin, Margin], sizes: Ints
    ) -> None:
        self._margin, self._values = margins[1], margins[1].values
        self._pairs, self._persons = _counted(first, second, margins, sizes)
        n = int(sizes.sum())
        before, after = np.divmod(self._pairs, self._values)
        apart = margins[0].persons[before] * margins[1].persons[after] / n
        ratio = (self._persons - 1) / max(n - 1, 1) * n / apart
        shares = self._persons / n

        def loss(weight: float) -> float:
            return -float(shares @ np.log1p(weight * (ratio - 1)))

        found = minimize_scalar(loss, bounds=(0.0, 0.9999), method="bounded")
        alone = int((self._persons == 1).sum()) / n
        self.gain = -float(found.fun) if alone < SPARSE else 0.0
        self._weight = float(found.x) if self.gain > GAIN else 0.0
        ends = np.searchsorted(self._pairs, np.arange(margins[0].values + 1) * self._values)
        until = np.concatenate([[0], np.cumsum(self._persons)])
        self._start, self._stop = until[ends[:-1]], until[ends[1:]]
        self._until = until[1:]

    def follow(self, given: Ints, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """The second values of persons whose first are given, and the logs of their chances.

        Parameters
        ----------
        given
            Codes of the first quasi-identifier, `UNSEEN` among them, shape (draws,).
        rng
            Draws the values.
        """
        weight = np.where(given == UNSEEN, 0.0, self._weight)
        have = np.maximum(self._stop - self._start, 1)[given]
        own = self._start[given] + np.floor(rng.random(len(given)) * have)
        at = np.minimum(np.searchsorted(self._until, own, side="right"), len(self._pairs) - 1)
        any_of = self._margin.draw(len(given), rng)
        codes = np.where(rng.random(len(given)) < weight, self._pairs[at] % self._values, any_of)
        pair = given * self._values + codes
        at = np.minimum(np.searchsorted(self._pairs, pair), len(self._pairs) - 1)
        met = (self._pairs[at] == pair) & (given != UNSEEN) & (codes != UNSEEN)
        share = np.where(met, self._persons[at] / have, 0.0)
        whole = np.exp(self._margin.log_probability(codes, rng))
        return codes, np.log(weight * share + (1 - weight) * whole)


def _counted(
    first: Codes, second: Codes, margins: tuple[Margin, Margin], sizes: Ints
) -> tuple[Ints, Ints]:
    """The pairs of values that occur, ascending, and the persons of each."""
    pair = first.astype(np.int64) * margins[1].values + second
    if margins[0].values * margins[1].values <= DENSE:
        persons = np.bincount(pair, sizes)
        pairs = np.flatnonzero(persons)
        return pairs, persons[pairs].astype(np.int64)
    pairs, number = np.unique(pair, return_inverse=True)
    return pairs, np.bincount(number, sizes).astype(np.int64)
