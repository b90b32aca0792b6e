"""How a log-linear model is chosen: goodness of fit for the risk of classes of each size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, sqrt
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import gammaln, lambertw

from sfumato.core.arrays import Floats, Ints
from sfumato.risk.population.inverse_sizes import confluent
from studies.dankar_el_emam.contingency_table import Cells, Lookup, Pair
from studies.dankar_el_emam.log_linear_fit import Fitted, Fitter, Terms

_STEP = 0.05
"""Distance of neighbouring positions of the tables over the fitted mean."""
_SMALLEST = 1e-16
"""Fitted means below it are taken for it: they add nothing to the criteria."""
_NEGLIGIBLE = -300.0
"""Logarithm of the Poisson probability of a size below which its coefficients are 0."""
_BEYOND = 13.0
"""By how much √ of the largest mean in the tables lies above √ of the largest size."""
Band = tuple[int, ...]
"""Class sizes that are searched together; ``MISSED`` for the classes that the sample missed."""
MISSED: Band = (0,)
ENUMERATED = 200_000
"""Up to this number of cells of the full table, sums over all of them are exact."""
_FEWEST_DRAWS, _MOST_DRAWS = 20_000, 50_000
_PER_SIZE = 50_000
"""Observed cells of one size that are looked at; they stand for the others."""
INDEPENDENCE: Terms = frozenset()
LARGEST_ALONE = 10
"""Classes of up to this size have a search of their own in every sample."""
_WIDENING = 1.25
"""Ratio of the largest to the smallest size of a band above them."""
_FEWEST = 0.001
"""Share of the classes that a band must hold, else it takes in the next sizes."""


class Coefficients(NamedTuple):
    """How the estimated risk of a cell moves with the error of its fitted mean.

    With μ the mean that is fitted and f a count of mean μ*, a (f - μ) estimates the linear term
    of the error's expansion about μ*, and b [(f - μ)² - f] the quadratic one.

    Attributes
    ----------
    a
        Of the linear term, per cell.
    b
        Of the quadratic term, per cell.
    """

    a: Floats
    b: Floats


def of_size(size: int, means: Floats, fraction: float) -> Coefficients:
    """The coefficients for the classes with ``size`` persons in the sample.

    Their risk is Σ over cells of P(f = k) R_k, with P the Poisson probability at μ, held fixed,
    and R_k = k E[1/F | f = k]; for k = 0 R is P(F > 0 | f = 0), whose sum over the empty cells is
    the number of classes that the sample missed. For k = 1 this is the criterion for τ2.

    Parameters
    ----------
    size
        k, at least 0.
    means
        μ, the fitted mean of each cell in the sample, above 0.
    fraction
        π, the sampling fraction, in (0, 1).
    """
    odds = (1 - fraction) / fraction
    unseen = odds * means
    present = np.exp(size * np.log(means) - means - gammaln(size + 1))
    if size == 0:
        moves = odds * present * np.exp(-unseen)
        return Coefficients(-moves, -odds * moves / 2)
    linear = confluent(2, size, unseen) / (size + 1)
    square = confluent(3, size, unseen) / ((size + 1) * (size + 2))
    return Coefficients(odds * present * linear, odds * odds * present * square)


def of_direction(size: int, means: Floats, fraction: float) -> Coefficients:
    """The coefficients whose B has the sign of the estimate's error under lack of fit.

    P(f = k) moves with the mean too: b* = (k / μ - 1) a - b in the place of b.

    Parameters
    ----------
    size
        k, at least 0.
    means
        μ, the fitted mean of each cell in the sample, above 0.
    fraction
        π, the sampling fraction, in (0, 1).
    """
    a, b = of_size(size, means, fraction)
    return Coefficients(a, (size / means - 1) * a - b)


class Criteria:
    """B / √variance of one model for many bands of class sizes.

    The coefficients are tabulated at means whose positions log μ + 2√μ are equally spaced (the
    Poisson probability of a size is a bump of width about 1 there), and interpolated by cubics:
    B and the variance are then the products of one table with sums over the cells, whatever the
    number of bands. The relative error is about 10⁻⁶ where a size is likely.

    Parameters
    ----------
    bands
        The class sizes; a band's criterion is that of the sum of its sizes' risks.
    fraction
        π, the sampling fraction.
    """

    def __init__(self, bands: Sequence[Band], fraction: float) -> None:
        largest = max(size for band in bands for size in band)
        self._largest = (sqrt(largest) + _BEYOND) ** 2
        self._first = log(_SMALLEST) + 2 * sqrt(_SMALLEST) - 2 * _STEP
        last = log(self._largest) + 2 * sqrt(self._largest)
        nodes = int((last - self._first) / _STEP) + 5
        means = _mean_at(self._first + _STEP * np.arange(nodes, dtype=np.float64))
        self._linear = np.empty((len(bands), nodes))
        self._square = np.empty_like(self._linear)
        for row, band in enumerate(bands):
            self._linear[row], self._square[row] = _of_band(band, means, fraction)
        self._variance = means * self._linear**2 + 2 * (means * self._square) ** 2

    def of(self, sizes: Ints | Floats, means: Floats, weights: Floats) -> Floats:
        """B / √variance of each band; 0 where a band has no variance.

        Parameters
        ----------
        sizes
            f, the persons of each cell, 0 for empty cells.
        means
            μ, the fitted mean of each cell, at least 0.
        weights
            Number of cells of the full table that each one stands for.
        """
        place = (_position(np.clip(means, _SMALLEST, self._largest)) - self._first) / _STEP
        node = place.astype(np.int64)
        shares = _cubic(place - node)
        apart = sizes - means
        sums = [weights * apart, weights * (apart * apart - sizes), weights]
        linear, square, count = (self._spread(node, shares, values) for values in sums)
        bias = self._linear @ linear + self._square @ square
        deviation = np.sqrt(np.maximum(self._variance @ count, 0.0))
        return np.divide(bias, deviation, out=np.zeros_like(bias), where=deviation > 0)

    def _spread(self, node: Ints, shares: Sequence[Floats], values: Floats) -> Floats:
        nodes = self._linear.shape[1]
        total = np.zeros(nodes)
        for offset, share in enumerate(shares):
            total += np.bincount(node + (offset - 1), weights=share * values, minlength=nodes)
        return total


def _position(means: Floats) -> Floats:
    position: Floats = np.log(means) + 2 * np.sqrt(means)
    return position


def _mean_at(position: Floats) -> Floats:
    """The mean whose position it is: √μ + log √μ = position / 2."""
    half = position / 2
    root = np.empty_like(half)
    small = half < 300
    root[small] = lambertw(np.exp(half[small])).real
    large = half[~small]
    guess = large - np.log(large)
    for _ in range(4):
        guess -= (guess + np.log(guess) - large) / (1 + 1 / guess)
    root[~small] = guess
    return root * root


def _cubic(t: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Lagrange's weights of the four nodes around a point at share t between the middle two."""
    before, after, beyond = t + 1, 1 - t, 2 - t
    return (
        -t * after * beyond / 6,
        before * after * beyond / 2,
        before * t * beyond / 2,
        -before * t * after / 6,
    )


