"""The cells over which a model is judged: all of them, or the observed ones and draws."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from sfumato.risk.population.log_linear.cells import Cells, Floats, Ints, Lookup
from sfumato.risk.population.log_linear.fit import Fitted

ENUMERATED = 200_000
"""Up to this number of cells of the full table, sums over all of them are exact."""
_FEWEST_DRAWS, _MOST_DRAWS = 20_000, 50_000
_PER_SIZE = 50_000


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
        """The cells with a model's fitted means.

        Parameters
        ----------
        model
            A fitted model.
        """


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
        """The cells with a model's fitted means; exact.

        Parameters
        ----------
        model
            A fitted model.
        """
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
        """The cells with a model's fitted means; sums over them are unbiased.

        Parameters
        ----------
        model
            A fitted model.
        """
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
    model
        A fitted model.
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
