"""What analysts find again: each column's distribution, and answers to random range-count queries.

Distributions are drawn in bars that show no rare value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.core.arrays import Bools, Bytes, Floats, Integers, Ints
from sfumato.core.number_text import counted
from sfumato.core.phrases import Phrase
from sfumato.hierarchies import Range, format_released
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.release.generalisation import (
    ReleasedColumn,
    Spread,
    is_snapped,
    set_members,
    shown_spread,
)
from sfumato.release.release_options import Form
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes, NumberDomain

BINS = 20
"""Most bins between the two percentiles of a numeric column."""
PERCENTILES = (0.01, 0.99)
"""Shares of the records below the first and up to the last bin that is not an open end."""
MOST_CATEGORIES = 30
"""Most bars of an ordered or categorical column."""
FEWEST_PERSONS = 10
"""A bar with fewer persons is merged: numeric with its neighbour, others into one bar."""
MISSING_LABEL = "missing"


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct cells of a released column, each as runs of values.

    The values are put in an order in which a cell is one run, or for sets a few: their own for
    ranges, that of the hierarchy for its labels.

    Attributes
    ----------
    of_class
        Index of each class's cell; shape (classes,).
    order
        The codes of the domain in the order of the runs; shape (domain size,).
    first_run
        Where the runs of each cell begin; shape (cells,). A cell has at least one run.
    start, stop
        Half-open ends of the runs, as places in ``order``; shape (runs,).
    """

    of_class: Ints
    order: Ints
    first_run: Ints
    start: Ints
    stop: Ints

    @property
    def leaves(self) -> Ints:
        """Number of values that each cell may stand for; 0 for a missing value."""
        return np.add.reduceat(self.stop - self.start, self.first_run)

    def shares(self, values: Floats) -> Floats:
        """Share of each cell's values that lie in each of several sets; shape (cells, sets).

        A code is 1 where it belongs to a set, else 0; shape (domain size, sets). 0 for a missing
        value.
        """
        before = np.zeros((len(self.order) + 1, values.shape[1]))
        np.cumsum(values[self.order], axis=0, out=before[1:])
        inside = before[self.stop] - before[self.start]
        if len(self.first_run) < len(self.start):
            inside = np.add.reduceat(inside, self.first_run, axis=0)
        return inside / np.maximum(self.leaves, 1)[:, None]

    @property
    def are_ranges(self) -> bool:
        """Whether each cell is one run of codes in their own order."""
        one_each = len(self.first_run) == len(self.start)
        return one_each and np.array_equal(self.order, np.arange(len(self.order)))

    def overlaps(self, low: Ints, high: Ints) -> Floats:
        """As `shares`, of sets that are all codes from ``low`` to ``high``, where `are_ranges`.

        Parameters
        ----------
        low, high
            Ends of each set; shape (sets,).
        """
        inside = np.minimum(self.stop[:, None], high + 1) - np.maximum(self.start[:, None], low)
        shares: Floats = np.maximum(inside, 0) / np.maximum(self.leaves, 1)[:, None]
        return shares

    def spread_evenly(self, mass: Ints) -> tuple[Floats, float]:
        """Spread what each class weighs evenly over the values of its cell.

        Gives the mass of each code, shape (domain size,), and that of missing values.
        """
        leaves = self.leaves
        cell_mass = np.bincount(self.of_class, weights=mass, minlength=len(leaves))
        runs = np.diff(np.append(self.first_run, len(self.start)))
        density = np.repeat(cell_mass / np.maximum(leaves, 1), runs)
        size = len(self.order)
        # Cells of one value are added directly, since a cumulative sum would leave rounding beside
        # them.
        single = self.stop - self.start == 1
        wide = self.stop - self.start > 1
        change = np.zeros(size + 1)
        # Up where a run begins and down where it ends: one cumulative sum then fills all runs in
        # O(runs + values).
        np.add.at(change, self.start[wide], density[wide])
        np.subtract.at(change, self.stop[wide], density[wide])
        placed = np.maximum(np.cumsum(change[:size]), 0.0)  # rounding may lead below zero
        np.add.at(placed, self.start[single], density[single])
        by_code = np.empty(size)
        by_code[self.order] = placed
        return by_code, float(cell_mass[leaves == 0].sum())


