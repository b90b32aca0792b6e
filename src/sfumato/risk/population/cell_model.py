"""How likely each combination of quasi-identifiers is in the population behind a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_matrix
from scipy.special import digamma, expit

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.risk.population.value_shares import UNSEEN, Margin

Keys = Codes
FITTED = 6_000
"""Classes that the models are fitted to at most."""
LATENT = ((8, 30.0), (24, 12.0))
"""Numbers of latent classes, and the persons of the whole that each one's shares are mixed with."""
PER_LATENT_CLASS = 25
"""Persons of the sample that a latent class needs."""
PASSES = 30
"""Passes of the EM algorithm."""
EM_STEPS = 100
HELD_OUT = 1 / 3
FOLLOWED = 0.95
"""Share of founders below which the models are fitted to them alone."""
"""Share of the persons by whom models are weighed."""
TINY = 1e-300
SPARSE = 0.15
"""Share of persons alone with their two values, from which on the pair tells too little."""
GAIN = 1e-4
"""Least gain of a pair that goes together."""
DENSE = 4_000_000
"""Pairs of values up to which all are counted in one array."""
LEARNT = 100_000
"""Classes that the tree is learnt from; its pairs are then counted over all."""


class Density(Protocol):
    """One model of the cells."""

    def of(self, keys: Keys, without: Ints) -> Floats:
        """Probability of each cell, so many of its persons being left out; shape (cells,)."""

    def draw(self, count: int, rng: np.random.Generator) -> Keys:
        """Cells of persons drawn at random, `UNSEEN` among the codes; shape (count, columns)."""


@dataclass(frozen=True)
class Discount:
    """How much of what was seen is left to what was not (Pitman and Yor 1997).

    Of n persons with D different values, one with c persons is met again with probability
    (c - discount) / (n + strength), and any at all with (strength + discount D) / (n + strength).

    Attributes
    ----------
    discount
        In [0, 1).
    strength
        At least 0, in persons.
    """

    discount: float
    strength: float

    @classmethod
    def fitted(
        cls,
        count: Floats,
        others: Floats | float,
        distinct: Floats | float,
        whole: Floats,
        times: Floats,
    ) -> Discount:
        """The one under which persons are best foretold by the others.

        Parameters
        ----------
        count
            Others with the same value, shape (values,).
        others
            All others.
        distinct
            Different values of the others.
        whole
            Probability of the value under the base.
        times
            Persons with the value.
        """

        def loss(parameters: Floats) -> float:
            one = cls(float(expit(parameters[0])), float(np.exp(min(parameters[1], 14.0))))
            return -float(times @ np.log(one.chances(count, others, distinct, whole) + TINY))

        starts = [np.array([0.0, 1.0]), np.array([2.0, 5.0])]
        options = {"xatol": 0.05, "fatol": 1e-3 * float(times.sum()) ** 0.5, "maxiter": 80}
        tried = [minimize(loss, start, method="Nelder-Mead", options=options) for start in starts]
        best = min(tried, key=lambda each: float(each.fun)).x
        return cls(float(expit(best[0])), float(np.exp(min(best[1], 14.0))))

    def chances(
        self, count: Floats, others: Floats | float, distinct: Floats | float, whole: Floats
    ) -> Floats:
        """Probability of a value that ``count`` of the ``others`` have; see `fitted`."""
        again = np.where(count > 0, count - self.discount, 0.0)
        anew = (self.strength + self.discount * distinct) * whole
        found: Floats = (again + anew) / np.maximum(others + self.strength, TINY)
        return found