def _of_band(band: Band, means: Floats, fraction: float) -> Coefficients:
    total = Coefficients(np.zeros_like(means), np.zeros_like(means))
    kind: Callable[[int, Floats, float], Coefficients] = of_direction if band == MISSED else of_size
    for size in band:
        likely = size * np.log(means) - means - gammaln(size + 1) > _NEGLIGIBLE
        if likely.any():
            a, b = kind(size, means[likely], fraction)
            total.a[likely] += a
            total.b[likely] += b
    return total


class Judged(NamedTuple):
    """Cells with what a model says of them.

    Attributes
    ----------
    sizes
        f, the persons of each; 0 for empty cells.
    means
        μ, the fitted mean of each.
    weights
        Number of cells of the full table that each one stands for.
    """

    sizes: Floats
    means: Floats
    weights: Floats


class Evidence(Protocol):
    """Where the sums over all cells of the full table are taken."""

    def judge(self, model: Fitted) -> Judged:
        """The cells with a model's fitted means."""


class AllCells:
    """Every cell of the full table, for a small one.

    Parameters
    ----------
    cells
        The observed cells.
    """

    def __init__(self, cells: Cells) -> None:
        grid = np.unravel_index(np.arange(cells.grid), cells.domains)
        self._codes = np.asfortranarray(np.stack(grid, axis=1), dtype=np.int32)
        self._sizes = np.zeros(cells.grid)
        self._sizes[np.ravel_multi_index(tuple(cells.codes.T), cells.domains)] = cells.sizes
        self._weights = np.ones(cells.grid)

    def judge(self, model: Fitted) -> Judged:
        """The cells with a model's fitted means; exact."""
        return Judged(self._sizes, model.means(self._codes), self._weights)


