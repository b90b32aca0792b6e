"""The values of one quasi-identifier: which a person has, and how probable each is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.risk.population.accumulation.mixture import LARGEST, fit_mixture
from sfumato.risk.population.sample import counts_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

RARE = 1e-4
"""Share of persons who are alone with their value, from which on there are unseen values."""
FEW = 4
"""Persons up to whom the sample's shares are taken."""
UNSEEN = -1
"""Code of the values that the sample does not show."""


class Margin:
    """The values of a quasi-identifier, as the persons of a sample show them.

    Where many values have one person, the sample has not seen all: rates are then those of a
    `Mixture` given each value's persons, unseen values included. Where everybody has a value of
    their own, the mixture is that of one pair among them, as the sample may have missed it. Else
    the shares of the sample are taken.

    Parameters
    ----------
    codes
        Value of each class, shape (classes,).
    sizes
        Persons of each class, shape (classes,).
    times
        Number of values that each code stands for; ``None`` for one each.
    """

    def __init__(
        self, codes: npt.NDArray[np.integer], sizes: Ints, times: Ints | None = None
    ) -> None:
        self.persons = np.bincount(codes, sizes).astype(np.int64)
        self._times = np.ones(self.values, dtype=np.int64) if times is None else times
        self._total = float(self.persons @ self._times)
        self._mass = self.persons.astype(float)
        self._unseen = 0.0
        self._log_rates: Floats | None = None
        some = self.persons > 0
        shown, counts = counts_of(self.persons[some], self._times[some])
        alone = counts[0] if shown[0] == 1 else 0
        if alone >= RARE * self._total and self._total > FEW:
            self._mix(shown, counts.astype(float))

    @property
    def values(self) -> int:
        """Number of codes."""
        return len(self.persons)

    def draw(self, count: int, rng: np.random.Generator) -> Ints:
        """The values of persons drawn at random, `UNSEEN` among them; shape (count,)."""
        chances = np.append(self._mass * self._times, self._unseen)
        codes = rng.choice(len(chances), count, p=chances / chances.sum())
        return np.where(codes == self.values, UNSEEN, codes).astype(np.int64)

    def log_probability(self, codes: Ints, rng: np.random.Generator) -> Floats:
        """Logarithm of the probability of each value, drawn where the sample leaves it open."""
        persons = np.where(codes == UNSEEN, 0, self.persons[codes])
        log = np.log(np.maximum(persons, 1)) - np.log(self._total)
        if self._log_rates is not None:
            small = persons <= LARGEST
            row = self._row[persons[small]]
            node = np.searchsorted(self._steps, row + rng.random(len(row)), side="right")
            at = np.minimum(node - row * len(self._log_rates), len(self._log_rates) - 1)
            log[small] = self._log_rates[at] - np.log(self._total)
        return np.asarray(log)

    def _mix(self, shown: Ints, counts: Floats) -> None:
        """Take the rates of a mixture; a drawn person's value has a rate by its mass."""
        small = shown <= LARGEST
        if small.sum() > 1:
            mixture = fit_mixture(shown, counts)
        else:
            mixture = fit_mixture(np.array([1, 2]), np.array([max(counts[0] - 2, 1.0), 1.0]))
        seen = np.concatenate([[0], shown[small]])
        mass = mixture.posterior(seen) * np.exp(mixture.log_rates)
        rate = mass.sum(axis=1)
        self._row = np.zeros(LARGEST + 1, dtype=np.int64)
        self._row[seen] = np.arange(len(seen))
        within = np.cumsum(mass / np.maximum(rate, 1e-300)[:, None], axis=1)
        self._steps = (np.minimum(within, 1.0) + np.arange(len(seen))[:, None]).ravel()
        self._log_rates = mixture.log_rates
        few = (self.persons > 0) & (self.persons <= LARGEST)
        self._mass[few] = rate[self._row[self.persons[few]]]
        self._unseen = max(mixture.classes - float(counts[small].sum()), 0.0) * float(rate[0])
        self._total = float(self._mass @ self._times) + self._unseen
