"""What random queries ask of a column: an interval of its values, or a set of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.release.utility.cells import Cells
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]

COVERED = 0.3
"""Share of a column's records that a predicate is drawn to cover."""
CHUNK = 1 << 22
"""Most entries of a matrix of values (or cells) by queries."""
STREAM = 1
"""Number of the stream of random numbers that queries are drawn from."""


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
    asked = list(combinations(usable, width))
    drawn = np.bincount(rng.integers(len(asked), size=queries), minlength=len(asked))
    return Queries(
        width,
        tuple(
            (group, tuple(draw(columns[place], records[place], count, rng) for place in group))
            for group, count in zip(asked, drawn.tolist(), strict=True)
            if count
        ),
    )


def draw(column: CodedColumn, records: Ints, count: int, rng: np.random.Generator) -> Predicates:
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
        sets = [_sets(records, min(step, count - start), rng) for start in range(0, count, step)]
        return Predicates(count, bits=np.packbits(np.concatenate(sets, axis=1), axis=1))
    before = np.append(0, np.cumsum(records))
    start = rng.uniform(0, (1 - COVERED) * before[-1], size=count)
    low = np.searchsorted(before, start, side="right") - 1
    high = np.searchsorted(before, start + COVERED * before[-1], side="left") - 1
    return Predicates(count, ends=(low.astype(np.int64), high.astype(np.int64)))


def _sets(records: Ints, count: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Take categories in a random order while that brings their share nearer to the target."""
    order = np.argsort(rng.random((len(records), count)), axis=0)
    up_to = np.cumsum(records[order], axis=0)
    target = COVERED * records.sum()
    taken = 2 * up_to - records[order] <= 2 * target
    taken[0] = True
    selected = np.zeros((len(records), count), dtype=bool)
    np.put_along_axis(selected, order, taken, axis=0)
    return selected
