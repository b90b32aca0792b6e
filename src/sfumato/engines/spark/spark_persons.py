"""From records to persons on the cluster, and along what they are cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Integers, Ints
from sfumato.core.optional_packages import needed
from sfumato.engines.spark.spark_session import (
    NODE,
    PERSON,
    TIE,
    Ran,
    WithoutValues,
    code_columns,
    gathered,
    quasi_identifier,
    sensitive,
    without_values,
)
from sfumato.kernels import class_counts
from sfumato.schema import Kind, Schema
from sfumato.schema.recipe import StepCount
from sfumato.table.scalars import number_ranks
from sfumato.table.table import MISSING, CodedColumn, Codes, LabelDomain, NumberDomain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class SparkTable:
    """An encoded file whose records stay on the cluster.

    Attributes
    ----------
    frame
        One row per record, its lineage cut: ``sfumato_person`` (the id as it prints, a text or
        a bigint; without a person column a number of the record), ``sfumato_tie`` (bigint),
        ``sfumato_q0``, ... and ``sfumato_s0``, ... (int codes, -1 for missing),
        ``sfumato_household`` where there is one, ``sfumato_weight`` (double) where sampling
        weights were asked for, and the columns that a release hands on under their own names
        where they were kept.
    quasi_identifiers, sensitive
        The columns, in the schema's order, with empty ``codes``; the labels of sensitive
        attributes are in natural order.
    value_counts
        Number of records with each code, by the name of the column, shape ``(domain.size,)``.
    missing
        Number of records without a value, by the name of the column.
    columns
        Names of all columns of the file, in its order.
    warnings
        What the reader should know; publishable.
    preparation
        What each step of the schema's recipe did to the columns that were read.
    """

    schema: Schema
    frame: DataFrame = field(repr=False)
    quasi_identifiers: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    value_counts: Mapping[str, Ints] = field(repr=False)
    missing: Mapping[str, int]
    columns: tuple[str, ...]
    warnings: tuple[str, ...]
    records: int
    persons: int
    ran: Ran
    preparation: tuple[StepCount, ...] = ()


@dataclass(frozen=True, eq=False)
class Ordered:
    """A numeric or ordered quasi-identifier, along which persons stand in a row.

    Attributes
    ----------
    size
        Number of values of its domain; the bin of persons who miss any value.
    points
        The domain's points, from 0 on, whose means are positions; ``None`` for labels, whose
        position is the most frequent one.
    normalized
        The unit scale [0, 1] of the codes.
    """

    place: int
    strict: bool
    size: int
    points: Ints | None
    normalized: Floats


@dataclass(frozen=True)
class Indicator:
    """0/1 columns of a categorical quasi-identifier, or of missing an ordered one.

    Attributes
    ----------
    columns
        Number of 0/1 columns; that of being missing is the last one.
    shift
        The code of the first column: two categories without missing need one column.
    missing_bin
        The bin of persons who miss any value of an ordered quasi-identifier; -1 where the
        quasi-identifier is categorical.
    """

    place: int
    columns: int
    has_missing: bool
    shift: int
    missing_bin: int = -1


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive attribute, and the rank of each value; ``None`` where not all are numbers."""

    place: int
    file: Ints
    rank: np.ndarray[tuple[int], np.dtype[np.int32]] | None


@dataclass(frozen=True, eq=False)
class Axes:
    """All axes in the order in which cuts name them, the ordered first.

    Sensitive attributes are there where they were asked for.
    """

    ordered: tuple[Ordered, ...]
    indicators: tuple[Indicator, ...]
    sensitive: tuple[Sensitive, ...] = ()

    def bare(self) -> Axes:
        """The axes without what is as long as a domain, which tasks on persons do not need."""
        nothing = np.empty(0)
        ordered = (replace(axis, points=None, normalized=nothing) for axis in self.ordered)
        return Axes(tuple(ordered), self.indicators)


def axes_of(table: SparkTable, *, sensitive: bool) -> Axes:
    """The axes that the persons of a file have: those that one machine would find."""
    columns = list(enumerate(table.quasi_identifiers))
    ordered = tuple(_ordered(i, each) for i, each in columns if each.kind is not Kind.CATEGORICAL)
    found = [_indicator(i, each, table.missing.get(each.name, 0) > 0) for i, each in columns]
    return Axes(
        ordered,
        tuple(each for each in found if each is not None),
        tuple(
            Sensitive(place, table.value_counts[column.name], _ranks(column))
            for place, column in enumerate(table.sensitive)
        )
        if sensitive
        else (),
    )


