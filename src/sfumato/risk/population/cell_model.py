"""How likely each combination of quasi-identifiers is in the population behind a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_matrix
from scipy.special import digamma, ndtr, ndtri

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.risk.population.cell_tree import LEARNT, TINY, Discount, Tree, in_ranges
from sfumato.risk.population.value_shares import UNSEEN, Margin

Keys = Codes
FITTED = 8_000
"""Classes that the models are fitted to at most."""
LATENT = ((8, 30.0), (24, 12.0))
"""Numbers of latent classes, and the persons of the whole that each one's shares are mixed with.

With fewer persons the classes are homes, whose persons then seem to be ones whom the models draw.
"""
PER_LATENT_CLASS = 25
"""Persons of the sample that a latent class needs."""
PASSES = 20
"""Passes of the EM algorithm."""
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
NODE_WEIGHTS /= NODE_WEIGHTS.sum()
"""Values of the factor of a copula, and how likely each is."""
LOADS_FITTED = 4_000
"""Classes that loads are fitted to at most."""
LOADS_PASSES = 2
"""How often each load is found anew."""
MOST = 0.97
"""Greatest load."""
EM_STEPS = 100
HELD_OUT = 1 / 3
"""Share of the persons by whom models are weighed."""
FOLLOWED = 0.95
"""Share of founders below which the models are fitted to them alone."""
FITS = 3
"""How often models are fitted to founders at most, as other founders make other models."""
BLOCK = 1 << 16
"""Cells that are looked at together, as all their latent classes are in memory."""


class Density(Protocol):
    """One model of the cells."""

    def of(self, keys: Keys, without: Ints) -> Floats:
        """Probability of each cell, so many of its persons being left out; shape (cells,)."""

    def draw(self, count: int, rng: np.random.Generator) -> Keys:
        """Cells of persons drawn at random, `UNSEEN` among the codes; shape (count, columns)."""


class LocallyIndependent:
    """Quasi-identifiers that are independent within latent classes of persons.

    Attributes
    ----------
    weights
        Share of the persons in each latent class, shape (latent,).
    chances
        Of each quasi-identifier the probability of its values, the last entry being one value not
        shown; each of shape (values + 1, latent).
    """

    weights: Floats
    chances: list[Floats]

    def joint(self, keys: Keys) -> Floats:
        """Probability of each cell together with each latent class; shape (cells, latent)."""
        joint = np.tile(self.weights, (len(keys), 1))
        for codes, chances in zip(keys.T, self.chances, strict=True):
            joint *= np.take(chances, codes, axis=0)
        return joint

    def draw(self, count: int, rng: np.random.Generator) -> Keys:
        """See `Density`."""
        belongs = np.sort(rng.choice(len(self.weights), count, p=self.weights))
        drawn = np.empty((count, len(self.chances)), dtype=np.int32)
        for latent in range(len(self.weights)):
            here = np.flatnonzero(belongs == latent)
            for column, chances in enumerate(self.chances):
                shown = chances[:-1, latent]
                every = np.append(shown, max(1 - shown.sum(), 0.0))
                codes = rng.choice(len(every), len(here), p=every / every.sum())
                drawn[here, column] = np.where(codes == len(shown), UNSEEN, codes)
        return rng.permutation(drawn)


class LatentClasses(LocallyIndependent):
    """Latent classes fitted by EM (Goodman 1974).

    The shares of a class are mixed with those of the whole, unseen values included, as if it had
    ``prior`` persons more.
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
        values, codes = zip(*(np.unique(each, return_inverse=True) for each in keys.T), strict=True)
        shown = [
            csr_matrix((np.ones(len(keys)), (each, np.arange(len(keys)))), (len(own), len(keys)))
            for own, each in zip(values, codes, strict=True)
        ]
        base = [each.shares[own][:, None] for each, own in zip(margins, values, strict=True)]
        belongs = rng.dirichlet(np.full(classes, 0.3), len(keys))
        for _ in range(PASSES):
            weighted = belongs * sizes[:, None]
            self._total = weighted.sum(axis=0)
            counts = [one @ weighted for one in shown]
            self.weights = (self._total + 1) / (self._total + 1).sum()
            self.chances = [self._mixed(*each) for each in zip(counts, base, strict=True)]
            belongs = self.joint(np.column_stack(codes))
            belongs /= np.maximum(belongs.sum(axis=1, keepdims=True), TINY)
        self._counts = [np.zeros((each.values + 1, classes)) for each in margins]
        for every, own, count in zip(self._counts, values, counts, strict=True):
            every[own] = count
        self.chances = [
            self._mixed(count, margin.shares[:, None])
            for count, margin in zip(self._counts, margins, strict=True)
        ]

    def _mixed(self, count: Floats, whole: Floats) -> Floats:
        """Probability of values in each latent class, by its persons and the shares of all."""
        mixed: Floats = (count + self._prior * whole) / (self._total + self._prior)
        return mixed

    def _joint_without(self, keys: Keys, left_out: Floats) -> Floats:
        """As `joint`, with so many persons of each cell left out; shape (cells, latent)."""
        total = np.maximum(self._total - left_out, 0.0)
        joint: Floats = (total + 1) / (self._total + 1).sum()
        total += self._prior
        for codes, count, margin in zip(keys.T, self._counts, self._margins, strict=True):
            own = np.take(count, codes, axis=0)
            own -= left_out
            np.maximum(own, 0.0, out=own)
            own += self._prior * np.take(margin.shares, codes)[:, None]
            own /= total
            joint *= own
        return joint

    def of(self, keys: Keys, without: Ints) -> Floats:
        """See `Density`; a person counts for each latent class as it was fitted with them."""
        joint = self.joint(keys)
        if without.any():
            belongs = joint / np.maximum(joint.sum(axis=1, keepdims=True), TINY)
            joint = self._joint_without(keys, belongs * without[:, None])
        return np.asarray(joint.sum(axis=1))


