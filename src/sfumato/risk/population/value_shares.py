"""How likely each value of a quasi-identifier is in the population, unseen ones included."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln

from sfumato.core.arrays import Codes, Floats, Integers, Ints
from sfumato.risk.population.estimator_protocol import counts_of

LARGEST = 200
"""Classes above this size are known well enough: the sample's share is taken for the rate's."""
NODES = np.linspace(-5.0, 5.0, 101)
"""Standard deviations from the mean at which the lognormal is evaluated."""
RARE = 1e-4
"""Share of persons who are alone with their value, from which on there are unseen values."""
FEW = 4
"""Persons up to whom the sample's shares are taken."""
UNSEEN = -1
"""Code of the values that the sample does not show."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Rates of classes: the expected numbers of their persons in a sample of the same size.

    Attributes
    ----------
    log_rates
        Logarithms of the rates, shape (nodes,).
    weights
        Share of the classes with each rate, shape (nodes,).
    likelihood
        Logarithm of the likelihood of the sizes.
    """

    log_rates: Floats
    weights: Floats
    classes: float
    likelihood: float

    def posterior(self, sizes: Ints) -> Floats:
        """Probability of each rate given a class's size; shape (sizes, nodes)."""
        log_weights = np.log(self.weights)
        # P(μ | f) ∝ w μ^f e^(−μ): f! is the same for all rates and cancels.
        log = sizes[:, None] * self.log_rates - np.exp(self.log_rates) + log_weights
        log -= log.max(axis=1, keepdims=True)
        probability = np.exp(log)
        probability /= probability.sum(axis=1, keepdims=True)
        return probability


def shares_of_sizes(sizes: Ints, log_rates: Floats, weights: Floats) -> Floats:
    """Share of the classes that a sample shows which have each size, 1 or more; shape (sizes,).

    Rates and weights are of a `Mixture`.
    """
    rates = np.exp(log_rates)
    log = sizes[:, None] * log_rates - rates - gammaln(sizes + 1.0)[:, None]
    # P(f > 0) = Σ w (1 − e^(−μ)), by which the zero-truncated shares are divided.
    seen = max(float(-np.expm1(-rates) @ weights), 1e-12)
    shares: Floats = np.exp(log) @ weights / seen
    return shares


