"""What a release loses, measured on the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.optional_packages import needed
from sfumato.engines.spark.names import OWN, PERSON, quasi_identifier
from sfumato.engines.spark.session import said_plainly
from sfumato.engines.spark.table import SparkTable
from sfumato.engines.spark.tasks import without_values
from sfumato.release.distributions import QUERIES as ASKED
from sfumato.release.distributions import (
    Distribution,
    QueryCounts,
    bars_of,
    distribution_of,
    draw_queries,
    error_of,
    query_stream,
)
from sfumato.release.information_loss import (
    CorrelationChange,
    ErrorSums,
    Moments,
    SquaredError,
    change_of,
    discernibility_of,
    full_range,
    has_scale,
    sst,
    steps,
)
from sfumato.release.on_spark.assemble import CellColumn
from sfumato.release.on_spark.lost import (
    MOMENTS,
    PERSONS,
    PROFILE,
    QUERIES,
    SIZES,
    TIMES,
    LossOfClasses,
)
from sfumato.release.options import Form
from sfumato.release.release_manifest import Manifest
from sfumato.release.utility_measures import ColumnLoss, Utility
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RECORDS = 1 << 18
"""Records that are measured together, about."""
BUCKET = f"{OWN}bucket"
Sums = Mapping[str, tuple[Ints, Floats]]
"""Places and their sums, by what was summed."""
SUMS = "what string, at bigint, value double"


def utility_on_spark(
    table: SparkTable,
    records: DataFrame,
    cells: Sequence[Sequence[CellColumn]],
    manifest: Manifest,
    *,
    together: int = RECORDS,
) -> Utility:
    """Measure what a release loses; the numbers are those of the embedded engine to 12 digits.

    Records of equal content are counted once. Whole classes are measured together by the
    functions of the embedded engine, whose sums are added up.

    Parameters
    ----------
    table
        The encoded file.
    records
        Its records with their cells.
    cells
        The released columns of each quasi-identifier.
    manifest
        What was done.
    together
        Records that are measured together, about.
    """
    columns = table.quasi_identifiers
    own = tuple(tuple(each.cells for each in some) for some in cells)
    named = [name for some in own for name in some]
    people = _people(records, named, len(columns), persons=table.schema.person is not None)
    loss = loss_of_classes(table, own, manifest.options.form, manifest.seed)
    buckets = max(-(-table.records // together), 1)
    return utility_of_sums(table, _summed(people, named, buckets, loss))


def loss_of_classes(
    table: SparkTable, cells: tuple[tuple[str, ...], ...], form: Form, seed: int
) -> LossOfClasses:
    """What sums the loss of whole classes of a file.

    Parameters
    ----------
    table
        The encoded file.
    cells
        The columns of cells, by quasi-identifier.
    form
        The form in which values are released.
    seed
        The seed of the release.
    """
    columns = table.quasi_identifiers
    counts = [table.value_counts[each.name] for each in columns]
    queries = draw_queries(columns, counts, query_stream(seed), ASKED)
    return LossOfClasses(columns, cells, _centre(columns, counts), form, queries)


def utility_of_sums(table: SparkTable, found: Sums) -> Utility:
    """What a release loses, from the sums over all its classes.

    Parameters
    ----------
    table
        The encoded file; its records are not looked at.
    found
        The sums of `LossOfClasses`, by what and where.
    """
    losses, distributions = [], []
    for place, column in enumerate(table.quasi_identifiers):
        shown = _distribution(table, place, found)
        losses.append(_loss(table, column, place, found, shown))
        distributions.append(shown)
    return _whole(table, found, tuple(losses), tuple(distributions))


def _centre(columns: Sequence[CodedColumn], counts: Sequence[Ints]) -> Floats:
    """The mean of each column that has a scale, on the unit scale."""
    return np.array(
        [
            float(count @ steps(column)) / max(int(count.sum()), 1) / full_range(steps(column))
            for column, count in zip(columns, counts, strict=True)
            if has_scale(column)
        ]
    )


def _people(records: DataFrame, cells: Sequence[str], columns: int, *, persons: bool) -> DataFrame:
    """One row per class and distinct set of records that a person of it has."""
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    codes = [quasi_identifier(place) for place in range(columns)]
    count = f.count(f.lit(1))
    if not persons:
        alone = records.groupBy(*cells, *codes).agg(count.alias(PERSONS))
        profile = f.array(f.struct(*codes, f.lit(1).cast("bigint").alias(TIMES)))
        return alone.select(*cells, profile.alias(PROFILE), PERSONS)
    own = records.groupBy(PERSON, *cells, *codes).agg(count.alias(TIMES))
    profile = f.sort_array(f.collect_list(f.struct(*codes, TIMES)))
    each = own.groupBy(PERSON, *cells).agg(profile.alias(PROFILE))
    return each.groupBy(*cells, PROFILE).agg(count.alias(PERSONS))


def _summed(people: DataFrame, cells: Sequence[str], buckets: int, loss: LossOfClasses) -> Sums:
    """The sums of the whole file, by what and where."""
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    bucket = f.pmod(f.xxhash64(*cells), f.lit(buckets)).alias(BUCKET)
    with said_plainly("measure what the release loses"):
        sums = people.groupBy(bucket).applyInArrow(without_values(loss), SUMS)
        summed = sums.groupBy("what", "at").agg(f.sum("value").alias("value")).toArrow()
    return by_what(summed)


def by_what(summed: pa.Table) -> Sums:
    """Sums by what was summed.

    Parameters
    ----------
    summed
        A table of what `LossOfClasses` gives, each place once.
    """
    what = summed.column("what").combine_chunks().dictionary_encode()
    at, value = (summed.column(name).to_numpy() for name in ("at", "value"))
    codes = what.indices.to_numpy()
    return {
        name: (at[codes == code], value[codes == code])
        for code, name in enumerate(what.dictionary.to_pylist())
    }


def _array(found: Sums, what: str, size: int) -> Floats:
    """What was summed, at every place."""
    sums = np.zeros(size)
    if what in found:
        at, value = found[what]
        sums[at] = value
    return sums


def _distribution(table: SparkTable, place: int, found: Sums) -> Distribution:
    column = table.quasi_identifiers[place]
    counts, size = table.value_counts[column.name], column.domain.size
    after = _array(found, f"after{place}", size + 1)
    persons = np.rint(_array(found, f"persons{place}", size)).astype(np.int64)
    return distribution_of(
        column,
        bars_of(column, counts, persons),
        (counts, table.missing[column.name]),
        (after[:size], float(after[size])),
        table.records,
    )


def _loss(
    table: SparkTable,
    column: CodedColumn,
    place: int,
    found: Sums,
    shown: Distribution,
) -> ColumnLoss:
    span = 1.0 if column.kind is Kind.CATEGORICAL else full_range(steps(column))
    ane, ane_persons = _errors(found, place, span).averages
    within = float(_array(found, f"squares{place}", 1)[0])
    squares = SquaredError(within, sst(column, table.value_counts[column.name]))
    return ColumnLoss(
        column.name,
        column.kind,
        column.weight,
        ane,
        ane_persons,
        float(_array(found, f"penalty{place}", 1)[0]) / table.records,
        squares.sse,
        squares.sst,
        squares.ratio,
        shown.total_variation,
        float(_array(found, f"hidden{place}", 1)[0]) / table.records,
    )


def _errors(found: Sums, place: int, span: float) -> ErrorSums:
    off, records, of_persons, persons = _array(found, f"error{place}", 4).tolist()
    return ErrorSums(off, records, of_persons, persons, span)


def _whole(
    table: SparkTable,
    found: Sums,
    losses: tuple[ColumnLoss, ...],
    distributions: tuple[Distribution, ...],
) -> Utility:
    at, number = (np.rint(each).astype(np.int64).tolist() for each in found[SIZES])
    sizes = dict(zip(at, number, strict=True))
    classes = sum(sizes.values())
    return Utility.of_columns(
        losses,
        discernibility=discernibility_of(sizes, 0),
        average_class_records=table.records / classes,
        average_class_persons=table.persons / classes,
        records=table.records,
        persons=table.persons,
        suppressed_records=0,
        suppressed_persons=0,
        correlations=_correlations(table.quasi_identifiers, found),
        queries=error_of(_queries(table, found), table.records),
        distributions=distributions,
    )


def _correlations(columns: Sequence[CodedColumn], found: Sums) -> CorrelationChange:
    chosen = [each for each in columns if has_scale(each)]
    shape = (2, 4, len(chosen), len(chosen))
    sums = _array(found, MOMENTS, int(np.prod(shape))).reshape(shape)
    before, after = Moments([np.zeros(0)] * len(chosen)), Moments([np.zeros(0)] * len(chosen))
    before.sums, after.sums = sums
    return change_of(chosen, before, after)


def _queries(table: SparkTable, found: Sums) -> QueryCounts:
    usable = sum(bool(table.value_counts[each.name].any()) for each in table.quasi_identifiers)
    asked = ASKED if usable else 0
    exact, estimate = np.split(_array(found, QUERIES, 2 * asked), 2)
    return QueryCounts(min(usable, 2), exact, estimate)