class Copula(LocallyIndependent):
    """A normal copula of the values in their order, whose scores share one factor.

    The score of a column is load · factor + sqrt(1 - load²) · noise, and its value the quantile of
    its margin there. Rocher et al. 2019 (Nature Communications 10:3069) have a correlation for each
    pair; with one factor a cell's probability is a sum over `NODES`.
    """

    def __init__(self, keys: Keys, sizes: Ints, margins: Sequence[Margin]) -> None:
        self._margins, self.weights = margins, NODE_WEIGHTS
        some = slice(None, None, 1 + len(keys) // LOADS_FITTED)
        loads = factor_loads(in_ranges(keys[some], margins), sizes[some])
        self.chances = [
            np.vstack([given_factor(each.shares[:-1], load), np.full(len(NODES), each.shares[-1])])
            for each, load in zip(margins, loads.tolist(), strict=True)
        ]

    def of(self, keys: Keys, without: Ints) -> Floats:
        """See `Density`; who is left out counts for the margins alone."""
        chances = self.joint(keys).sum(axis=1)
        for codes, margin in zip(keys.T, self._margins, strict=True):
            own = margin.shares[codes]
            left = margin.shares_without(codes, without)
            chances *= np.divide(left, own, out=np.ones_like(own), where=own > 0)
        return np.asarray(chances)


def given_factor(shares: Floats, load: float) -> Floats:
    """Probability of ordered values given the factor of a copula; shape (values, `NODES`)."""
    ends = np.append(0.0, shares.cumsum())
    scores = ndtri(ends / ends[-1])[:, None]
    inside = np.diff(ndtr((scores - load * NODES) / np.sqrt(1 - load * load)), axis=0)
    whole = (inside @ NODE_WEIGHTS)[:, None]
    given = np.divide(inside, whole, out=np.ones_like(inside), where=whole > TINY)
    # The nodes are few: neither shares of values nor sums at nodes come out by themselves.
    given *= shares[:, None]
    given *= shares.sum() / given.sum(axis=0)
    return np.asarray(given)


def factor_loads(keys: Keys, sizes: Ints) -> Floats:
    """The loads under which the persons are likeliest, found one after the other; (columns,).

    They start from the first principal component of the values' scores. A column whose order tells
    nothing has a load near 0.
    """
    shares = [np.bincount(codes, sizes) / sizes.sum() for codes in keys.T]
    scores = [
        ndtri(each.cumsum() - each / 2)[codes] for each, codes in zip(shares, keys.T, strict=True)
    ]
    values, vectors = np.linalg.eigh(np.cov(scores, fweights=sizes, ddof=0))
    loads: Floats = (vectors[:, -1] * np.sqrt(max(float(values[-1]), 0.0))).clip(-MOST, MOST)

    def chances(load: float, column: int) -> Floats:
        found: Floats = np.take(given_factor(shares[column], load), keys[:, column], axis=0)
        return found

    def loss(load: float, column: int, others: Floats) -> float:
        likely = np.einsum("ij,ij->i", others, chances(load, column))
        return -float(sizes @ np.log(np.maximum(likely, TINY)))

    given = [chances(load, column) for column, load in enumerate(loads.tolist())]
    for column in [*range(len(given))] * LOADS_PASSES:
        given[column] = np.ones_like(given[column])
        others = NODE_WEIGHTS * np.prod(given, axis=0)
        found = minimize_scalar(
            loss,
            bounds=(-MOST, MOST),
            args=(column, others),
            method="bounded",
            options={"xatol": 0.01},
        )
        loads[column] = found.x
        given[column] = chances(found.x, column)
    return loads


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
        return self._by_model(keys, without) @ self.weights

    def _by_model(self, keys: Keys, without: Ints) -> Floats:
        """As `of`, under each of them; shape (cells, models)."""
        found = np.empty((len(keys), len(self.models)))
        for start in range(0, len(keys), BLOCK):
            own = slice(start, start + BLOCK)
            for at, model in enumerate(self.models):
                found[own, at] = model.of(keys[own], without[own])
        return found

    def foretold(self) -> Floats:
        """Probability of each cell of the sample by the models, its founders taken out first."""
        return self.of(self.keys, self.founders)

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
        """Probability that the next person has each cell, seen or not, by each model.

        Shape (cells, models); by all of them it is the mean by `weights`.
        """
        both = np.concatenate([self.keys, keys])
        _, number = np.unique(both, axis=0, return_inverse=True)
        persons = np.bincount(number[: len(self.keys)], self.sizes, minlength=number.max() + 1)
        base = self._by_model(keys, np.zeros(len(keys), dtype=np.int64))
        n, different = float(self.sizes.sum()), float(len(self.sizes))
        own = persons[number[len(self.keys) :]].astype(float)
        return self.discount.chances(own[:, None], n, different, base)

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
    cell because others were there, as in homes, the models are fitted to those whom they drew
    alone: who followed says nothing of where somebody new will be (Teh 2006). Whom they drew is
    told first by models that know no neighbours, as a home seems to follow from its neighbours'
    values, and then by each other until they agree. O(classes x latent classes x columns) per pass.

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
    some, enough = _some(len(keys), rng), FOLLOWED * float(sizes.sum())
    anew = None
    if len(keys) < enough:
        model = _fitted(keys, sizes, None, some, domains, rng, neighbours=False)
        anew = model.anew(keys, sizes)
    for _ in range(FITS):
        if anew is not None and founders(sizes, anew).sum() >= enough:
            anew = None
        model = _fitted(keys, sizes, anew, some, domains, rng, neighbours=True)
        if anew is None:
            break
        anew = model.anew(keys, model.founders)
        ratio = float(founders(sizes, anew).sum() / model.founders.sum())
        if FOLLOWED < ratio < 1 / FOLLOWED:
            break
    return model


def _some(cells: int, rng: np.random.Generator, most: int | None = None) -> Ints:
    """At most so many of the cells, `FITTED` unless stated."""
    most = FITTED if most is None else most
    if cells <= most:
        return np.arange(cells)
    return np.sort(rng.choice(cells, most, replace=False))


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
    *,
    neighbours: bool,
) -> CellModel:
    """The models of all founders, weighed on some classes; everybody is one without ``anew``."""
    drawn = sizes if anew is None else founders(sizes, anew)
    models = _models(keys, drawn, (keys[some], drawn[some]), domains, rng, neighbours=neighbours)
    held = rng.binomial(sizes, HELD_OUT)
    inside = sizes - held
    train, test = np.flatnonzero(inside), np.flatnonzero(held)
    seen = float(inside.sum()), float(len(train))
    weights, discount = np.full(len(models), 1 / len(models)), Discount(0.5, 1.0)
    if len(train) and len(test):
        train = train[_some(len(train), rng, LEARNT)]
        part = inside[train] if anew is None else founders(inside[train], anew[train])
        few = _some(len(train), rng)
        tried = _models(
            keys[train], part, (keys[train][few], part[few]), domains, rng, neighbours=neighbours
        )
        # Some cells are enough to weigh by; how many persons were seen is counted over all.
        test = test[_some(len(test), rng)]
        nobody = np.zeros(len(test), dtype=np.int64)
        shares = np.column_stack([model.of(keys[test], nobody) for model in tried])
        count, times = inside[test].astype(float), held[test].astype(float)
        weights = stacked(shares, times if anew is None else 1.0 * (count == 0))
        discount = Discount.fitted(count, *seen, shares @ weights, times)
    return CellModel(discount, weights, tuple(models), keys, sizes, drawn)


def _models(
    keys: Keys,
    sizes: Ints,
    few: tuple[Keys, Ints],
    domains: Sequence[int],
    rng: np.random.Generator,
    *,
    neighbours: bool,
) -> list[Density]:
    margins = [
        Margin(codes, sizes, values=size) for codes, size in zip(keys.T, domains, strict=True)
    ]
    models: list[Density] = [Tree(keys, sizes, margins, neighbours=neighbours)]
    if keys.shape[1] > 1:
        most = max(1, int(few[1].sum()) // PER_LATENT_CLASS)
        if neighbours:
            models.append(Copula(*few, margins))
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
