"""How likely each combination of quasi-identifiers is in the population behind a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_matrix
from scipy.special import digamma, expit

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.risk.population.value_shares import UNSEEN, Margin

Keys = Codes
FITTED = 8_000
"""Classes that the models are fitted to at most."""
Latent = tuple[tuple[int, float], ...]
LATENT: Latent = ((3, 3.0), (5, 3.0), (8, 30.0), (24, 12.0), (64, 12.0))
"""Numbers of latent classes, and the persons of the whole that each one's shares are mixed with."""
WIDE: Latent = ((8, 30.0), (24, 12.0))
"""Those that do not take persons of a home for ones whom the models draw, who would hide others."""
PER_LATENT_CLASS = 25
"""Persons of the sample that a latent class needs."""
PASSES = 20
"""Passes of the EM algorithm."""
EM_STEPS = 100
HELD_OUT = 1 / 3
"""Share of the persons by whom models are weighed."""
FOLLOWED = 0.95
"""Share of founders below which the models are fitted to them alone."""
TINY = 1e-300
SPARSE = 0.15
"""Share of persons alone with their two values, from which on the pair tells too little."""
STRONGEST = 14.0
"""Logarithm of the greatest strength, and of one over the least."""
VALUES_FITTED = 4_000
"""Values by which a discount is fitted at most."""
GAIN = 1e-4
"""Least gain of a pair that goes together."""
SECONDS = 3
"""Quasi-identifiers that are tried beside the parent of another one."""
BLOCK = 1 << 16
"""Cells that are looked at together, as all their latent classes are in memory."""
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
        some = slice(None, None, 1 + len(times) // VALUES_FITTED)
        count, whole, times = count[some], whole[some], times[some]
        others, distinct = (
            each[some] if isinstance(each, np.ndarray) else each for each in (others, distinct)
        )

        def loss(parameters: Floats) -> float:
            one = cls(
                float(expit(parameters[0])),
                float(np.exp(np.clip(parameters[1], -STRONGEST, STRONGEST))),
            )
            return -float(times @ np.log(one.chances(count, others, distinct, whole) + TINY))

        starts = [np.array([0.0, 1.0]), np.array([2.0, 5.0])]
        options = {"xatol": 0.05, "fatol": 1e-3 * float(times.sum()) ** 0.5, "maxiter": 80}
        tried = [minimize(loss, start, method="Nelder-Mead", options=options) for start in starts]
        best = min(tried, key=lambda each: float(each.fun)).x
        return cls(float(expit(best[0])), float(np.exp(np.clip(best[1], -STRONGEST, STRONGEST))))

    def chances(
        self, count: Floats, others: Floats | float, distinct: Floats | float, whole: Floats
    ) -> Floats:
        """Probability of a value that ``count`` of the ``others`` have; see `fitted`."""
        again = np.where(count > 0, count - self.discount, 0.0)
        anew = (self.strength + self.discount * distinct) * whole
        found: Floats = (again + anew) / np.maximum(others + self.strength, TINY)
        return found


class Conditional:
    """A quasi-identifier given one other or two: values that were seen with them, else any.

    Given two, values are what they are given the first of them, until the sample tells more: a
    hierarchical process of Pitman and Yor (Teh 2006), in which each person counts at both levels.

    Attributes
    ----------
    discount
        How much of the values that were seen is left to the others.

    Parameters
    ----------
    given
        Values of the others of each class, each of shape (classes,).
    codes
        Its own, shape (classes,).
    margins
        Those of the others, and its own.
    sizes
        Persons of each class.
    base
        The same, given the first of the others alone.
    """

    def __init__(
        self,
        given: Sequence[Codes],
        codes: Codes,
        margins: Sequence[Margin],
        sizes: Ints,
        base: Conditional | None = None,
    ) -> None:
        self._margin, self._width, self._base = margins[-1], margins[-1].values + 1, base
        self._widths = [each.values + 1 for each in margins[:-1]]
        self._contexts, context = np.unique(self._joined(given)[0], return_inverse=True)
        room = len(self._contexts) + 1
        pair = context.astype(np.int64) * self._width + codes
        self._pairs, persons = _counted(pair, room * self._width, sizes)
        self._count = persons.astype(float)
        before, after = np.divmod(self._pairs, self._width)
        # Of a context that was not seen, the last one, nobody is known.
        self._all = np.bincount(before, self._count, minlength=room).astype(np.float64)
        self._distinct = np.bincount(before, minlength=room).astype(float)
        whole = self._margin.shares[after]
        if base is not None:
            first = (self._contexts[before] // self._widths[1]).astype(np.int32)
            whole = base.of([first], after.astype(np.int32), np.ones(len(after), dtype=np.int64))
        self.discount = Discount.fitted(
            self._count - 1,
            self._all[before] - np.ones(len(before)),
            self._distinct[before] - (self._count == 1),
            whole,
            self._count,
        )
        ends = np.concatenate([[0.0], np.cumsum(self._count - self.discount.discount)])
        at = np.searchsorted(self._pairs, np.arange(room + 1) * self._width)
        self._ends, self._start, self._stop = ends, ends[at[:-1]], ends[at[1:]]

    def _joined(self, given: Sequence[Codes]) -> tuple[Ints, Bools]:
        """One number for the values of the others, and whether all of them are known."""
        joined, known = np.zeros(len(given[0]), dtype=np.int64), np.ones(len(given[0]), dtype=bool)
        for codes, width in zip(given, self._widths, strict=True):
            joined, known = joined * width + codes % width, known & (codes != UNSEEN)
        return joined, known

    def _context(self, given: Sequence[Codes]) -> Ints:
        joined, known = self._joined(given)
        at = np.minimum(np.searchsorted(self._contexts, joined), len(self._contexts) - 1)
        context: Ints = np.where(known & (self._contexts[at] == joined), at, len(self._contexts))
        return context

    def of(self, given: Sequence[Codes], codes: Codes, without: Ints) -> Floats:
        """Probability of its value given the others', without some persons; shape (cells,)."""
        context = self._context(given)
        key = context * self._width + codes % self._width
        at = np.minimum(np.searchsorted(self._pairs, key), len(self._pairs) - 1)
        found = np.where(self._pairs[at] == key, self._count[at], 0.0)
        count = np.maximum(found - without, 0.0)
        distinct = self._distinct[context] - ((found > 0) & (count == 0))
        if self._base is None:
            whole = self._margin.shares_without(codes, without)
        else:
            whole = self._base.of(given[:1], codes, without)
        others = np.maximum(self._all[context] - without, 0.0)
        return self.discount.chances(count, others, distinct, whole)

    def draw(self, given: Sequence[Codes], rng: np.random.Generator) -> Ints:
        """Its values for persons whose others are given, `UNSEEN` among them."""
        context = self._context(given)
        again = (self._stop - self._start)[context]
        chance = again / np.maximum(self._all[context] + self.discount.strength, TINY)
        place = self._start[context] + rng.random(len(context)) * again
        at = np.clip(np.searchsorted(self._ends, place, "right") - 1, 0, len(self._pairs) - 1)
        if self._base is None:
            anew = self._margin.draw(len(context), rng)
        else:
            anew = self._base.draw(given[:1], rng)
        return np.where(rng.random(len(context)) < chance, self._pairs[at] % self._width, anew)

    def gained(self, given: Sequence[Codes], codes: Codes, sizes: Ints) -> float:
        """How much better each person is foretold by the others of two levels than of the first.

        Mean logarithm of their ratio, each person left out.
        """
        if self._base is None:
            return 0.0
        alone = np.ones(len(codes), dtype=np.int64)
        ratio = self.of(given, codes, alone) / self._base.of(given[:1], codes, alone)
        return float(sizes @ np.log(np.maximum(ratio, TINY))) / float(sizes.sum())


def _counted(numbers: Ints, room: int, sizes: Ints) -> tuple[Ints, Ints]:
    """The numbers below ``room`` that occur, ascending, and the persons of each."""
    if room <= DENSE:
        persons = np.bincount(numbers, sizes)
        found = np.flatnonzero(persons)
        return found, persons[found].astype(np.int64)
    found, number = np.unique(numbers, return_inverse=True)
    return found, np.bincount(number, sizes).astype(np.int64)


def _gain(first: Codes, second: Codes, margins: tuple[Margin, Margin], sizes: Ints) -> float:
    """How much better each person's pair is foretold by the others' pairs than by their values.

    Mean logarithm of w n_ab / n + (1 - w) p_a p_b over p_a p_b, each person left out, at the best
    w; 0 where too many pairs have one person.
    """
    width = margins[1].values + 1
    pair = first.astype(np.int64) * width + second
    pairs, persons = _counted(pair, (margins[0].values + 1) * width, sizes)
    n = int(sizes.sum())
    if int((persons == 1).sum()) >= SPARSE * n:
        return 0.0
    before, after = np.divmod(pairs, width)
    apart = margins[0].persons[before] * margins[1].persons[after] / n
    ratio = (persons - 1) / max(n - 1, 1) * n / apart
    shares = persons / n

    def loss(weight: float) -> float:
        return -float(shares @ np.log1p(weight * (ratio - 1)))

    return -float(minimize_scalar(loss, bounds=(0.0, 0.9999), method="bounded").fun)


def gains_of_pairs(
    keys: Keys, sizes: Ints, margins: Sequence[Margin]
) -> dict[frozenset[int], float]:
    """How much any two quasi-identifiers tell of each other. O(classes x columns^2).

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
    return {
        frozenset((one, other)): _gain(
            keys[some, one], keys[some, other], (few[one], few[other]), sizes[some]
        )
        for other in range(keys.shape[1])
        for one in range(other)
    }


def tree_of_pairs(gains: dict[frozenset[int], float], columns: int) -> list[tuple[int | None, int]]:
    """Parent and child along the tree of the pairs that tell most of each other, parents first.

    Chow and Liu 1968 (IEEE Trans. Inf. Theory 14:462-467), by Prim's algorithm; who tells nothing
    of another has no parent.
    """
    order: list[tuple[int | None, int]] = [(None, 0)]
    inside, outside = [0], [*range(1, columns)]
    while outside:
        gain, parent, child = max(
            (gains[frozenset((one, other))], -one, -other) for one in inside for other in outside
        )
        order.append((-parent if gain > GAIN else None, -child))
        inside.append(-child)
        outside.remove(-child)
    return order


class Tree:
    """Quasi-identifiers that depend on each other along a tree of pairs.

    Where a second one tells more of a value than its parent in the tree does, both are given.
    """

    def __init__(self, keys: Keys, sizes: Ints, margins: Sequence[Margin]) -> None:
        self._margins = margins
        self._edges: list[tuple[tuple[int, ...], int, Conditional | None]] = []
        gains = gains_of_pairs(keys, sizes, margins)
        for parent, child in tree_of_pairs(gains, len(margins)):
            earlier = [each for _, each, _ in self._edges if each != parent]
            earlier.sort(key=lambda each: -gains[frozenset((each, child))])
            if parent is not None:
                earlier.insert(0, parent)
            some = slice(None, None, 1 + len(keys) // LEARNT)
            told = self._told_by(earlier, child, keys[some], sizes[some], alone=parent is None)
            if told[2] is not None and len(keys) > LEARNT:
                one = self._given(told[0][:1], child, keys, sizes, None)
                both = self._given(told[0], child, keys, sizes, one) if told[0][1:] else one
                told = (told[0], child, both)
            self._edges.append(told)

    def _told_by(
        self, others: Sequence[int], child: int, keys: Keys, sizes: Ints, *, alone: bool
    ) -> tuple[tuple[int, ...], int, Conditional | None]:
        """The edge to a quasi-identifier from the first of the others, or from it and a second.

        Two may tell a third together of which neither tells anything alone.
        """
        if not others or (alone and len(others) == 1):
            return (), child, None
        one = self._given(others[:1], child, keys, sizes, None)
        found: tuple[tuple[int, ...], Conditional | None] = ((), None)
        if not alone:
            found = (others[0],), one
        most = GAIN
        for other in others[1 : 1 + SECONDS]:
            both = self._given((others[0], other), child, keys, sizes, one)
            given = [keys[:, others[0]], keys[:, other]]
            gained = both.gained(given, keys[:, child], sizes)
            if gained > most:
                most, found = gained, ((others[0], other), both)
        return found[0], child, found[1]

    def _given(
        self,
        parents: Sequence[int],
        child: int,
        keys: Keys,
        sizes: Ints,
        base: Conditional | None,
    ) -> Conditional:
        margins = [self._margins[each] for each in (*parents, child)]
        given = [keys[:, each] for each in parents]
        return Conditional(given, keys[:, child], margins, sizes, base)

    def of(self, keys: Keys, without: Ints) -> Floats:
        """See `Density`."""
        chances = np.ones(len(keys))
        for parents, child, given in self._edges:
            codes = keys[:, child]
            if given is None:
                chances *= self._margins[child].shares_without(codes, without)
            else:
                chances *= given.of([keys[:, each] for each in parents], codes, without)
        return chances

    def draw(self, count: int, rng: np.random.Generator) -> Keys:
        """See `Density`."""
        codes: dict[int, Ints] = {}
        for parents, child, given in self._edges:
            if given is None:
                codes[child] = self._margins[child].draw(count, rng)
            else:
                codes[child] = given.draw([codes[each].astype(np.int32) for each in parents], rng)
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

    def _joint(self, keys: Keys) -> Floats:
        """Probability of each cell together with each latent class; shape (cells, classes)."""
        joint = np.tile((self._total + 1) / (self._total + 1).sum(), (len(keys), 1))
        for codes, count, margin in zip(keys.T, self._counts, self._margins, strict=True):
            mixed = count + self._prior * margin.shares[:, None]
            joint *= np.take(mixed / (self._total + self._prior), codes, axis=0)
        return np.asarray(joint)

    def _joint_without(self, keys: Keys, left_out: Floats) -> Floats:
        """The same with so many persons of each cell left out; shape (cells, classes)."""
        total = np.maximum(self._total - left_out, 0.0)
        joint = (total + 1) / (self._total + 1).sum()
        for codes, count, margin in zip(keys.T, self._counts, self._margins, strict=True):
            own = np.maximum(count[codes] - left_out, 0.0)
            joint *= (own + self._prior * margin.shares[codes][:, None]) / (total + self._prior)
        return np.asarray(joint)

    def of(self, keys: Keys, without: Ints) -> Floats:
        """See `Density`; a person counts for each latent class as it was fitted with them."""
        joint = self._joint(keys)
        if without.any():
            belongs = joint / np.maximum(joint.sum(axis=1, keepdims=True), TINY)
            joint = self._joint_without(keys, belongs * without[:, None])
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
    keys: Keys,
    sizes: Ints,
    domains: Sequence[int],
    rng: np.random.Generator,
    latent: Latent = LATENT,
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
    latent
        Numbers of latent classes, and the persons of the whole with whom each one's shares are
        mixed.
    """
    domains = domains or (keys.max(axis=0) + 1).tolist()
    some = _some(len(keys), rng)
    model = _fitted(keys, sizes, None, some, domains, latent, rng)
    anew = model.anew(model.keys, model.founders)
    if founders(sizes, anew).sum() < FOLLOWED * sizes.sum():
        return _fitted(keys, sizes, anew, some, domains, latent, rng)
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
    latent: Latent,
    rng: np.random.Generator,
) -> CellModel:
    """The models of all founders, weighed on some classes; everybody is one without ``anew``."""
    drawn = sizes if anew is None else founders(sizes, anew)
    models = _models(keys, drawn, (keys[some], drawn[some]), domains, latent, rng)
    held = rng.binomial(sizes, HELD_OUT)
    inside = sizes - held
    train, test = np.flatnonzero(inside), np.flatnonzero(held)
    seen = float(inside.sum()), float(len(train))
    weights, discount = np.full(len(models), 1 / len(models)), Discount(0.5, 1.0)
    if len(train) and len(test):
        train = train[_some(len(train), rng, LEARNT)]
        part = inside[train] if anew is None else founders(inside[train], anew[train])
        few = _some(len(train), rng)
        tried = _models(keys[train], part, (keys[train][few], part[few]), domains, latent, rng)
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
    latent: Latent,
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
            for classes, prior in latent
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