def released_cells(
    column: CodedColumn, class_of: Codes, classes: int, form: Form, printed: ReleasedColumn
) -> Cells:
    """The cells that `sfumato.release.generalisation.release_column` gives the classes.

    A range stands for all values between its ends (as do two bounds, and a mean, whose reader
    may know the ends), a set for its members, a hierarchy's label for the leaves under it,
    ``*`` for the domain.

    Parameters
    ----------
    class_of
        Class of each kept record; shape (records,).
    printed
        The released column, which says for sets which classes have the same one.
    """
    spread = shown_spread(column, class_of, classes)
    size = column.domain.size
    categorical = column.kind is Kind.CATEGORICAL
    if form is Form.SET and column.ends is None and not is_snapped(column):
        return _set_cells(column, class_of, spread, printed.text_of_class)
    if column.hierarchy is not None and (categorical or form is Form.HIERARCHY):
        return _under_ancestors(column, class_of, spread)
    start, stop = spread.lowest.astype(np.int64), spread.highest.astype(np.int64) + 1
    if categorical:
        several = stop - start > 1
        start, stop = np.where(several, 0, start), np.where(several, size, stop)
    return _one_run_each(np.arange(size), start, stop, spread)


def _one_run_each(order: Ints, start: Ints, stop: Ints, spread: Spread) -> Cells:
    """Number the distinct runs; a mixed class may be anything, a missing value is nothing."""
    size = len(order)
    none = spread.present == 0
    start = np.where(spread.mixed | none, 0, start)
    stop = np.where(spread.mixed, size, np.where(none, 0, stop))
    distinct, of_class = np.unique(start * (size + 1) + stop, return_inverse=True)
    return Cells(
        of_class.astype(np.int64),
        order,
        np.arange(len(distinct)),
        distinct // (size + 1),
        distinct % (size + 1),
    )


def _under_ancestors(column: CodedColumn, class_of: Codes, spread: Spread) -> Cells:
    """Sorted from the root down, the leaves under every label are neighbours."""
    hierarchy = column.hierarchy
    assert hierarchy is not None
    levels, indices = hierarchy.lowest_common_ancestors(class_of, column.codes, len(spread.present))
    order = np.lexsort(hierarchy.ancestors).astype(np.int64)
    start = np.zeros(len(levels), dtype=np.int64)
    stop = np.zeros(len(levels), dtype=np.int64)
    for level, above in enumerate(hierarchy.ancestors):
        here = (levels == level) & (spread.present > 0)
        first = np.zeros(len(hierarchy.labels[level]), dtype=np.int64)
        first[above[order[::-1]]] = np.arange(len(order))[::-1]
        start[here] = first[indices[here]]
        stop[here] = start[here] + hierarchy.leaf_counts(level)[indices[here]]
    return _one_run_each(order, start, stop, spread)