def fit_mixture(
    sizes: Ints, counts: Floats, apart: float = 0.0, by_chance: Floats | None = None
) -> Mixture:
    """Fit a Poisson-lognormal to the sizes up to `LARGEST`, a class of size 0 being unseen.

    Maximum likelihood of the zero-truncated distribution (Bulmer 1974), the integral over the
    lognormal being a sum over `NODES`. O(sizes x nodes) per evaluation.

    Parameters
    ----------
    sizes
        The class sizes that occur, shape (sizes,); one of them is at most `LARGEST`.
    apart
        Share of the classes that are none of the mixture's; below 1.
    by_chance
        Share of these that have each size, shape (sizes,); all have one person without it.
    """
    kept = sizes <= LARGEST
    chances = (sizes == 1).astype(np.float64) if by_chance is None else by_chance
    sizes, counts, chances = sizes[kept], counts[kept], chances[kept]
    classes = float(counts.sum())
    # The normal density at equal steps: its trapezoidal
    # sum converges faster than any power of the step.
    weights = np.exp(-NODES * NODES / 2)
    weights /= weights.sum()

    def log_rates(parameters: Floats) -> Floats:
        rates: Floats = parameters[0] + np.exp(parameters[1]) * NODES
        # The search may go where e^(log μ) over- or underflows; no class has such a rate.
        return np.clip(rates, -60.0, 30.0)

    def loss(parameters: Floats) -> float:
        likely = (1 - apart) * shares_of_sizes(sizes, log_rates(parameters), weights)
        return -float(counts @ np.log(np.maximum(likely + apart * chances, 1e-300))) / classes

    # The mean size of the classes that are the mixture's own is where its search starts.
    mean = (float(sizes @ counts) / classes - apart * float(sizes @ chances)) / (1 - apart)
    # With singles apart the rest may be nearly of one size: a second start is at a narrow spread.
    starts = [(mean, 0.0), (mean, -1.5)] if apart else [(mean, 0.0)]
    options = {"xatol": 1e-3, "fatol": 1e-8, "maxiter": 200}
    tried = [
        minimize(loss, [np.log(max(at, 0.1)), log_spread], method="Nelder-Mead", options=options)
        for at, log_spread in starts
    ]
    best = min(tried, key=lambda each: float(each.fun))
    log = log_rates(best.x)
    seen = max(float(-np.expm1(-np.exp(log)) @ weights), 1e-12)
    # K = classes seen / P(f > 0) (Horvitz and Thompson).
    of_mixture = classes * (1 - apart) / seen
    return Mixture(log, weights, of_mixture, -float(best.fun) * classes)


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
    values
        Number of codes, where there may be more than occur.
    """

    def __init__(
        self, codes: Integers, sizes: Ints, times: Ints | None = None, values: int = 0
    ) -> None:
        self.persons = np.bincount(codes, sizes, minlength=values).astype(np.int64)
        self._times = np.ones(self.values, dtype=np.int64) if times is None else times
        self._total = float(self.persons @ self._times)
        self._mass = self.persons.astype(float)
        self._unseen = 0.0
        self._classes = 0.0
        self._log_rates: Floats | None = None
        some = self.persons > 0
        shown, counts = counts_of(self.persons[some], self._times[some])
        alone = counts[0] if shown[0] == 1 else 0
        # Good and Turing: the share of persons who are alone is the probability of unseen values.
        if alone >= RARE * self._total and self._total > FEW:
            self._mix(shown, counts.astype(float))

    @property
    def values(self) -> int:
        """Number of codes."""
        return len(self.persons)

    @cached_property
    def shares(self) -> Floats:
        """Probability of each code, the last entry being that of one value not shown."""
        absent = self.persons == 0
        # Unseen values share their mass evenly; there may
        # be codes that nobody has beside those estimated.
        each = self._unseen / max(float(absent.sum()), self._classes, 1.0)
        return np.append(np.where(absent, each, self._mass), each) / self._total

    def ranges(self, count: int) -> Codes:
        """Range of neighbouring values that each code lies in; shape (values + 1,).

        So many ranges with about as many persons each; the last entry is `UNSEEN`, as is that of
        values not shown.
        """
        shares = self.shares[:-1]
        # By the middle of its persons a value that many
        # have falls into the range that holds most of them.
        middle = (np.cumsum(shares) - shares / 2) / shares.sum()
        ranges = np.minimum((middle * count).astype(np.int32), count - 1)
        return np.append(ranges, np.int32(UNSEEN))

    def shares_without(self, codes: Codes, persons: Ints) -> Floats:
        """Probability of values, shape (values,), of which so many persons are left out."""
        own = np.append(self.persons, 0)[codes]
        # Persons left out take their part of the share along; a value without any is one not shown.
        left = self.shares[codes] * (own - persons) / np.maximum(own, 1)
        unseen = 1.0 if self._log_rates is None else self._unseen / max(self._classes, 1.0)
        return np.where(own > persons, left, unseen / self._total)

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
            # A draw of the rate from its posterior weighed by μ,
            # as a drawn person is in a class in proportion to μ.
            row = self._row[persons[small]]
            node = np.searchsorted(self._steps, row + rng.random(len(row)), side="right")
            at = np.minimum(node - row * len(self._log_rates), len(self._log_rates) - 1)
            log[small] = self._log_rates[at] - np.log(self._total)
        return np.asarray(log)

    def _mix(self, shown: Ints, counts: Floats) -> None:
        """Take the rates of a mixture; a drawn person's value has a rate by its mass."""
        small = shown <= LARGEST
        # One size does not fix mean and spread: a pair is put in, which the sample may have missed.
        if small.sum() > 1:
            mixture = fit_mixture(shown, counts)
        else:
            mixture = fit_mixture(np.array([1, 2]), np.array([max(counts[0] - 2, 1.0), 1.0]))
        seen = np.concatenate([[0], shown[small]])
        # E[μ | f] is the mass of a value with f persons, by node; f = 0 for the unseen.
        mass = mixture.posterior(seen) * np.exp(mixture.log_rates)
        rate = mass.sum(axis=1)
        self._row = np.zeros(LARGEST + 1, dtype=np.int64)
        self._row[seen] = np.arange(len(seen))
        within = np.cumsum(mass / np.maximum(rate, 1e-300)[:, None], axis=1)
        # Row r is shifted to (r, r + 1], so that one search serves draws of all sizes.
        self._steps = (np.minimum(within, 1.0) + np.arange(len(seen))[:, None]).ravel()
        self._log_rates = mixture.log_rates
        few = (self.persons > 0) & (self.persons <= LARGEST)
        self._mass[few] = rate[self._row[self.persons[few]]]
        self._classes = max(mixture.classes - float(counts[small].sum()), 0.0)
        # Classes not shown times E[μ | f = 0].
        self._unseen = self._classes * float(rate[0])
        self._total = float(self._mass @ self._times) + self._unseen