class Conditional:
    """A quasi-identifier given another: pairs that were seen, else any value.

    Attributes
    ----------
    discount
        How much of the pairs is left to the others.

    Parameters
    ----------
    first, second
        Values of each class, shape (classes,).
    margins
        Those of the two.
    sizes
        Persons of each class.
    """

    def __init__(
        self, first: Codes, second: Codes, margins: tuple[Margin, Margin], sizes: Ints
    ) -> None:
        margin, values = margins[1], margins[0].values
        self._margin, self._width = margin, margin.values + 1
        self._pairs, persons = _pairs(first, second, margins, sizes)
        self._count = persons.astype(float)
        before, after = np.divmod(self._pairs, self._width)
        self._all = np.bincount(before, self._count, minlength=values + 1).astype(np.float64)
        self._distinct = np.bincount(before, minlength=values + 1).astype(float)
        self.discount = Discount.fitted(
            self._count - 1,
            self._all[before] - np.ones(len(before)),
            self._distinct[before] - (self._count == 1),
            margin.shares[after],
            self._count,
        )
        ends = np.concatenate([[0.0], np.cumsum(self._count - self.discount.discount)])
        at = np.searchsorted(self._pairs, np.arange(values + 2) * self._width)
        self._ends, self._start, self._stop = ends, ends[at[:-1]], ends[at[1:]]

    def of(self, given: Codes, codes: Codes, without: Ints) -> Floats:
        """Probability of the second value given the first, without some; shape (cells,)."""
        key = given.astype(np.int64) % len(self._all) * self._width + codes % self._width
        at = np.minimum(np.searchsorted(self._pairs, key), len(self._pairs) - 1)
        found = np.where(self._pairs[at] == key, self._count[at], 0.0)
        count = np.maximum(found - without, 0.0)
        distinct = self._distinct[given] - ((found > 0) & (count == 0))
        whole = self._margin.shares_without(codes, without)
        return self.discount.chances(
            count, (self._all[given] - without).astype(float), distinct, whole
        )

    def draw(self, given: Ints, rng: np.random.Generator) -> Ints:
        """Second values of persons whose first is given, `UNSEEN` among both."""
        known = given != UNSEEN
        again = np.where(known, (self._stop - self._start)[given], 0.0)
        have = np.where(known, self._all[given], 0.0) + self.discount.strength
        chance = again / np.maximum(have, TINY)
        place = self._start[given] + rng.random(len(given)) * again
        at = np.clip(np.searchsorted(self._ends, place, "right") - 1, 0, len(self._pairs) - 1)
        anew = self._margin.draw(len(given), rng)
        return np.where(rng.random(len(given)) < chance, self._pairs[at] % self._width, anew)


def _pairs(
    first: Codes, second: Codes, margins: tuple[Margin, Margin], sizes: Ints
) -> tuple[Ints, Ints]:
    """The pairs of values that occur, ascending, and the persons of each."""
    width = margins[1].values + 1
    pair = first.astype(np.int64) * width + second
    if (margins[0].values + 1) * width <= DENSE:
        persons = np.bincount(pair, sizes)
        pairs = np.flatnonzero(persons)
        return pairs, persons[pairs].astype(np.int64)
    pairs, number = np.unique(pair, return_inverse=True)
    return pairs, np.bincount(number, sizes).astype(np.int64)


def _gain(first: Codes, second: Codes, margins: tuple[Margin, Margin], sizes: Ints) -> float:
    """How much better each person's pair is foretold by the others' pairs than by their values.

    Mean logarithm of w n_ab / n + (1 - w) p_a p_b over p_a p_b, each person left out, at the best
    w; 0 where too many pairs have one person.
    """
    pairs, persons = _pairs(first, second, margins, sizes)
    n = int(sizes.sum())
    if int((persons == 1).sum()) >= SPARSE * n:
        return 0.0
    before, after = np.divmod(pairs, margins[1].values + 1)
    apart = margins[0].persons[before] * margins[1].persons[after] / n
    ratio = (persons - 1) / max(n - 1, 1) * n / apart
    shares = persons / n

    def loss(weight: float) -> float:
        return -float(shares @ np.log1p(weight * (ratio - 1)))

    return -float(minimize_scalar(loss, bounds=(0.0, 0.9999), method="bounded").fun)