class DrawnCells:
    """The observed cells, and draws of empty ones from the model itself.

    Σ g(μ) over the empty cells is n · E[g(μ) / μ; empty] over draws with probability μ / n, and
    g / μ is bounded for the criteria. The same uniform numbers serve every model, so that the
    error moves comparisons between models less. Of the observed cells of one size, at most
    50,000 are looked at, and stand for the others.

    Parameters
    ----------
    cells
        The observed cells.
    rng
        Source of the draws.
    draws
        Number of draws; ``None`` for a tenth of the persons, between 20,000 and 50,000.
    """

    def __init__(self, cells: Cells, rng: np.random.Generator, draws: int | None = None) -> None:
        picked, self._observed = _strata(cells.sizes, rng)
        self._codes = cells.codes[picked]
        self._sizes = cells.sizes[picked].astype(np.float64)
        self._lookup = Lookup(cells)
        if draws is None:
            draws = int(np.clip(cells.n / 10, _FEWEST_DRAWS, _MOST_DRAWS))
        self._uniforms = spread_uniforms(cells.variables, draws, rng)

    def judge(self, model: Fitted) -> Judged:
        """The cells with a model's fitted means; sums over them are unbiased."""
        means, weights = empty_cells(model, self._lookup, self._uniforms)
        return Judged(
            np.concatenate([self._sizes, np.zeros(len(means))]),
            np.concatenate([model.means(self._codes), means]),
            np.concatenate([self._observed, weights]),
        )


def empty_cells(model: Fitted, lookup: Lookup, uniforms: Floats) -> tuple[Floats, Floats]:
    """Draws from a model that fell on empty cells: fitted means, and cells they stand for.

    Parameters
    ----------
    lookup
        Finds the observed cells.
    uniforms
        Numbers in [0, 1), shape (variables, draws).
    """
    codes, means = model.draw(uniforms)
    means = means[lookup.find(codes) < 0]
    weights = model.n / uniforms.shape[1] / means
    return means, weights


def spread_uniforms(variables: int, draws: int, rng: np.random.Generator) -> Floats:
    """Uniform numbers for draws of cells, shape (variables, draws).

    The first number of each draw lies in a part of [0, 1) of its own: that lowers the variance,
    and neighbouring draws read neighbouring parts of the tables.

    Parameters
    ----------
    variables
        Number of variables.
    draws
        Number of draws.
    rng
        Source of the numbers.
    """
    uniforms = rng.random((variables, draws))
    uniforms[0] = (np.arange(draws) + uniforms[0]) / draws
    return uniforms


def evidence_of(cells: Cells, rng: np.random.Generator) -> Evidence:
    """All cells of a small table, the observed ones and draws for a large one.

    Parameters
    ----------
    cells
        The observed cells.
    rng
        Source of the draws.
    """
    return AllCells(cells) if cells.grid <= ENUMERATED else DrawnCells(cells, rng)


