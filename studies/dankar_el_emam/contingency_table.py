"""The observed cells of a sample's contingency table, and its one- and two-way margins."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.risk.population import estimator_protocol as protocol

Pair = tuple[int, int]
"""A two-way term: two variables, the lower one first."""

_DENSE_PAIR = 65_536
_LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class SparseTable:
    """The positive cells of the margin of a pair of variables.

    Attributes
    ----------
    first, second
        Codes of the two variables in each positive cell, sorted by (first, second).
    counts
        Persons of each, above 0.
    """

    first: Codes
    second: Codes
    counts: Floats


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that the sample has, their variables coded by the values that occur.

    A value that does not occur has fitted mean 0 under every model, so that it adds nothing to a
    sum over all cells.

    Attributes
    ----------
    codes
        Code of every variable in every cell, shape (cells, variables).
    sizes
        Persons of each cell, at least 1, shape (cells,).
    domains
        Number of values of each variable that occur.
    """

    codes: Codes
    sizes: Ints
    domains: tuple[int, ...]
    _pairs: dict[Pair, Floats | SparseTable] = field(default_factory=dict, repr=False)
    _singles: dict[int, Floats] = field(default_factory=dict, repr=False)

    @property
    def variables(self) -> int:
        """Number of variables."""
        return len(self.domains)

    @property
    def n(self) -> float:
        """Number of persons."""
        return float(self.sizes.sum())

    @property
    def grid(self) -> int:
        """J, the number of cells of the full table, empty ones included."""
        return prod(self.domains)

    @property
    def dense_pair(self) -> int:
        """Largest two-way margin that is held as an array of all its cells."""
        return max(_DENSE_PAIR, len(self.sizes))

    def single(self, variable: int) -> Floats:
        """Persons of each value of a variable."""
        if variable not in self._singles:
            self._singles[variable] = _persons(
                self.codes[:, variable], self.sizes, self.domains[variable]
            )
        return self._singles[variable]

    def pair(self, term: Pair) -> Floats | SparseTable:
        """Persons of each pair of values: an array, or the positive cells of a large margin."""
        if term not in self._pairs:
            self._pairs[term] = self._count(term)
        return self._pairs[term]

    def _count(self, term: Pair) -> Floats | SparseTable:
        first, second = term
        rows, columns = self.domains[first], self.domains[second]
        packed = self.codes[:, first].astype(np.int64) * columns + self.codes[:, second]
        if rows * columns <= self.dense_pair:
            return _persons(packed, self.sizes, rows * columns).reshape(rows, columns)
        keys, cell = np.unique(packed, return_inverse=True)
        return SparseTable(
            (keys // columns).astype(np.int32),
            (keys % columns).astype(np.int32),
            _persons(cell, self.sizes, len(keys)),
        )


def _persons(codes: Ints | Codes, sizes: Ints, domain: int) -> Floats:
    return np.bincount(codes, weights=sizes, minlength=domain).astype(np.float64, copy=False)


def observed_cells(keys: Codes, sizes: Ints) -> Cells:
    """The cells of a sample, coded by the values that occur.

    Parameters
    ----------
    keys
        Code of every variable in every class, shape (classes, variables).
    sizes
        Persons of each class, shape (classes,).
    """
    codes = np.empty(keys.shape, dtype=np.int32, order="F")
    domains = []
    for variable in range(keys.shape[1]):
        values, codes[:, variable] = np.unique(keys[:, variable], return_inverse=True)
        domains.append(len(values))
    return Cells(codes, sizes, tuple(domains))


class Lookup:
    """Finds cells among the observed ones, whatever the number of cells of the full table.

    Variables are packed into one integer as long as it holds them; what is found of them is
    numbered, and packed with the next ones.

    Parameters
    ----------
    cells
        The observed cells, each once.
    """

    def __init__(self, cells: Cells) -> None:
        self._domains = cells.domains
        self._steps: list[tuple[range, Ints]] = []
        rank = np.zeros(len(cells.sizes), dtype=np.int64)
        for together in _packable(cells.domains, len(cells.sizes)):
            packed = _pack(rank, cells.codes, self._domains, together)
            known, rank = np.unique(packed, return_inverse=True)
            self._steps.append((together, known))
        self._cell = np.empty(len(cells.sizes), dtype=np.int64)
        self._cell[rank] = np.arange(len(cells.sizes))

    def find(self, codes: Codes) -> Ints:
        """Position of each cell among the observed ones, -1 for a cell that is empty.

        Parameters
        ----------
        codes
            Code of every variable, shape (cells, variables).
        """
        found = np.arange(len(codes))
        rank = np.zeros(len(codes), dtype=np.int64)
        for together, known in self._steps:
            keys = _pack(rank, codes[found], self._domains, together)
            place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            same = known[place] == keys
            found, rank = found[same], place[same]
        position = np.full(len(codes), -1, dtype=np.int64)
        position[found] = self._cell[rank]
        return position


def _packable(domains: tuple[int, ...], ranks: int) -> list[range]:
    """Runs of variables that one integer holds, together with a number below ``ranks``."""
    runs = [range(0)]
    room = _LARGEST_KEY // ranks
    for variable, domain in enumerate(domains):
        if domain > room:
            runs.append(range(variable, variable))
            room = _LARGEST_KEY // ranks
        runs[-1] = range(runs[-1].start, variable + 1)
        room //= domain
    return runs


def _pack(rank: Ints, codes: Codes, domains: tuple[int, ...], variables: range) -> Ints:
    packed = rank.copy()
    for variable in variables:
        packed *= domains[variable]
        packed += codes[:, variable]
    return packed


def cells_of(sample: protocol.SampleClasses) -> Cells:
    """The observed cells of a sample.

    Parameters
    ----------
    sample
        The classes, with their keys.

    Raises
    ------
    EstimationFailedError
        If there are no keys, or not everybody was drawn with the same probability.
    """
    if sample.keys is None or not sample.keys.shape[1]:
        raise protocol.EstimationFailedError(
            "a log-linear model needs the quasi-identifiers of the classes, not only their sizes"
        )
    if sample.weighted is not None:
        weights = sample.weighted / sample.sizes
        if not np.allclose(weights, weights[0]):
            raise protocol.EstimationFailedError(
                "a log-linear model takes everybody to be drawn with the same probability, and "
                "the weights differ"
            )
    return observed_cells(sample.keys, sample.sizes)


def column_names(variables: int) -> tuple[str, ...]:
    """Names of so many quasi-identifiers for the path of a search."""
    return tuple(f"quasi-identifier {number}" for number in range(1, variables + 1))