def tree_of_pairs(
    keys: Keys, sizes: Ints, margins: Sequence[Margin]
) -> list[tuple[int | None, int]]:
    """Parent and child along the tree of the pairs that tell most of each other, parents first.

    Chow and Liu 1968 (IEEE Trans. Inf. Theory 14:462-467), by Prim's algorithm; who tells nothing
    of another has no parent. O(classes x columns^2).

    Parameters
    ----------
    keys, sizes
        The classes and their persons.
    margins
        Of the columns.
    """
    some = slice(None, None, 1 + len(keys) // LEARNT)
    few = [Margin(codes[some], sizes[some], values=each.values)
           for codes, each in zip(keys.T, margins, strict=True)]  # fmt: skip
    columns = range(keys.shape[1])
    gains = {
        frozenset((one, other)): _gain(
            keys[some, one], keys[some, other], (few[one], few[other]), sizes[some]
        )
        for other in columns
        for one in range(other)
    }
    order: list[tuple[int | None, int]] = [(None, 0)]
    inside, outside = [0], [*columns[1:]]
    while outside:
        gain, parent, child = max(
            (gains[frozenset((one, other))], -one, -other) for one in inside for other in outside
        )
        order.append((-parent if gain > GAIN else None, -child))
        inside.append(-child)
        outside.remove(-child)
    return order


class Tree:
    """Quasi-identifiers that depend on each other along a tree of pairs."""

    def __init__(self, keys: Keys, sizes: Ints, margins: Sequence[Margin]) -> None:
        self._margins = margins
        self._edges: list[tuple[int, int, Conditional | None]] = []
        for parent, child in tree_of_pairs(keys, sizes, margins):
            if parent is None:
                self._edges.append((child, child, None))
                continue
            both = (margins[parent], margins[child])
            given = Conditional(keys[:, parent], keys[:, child], both, sizes)
            self._edges.append((parent, child, given))

    def of(self, keys: Keys, without: Ints) -> Floats:
        """See `Density`."""
        chances = np.ones(len(keys))
        for parent, child, given in self._edges:
            codes = keys[:, child]
            if given is None:
                chances *= self._margins[child].shares_without(codes, without)
            else:
                chances *= given.of(keys[:, parent], codes, without)
        return chances

    def draw(self, count: int, rng: np.random.Generator) -> Keys:
        """See `Density`."""
        codes: dict[int, Ints] = {}
        for parent, child, given in self._edges:
            if given is None:
                codes[child] = self._margins[child].draw(count, rng)
            else:
                codes[child] = given.draw(codes[parent], rng)
        return np.column_stack([codes[each] for each in sorted(codes)]).astype(np.int32)


class LatentClasses:
    """Quasi-identifiers that are independent within latent classes of persons.

    Fitted by EM (Goodman 1974); the shares of a class are mixed with those of the whole, unseen
    values included, as if it had ``prior`` persons more.
    """

    def __init__(
        self,
        keys: Keys,
        sizes: Ints,
        margins: Sequence[Margin],
        classes: int,
        prior: float,
        rng: np.random.Generator,
    ) -> None:
        self._margins, self._prior = margins, prior
        rows = np.arange(len(keys))
        shown = [
            csr_matrix((np.ones(len(keys)), (codes, rows)), (margin.values + 1, len(keys)))
            for codes, margin in zip(keys.T, margins, strict=True)
        ]
        belongs = rng.dirichlet(np.full(classes, 0.3), len(keys))
        for _ in range(PASSES):
            weighted = belongs * sizes[:, None]
            self._total = weighted.sum(axis=0)
            self._counts = [one @ weighted for one in shown]
            belongs = self._joint(keys)
            belongs /= np.maximum(belongs.sum(axis=1, keepdims=True), TINY)

    def _joint(self, keys: Keys, left_out: Floats | float = 0.0) -> Floats:
        """Probability of each cell together with each latent class; shape (cells, classes)."""
        total = np.maximum(self._total - left_out, 0.0)
        joint = (total + 1) / (self._total + 1).sum()
        joint = np.broadcast_to(joint, (len(keys), len(self._total))).copy()
        for codes, count, margin in zip(keys.T, self._counts, self._margins, strict=True):
            own = np.maximum(count[codes] - left_out, 0.0)
            joint *= (own + self._prior * margin.shares[codes][:, None]) / (total + self._prior)
        return joint

    def of(self, keys: Keys, without: Ints) -> Floats:
        """See `Density`; a person counts for each latent class as it was fitted with them."""
        joint = self._joint(keys)
        if without.any():
            belongs = joint / np.maximum(joint.sum(axis=1, keepdims=True), TINY)
            joint = self._joint(keys, belongs * without[:, None])
        return np.asarray(joint.sum(axis=1))

    def draw(self, count: int, rng: np.random.Generator) -> Keys:
        """See `Density`."""
        weights = (self._total + 1) / (self._total + 1).sum()
        belongs = np.sort(rng.choice(len(weights), count, p=weights))
        drawn = np.empty((count, len(self._margins)), dtype=np.int32)
        for latent in range(len(weights)):
            here = np.flatnonzero(belongs == latent)
            own = self._total[latent] + self._prior
            for column, (counts, margin) in enumerate(
                zip(self._counts, self._margins, strict=True)
            ):
                chances = ((counts[:, latent] + self._prior * margin.shares) / own)[:-1]
                every = np.append(chances, max(1 - chances.sum(), 0.0))
                codes = rng.choice(len(every), len(here), p=every / every.sum())
                drawn[here, column] = np.where(codes == len(chances), UNSEEN, codes)
        return rng.permutation(drawn)


@dataclass(frozen=True, eq=False)
class CellModel:
    """The cells of a population: those of the sample come again, and others follow models.

    Attributes
    ----------
    discount
        How much of the sample is left to the models.
    weights
        Weight of each model; they sum to 1.
    models
        The models.
    keys, sizes
        The cells of the sample and their persons.
    founders
        Persons of each cell to whom the models are fitted; see `founders`.
    """

    discount: Discount
    weights: Floats
    models: tuple[Density, ...]
    keys: Keys
    sizes: Ints
    founders: Ints

    def of(self, keys: Keys, without: Ints) -> Floats:
        """Probability of each cell under the models alone; shape (cells,).

        Parameters
        ----------
        keys
            The cells.
        without
            Founders of each who are taken out of the sample first.
        """
        return np.column_stack([model.of(keys, without) for model in self.models]) @ self.weights

    def anew(self, keys: Keys, without: Ints) -> Floats:
        """How many persons stand for those whom the models draw in each cell; see `of`."""
        whole = self.discount.strength + self.discount.discount * len(self.sizes)
        return whole * self.of(keys, without)

    @property
    def followed(self) -> float:
        """How much of what comes again comes because of the cells' own persons; in [0, 1]."""
        n, again = float(self.sizes.sum()), self._again()
        repeated = n - float((self.sizes == 1).sum())
        return float(np.clip(again * n / repeated, 0, 1)) if repeated else 0.0

    def _again(self) -> float:
        """Probability that the next person follows one of the sample."""
        n, discount = float(self.sizes.sum()), self.discount
        return max(n - discount.discount * len(self.sizes), 0.0) / (n + discount.strength)

    def again(self, keys: Keys) -> Floats:
        """Probability that the next person has each cell, seen or not; shape (cells,)."""
        both = np.concatenate([self.keys, keys])
        _, number = np.unique(both, axis=0, return_inverse=True)
        persons = np.bincount(number[: len(self.keys)], self.sizes, minlength=number.max() + 1)
        base = self.of(keys, np.zeros(len(keys), dtype=np.int64))
        n, different = float(self.sizes.sum()), float(len(self.sizes))
        return self.discount.chances(
            persons[number[len(self.keys) :]].astype(float), n, different, base
        )

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Keys, int]:
        """Cells of the next persons of the population, and how many of them follow others.

        Those come first; shape (count, columns).
        """
        chances = self.sizes - self.discount.discount
        following = int(rng.binomial(count, self._again()))
        seen = rng.choice(len(self.keys), following, p=chances / chances.sum())
        drawn = np.concatenate([self.keys[seen], self.draw_anew(count - following, rng)])
        return drawn, following

    def draw_anew(self, count: int, rng: np.random.Generator) -> Keys:
        """Cells of persons whom the models draw; shape (count, columns)."""
        numbers = rng.multinomial(count, self.weights)
        pairs = zip(self.models, numbers.tolist(), strict=True)
        parts = [model.draw(number, rng) for model, number in pairs if number]
        return np.concatenate([self.keys[:0], *parts])


