"""How well a release answers random range-count queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.release.utility.cells import Cells
from sfumato.schema import Kind
from sfumato.table.columns import MISSING, CodedColumn

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
QUERIES = 1000
COVERED = 0.3
"""Share of a column's records that a predicate is drawn to cover."""
FLOOR = 0.001
"""Errors are relative to the true count, or to this share of the records if that is more."""
CHUNK = 1 << 22
"""Most entries of a matrix of values (or cells) by queries."""


@dataclass(frozen=True)
class QueryError:
    """Relative errors of the counts that a release gives.

    Attributes
    ----------
    queries
        Number of queries; 0 when no quasi-identifier has a value.
    columns
        Number of quasi-identifiers that each query asks about.
    covered
        Share of a column's records that each predicate was drawn to cover.
    floor
        Least share of the records that an error is taken relative to.
    mean, median, lower_quartile, upper_quartile
        Of the relative errors.
    """

    queries: int
    columns: int
    covered: float
    floor: float
    mean: float
    median: float
    lower_quartile: float
    upper_quartile: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-identifier as queries see it.

    Attributes
    ----------
    column
        The original records.
    cells
        The released cells.
    """

    column: CodedColumn
    cells: Cells

    @cached_property
    def records(self) -> Ints:
        """Number of records with each value; shape (domain size,)."""
        codes = self.column.codes
        return np.bincount(codes[codes != MISSING], minlength=self.column.domain.size)


def query_error(
    attributes: Sequence[Attribute],
    sizes: Ints,
    rng: np.random.Generator,
    queries: int = QUERIES,
) -> QueryError:
    """Error of random range-count queries on two quasi-identifiers (one if there is one).

    Each query counts the original records that two predicates select (a missing value is never
    selected), and estimates that count from the release by the share of the values of each
    class's cells that lie in the predicates, as if the records of a class were uniform within
    its cells. The error is |estimate - count| / max(count, 0.001 N) (LeFevre et al. 2006; with
    the sanity bound of Garofalakis & Gibbons 2002).

    A predicate is an interval of a numeric or ordered column that starts at a random record
    and ends 30 % of the records further, or a random set of categories whose share comes
    nearest 30 %; at least one value.

    Parameters
    ----------
    attributes
        The quasi-identifiers.
    sizes
        Number of kept records of each class; shape (classes,).
    rng
        Source of randomness.
    queries
        Number of queries.
    """
    usable = [each for each in attributes if each.records.any()]
    width = min(len(usable), 2)
    if not width:
        return QueryError(0, 0, COVERED, FLOOR, 0.0, 0.0, 0.0, 0.0)
    asked = list(combinations(usable, width))
    drawn = np.bincount(rng.integers(len(asked), size=queries), minlength=len(asked))
    errors = [
        error
        for group, count in zip(asked, drawn.tolist(), strict=True)
        if count
        for error in _relative_errors(group, sizes, count, rng)
    ]
    every = np.concatenate(errors)
    quartiles = np.quantile(every, [0.25, 0.5, 0.75]).tolist()
    return QueryError(
        queries,
        width,
        COVERED,
        FLOOR,
        float(every.mean()),
        quartiles[1],
        quartiles[0],
        quartiles[2],
    )


def _relative_errors(
    group: tuple[Attribute, ...], sizes: Ints, queries: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Errors of queries on one or two columns, some queries at a time."""
    records = len(group[0].column.codes)
    true = _contingency(
        [each.column.codes for each in group], [each.column.domain.size for each in group], None
    )
    released = _contingency(
        [each.cells.of_class for each in group],
        [len(each.cells.first_run) for each in group],
        sizes.astype(np.float64),
    )
    largest = max(max(len(each.cells.start), each.column.domain.size) for each in group)
    step = max(CHUNK // largest, 1)
    for start in range(0, queries, step):
        count = min(step, queries - start)
        predicates = [_predicates(each, count, rng) for each in group]
        exact = _counts(true, [each.selected for each in predicates])
        shares = [
            predicate.shares(each.cells) for each, predicate in zip(group, predicates, strict=True)
        ]
        estimate = _counts(released, shares)
        yield np.abs(estimate - exact) / np.maximum(exact, FLOOR * records)


def _contingency(
    indices: Sequence[npt.NDArray[np.integer]], shape: Sequence[int], weights: Floats | None
) -> sparse.csr_array:
    """Weight of each combination; negative indices (missing) are left out. One row if single."""
    rows = indices[-2] if len(indices) > 1 else np.zeros(len(indices[0]), dtype=np.int32)
    columns = indices[-1]
    height, width = (shape[0] if len(shape) > 1 else 1), shape[-1]
    known = (rows >= 0) & (columns >= 0)
    if not known.all():
        rows, columns = rows[known], columns[known]
        weights = None if weights is None else weights[known]
    if height * width <= max(2 * len(rows), 1 << 16):
        key = rows.astype(np.int64) * width + columns
        counts = np.bincount(key, weights=weights, minlength=height * width)
        return sparse.csr_array(counts.reshape(height, width).astype(np.float64))
    values = np.ones(len(rows)) if weights is None else weights
    return sparse.coo_array((values, (rows, columns)), shape=(height, width)).tocsr()


def _counts(contingency: sparse.csr_array, shares: Sequence[Floats]) -> Floats:
    """Σ weight · share of the first column · share of the second, for each query."""
    selected: Floats = contingency @ shares[-1]
    if len(shares) > 1:
        selected *= shares[0]
    counts: Floats = selected.sum(axis=0)
    return counts


@dataclass(frozen=True, eq=False)
class _Predicates:
    """What some queries ask of one column.

    Attributes
    ----------
    selected
        1 where a value is selected, else 0; shape (domain size, queries).
    ends
        The lowest and the highest code that is selected, where all between them are.
    """

    selected: Floats
    ends: tuple[Ints, Ints] | None = None

    def shares(self, cells: Cells) -> Floats:
        """Share of each cell's values that is selected; shape (cells, queries)."""
        if self.ends is None or not cells.are_ranges:
            return cells.shares(self.selected)
        return cells.overlaps(*self.ends)


def _predicates(attribute: Attribute, count: int, rng: np.random.Generator) -> _Predicates:
    if attribute.column.kind is Kind.CATEGORICAL:
        return _Predicates(_sets(attribute.records, count, rng))
    size = attribute.column.domain.size
    before = np.append(0, np.cumsum(attribute.records))
    start = rng.uniform(0, (1 - COVERED) * before[-1], size=count)
    low = np.searchsorted(before, start, side="right") - 1
    high = np.searchsorted(before, start + COVERED * before[-1], side="left") - 1
    codes = np.arange(size)[:, None]
    selected: Floats = ((codes >= low) & (codes <= high)).astype(np.float64)
    return _Predicates(selected, (low, high))


def _sets(records: Ints, count: int, rng: np.random.Generator) -> Floats:
    """Take categories in a random order while that brings their share nearer to the target."""
    order = np.argsort(rng.random((len(records), count)), axis=0)
    up_to = np.cumsum(records[order], axis=0)
    target = COVERED * records.sum()
    taken = 2 * up_to - records[order] <= 2 * target
    taken[0] = True
    selected = np.zeros((len(records), count))
    np.put_along_axis(selected, order, taken.astype(np.float64), axis=0)
    return selected
