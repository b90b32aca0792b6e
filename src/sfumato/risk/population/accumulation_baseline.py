"""How classes would accumulate if the quasi-identifiers went together in a tree of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln

from sfumato.risk.population.estimation import Codes, Floats, Ints, SampleClasses, counts_of

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
SPARSE = 0.15
"""Share of persons alone with their two values, from which on the pair tells too little."""
GAIN = 1e-4
"""Least gain of a pair that goes together."""
DENSE = 4_000_000
"""Pairs of values up to which all are counted in one array."""
DRAWS = 40_000
"""Persons drawn from the model; the sums over all cells are off by under a percent."""
LEARNT = 100_000
"""Classes that the tree is learnt from; its pairs are then counted over all."""
LEAST = -690.0
"""Logarithm of the least probability of a cell that counts; below it would become 0."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Rates of classes: the expected numbers of their persons in a sample of the same size.

    Attributes
    ----------
    log_rates
        Logarithms of the rates, shape (nodes,).
    weights
        Share of the classes with each rate, shape (nodes,).
    classes
        Number of classes, those that the sample does not show included.
    """

    log_rates: Floats
    weights: Floats
    classes: float

    def posterior(self, sizes: Ints) -> Floats:
        """Probability of each rate given a class's size; shape (sizes, nodes)."""
        log_weights = np.log(self.weights)
        log = sizes[:, None] * self.log_rates - np.exp(self.log_rates) + log_weights
        log -= log.max(axis=1, keepdims=True)
        probability = np.exp(log)
        probability /= probability.sum(axis=1, keepdims=True)
        return probability


def fit_mixture(sizes: Ints, counts: Floats) -> Mixture:
    """Fit a Poisson-lognormal to the sizes up to `LARGEST`, a class of size 0 being unseen.

    Maximum likelihood of the zero-truncated distribution (Bulmer 1974), the integral over the
    lognormal being a sum over `NODES`. O(sizes x nodes) per evaluation.

    Parameters
    ----------
    sizes
        The class sizes that occur, shape (sizes,); one of them is at most `LARGEST`.
    counts
        Number of classes of each size.
    """
    kept = sizes <= LARGEST
    sizes, counts = sizes[kept], counts[kept]
    classes = float(counts.sum())
    weights = np.exp(-NODES * NODES / 2)
    weights /= weights.sum()
    factorials = gammaln(sizes + 1.0)[:, None]

    def log_rates(parameters: Floats) -> Floats:
        rates: Floats = parameters[0] + np.exp(parameters[1]) * NODES
        return np.clip(rates, -60.0, 30.0)

    def unseen(log: Floats) -> float:
        return float(np.exp(-np.exp(log)) @ weights)

    def loss(parameters: Floats) -> float:
        log = log_rates(parameters)
        likely = np.exp(sizes[:, None] * log - np.exp(log) - factorials) @ weights
        seen = np.log1p(-min(unseen(log), 1 - 1e-12))
        return float(seen - counts @ np.log(np.maximum(likely, 1e-300)) / classes)

    start = np.array([np.log(float(sizes @ counts) / classes), 0.0])
    options = {"xatol": 1e-3, "fatol": 1e-8, "maxiter": 200}
    best = minimize(loss, start, method="Nelder-Mead", options=options).x
    log = log_rates(best)
    return Mixture(log, weights, classes / max(1 - unseen(log), 1e-12))


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


def cell_probabilities(sample: SampleClasses, rng: np.random.Generator) -> Floats:
    """The probability of the cell of each of `DRAWS` persons drawn from the model.

    The quasi-identifiers form the tree of pairs that tell most of each other (Chow & Liu 1968,
    IEEE Trans. Inf. Theory 14:462-467), by how well each person is foretold by the others; those
    that tell nothing are independent. Without keys the classes count as the values of a single
    quasi-identifier. Shape (`DRAWS`,). O(classes x quasi-identifiers^2).
    """
    keys = sample.keys
    if keys is None:
        margin = Margin(np.arange(len(sample.sizes)), sample.sizes, sample.times)
        drawn = margin.draw(DRAWS, rng)
        return np.exp(np.maximum(margin.log_probability(drawn, rng), LEAST))
    margins = [Margin(codes, sample.sizes) for codes in keys.T]
    some = slice(None, None, 1 + sample.classes // LEARNT)
    codes: dict[int, Ints] = {}
    log = np.zeros(DRAWS)
    for parent, child in _tree(_gains(keys[some], sample.sizes[some])):
        if parent is None:
            codes[child] = margins[child].draw(DRAWS, rng)
            log += margins[child].log_probability(codes[child], rng)
            continue
        both = (margins[parent], margins[child])
        pair = Pair(keys[:, parent], keys[:, child], both, sample.sizes)
        codes[child], chances = pair.follow(codes[parent], rng)
        log += chances
    return np.exp(np.maximum(log, LEAST))


def classes_and_growth(probabilities: Floats, persons: Floats) -> tuple[Floats, Floats]:
    """Expected classes D(m) of m persons in the model, and their growth d log D / d log m.

    The sum over all cells of 1 - exp(-m p) is the mean over persons drawn of that over p.

    Parameters
    ----------
    probabilities
        What `cell_probabilities` drew.
    persons
        The numbers m, shape (points,).
    """
    classes, alone = np.empty(len(persons)), np.empty(len(persons))
    for point, m in enumerate(persons.tolist()):
        classes[point] = np.mean(-np.expm1(-m * probabilities) / probabilities)
        alone[point] = m * np.mean(np.exp(-m * probabilities))
    return classes, alone / classes


def _gains(keys: npt.NDArray[np.int32], sizes: Ints) -> Floats:
    """What each pair of quasi-identifiers tells of each other; symmetric."""
    margins = [Margin(codes, sizes) for codes in keys.T]
    gains = np.zeros((len(margins), len(margins)))
    for second in range(len(margins)):
        for first in range(second):
            both = (margins[first], margins[second])
            pair = Pair(keys[:, first], keys[:, second], both, sizes)
            gains[first, second] = gains[second, first] = pair.gain
    return gains


def _tree(gains: Floats) -> list[tuple[int | None, int]]:
    """Parent and child along the tree of the largest gains (Prim), parents first."""
    order: list[tuple[int | None, int]] = [(None, 0)]
    inside, outside = [0], list(range(1, len(gains)))
    while outside:
        among = gains[np.ix_(inside, outside)]
        row, column = np.unravel_index(int(np.argmax(among)), among.shape)
        child = outside.pop(int(column))
        order.append((inside[row] if among[row, column] > GAIN else None, child))
        inside.append(child)
    return order