def fit_cells(
    keys: Keys, sizes: Ints, domains: Sequence[int], rng: np.random.Generator
) -> CellModel:
    """Fit the models, and weigh them by how well they foretell a third that is held out.

    The weights maximise the likelihood of the persons of that third, under models of the others
    (stacking; Wolpert 1992, Smyth and Wolpert 1999 for densities). Where many persons came to a
    cell because others were there, as in homes, the models are fitted once more to those whom they
    drew: who followed says nothing of where somebody new will be (Teh 2006).
    O(classes x latent classes x columns) per pass.

    Parameters
    ----------
    keys
        Code of every quasi-identifier of each class, shape (classes, columns).
    sizes
        Persons of each class.
    domains
        Number of codes of each quasi-identifier; those that occur where none are given.
    rng
        Draws the parts and starting points.
    """
    domains = domains or (keys.max(axis=0) + 1).tolist()
    some = np.arange(len(keys))
    if len(keys) > FITTED:
        some = np.sort(rng.choice(len(keys), FITTED, replace=False))
    model = _fitted(keys, sizes, None, some, domains, rng)
    anew = model.anew(model.keys, model.founders)
    if founders(sizes, anew).sum() < FOLLOWED * sizes.sum():
        return _fitted(keys, sizes, anew, some, domains, rng)
    return model