def _ordered(place: int, column: CodedColumn) -> Ordered:
    domain = column.domain
    # From 0 on, as the exact means are sums of differences
    # from the lowest point, which overflow later.
    points = domain.points - domain.points[:1] if isinstance(domain, NumberDomain) else None
    strict = column.kind is Kind.ORDERED
    return Ordered(place, strict, domain.size, points, domain.normalized)


def _indicator(place: int, column: CodedColumn, missing: bool) -> Indicator | None:
    size = column.domain.size
    if column.kind is not Kind.CATEGORICAL:
        return Indicator(place, 1, True, 0, size) if missing else None
    # Of two categories one column tells the other, and both would be the same cut.
    shift = int(size == 2 and not missing)
    return Indicator(place, size - shift + missing, missing, shift)


def _ranks(column: CodedColumn) -> np.ndarray[tuple[int], np.dtype[np.int32]] | None:
    domain = column.domain
    return number_ranks(domain) if isinstance(domain, LabelDomain) else None


Columns = dict[str, "pa.Array | npt.NDArray[Any]"]
PERSONS = 50_000
"""Persons of a bucket, whose records one task gathers."""
RECORDS = 1_000_000
"""Records of a bucket on average, where persons have many."""
SECOND = "sfumato_second"
"""A second hash of the person, which orders persons of equal tie."""
OF_PERSON = "sfumato_records"
"""Number of records of the person."""
_BUCKET = "sfumato_bucket"


