"""How well one column tells another: exact dependences, near ones, copies, nearness of values.

Nothing here looks at where a record stands, nor at what a value is; numbers are looked at by rank
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.sources import Floats, Ints, as_numpy, flags
from sfumato.table.table import MISSING

LOOKED_AT = 20_000
"""Records on which columns are held against each other."""
TELLS = 0.5
"""Share from which a dependence is worth a line."""


@dataclass(frozen=True)
class Dependence:
    """One column that tells another.

    Attributes
    ----------
    by, of
        The column that tells, and the one that is told.
    share
        Of what is not known about ``of``, the share that ``by`` tells; 1 is everything.
    exceptions
        Records whose value is not the most frequent one of their value of ``by``.
    copy
        Whether each column tells the other one without exception.
    """

    by: str
    of: str
    share: float
    exceptions: int
    copy: bool


def codes_of(column: pa.ChunkedArray | pa.Array) -> Ints:
    """A column as codes by first appearance, -1 for missing."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = values
    if not pa.types.is_dictionary(values.type):
        encoded = values.dictionary_encode()
    codes = as_numpy(encoded.indices).astype(np.int64)
    codes[flags(pc.is_null(values, nan_is_null=True))] = MISSING
    return codes


def tells(by: Ints, of: Ints) -> float:
    """How much better a value is guessed from that of another column than without it.

    Goodman and Kruskal's tau (J Am Stat Assoc 1954;49:732, section 5.4), of records that have both
    values, with each record's own value left out of what is known about its class: a column that is
    different in every record tells nothing by that. 0 where there is nothing to tell.

    Parameters
    ----------
    by, of
        Codes, -1 for missing; shape (records,).

    Returns
    -------
    float
        0, as good as chance, to 1: no exception. A class of one record tells nothing.
    """
    known = (by >= 0) & (of >= 0)
    by, of = by[known], of[known]
    if len(of) < 2:
        return 0.0
    total = len(of)
    overall = np.bincount(of).astype(np.float64)
    # Chance that another record has the same value: without, then within the classes.
    without = float((overall * (overall - 1)).sum()) / (total * (total - 1.0))
    if without >= 1.0:
        return 0.0
    pairs = np.unique(by * (of.max() + 1) + of, return_counts=True)[1].astype(np.float64)
    sizes = np.bincount(by).astype(np.float64)
    sizes = sizes[sizes > 0]
    repeated = sizes[sizes > 1]
    # Each record as much as any other: within its class, the share of the others that agree.
    within_pairs = _agreeing(by, of, pairs)
    single = float((sizes == 1).sum())
    agree = (within_pairs + single * without) / total
    if not len(repeated):
        return 0.0
    return float(max(0.0, (agree - without) / (1.0 - without)))


def _agreeing(by: Ints, of: Ints, counts: Floats) -> float:
    """Sum over the records of classes of several of the share of the others that agree."""
    keys = np.unique(by * (of.max() + 1) + of)
    sizes = np.bincount(by).astype(np.float64)[keys // (of.max() + 1)]
    several = sizes > 1
    return float((counts[several] * (counts[several] - 1) / (sizes[several] - 1)).sum())


def exceptions(by: Ints, of: Ints) -> int:
    """Records whose value is not the most frequent one of their class; 0: ``by`` determines it.

    Parameters
    ----------
    by, of
        Codes, -1 for missing, which are left out; shape (records,).
    """
    known = (by >= 0) & (of >= 0)
    by, of = by[known], of[known]
    if not len(by):
        return 0
    width = int(of.max()) + 1
    pairs, counts = np.unique(by * width + of, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    return len(by) - int(np.maximum.reduceat(counts, starts).sum())


def narrows(by: Ints, of: Ints) -> float:
    """How much nearer to each other the values of a column are where another column agrees.

    One minus the mean difference of ranks of two records of one class, over that of any two
    (Gini's mean difference within classes and overall). As `tells`, a class of one record tells
    nothing.

    Parameters
    ----------
    by
        Codes of the classes, -1 for missing; shape (records,).
    of
        Codes in the order of the values, -1 for missing; shape (records,).

    Returns
    -------
    float
        0, no nearer than any two records, to 1: equal.
    """
    known = (by >= 0) & (of >= 0)
    by, of = by[known], of[known]
    if len(of) < 2:
        return 0.0
    ranks = _mean_ranks(of)
    overall = _mean_difference(np.zeros(len(of), dtype=np.int64), ranks)[0]
    if overall == 0.0:
        return 0.0
    places = np.unique(by, return_inverse=True)[1]
    sizes = np.bincount(places)
    within = _mean_difference(places, ranks)
    within[sizes == 1] = overall
    return float(max(0.0, 1.0 - (within * sizes).sum() / len(of) / overall))


def _mean_difference(places: Ints, ranks: Floats) -> Floats:
    """Mean absolute difference of the ranks of two records, for each class; 0 of one record."""
    order = np.lexsort((ranks, places))
    sizes = np.bincount(places)
    starts = np.cumsum(sizes) - sizes
    in_order = places[order]
    # The i-th smallest of m is above i others and below m - 1 - i.
    weights = 2.0 * (np.arange(len(order)) - starts[in_order]) - sizes[in_order] + 1.0
    sums = np.bincount(in_order, weights * ranks[order], minlength=len(sizes))
    pairs = np.maximum(sizes * (sizes - 1) / 2.0, 1.0)
    found: Floats = sums / pairs
    return found


def neighbours(numbers: Floats, least: int = 4) -> Ints:
    """Codes of classes of at least ``least`` neighbouring numbers, equal ones together; NaN is -1.

    With them, what a measurement tells of another column is seen although all its values differ.
    """
    places = np.full(len(numbers), -1, dtype=np.int64)
    known = np.flatnonzero(~np.isnan(numbers))
    order = known[np.argsort(numbers[known], kind="stable")]
    in_order = numbers[order]
    firsts = np.searchsorted(in_order, in_order, side="left")
    places[order] = firsts // least
    return places


def _mean_ranks(codes: Ints) -> Floats:
    counts = np.bincount(codes)
    ends = np.cumsum(counts)
    means: Floats = (ends - (counts - 1) / 2.0)[codes]
    return means


def dependences(columns: Mapping[str, Ints], least: float = TELLS) -> Iterator[Dependence]:
    """The columns that tell another one, each pair both ways; O(columns² records log records).

    Parameters
    ----------
    columns
        Codes by name, -1 for missing, equally long; the first `LOOKED_AT` records are looked at.
    least
        Share from which a dependence is named.
    """
    looked_at = {name: codes[:LOOKED_AT] for name, codes in columns.items()}
    varying = {name: each for name, each in looked_at.items() if each.max(initial=-1) > 0}
    for by, first in varying.items():
        for of, second in varying.items():
            if by == of:
                continue
            share = tells(first, second)
            if share >= least:
                left = exceptions(first, second)
                copy = left == 0 and exceptions(second, first) == 0
                yield Dependence(by, of, share, left, copy)


def coded_rows(columns: Mapping[str, Ints], names: list[str]) -> Ints:
    """A number for each combination of values of some columns, a missing value as one of them."""
    rows = np.zeros(len(next(iter(columns.values()))), dtype=np.int64)
    for name in names:
        codes = columns[name] + 1
        rows = np.unique(rows * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return rows
