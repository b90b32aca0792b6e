"""Probabilities of pairs in which nobody is two persons at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.intruder.attacks.probabilistic.alike import runs

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

STEPS = 200
"""Rounds of scaling, at most."""
CLOSE = 1e-4
"""Change of a register person's factor under which the scaling ends."""
LEAST_OUTSIDE = 1e-6
"""Share of released persons outside the register that is never ruled out."""


@dataclass(eq=False)
class Shared:
    """Pairs of groups of released and of register persons, and who is who among them.

    A released person is one person of the register or none. A register person is no more than
    one released person: what several claim is scaled down until it adds up to 1 at most, and the
    released persons' own shares are scaled up again (Sinkhorn's scaling, columns by inequality).

    Attributes
    ----------
    of_units
        Group of released persons of each pair, ascending; shape (pairs,).
    of_persons
        Group of register persons of each pair, shape (pairs,).
    units
        Released persons of each group, shape (groups of units,).
    persons
        Register persons of each group, shape (groups of persons,).
    outside
        Odds that a released person is outside the register to that it is a certain one in it,
        before they are compared.
    """

    of_units: Ints = field(repr=False)
    of_persons: Ints = field(repr=False)
    units: Floats = field(repr=False)
    persons: Floats = field(repr=False)
    outside: float

    def __post_init__(self) -> None:
        self._starts, self._sizes = runs(self.of_units)
        self._factor = np.ones(len(self.persons))
        self._supply = self.units[self.of_units[self._starts]]

    def chances(self, weight: Floats, *, steps: int = STEPS) -> Floats:
        """Probability that a released person is one certain person of the register, per pair.

        Each round takes O(pairs). The factors found stay for the next call.

        Parameters
        ----------
        weight
            Match weight of each pair in bits, without the prior.
        steps
            Rounds, at most.
        """
        if not len(weight):
            return weight
        top = np.maximum.reduceat(weight, self._starts)
        kernel = np.exp2(weight - np.repeat(top, self._sizes))
        nobody = self.outside * np.exp2(np.minimum(-top, 500.0))
        size = self.persons[self.of_persons]
        for _ in range(steps):
            share = self._scaled(kernel, size, nobody)
            claimed = np.bincount(
                self.of_persons,
                weights=share * np.repeat(self._supply, self._sizes),
                minlength=len(self.persons),
            )
            claims = claimed / np.maximum(self._factor, 1e-300)
            before = self._factor
            self._factor = np.minimum(1.0, 1 / np.maximum(claims, 1e-300))
            if np.abs(self._factor - before).max() < CLOSE:
                break
        return self._scaled(kernel, size, nobody)

    def _scaled(self, kernel: Floats, size: Floats, nobody: Floats) -> Floats:
        odds = kernel * self._factor[self.of_persons]
        whole = np.add.reduceat(odds * size, self._starts) + nobody
        return odds / np.repeat(whole, self._sizes)


def outside_odds(coverage: float, persons: int) -> float:
    """Odds that a released person is outside the register to that it is a certain one in it.

    Parameters
    ----------
    coverage
        Share of the released persons who are in the register.
    persons
        Persons of the register.
    """
    inside = min(coverage, 1 - LEAST_OUTSIDE)
    return (1 - inside) / inside * persons