def founders(sizes: Ints, anew: Floats) -> Ints:
    """Persons of each cell whom the models drew, as expected; the others followed them.

    Person i + 1 of a cell is drawn by the models with a chance of a / (a + i), by Pitman and Yor
    with the discount left out.

    Parameters
    ----------
    sizes
        Persons of each cell, shape (cells,).
    anew
        a: how many persons stand for those whom the models draw there.
    """
    drawn = 1 + anew * (digamma(sizes + anew) - digamma(1 + anew))
    founders: Ints = np.clip(np.rint(drawn), np.minimum(sizes, 1), sizes).astype(np.int64)
    return founders


def _fitted(
    keys: Keys,
    sizes: Ints,
    anew: Floats | None,
    some: Ints,
    domains: Sequence[int],
    rng: np.random.Generator,
) -> CellModel:
    """The models of all founders, weighed on some classes; everybody is one without ``anew``."""
    drawn = sizes if anew is None else founders(sizes, anew)
    models = _models(keys, drawn, (keys[some], drawn[some]), domains, rng)
    held = rng.binomial(sizes[some], HELD_OUT)
    inside = sizes[some] - held
    train, test = np.flatnonzero(inside), np.flatnonzero(held)
    weights, discount = np.full(len(models), 1 / len(models)), Discount(0.5, 1.0)
    if len(train) and len(test):
        part = inside[train] if anew is None else founders(inside[train], anew[some][train])
        few = keys[some][train], part
        tried = _models(*few, few, domains, rng)
        nobody = np.zeros(len(test), dtype=np.int64)
        shares = np.column_stack([model.of(keys[some][test], nobody) for model in tried])
        count, times = inside[test].astype(float), held[test].astype(float)
        weights = stacked(shares, times if anew is None else 1.0 * (count == 0))
        seen = float(inside.sum()), float(len(train))
        discount = Discount.fitted(count, *seen, shares @ weights, times)
    return CellModel(discount, weights, tuple(models), keys, sizes, drawn)


def _models(
    keys: Keys,
    sizes: Ints,
    few: tuple[Keys, Ints],
    domains: Sequence[int],
    rng: np.random.Generator,
) -> list[Density]:
    margins = [
        Margin(codes, sizes, values=size) for codes, size in zip(keys.T, domains, strict=True)
    ]
    models: list[Density] = [Tree(keys, sizes, margins)]
    if keys.shape[1] > 1:
        most = max(1, int(few[1].sum()) // PER_LATENT_CLASS)
        models += [
            LatentClasses(*few, margins, min(classes, most), prior, rng)
            for classes, prior in LATENT
        ]
    return models


def stacked(shares: Floats, times: Floats | Ints) -> Floats:
    """Weights of models under which what was held out is likeliest (EM); they sum to 1.

    Parameters
    ----------
    shares
        Probability of each value under each model, shape (values, models).
    times
        Persons with each value.
    """
    weights = np.full(shares.shape[1], 1 / shares.shape[1])
    for _ in range(EM_STEPS):
        joint = shares * weights
        joint /= np.maximum(joint.sum(axis=1, keepdims=True), TINY)
        weights = (times @ joint + 1e-9) / (times.sum() + 1e-9 * len(weights))
    found: Floats = weights / weights.sum()
    return found