def _set_cells(column: CodedColumn, class_of: Codes, spread: Spread, text_of_class: Codes) -> Cells:
    """A run for every member, read from one class of each set; one for ``*`` or missing."""
    size = column.domain.size
    _, example, of_class = np.unique(text_of_class, return_index=True, return_inverse=True)
    cell_of = np.full(len(text_of_class), -1)
    cell_of[example] = np.arange(len(example))
    mixed = spread.mixed[example]
    owner: Integers = cell_of[class_of]
    codes: Integers = column.codes
    if column.lone is not None:
        sets = set_members(column, class_of, len(spread.present))
        cell_of_set = np.full(len(sets.sizes), -1)
        shown = ~mixed & (spread.present[example] > 0)
        cell_of_set[sets.of_class[example[shown]]] = np.flatnonzero(shown)
        owner, codes = cell_of_set[sets.owner], sets.codes
    listed = (codes != MISSING) & (owner >= 0) & ~mixed[owner]
    pairs = np.unique(owner[listed] * size + codes[listed])
    other = np.flatnonzero(mixed | (spread.present[example] == 0))
    owner = np.concatenate([pairs // max(size, 1), other])
    start = np.concatenate([pairs % max(size, 1), np.zeros_like(other)])
    stop = np.concatenate([pairs % max(size, 1) + 1, np.where(mixed[other], size, 0)])
    by_cell = np.argsort(owner, kind="stable")
    runs = np.bincount(owner, minlength=len(example))
    return Cells(
        of_class.astype(np.int64),
        np.arange(size),
        np.cumsum(runs) - runs,
        start[by_cell],
        stop[by_cell],
    )


@dataclass(frozen=True, eq=False)
class Bars:
    """How the values of a column are gathered into bars.

    Attributes
    ----------
    of_code
        Bar of each code; shape (domain size,).
    edges
        Numeric columns: where one bar ends and the next begins, in the column's own unit
        (numbers; days, or microseconds for datetimes, since 1970); one less than bars, as the
        first and last are open.
    """

    of_code: Ints
    labels: tuple[str, ...]
    edges: tuple[float, ...] = ()
    edge_labels: tuple[str, ...] = ()


def make_bars(column: CodedColumn, person: Codes) -> Bars:
    """Choose the bars of a column.

    A numeric column has up to 20 bins of equal width between the 1st and 99th percentile and
    two open ends. Their width is a multiple of the step in which the values come, so that
    every bin has room for as many of them. Neighbours are merged until each bar has at least
    10 persons, a person counting in the bar of the highest value. An ordered or categorical
    column has a bar for each category of at least 10 persons, at most 30 in all; the others
    share one.

    Parameters
    ----------
    person
        Person of each record; shape (records,).
    """
    has_value = column.codes != MISSING
    codes, owner, size = column.codes[has_value], person[has_value], column.domain.size
    records = np.bincount(codes, minlength=size)
    return bars_of(column, records, persons_of_codes(column, codes, owner))


def persons_of_codes(
    column: CodedColumn, codes: Codes, person: Codes, weight: Floats | None = None
) -> Ints:
    """The persons of each code: those who have it; of numbers, those whose highest it is.

    Parameters
    ----------
    codes
        Code of each record that has one; shape (records,).
    person
        Person of each of them; shape (records,).
    weight
        How many persons each one stands for; shape (persons,). One each without it.

    Returns
    -------
    array
        Shape (domain size,).
    """
    size, persons = column.domain.size, int(person.max()) + 1 if len(person) else 0
    if column.kind is Kind.NUMERIC:
        highest = np.full(persons, MISSING, dtype=np.int32)
        np.maximum.at(highest, person, codes)
        owner = np.flatnonzero(highest != MISSING)
        found = highest[owner]
    else:
        pair, pairs = number_by_first_appearance(
            person.astype(np.int64) * size + codes, persons * size
        )
        owner, found = np.empty(pairs, dtype=np.int64), np.empty(pairs, dtype=np.int32)
        owner[pair], found[pair] = person, codes
    counts = np.bincount(found, None if weight is None else weight[owner], size)
    return counts.astype(np.int64)


def bars_of(column: CodedColumn, records: Ints, persons: Ints) -> Bars:
    """The bars of a column, from counts alone; see `make_bars`.

    Parameters
    ----------
    column
        The quasi-identifier; its codes are not looked at.
    records
        Records with each code; shape (domain size,).
    persons
        Persons of each code, as `persons_of_codes` counts them; shape (domain size,).
    """
    if column.kind is Kind.NUMERIC and isinstance(column.domain, NumberDomain):
        return _bins(column.domain, records, persons)
    return _categories(column, persons)


def _bins(domain: NumberDomain, records: Ints, persons: Ints) -> Bars:
    below = np.cumsum(records)
    share = np.asarray(PERCENTILES) * records.sum()
    low, high = domain.points[np.minimum(np.searchsorted(below, share), domain.size - 1)].tolist()
    # Bins of another width would hold now two and now three possible values, and show waves that
    # are not in the data.
    step = max(int(np.gcd.reduce(np.diff(domain.points))) if domain.size > 1 else 1, 1)
    values = (high - low) // step + 1
    width = step * -(-values // BINS)
    edges = low + width * np.arange(-(-values * step // width) + 1)
    of_code = np.searchsorted(edges, domain.points, side="right")
    of_bar = np.bincount(of_code, weights=persons, minlength=len(edges) + 1)
    edges = edges[_large_enough(of_bar.astype(np.int64))]
    texts = [domain.format(edge, domain.decimals) for edge in edges.tolist()]
    lasts = [domain.format(edge - step, domain.decimals) for edge in edges.tolist()]
    inner = [
        format_released(Range(start, end), Kind.NUMERIC) or ""
        for start, end in zip(texts[:-1], lasts[1:], strict=True)
    ]
    ends: tuple[str, ...] = (Phrase("any value"),)
    if texts:
        ends = (
            Phrase("below {limit}", limit=texts[0]),
            Phrase("{value} and above", value=texts[-1]),
        )
    unit = 10**domain.decimals if domain.unit == "number" else 1
    return Bars(
        np.searchsorted(edges, domain.points, side="right").astype(np.int64),
        (ends[0], *inner, *ends[1:]),
        tuple((edges / unit).tolist()),
        tuple(texts),
    )


def _large_enough(persons: Ints) -> list[int]:
    """The edges that stay when bars are merged from the left until all are large enough."""
    edges: list[int] = []
    gathered = 0
    for bar, count in enumerate(persons.tolist()):
        gathered += count
        if gathered >= FEWEST_PERSONS:
            edges.append(bar)
            gathered = 0
    # The last edge goes, so that what is left on the right, perhaps too few persons, joins the bar
    # before.
    return edges[:-1]


def _categories(column: CodedColumn, persons: Ints) -> Bars:
    size = column.domain.size
    by_persons = np.argsort(-persons, kind="stable")
    shown = by_persons[persons[by_persons] >= FEWEST_PERSONS]
    # One place is left for the bar of all others.
    if len(shown) < size or size > MOST_CATEGORIES:
        shown = shown[: MOST_CATEGORIES - 1]
    shown = np.sort(shown)
    of_code = np.full(size, len(shown))
    of_code[shown] = np.arange(len(shown))
    labels = [column.domain.label(code) for code in shown.tolist()]
    if others := size - len(shown):
        labels.append(Phrase("other ({categories})", categories=counted(others, "category")))
    return Bars(of_code, tuple(labels))


@dataclass(frozen=True)
class Distribution:
    """How a column's records are distributed before and after release.

    Attributes
    ----------
    labels
        What each bar is called; a numeric column's first and last are open ends.
    before
        Share of the original records in each bar.
    after
        Share of the kept records in each bar, each record spread evenly over the values that
        its released cell may stand for.
    edges
        Numeric columns: where one bar ends and the next begins, in the column's own unit
        (numbers; days, or microseconds for datetimes, since 1970).
    has_missing
        Whether the last bar is that of the missing values.
    """

    column: str
    kind: Kind
    labels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    edges: tuple[float, ...] = ()
    edge_labels: tuple[str, ...] = ()
    has_missing: bool = False

    @property
    def total_variation(self) -> float:
        """Total variation between the two, over the bars: half their L1 distance, in [0, 1]."""
        apart = np.abs(np.asarray(self.before) - np.asarray(self.after))
        return float(apart.sum()) / 2

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "column": self.column,
            "kind": self.kind.value,
            "labels": list(self.labels),
            "before": list(self.before),
            "after": list(self.after),
            "edges": list(self.edges),
            "edge_labels": list(self.edge_labels),
            "has_missing": self.has_missing,
            "total_variation": self.total_variation,
        }


def distribution(column: CodedColumn, person: Codes, cells: Cells, sizes: Ints) -> Distribution:
    """The distribution of one quasi-identifier before and after release.

    Parameters
    ----------
    person
        Person of each original record; shape (records,).
    sizes
        Number of kept records of each class; shape (classes,).
    """
    has_value = column.codes != MISSING
    before = np.bincount(column.codes[has_value], minlength=column.domain.size)
    missing = len(column.codes) - int(np.count_nonzero(has_value))
    after = cells.spread_evenly(sizes)
    kept = int(sizes.sum())
    return distribution_of(column, make_bars(column, person), (before, missing), after, kept)


def distribution_of(
    column: CodedColumn,
    bars: Bars,
    before: tuple[Ints, int],
    after: tuple[Floats, float],
    kept: int,
) -> Distribution:
    """The distribution of one quasi-identifier, from counts alone.

    Parameters
    ----------
    column
        The quasi-identifier; its codes are not looked at.
    before
        Records with each code, shape (domain size,), and the records without one.
    after
        What the released cells weigh on each code, shape (domain size,), and on none.
    """
    count, labels = len(bars.labels), bars.labels
    (codes, missing), (by_code, missing_after) = before, after
    one = np.bincount(bars.of_code, weights=codes, minlength=count)
    other = np.bincount(bars.of_code, weights=by_code, minlength=count)
    if missing:
        labels = (*labels, MISSING_LABEL)
        one, other = np.append(one, missing), np.append(other, missing_after)
    return Distribution(
        column.name,
        column.kind,
        labels,
        tuple((one / (codes.sum() + missing)).tolist()),
        tuple((other / kept).tolist()),
        bars.edges,
        bars.edge_labels,
        missing > 0,
    )


Bits = Bytes


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
        """1 where a code is selected, else 0; shape (codes, queries)."""
        if self.ends is not None:
            low, high = self.ends[0][queries], self.ends[1][queries]
            return ((codes[:, None] >= low) & (codes[:, None] <= high)).astype(np.float64)
        assert self.bits is not None
        first, stop, _ = queries.indices(self.queries)
        rows = self.bits[codes, first // 8 : -(-stop // 8)]
        bits = np.unpackbits(rows, axis=1)[:, first % 8 :][:, : stop - first]
        return bits.astype(np.float64)

    def shares(self, cells: Cells, queries: slice) -> Floats:
        """Share of each cell's values that is selected; shape (cells, queries)."""
        # Two ends per query instead of a matrix of values by queries, where cells are ranges, too.
        if self.ends is None or not cells.are_ranges:
            return cells.shares(self.selected(np.arange(len(cells.order)), queries))
        return cells.overlaps(self.ends[0][queries], self.ends[1][queries])


@dataclass(frozen=True, eq=False)
class Queries:
    """Random queries, by the columns that they ask about."""

    columns: int
    groups: tuple[tuple[tuple[int, ...], tuple[Predicates, ...]], ...]


def query_stream(seed: int) -> np.random.Generator:
    """The source of a release's queries: a stream of its own, so that it has no other draws."""
    return np.random.default_rng([seed, STREAM])


def draw_queries(
    columns: Sequence[CodedColumn],
    records: Sequence[Ints],
    rng: np.random.Generator,
    queries: int,
) -> Queries:
    """Draw queries, each on two columns that have values (on one if there is one)."""
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
    """
    if column.kind is Kind.CATEGORICAL:
        step = max(CHUNK // len(records), 1)
        sets = [
            _random_sets(records, min(step, count - start), rng) for start in range(0, count, step)
        ]
        return Predicates(count, bits=np.packbits(np.concatenate(sets, axis=1), axis=1))
    before = np.append(0, np.cumsum(records))
    # Early enough that the wanted share of records still lies behind it.
    start = rng.uniform(0, (1 - COVERED) * before[-1], size=count)
    low = np.searchsorted(before, start, side="right") - 1
    high = np.searchsorted(before, start + COVERED * before[-1], side="left") - 1
    return Predicates(count, ends=(low.astype(np.int64), high.astype(np.int64)))


def _random_sets(records: Ints, count: int, rng: np.random.Generator) -> Bools:
    """Take categories in a random order while that brings their share nearer to the target."""
    order = np.argsort(rng.random((len(records), count)), axis=0)
    up_to = np.cumsum(records[order], axis=0)
    target = COVERED * records.sum()
    taken = 2 * up_to - records[order] <= 2 * target
    # At least one category: an empty set would ask nothing.
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
    covered
        Share of a column's records that each predicate was drawn to cover.
    floor
        Least share of the records that an error is taken relative to.
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
    """What queries count, exactly and by the release; shape (queries,) each."""

    columns: int
    exact: Floats
    estimate: Floats


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-identifier as queries see it."""

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
    def places(self) -> Integers:
        """Index into `present` of each record, negative where it has no value."""
        if len(self.present) == self.column.domain.size:
            return self.column.codes
        place = np.full(self.column.domain.size + 1, MISSING)
        place[self.present] = np.arange(len(self.present))
        return place[self.column.codes]


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
    sizes
        Number of kept records of each class; shape (classes,).
    """
    columns, records = (
        [attribute.column for attribute in attributes],
        [attribute.records for attribute in attributes],
    )
    counts = query_counts(attributes, sizes, draw_queries(columns, records, rng, queries))
    return error_of(counts, len(columns[0].codes) if columns else 0)


def query_counts(
    attributes: Sequence[Attribute], sizes: Ints, queries: Queries, weight: Floats | None = None
) -> QueryCounts:
    """What random queries count; the counts of several groups of whole classes add up.

    Parameters
    ----------
    sizes
        Number of kept records of each class; shape (classes,).
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
    """The relative errors of queries."""
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
        [attribute.places for attribute in group], [len(each.present) for each in group], weight
    )
    released = _contingency(
        [each.cells.of_class for each in group],
        [len(each.cells.first_run) for each in group],
        sizes.astype(np.float64),
    )
    count, most = predicates[0].queries, max(len(true[-1]), len(released[-1]), 1)
    step = max(CHUNK // most, 1)
    for first in range(0, count, step):
        some = slice(first, min(first + step, count))
        pairs = list(zip(group, predicates, strict=True))
        exact = _counts(true, [own.selected(each.present, some) for each, own in pairs])
        yield exact, _counts(released, [own.shares(each.cells, some) for each, own in pairs])


def _contingency(
    indices: Sequence[Integers], shape: Sequence[int], weights: Floats | None
) -> tuple[list[Ints], Floats]:
    """The combinations that occur, column by column, and their weights; none with a missing one."""
    known = np.logical_and.reduce([index >= 0 for index in indices])
    places = np.ravel_multi_index([index[known] for index in indices], tuple(shape))
    present, number = np.unique(places, return_inverse=True)
    weight = np.bincount(number, None if weights is None else weights[known], len(present))
    return [*np.unravel_index(present, tuple(shape))], weight.astype(np.float64)


def _counts(contingency: tuple[list[Ints], Floats], shares: Sequence[Floats]) -> Floats:
    """Σ weight · share of the first column · share of the second, for each query."""
    places, weights = contingency
    product = shares[-1][places[-1]]
    if len(shares) > 1:
        product *= shares[0][places[0]]
    counts: Floats = weights @ product
    return counts