def _strata(sizes: Ints, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Positions of the cells to look at, and the number that each one stands for."""
    order = rng.permutation(len(sizes))
    order = order[np.argsort(sizes[order], kind="stable")]
    _, starts, counts = np.unique(sizes[order], return_index=True, return_counts=True)
    kept = np.minimum(counts, _PER_SIZE)
    rank = np.arange(len(sizes)) - np.repeat(starts, counts)
    picked = order[rank < np.repeat(kept, counts)]
    return picked, np.repeat(counts / kept, kept)


@dataclass(frozen=True)
class Path:
    """The models that a search for one band of class sizes went through.

    Attributes
    ----------
    band
        The class sizes.
    criteria
        B / √variance of independence, and after each term.
    terms
        The terms in the order in which they were added.
    refused
        Terms that could not be tried on the way, because a table would be too large.
    """

    band: Band
    criteria: tuple[float, ...]
    terms: tuple[Pair, ...]
    refused: tuple[Pair, ...]

    @property
    def model(self) -> Terms:
        """The terms of the model that the search ended with."""
        return frozenset(self.terms)

    def in_words(self, columns: Sequence[str]) -> str:
        """The path as a sentence that is publishable.

        Parameters
        ----------
        columns
            Name of each variable.
        """
        steps = [f"independence {self.criteria[0]:.1f}"]
        for term, criterion in zip(self.terms, self.criteria[1:], strict=True):
            steps.append(f"+ {_name(term, columns)} {criterion:.1f}")
        text = f"{_classes(self.band)}, B/√v: {', '.join(steps)}"
        if self.refused:
            names = ", ".join(_name(term, columns) for term in self.refused)
            text += f"; not tried, too many cells: {names}"
        return text


class Search:
    """Searches for the models of one sample; models that searches share are fitted once.

    Starts at independence and adds, one at a time, the two-way term that leaves the least
    |B / √variance|, as long as that falls (Skinner and Shlomo 2008, Section 5; paper 004,
    Section 2.4.2, for every class size). It is no guarantee of a good model.

    Parameters
    ----------
    fitter
        Fits the models.
    evidence
        The cells that they are judged by.
    bands
        The class sizes that will be searched for.
    fraction
        π, the sampling fraction.
    """

    def __init__(
        self, fitter: Fitter, evidence: Evidence, bands: Sequence[Band], fraction: float
    ) -> None:
        self._fitter = fitter
        self._evidence = evidence
        self._bands = tuple(bands)
        self._criteria = Criteria(bands, fraction)
        self._judged: dict[Terms, Floats | None] = {}
        self._pairs = tuple(combinations(range(fitter.cells.variables), 2))

    def paths(self) -> list[Path]:
        """The path of each band."""
        return [self._path(position) for position in range(len(self._bands))]

    def _path(self, position: int) -> Path:
        model, refused = INDEPENDENCE, set()
        terms: list[Pair] = []
        criteria = [self._criterion(model, position)]
        while True:
            best: tuple[float, Pair] | None = None
            for term in self._pairs:
                if term in model:
                    continue
                judged = self._judge(model | {term})
                if judged is None:
                    refused.add(term)
                elif best is None or abs(judged[position]) < abs(best[0]):
                    best = float(judged[position]), term
            if best is None or abs(best[0]) >= abs(criteria[-1]):
                return Path(
                    self._bands[position], tuple(criteria), tuple(terms), tuple(sorted(refused))
                )
            criteria.append(best[0])
            terms.append(best[1])
            model |= {best[1]}

    def _criterion(self, model: Terms, position: int) -> float:
        judged = self._judge(model)
        return 0.0 if judged is None else float(judged[position])

    def _judge(self, model: Terms) -> Floats | None:
        """The criterion of every band; ``None`` where the model cannot be fitted."""
        if model not in self._judged:
            feasible = self._fitter.feasible(model)
            self._judged[model] = (
                self._criteria.of(*self._evidence.judge(self._fitter.fit(model)))
                if feasible
                else None
            )
        return self._judged[model]


def bands_of(sizes: Ints, classes: Ints) -> list[Band]:
    """The class sizes that occur, each alone where that tells something.

    Sizes up to 10 stand alone; above, bands widen by a quarter, since few classes have exactly
    such a size. A band with less than one in a thousand of the classes also holds the next sizes.

    Parameters
    ----------
    sizes
        The distinct sizes, ascending.
    classes
        Number of classes of each.
    """
    enough = _FEWEST * int(classes.sum())
    bands: list[list[int]] = []
    held = 0
    for size, count in zip(sizes.tolist(), classes.tolist(), strict=True):
        near = bands and bands[-1][0] > LARGEST_ALONE and size < _WIDENING * bands[-1][0]
        if bands and (near or held < enough):
            bands[-1].append(size)
            held += count
        else:
            bands.append([size])
            held = count
    return [tuple(band) for band in bands]


def _classes(band: Band) -> str:
    if band == MISSED:
        return "classes missed by the sample"
    return f"classes of {band[0]}" + (f" to {band[-1]}" if len(band) > 1 else "")


def _name(term: Pair, columns: Sequence[str]) -> str:
    return " × ".join(columns[variable] for variable in term)
