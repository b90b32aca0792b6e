"""Quasi-identifiers that depend on each other by something hidden alone: classes, or a factor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_matrix
from scipy.special import ndtr, ndtri

from sfumato.core.arrays import Floats, Integers, Ints
from sfumato.risk.population.cell_tree import MANY, RANGES, TINY, Keys, in_ranges
from sfumato.risk.population.value_shares import UNSEEN, Margin

# Cells of schools held out at π = 0.05 are foretold better by 0.18 of a logarithm with ranges.
OF_RANGES = 10.0
"""Persons of the whole that each one's shares of the ranges of neighbours are mixed with."""
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
        # Persons of one latent class stand together, so that a column is drawn once per class.
        belongs = np.sort(rng.choice(len(self.weights), count, p=self.weights))
        drawn = np.empty((count, len(self.chances)), dtype=np.int32)
        for latent in range(len(self.weights)):
            here = np.flatnonzero(belongs == latent)
            for column, chances in enumerate(self.chances):
                shown = chances[:-1, latent]
                # What the shown values leave of 1 is that of all values not shown together.
                every = np.append(shown, max(1 - shown.sum(), 0.0))
                codes = rng.choice(len(every), len(here), p=every / every.sum())
                drawn[here, column] = np.where(codes == len(shown), UNSEEN, codes)
        # `between_models` takes every fourth draw, which must be of all latent classes.
        return rng.permutation(drawn)


class _Base:
    """What latent classes have of a quasi-identifier until their persons tell more of its values.

    As the whole has them; or as a class has their ranges of neighbours, and the whole those within.
    """

    def __init__(self, margin: Margin, *, neighbours: bool) -> None:
        self._shares, self._ranges = margin.shares, None
        if neighbours and margin.values > MANY:
            # Values that are not shown are as likely in all classes: everybody is in their range.
            self._ranges = margin.ranges(RANGES) % (RANGES + 1)
            shown = margin.shares[:-1]
            self._whole = np.bincount(self._ranges[:-1], shown / shown.sum(), RANGES + 1)
            # The share of a value within "its range" is its
            # share of all where everybody is in that range.
            self._whole[RANGES] = 1.0
            self._shares = margin.shares / np.maximum(self._whole[self._ranges], TINY)

    def persons_in(self, values: Integers, counts: Floats) -> Floats:
        """Persons of each latent class in each range, by those with values; (ranges, latent)."""
        if self._ranges is None:
            return counts[:0]
        where = (self._ranges[values], np.arange(len(values)))
        lies = csr_matrix((np.ones(len(values)), where), (RANGES, len(values)))
        return np.vstack([lies @ counts, counts.sum(axis=0)])

    def of(
        self, values: Integers, persons: Floats, total: Floats, left_out: Floats | float = 0.0
    ) -> Floats:
        """Probability of values in each latent class, so many of its persons being left out.

        Parameters
        ----------
        values
            Codes, shape (values,).
        total
            Persons of each class who are not left out, of shape (latent,) or (values, latent).
        left_out
            Those who are, shape (values, latent).
        """
        shares = np.take(self._shares, values)[:, None]
        if self._ranges is None:
            return shares
        lies = np.take(self._ranges, values)
        own: Floats = np.maximum(np.take(persons, lies, axis=0) - left_out, 0.0)
        # Dirichlet: (n_r + OF_RANGES p_r) / (n + OF_RANGES) for the range, times the value's share
        # of it.
        own += OF_RANGES * np.take(self._whole, lies)[:, None]
        own *= shares
        own /= total + OF_RANGES
        return own


