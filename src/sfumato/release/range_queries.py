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

from sfumato.release.distributions import Cells
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]


COVERED = 0.3
"""Share of a column's records that a predicate is drawn to cover."""
CHUNK = 1 << 22
"""Most entries of a matrix of values (or cells) by queries."""
STREAM = 1
"""Number of the stream of random numbers that queries are drawn from."""
QUERIES = 1000
FLOOR = 0.001
"""Errors are relative to the true count, or to this share of the records if that is more."""


@dataclass(frozen=True, eq=False)
class Predicates:
    """What some queries ask of one column.

    Attributes
    ----------
    queries
        Number of queries.
    ends
        The lowest and the highest code that is selected, where all between them are; shape
        (queries,) each.
    bits
        Else whether each code is selected, eight queries in a byte; shape (domain size, bytes).
    """

    queries: int
    ends: tuple[Ints, Ints] | None = None
    bits: Bits | None = None

    def selected(self, codes: Ints, queries: slice) -> Floats:
        """1 where a code is selected, else 0; shape (codes, queries).

        Parameters
        ----------
        codes
            Codes of the domain.
        queries
            Which of the queries.
        """
        if self.ends is not None:
            low, high = self.ends[0][queries], self.ends[1][queries]
            return ((codes[:, None] >= low) & (codes[:, None] <= high)).astype(np.float64)
        assert self.bits is not None
        first, stop, _ = queries.indices(self.queries)
        rows = self.bits[codes, first // 8 : -(-stop // 8)]
        bits = np.unpackbits(rows, axis=1)[:, first % 8 :][:, : stop - first]
        return bits.astype(np.float64)

    def shares(self, cells: Cells, queries: slice) -> Floats:
        """Share of each cell's values that is selected; shape (cells, queries).

        Parameters
        ----------
        cells
            The cells of the column.
        queries
            Which of the queries.
        """
        if self.ends is None or not cells.are_ranges:
            return cells.shares(self.selected(np.arange(len(cells.order)), queries))
        return cells.overlaps(self.ends[0][queries], self.ends[1][queries])


@dataclass(frozen=True, eq=False)
class Queries:
    """Random queries, by the columns that they ask about.

    Attributes
    ----------
    columns
        Number of columns that each query asks about.
    groups
        Places of the columns, and what is asked of each.
    """

    columns: int
    groups: tuple[tuple[tuple[int, ...], tuple[Predicates, ...]], ...]


def query_stream(seed: int) -> np.random.Generator:
    """The source of the queries of a release: a stream of its own, so that it has no other draws.

    Parameters
    ----------
    seed
        The seed of the release.
    """
    return np.random.default_rng([seed, STREAM])


def draw_queries(
    columns: Sequence[CodedColumn],
    records: Sequence[Ints],
    rng: np.random.Generator,
    queries: int,
) -> Queries:
    """Draw queries, each on two columns that have values (on one if there is one).

    Parameters
    ----------
    columns
        The quasi-identifiers; their codes are not looked at.
    records
        Records of the file with each code, by quasi-identifier.
    rng
        Source of randomness.
    queries
        Number of queries.
    """
    usable = [place for place, counts in enumerate(records) if counts.any()]
    width = min(len(usable), 2)
    if not width:
        return Queries(0, ())
    predicates = list(combinations(usable, width))
    drawn = np.bincount(rng.integers(len(predicates), size=queries), minlength=len(predicates))
    return Queries(
        width,
        tuple(
            (
                group,
                tuple(
                    draw_predicates(columns[place], records[place], count, rng) for place in group
                ),
            )
            for group, count in zip(predicates, drawn.tolist(), strict=True)
            if count
        ),
    )


def draw_predicates(
    column: CodedColumn, records: Ints, count: int, rng: np.random.Generator
) -> Predicates:
    """Draw what some queries ask of one column.

    An interval of a numeric or ordered column that starts at a random record and ends 30 % of
    the records further, or a random set of categories whose share comes nearest 30 %; at least
    one value.

    Parameters
    ----------
    column
        The column; its codes are not looked at.
    records
        Records of the file with each code; shape (domain size,).
    count
        Number of queries.
    rng
        Source of randomness.
    """
    if column.kind is Kind.CATEGORICAL:
        step = max(CHUNK // len(records), 1)
        sets = [
            _random_sets(records, min(step, count - start), rng) for start in range(0, count, step)
        ]
        return Predicates(count, bits=np.packbits(np.concatenate(sets, axis=1), axis=1))
    before = np.append(0, np.cumsum(records))
    start = rng.uniform(0, (1 - COVERED) * before[-1], size=count)
    low = np.searchsorted(before, start, side="right") - 1
    high = np.searchsorted(before, start + COVERED * before[-1], side="left") - 1
    return Predicates(count, ends=(low.astype(np.int64), high.astype(np.int64)))


def _random_sets(records: Ints, count: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Take categories in a random order while that brings their share nearer to the target."""
    order = np.argsort(rng.random((len(records), count)), axis=0)
    up_to = np.cumsum(records[order], axis=0)
    target = COVERED * records.sum()
    taken = 2 * up_to - records[order] <= 2 * target
    taken[0] = True
    selected = np.zeros((len(records), count), dtype=bool)
    np.put_along_axis(selected, order, taken, axis=0)
    return selected


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
class QueryCounts:
    """What queries count.

    Attributes
    ----------
    columns
        Number of quasi-identifiers that each query asks about.
    exact
        Records that each query selects; shape (queries,).
    estimate
        The same as the release tells it; shape (queries,).
    """

    columns: int
    exact: Floats
    estimate: Floats


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-identifier as queries see it.

    Attributes
    ----------
    column
        The original records, or some of them.
    cells
        The released cells.
    """

    column: CodedColumn
    cells: Cells

    @cached_property
    def records(self) -> Ints:
        """Number of these records with each value; shape (domain size,)."""
        codes = self.column.codes
        return np.bincount(codes[codes != MISSING], minlength=self.column.domain.size)

    @cached_property
    def present(self) -> Ints:
        """The codes that occur, ascending."""
        return np.flatnonzero(self.records)

    @cached_property
    def places(self) -> npt.NDArray[np.integer]:
        """Index into `present` of each record, negative where it has no value."""
        if len(self.present) == self.column.domain.size:
            return self.column.codes
        place = np.full(self.column.domain.size + 1, MISSING)
        place[self.present] = np.arange(len(self.present))
        return place[self.column.codes]

    @property
    def largest(self) -> int:
        """Rows of the largest matrix that is made for a query."""
        listed = 0 if self.cells.are_ranges else self.column.domain.size
        return max(len(self.present), len(self.cells.start), listed)


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
    the sanity bound of Garofalakis & Gibbons 2002). `draw` says what a predicate is.

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
    columns, records = [each.column for each in attributes], [each.records for each in attributes]
    counts = query_counts(attributes, sizes, draw_queries(columns, records, rng, queries))
    return error_of(counts, len(columns[0].codes) if columns else 0)


def query_counts(
    attributes: Sequence[Attribute], sizes: Ints, queries: Queries, weight: Floats | None = None
) -> QueryCounts:
    """What random queries count; the counts of several groups of whole classes add up.

    Parameters
    ----------
    attributes
        The quasi-identifiers.
    sizes
        Number of kept records of each class; shape (classes,).
    queries
        The queries.
    weight
        How many records each original one stands for; one each without it.
    """
    found = [
        counted
        for places, predicates in queries.groups
        for counted in _counted_in_parts(
            [attributes[place] for place in places], predicates, sizes, weight
        )
    ]
    exact, estimate = zip(*found, strict=True) if found else ((np.zeros(0),), (np.zeros(0),))
    return QueryCounts(queries.columns, np.concatenate(exact), np.concatenate(estimate))


def error_of(counts: QueryCounts, records: int) -> QueryError:
    """The relative errors of queries.

    Parameters
    ----------
    counts
        What they count.
    records
        Number of original records.
    """
    if not counts.columns:
        return QueryError(0, 0, COVERED, FLOOR, 0.0, 0.0, 0.0, 0.0)
    errors = np.abs(counts.estimate - counts.exact) / np.maximum(counts.exact, FLOOR * records)
    quartiles = np.quantile(errors, [0.25, 0.5, 0.75]).tolist()
    return QueryError(
        len(errors),
        counts.columns,
        COVERED,
        FLOOR,
        float(errors.mean()),
        quartiles[1],
        quartiles[0],
        quartiles[2],
    )


def _counted_in_parts(
    group: Sequence[Attribute],
    predicates: Sequence[Predicates],
    sizes: Ints,
    weight: Floats | None,
) -> Iterator[tuple[Floats, Floats]]:
    """Counts of queries on one or two columns, and their estimates, some queries at a time."""
    true = _contingency(
        [each.places for each in group], [len(each.present) for each in group], weight
    )
    released = _contingency(
        [each.cells.of_class for each in group],
        [len(each.cells.first_run) for each in group],
        sizes.astype(np.float64),
    )
    count = predicates[0].queries
    step = max(CHUNK // max(each.largest for each in group), 1)
    for first in range(0, count, step):
        some = slice(first, min(first + step, count))
        pairs = list(zip(group, predicates, strict=True))
        exact = _counts(true, [own.selected(each.present, some) for each, own in pairs])
        yield exact, _counts(released, [own.shares(each.cells, some) for each, own in pairs])


def _contingency(
    indices: Sequence[npt.NDArray[np.integer]], shape: Sequence[int], weights: Floats | None
) -> sparse.csr_array:
    """Weight of each combination; negative indices (missing) are left out. One row if single."""
    rows = indices[-2] if len(indices) > 1 else np.zeros(len(indices[0]), dtype=np.int32)
    columns = indices[-1]
    height, width = (shape[0] if len(shape) > 1 else 1), shape[-1]
    has_value = (rows >= 0) & (columns >= 0)
    if not has_value.all():
        rows, columns = rows[has_value], columns[has_value]
        weights = None if weights is None else weights[has_value]
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
