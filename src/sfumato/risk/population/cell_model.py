"""How likely each combination of quasi-identifiers is in the population behind a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import digamma

from sfumato.core.arrays import Floats, Ints
from sfumato.risk.population.cell_tree import LEARNT, TINY, Discount, Keys, Tree
from sfumato.risk.population.local_independence import Copula, LatentClasses
from sfumato.risk.population.value_shares import Margin

FITTED = 8_000
"""Classes that the models are fitted to at most."""
# Chosen on the populations of docs/EVIDENCE.md.
LATENT = ((4, 10.0, True), (24, 12.0, False))
"""Numbers of latent classes, the persons of the whole that each one's shares are mixed with, and
whether they know values by their neighbours.

With fewer persons, or by their neighbours, many classes are homes, whose persons then seem to be
ones whom the models draw.
"""
STARTED = 12
"""Latent classes over all starts of EM; the likeliest are kept, as few find places by luck."""
PER_LATENT_CLASS = 25
"""Persons of the sample that each of many latent classes needs."""
EM_STEPS = 100
PARTS = 3
"""Parts of the sample, each of which is held out where there are few cells, else one."""
FEW_CELLS = 2_000
"""Cells up to which all parts are."""
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


@dataclass(frozen=True, eq=False)
class CellModel:
    """The cells of a population: those of the sample come again, and others follow models.

    The weights of the models sum to 1; `founders` are the persons to whom they are fitted.
    """

    discount: Discount
    weights: Floats
    models: tuple[Density, ...]
    keys: Keys
    sizes: Ints
    founders: Ints

    def of(self, keys: Keys, without: Ints) -> Floats:
        """Probability of each cell by the models alone, without some founders; shape (cells,)."""
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
        # Pitman and Yor: the next person is drawn anew
        # with weight θ + σ D, beside n − σ D for the seen.
        whole = self.discount.strength + self.discount.discount * len(self.sizes)
        return whole * self.of(keys, without)

    @property
    def followed(self) -> float:
        """How much of what comes again comes because of the cells' own persons; in [0, 1]."""
        n, again = float(self.sizes.sum()), self._again()
        repeated = n - float((self.sizes == 1).sum())
        # n (n − σ D) / (n + θ) are expected to follow; n
        # − f_1 were seen to come again for any reason.
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
        # Rows are numbered together, as cells that were drawn anew may be cells of the sample.
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
        # A seen cell of c persons is met again in proportion to c − σ.
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
    """Fit the models, and weigh them by how well they foretell persons who are held out.

    The weights maximise the likelihood of a third of the persons, or of each third in turn where
    there are few cells, under models of the others (stacking; Wolpert 1992, Smyth and Wolpert 1999
    for densities). Where many persons came to a cell because others were there, as in homes, the
    models are fitted to those whom they drew alone: who followed says nothing of where somebody new
    will be (Teh 2006). Whom they drew is told first by models that know no neighbours, as a home
    seems to follow from its neighbours' values, and then by each other until they agree.
    O(classes x latent classes x columns) per pass.

    Parameters
    ----------
    keys
        Code of every quasi-identifier of each class, shape (classes, columns).
    domains
        Number of codes of each quasi-identifier; those that occur where none are given.
    """
    domains = domains or (keys.max(axis=0) + 1).tolist()
    some, enough = _some(len(keys), rng), FOLLOWED * float(sizes.sum())
    anew = None
    # With a cell for each person there are no followers to tell from founders.
    if len(keys) < enough:
        model = _fitted(keys, sizes, None, some, domains, rng, neighbours=False)
        # All persons of each cell are left out: a home must not foretell itself.
        anew = model.anew(keys, sizes)
    for _ in range(FITS):
        if anew is not None and founders(sizes, anew).sum() >= enough:
            anew = None
        model = _fitted(keys, sizes, anew, some, domains, rng, neighbours=True)
        if anew is None:
            break
        anew = model.anew(keys, model.founders)
        ratio = float(founders(sizes, anew).sum() / model.founders.sum())
        # Founders who make a model with the same founders are a fixed point.
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
    # 1 + Σ_{i=1}^{f−1} a / (a + i) = 1 + a [ψ(f + a) − ψ(1 + a)], the expected tables of one cell.
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
    # Persons are divided and not cells: a cell in both parts is what tells σ and θ.
    parts = rng.multinomial(sizes, np.full(PARTS, 1 / PARTS)).T
    foretold = [
        _foretold(keys, (sizes - part, part), anew, domains, rng, neighbours=neighbours)
        # Few cells leave the weights to chance, which all parts together make less.
        for part in (parts if len(keys) <= FEW_CELLS else parts[:1])
        if 0 < part.sum() < sizes.sum()
    ]
    if not foretold:
        # Nobody could be held out: nothing prefers a
        # model, and half a person is left to the unseen.
        weights = np.full(len(models), 1 / len(models))
        return CellModel(Discount(0.5, 1.0), weights, tuple(models), keys, sizes, drawn)
    shares, count, times, others, distinct = (
        np.concatenate(each) for each in zip(*foretold, strict=True)
    )
    # Cells seen in the other part may be followers there:
    # only new ones judge what the models draw anew.
    weights = stacked(shares, times if anew is None else 1.0 * (count == 0))
    discount = Discount.fitted(count, others, distinct, shares @ weights, times)
    return CellModel(discount, weights, tuple(models), keys, sizes, drawn)


def _foretold(
    keys: Keys,
    parts: tuple[Ints, Ints],
    anew: Floats | None,
    domains: Sequence[int],
    rng: np.random.Generator,
    *,
    neighbours: bool,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """How well models of the persons of one part foretell cells of the other's.

    Of each of these cells its probability by each model, its persons in both parts, and of the
    first part all persons and cells; the first of shape (cells, models), the others (cells,).
    """
    inside, held = parts
    train, test = np.flatnonzero(inside), np.flatnonzero(held)
    seen = float(inside.sum()), float(len(train))
    # Models of a part serve to weigh alone, which bounds what they may cost.
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
    others, distinct = (np.full(len(test), each) for each in seen)
    return shares, inside[test].astype(float), held[test].astype(float), others, distinct


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
        # 24 classes of a small sample would each have their own few persons by heart.
        most = max(LATENT[0][0], int(few[1].sum()) // PER_LATENT_CLASS)
        if neighbours:
            models.append(Copula(*few, margins))
        for classes, prior, near in LATENT:
            tried = [
                LatentClasses(
                    *few, margins, min(classes, most), prior, rng, neighbours=near and neighbours
                )
                # A few latent classes end in poor local maxima
                # of EM; many cover all places from any start.
                for _ in range(STARTED // classes or 1)
            ]
            models.append(max(tried, key=lambda each: each.likelihood))
    return models


def stacked(shares: Floats, times: Floats | Ints) -> Floats:
    """Weights under which held out shares, of shape (values, models), are likeliest (EM)."""
    weights = np.full(shares.shape[1], 1 / shares.shape[1])
    for _ in range(EM_STEPS):
        joint = shares * weights
        joint /= np.maximum(joint.sum(axis=1, keepdims=True), TINY)
        # EM for a mixture: w_m = Σ_i t_i w_m p_m(i) / Σ_m'
        # w_m' p_m'(i) / Σ t_i. The 1e-9 keeps 0 / 0 away.
        weights = (times @ joint + 1e-9) / (times.sum() + 1e-9 * len(weights))
    found: Floats = weights / weights.sum()
    return found