def persons_frame(table: SparkTable, axes: Axes) -> DataFrame:
    """One row per person, with the person's place along every axis.

    Persons are gathered by buckets of a hash, so that no bucket holds much more than another;
    a record that is a person of its own moves nowhere. The frame is lazy, and not kept.

    Returns
    -------
    DataFrame
        ``sfumato_person``, ``sfumato_tie``, ``sfumato_second`` and ``sfumato_records``. For the
        quasi-identifier i of an ordered axis: ``k{i}`` its bin, the code at or below the
        position; ``w{i}``, ``f{i}`` how far the position lies above that code's point, whole part
        and fraction; ``t{i}``, ``u{i}``, ``n{i}`` sum, sum of squares and number of the
        normalised values; ``a{i}``, ``z{i}`` lowest and highest code. For that of a categorical
        one: ``m{i}`` the 0/1 column of the person, -1 for none; ``v{i}``, ``c{i}`` the columns
        that hold for any record, and of how many. For the sensitive attribute j ``sv{j}`` and
        ``sc{j}`` likewise.
    """
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    codes = [quasi_identifier(place) for place in range(len(table.quasi_identifiers))]
    codes += [sensitive(attribute.place) for attribute in axes.sensitive]
    frame = table.frame.select(PERSON, TIE, *codes)
    frame = frame.withColumn(SECOND, functions.xxhash64(PERSON))
    schema = _schema(frame.schema[PERSON].dataType.simpleString(), axes)
    gather = partial(people_of, axes=axes)
    if table.schema.person is None:
        return frame.mapInArrow(WithoutValues(partial(_by_batches, gather=gather)), schema)
    buckets = 1 + max(table.persons // PERSONS, table.records // RECORDS)
    # Fewer buckets than partitions would leave executors without work.
    buckets = max(buckets, table.ran.partitions)
    bucket = functions.pmod(functions.col(SECOND), functions.lit(buckets))
    return frame.groupBy(bucket.alias(_BUCKET)).applyInArrow(without_values(gather), schema)


def _by_batches(batches: Iterator[pa.RecordBatch], gather: Any) -> Iterator[pa.RecordBatch]:
    for batch in gathered(batches, PERSONS):
        yield from gather(pa.Table.from_batches([batch])).to_batches()


def _schema(person: str, axes: Axes) -> str:
    fields = [f"{PERSON} {person}", f"{TIE} bigint", f"{SECOND} bigint", f"{OF_PERSON} bigint"]
    for axis in axes.ordered:
        names = "k int, w bigint, f double, t double, u double, n bigint, a int, z int"
        fields += [part.replace(" ", f"{axis.place} ") for part in names.split(", ")]
    for indicator in axes.indicators:
        if indicator.missing_bin < 0:
            i = indicator.place
            fields += [f"m{i} int", f"v{i} array<int>", f"c{i} array<int>"]
    for attribute in axes.sensitive:
        fields += [f"sv{attribute.place} array<int>", f"sc{attribute.place} array<int>"]
    return ", ".join(fields)


def people_of(records: pa.Table, axes: Axes) -> pa.Table:
    """The persons of some records (person, tie, second hash, codes), each with all of them."""
    # Persons are numbered within a bucket, as all records of each are in one.
    ids = records.column(PERSON).combine_chunks().dictionary_encode()
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.chunk(0)
    person = ids.indices.to_numpy().astype(np.int32)
    rows, starts = class_counts.group_rows(person, len(ids.dictionary))
    first = rows[starts[:-1]]
    count = np.diff(starts)
    columns: Columns = {
        PERSON: ids.dictionary,
        TIE: _numbers(records, TIE)[first],
        SECOND: _numbers(records, SECOND)[first],
        OF_PERSON: count,
    }
    for axis in axes.ordered:
        codes = _numbers(records, quasi_identifier(axis.place))
        columns |= _along(axis, rows, starts, codes, count)
    for indicator in axes.indicators:
        if indicator.missing_bin < 0:
            codes = _numbers(records, quasi_identifier(indicator.place))
            columns |= _among(indicator, rows, starts, codes, count)
    for attribute in axes.sensitive:
        found = class_counts.distinct(rows, starts, _numbers(records, sensitive(attribute.place)))
        columns |= _lists(f"sv{attribute.place}", f"sc{attribute.place}", *found)
    return pa.table(columns)


def _numbers(records: pa.Table, name: str) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = records.column(name).to_numpy()
    return values


def _along(axis: Ordered, rows: Codes, starts: Ints, codes: Codes, count: Ints) -> Columns:
    sums = class_counts.sums(rows, starts, codes, axis.normalized)
    whole, fraction = np.zeros(len(count), dtype=np.int64), np.zeros(len(count))
    if axis.points is None:
        place = class_counts.modes(rows, starts, codes, axis.size)
    else:
        whole, fraction = class_counts.exact_means(rows, starts, codes, axis.points)
        place = (np.searchsorted(axis.points, whole, side="right") - 1).astype(np.int32)
        # Above the bin's point, so that a window of whole parts starts at 0 in each bin.
        whole = whole - axis.points[place]
    # A person who misses any value stands at the missing end, as on one machine.
    missing = sums.present < count
    place = np.where(missing, np.int32(axis.size), place)
    whole[missing], fraction[missing] = 0, 0.0
    columns = dict(zip("kwf", (place, whole, fraction), strict=True))
    columns |= dict(zip("tunaz", sums, strict=True))
    return {f"{name}{axis.place}": values for name, values in columns.items()}


def _among(axis: Indicator, rows: Codes, starts: Ints, codes: Codes, count: Ints) -> Columns:
    owner = np.repeat(np.arange(len(count), dtype=np.int32), count)
    missing = np.zeros(len(count), dtype=bool)
    missing[owner[codes[rows] == MISSING]] = True
    offsets, values, counts = class_counts.distinct(rows, starts, codes - np.int32(axis.shift))
    of = np.repeat(np.arange(len(count), dtype=np.int32), np.diff(offsets))
    member = np.full(len(count), -1, dtype=np.int32)
    # More than half: at most one column can hold for most of a person's records.
    most = 2 * counts > count[of]
    member[of[most]] = values[most]
    if missing.any():
        lacking, last = np.flatnonzero(missing), np.int32(axis.columns - 1)
        member[lacking] = last
        # Stable, so that the column of missing comes last within each person, as lists ascend.
        by_owner = np.argsort(np.concatenate([of, lacking]), kind="stable")
        own = count[lacking].astype(np.int32)
        values = np.concatenate([values, np.full(len(lacking), last)])[by_owner]
        counts = np.concatenate([counts, own])[by_owner]
        offsets = offsets + np.concatenate([[0], np.cumsum(missing)])
    i = axis.place
    return {f"m{i}": member} | _lists(f"v{i}", f"c{i}", offsets, values, counts)


def _lists(value: str, count: str, offsets: Ints, values: Codes, counts: Codes) -> Columns:
    ends = pa.array(offsets.astype(np.int32))
    return {
        value: pa.ListArray.from_arrays(ends, pa.array(values, pa.int32())),
        count: pa.ListArray.from_arrays(ends, pa.array(counts, pa.int32())),
    }


class PeopleBatch:
    """Some rows of a frame of persons."""

    def __init__(self, batch: pa.RecordBatch, axes: Axes) -> None:
        self._batch = batch
        self._known: dict[str, npt.NDArray[Any]] = {}
        self.axes = axes
        self.persons = batch.num_rows

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """A column of numbers."""
        # A column is read by several axes, and making an array of it copies where it has nulls.
        if name not in self._known:
            self._known[name] = self._batch.column(name).to_numpy(zero_copy_only=False)
        return self._known[name]

    @property
    def records(self) -> Ints:
        """Number of records of each person."""
        return self.numbers(OF_PERSON)

    def member(self, axis: Indicator) -> Codes:
        """The 0/1 column of each person, -1 for none."""
        if axis.missing_bin < 0:
            return self.numbers(f"m{axis.place}")
        lacking = self.numbers(f"k{axis.place}") == axis.missing_bin
        return np.where(lacking, np.int32(0), np.int32(-1))

    def held(self, axis: Indicator) -> tuple[Codes, Codes, Codes]:
        """The columns that hold for any record: whose, which, and of how many records."""
        if axis.missing_bin < 0:
            return self.lists(f"v{axis.place}", f"c{axis.place}")
        person = np.flatnonzero(self.member(axis) == 0).astype(np.int32)
        return person, np.zeros(len(person), np.int32), self.records[person].astype(np.int32)

    def lists(self, value: str, count: str) -> tuple[Codes, Codes, Codes]:
        """Two columns of lists of equal lengths, as person, value and count of each entry."""
        values, counts = self._batch.column(value), self._batch.column(count)
        lengths = np.diff(values.offsets.to_numpy())
        person = np.repeat(np.arange(self.persons, dtype=np.int32), lengths)
        return person, values.flatten().to_numpy(), counts.flatten().to_numpy()


def columns_of(axes: Axes, chosen: Sequence[int]) -> list[str]:
    """The columns that tell on which side of cuts along some axes a person is."""
    names = {OF_PERSON, TIE, SECOND}
    for index in chosen:
        if index < len(axes.ordered):
            names |= {f"{each}{axes.ordered[index].place}" for each in "kwf"}
        else:
            one = axes.indicators[index - len(axes.ordered)]
            names.add(f"m{one.place}" if one.missing_bin < 0 else f"k{one.place}")
    return sorted(names)


LEAST = np.iinfo(np.int64).min
MOST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Bounds:
    """Where cuts are; every array has shape (cuts,).

    Along an ordered axis a person goes left whose (bin, whole, fraction, records, tie, second)
    comes before that of the bound; to a 0/1 column belongs the right side.

    Attributes
    ----------
    column
        The 0/1 column; 0 along ordered axes.
    records, tie, second
        What tells persons at that position apart; the least number where all go right.
    """

    axis: Codes
    column: Codes
    bin: Codes
    whole: Ints
    fraction: Floats
    records: Ints
    tie: Ints
    second: Ints

    def take(self, chosen: Integers | Bools) -> Bounds:
        """Some of the cuts."""
        return Bounds(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def on_the_right(self, people: PeopleBatch, person: Ints, cut: Codes | Ints) -> Bools:
        """Whether persons are on the right of a cut each."""
        right = np.zeros(len(person), dtype=bool)
        along = self.axis[cut]
        axes = people.axes
        # Axis by axis, as each has columns of its own: few axes, and no loop over persons.
        for axis in np.unique(along).tolist():
            here = np.flatnonzero(along == axis)
            some, cuts = person[here], cut[here]
            if axis < len(axes.ordered):
                right[here] = ~self._before(people, axes.ordered[axis].place, some, cuts)
            else:
                member = people.member(axes.indicators[axis - len(axes.ordered)])
                right[here] = member[some] == self.column[cuts]
        return right

    def _before(self, people: PeopleBatch, place: int, person: Ints, cut: Codes | Ints) -> Bools:
        before, equal = np.zeros(len(person), dtype=bool), np.ones(len(person), dtype=bool)
        own = (f"k{place}", f"w{place}", f"f{place}")
        bounds: tuple[npt.NDArray[Any], ...] = (
            self.bin,
            self.whole,
            self.fraction,
            self.records,
            self.tie,
            self.second,
        )
        for name, bound in zip((*own, *TOLD_BY), bounds, strict=True):
            values, limits = people.numbers(name)[person], bound[cut]
            # Lexicographic: a later field decides only where all earlier ones are equal.
            before |= equal & (values < limits)
            equal &= values == limits
            if not equal.any():
                break
        return before


TOLD_BY = ("sfumato_records", "sfumato_tie", "sfumato_second")


@dataclass(frozen=True, eq=False)
class Routes:
    """A tree of cuts, its nodes numbered as they came; node 0 is the root.

    Attributes
    ----------
    cut
        The cut of each node, -1 for none; shape (nodes,).
    child
        The left child of each cut; the right one follows it; shape (cuts,).
    bounds
        Where the cuts are.
    """

    cut: Codes
    child: Ints
    bounds: Bounds
    depth: int

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.cut)

    def grown(self, nodes: Ints, bounds: Bounds) -> Routes:
        """The tree with one more level: a cut of each of some nodes.

        Parameters
        ----------
        nodes
            Nodes without a cut.
        bounds
            Their cuts. Their children are the last nodes, in this order.
        """
        cut = np.concatenate([self.cut, np.full(2 * len(nodes), -1, dtype=np.int32)])
        cut[nodes] = len(self.child) + np.arange(len(nodes))
        both = (
            np.concatenate([getattr(self.bounds, each.name), getattr(bounds, each.name)])
            for each in fields(bounds)
        )
        child = np.concatenate([self.child, self.nodes + 2 * np.arange(len(nodes))])
        return replace(self, cut=cut, child=child, bounds=Bounds(*both), depth=self.depth + 1)

    def node_of(self, people: PeopleBatch) -> Ints:
        """The last node that each person of a batch comes to: O(persons x depth)."""
        node = np.zeros(people.persons, dtype=np.int64)
        going_on = np.arange(people.persons)
        for _ in range(self.depth):
            cut = self.cut[node[going_on]]
            going_on, cut = going_on[cut >= 0], cut[cut >= 0]
            if not len(going_on):
                break
            right = self.bounds.on_the_right(people, going_on, cut)
            node[going_on] = self.child[cut] + right
        return node


def unrouted() -> Routes:
    """The root alone."""
    code, whole = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    nothing = Bounds(code, code, code, whole, np.empty(0), whole, whole, whole)
    return Routes(np.full(1, -1, dtype=np.int32), whole, nothing, 0)


TOGETHER = 1 << 16
"""Persons that are looked at together."""
SPREAD = 2
"""Partitions per node, so that few tasks have several nodes while others have none."""
MOST_PARTITIONS = 1 << 13


def node_of_people(people: DataFrame, axes: Axes, routes: Routes) -> DataFrame:
    """The node that each person comes to: ``sfumato_person`` and ``sfumato_node``."""
    names = [PERSON, *columns_of(axes, routes.bounds.axis.tolist())]
    person = people.schema[PERSON].dataType.simpleString()
    task = WithoutValues(partial(_nodes, axes=axes.bare(), routes=routes))
    return people.select(*names).mapInArrow(task, f"{PERSON} {person}, {NODE} bigint")


def _nodes(
    batches: Iterator[pa.RecordBatch], axes: Axes, routes: Routes
) -> Iterator[pa.RecordBatch]:
    for batch in gathered(batches, TOGETHER):
        node = routes.node_of(PeopleBatch(batch, axes))
        yield pa.record_batch({PERSON: batch.column(PERSON), NODE: node})


def by_node(
    table: SparkTable,
    people: DataFrame,
    axes: Axes,
    routes: Routes,
    finish: Callable[[pa.Table], pa.Table],
    schema: str,
) -> DataFrame:
    """What a function makes of the records of each node, one executor's task per node.

    Two shuffles of the records' codes: to the persons, where a person of very many records is
    no more than these, and to the nodes.

    Parameters
    ----------
    routes
        Where the persons are.
    finish
        Given ``sfumato_node``, ``sfumato_person``, ``sfumato_tie`` and the codes of the records
        of one node; runs on the executors.
    """
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    codes = code_columns(table.schema)
    records = table.frame.select(PERSON, TIE, *codes)
    if routes.depth:
        placed = records.join(node_of_people(people, axes, routes), PERSON)
    else:
        placed = records.withColumn(NODE, functions.lit(0).cast("bigint"))
    ends = int((routes.cut < 0).sum())
    # By their number and not left to adaptive execution,
    # which merges small partitions with long work in them.
    placed = placed.repartition(min(SPREAD * ends, MOST_PARTITIONS), NODE)
    return placed.groupBy(NODE).applyInArrow(without_values(finish), schema)


def numbered(
    persons: pa.ChunkedArray,
) -> tuple[pa.Array, np.ndarray[tuple[int], np.dtype[np.int32]]]:
    """The distinct ids of a column, none of them null, and the number of the id of each row."""
    ids = persons.combine_chunks().dictionary_encode()
    whole = ids.chunk(0) if isinstance(ids, pa.ChunkedArray) else ids
    return whole.dictionary, whole.indices.to_numpy().astype(np.int32)