class LatentClasses(LocallyIndependent):
    """Latent classes fitted by EM (Goodman 1974).

    The shares of a class are mixed with those of a `_Base`, unseen values included, as if it
    had ``prior`` persons more. The likelihood is a logarithm.
    """

    def __init__(
        self,
        keys: Keys,
        sizes: Ints,
        margins: Sequence[Margin],
        classes: int,
        prior: float,
        rng: np.random.Generator,
        *,
        neighbours: bool = True,
    ) -> None:
        self._bases = [_Base(margin, neighbours=neighbours) for margin in margins]
        self._prior = prior
        values, codes = zip(*(np.unique(each, return_inverse=True) for each in keys.T), strict=True)
        shown = [
            csr_matrix((np.ones(len(keys)), (code, np.arange(len(keys)))), (len(value), len(keys)))
            for value, code in zip(values, codes, strict=True)
        ]
        # Below 1 the draws are uneven: equal ones would be a
        # fixed point of EM, where all classes are the same.
        belongs = rng.dirichlet(np.full(classes, 0.3), len(keys))
        for _ in range(PASSES):
            weighted = belongs * sizes[:, None]
            self._total = weighted.sum(axis=0)
            counts = [one @ weighted for one in shown]
            # M step, with one person more per class, so that none dies out.
            self.weights = (self._total + 1) / (self._total + 1).sum()
            self._in_ranges = [
                base.persons_in(value, count)
                for base, value, count in zip(self._bases, values, counts, strict=True)
            ]
            self.chances = self._mixed(values, counts)
            # E step: P(class | cell) = w_c Π_q P(q | c) / Σ.
            belongs = self.joint(np.column_stack(codes))
            likely = np.maximum(belongs.sum(axis=1, keepdims=True), TINY)
            belongs /= likely
        # Σ f_j log P(cell j).
        self.likelihood = float(sizes @ np.log(likely[:, 0]))
        self._counts = [np.zeros((margin.values + 1, classes)) for margin in margins]
        for every, own, count in zip(self._counts, values, counts, strict=True):
            every[own] = count
        # EM ran on the values of some classes: every value of the file, and one not shown, needs a
        # chance.
        self.chances = self._mixed([np.arange(len(count)) for count in self._counts], self._counts)

    def _mixed(self, values: Sequence[Ints], counts: Sequence[Floats]) -> list[Floats]:
        """Probability of values of each column in each latent class."""
        columns = zip(self._bases, values, counts, self._in_ranges, strict=True)
        mixed = (
            count + self._prior * base.of(own, ranges, self._total)
            for base, own, count, ranges in columns
        )
        return [each / (self._total + self._prior) for each in mixed]

    def _joint_without(self, keys: Keys, left_out: Floats) -> Floats:
        """As `joint`, with so many persons of each cell left out; shape (cells, latent)."""
        total = np.maximum(self._total - left_out, 0.0)
        # (count − left + prior base) / (total − left + prior) for each column, as if fitted without
        # them but with the same classes.
        joint: Floats = (total + 1) / (self._total + 1).sum()
        columns = zip(keys.T, self._counts, self._bases, self._in_ranges, strict=True)
        for codes, count, base, ranges in columns:
            own = np.take(count, codes, axis=0)
            own -= left_out
            np.maximum(own, 0.0, out=own)
            own += self._prior * base.of(codes, ranges, total, left_out)
            own /= total + self._prior
            joint *= own
        return joint

    def of(self, keys: Keys, without: Ints) -> Floats:
        """See `Density`; a person counts for each latent class as it was fitted with them."""
        joint = self.joint(keys)
        if without.any():
            # A person is taken out of each latent class by the probability to be in it.
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
            np.vstack(
                [given_factor(margin.shares[:-1], load), np.full(len(NODES), margin.shares[-1])]
            )
            for margin, load in zip(margins, loads.tolist(), strict=True)
        ]

    def of(self, keys: Keys, without: Ints) -> Floats:
        """See `Density`; who is left out counts for the margins alone."""
        chances = self.joint(keys).sum(axis=1)
        for codes, margin in zip(keys.T, self._margins, strict=True):
            own = margin.shares[codes]
            left = margin.shares_without(codes, without)
            # The loads rest on all persons: one of them left out does not move them.
            chances *= np.divide(left, own, out=np.ones_like(own), where=own > 0)
        return np.asarray(chances)


def given_factor(shares: Floats, load: float) -> Floats:
    """Probability of ordered values given the factor of a copula; shape (values, `NODES`)."""
    ends = np.append(0.0, shares.cumsum())
    scores = ndtri(ends / ends[-1])[:, None]
    # P(value | z) = Φ((b − ρ z) / √(1 − ρ²)) between the normal scores b of the value's ends.
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
        ndtri(share.cumsum() - share / 2)[codes]
        for share, codes in zip(shares, keys.T, strict=True)
    ]
    # √eigenvalue times eigenvector are the loads of the first
    # factor where noise is small: a start that is near.
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
        # The column itself is taken out of the product, so that its load is judged by the others.
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
