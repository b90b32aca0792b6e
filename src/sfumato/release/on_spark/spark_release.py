"""Make a release on a cluster: divide, join the cells, measure risk and loss, assemble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Floats, Integers, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import SfumatoError
from sfumato.core.optional_packages import needed
from sfumato.core.secret_keys import Secrets
from sfumato.engines.embedded.counts import group
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import (
    HOUSEHOLD,
    OWN,
    PERSON,
    quasi_identifier,
    said_plainly,
    sensitive,
    watched,
    without_values,
)
from sfumato.engines.spark.spark_session import released as forgotten
from sfumato.release import information_loss
from sfumato.release.distributions import QUERIES as ASKED
from sfumato.release.distributions import (
    Attribute,
    Cells,
    Distribution,
    Queries,
    QueryCounts,
    bars_of,
    distribution_of,
    draw_queries,
    error_of,
    persons_of_codes,
    query_counts,
    query_stream,
    released_cells,
)
from sfumato.release.generalisation import ReleasedColumn
from sfumato.release.on_spark import spark_released_file
from sfumato.release.on_spark.spark_division import DividedOnSpark, divide_on_spark
from sfumato.release.promises.promise import ordered_attributes
from sfumato.release.release_manifest import Manifest
from sfumato.release.release_options import Form
from sfumato.release.release_result import Release
from sfumato.release.utility_measures import ColumnLoss, Later, Utility
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.on_spark import spark_measures
from sfumato.risk.on_spark.spark_population import assess_on_spark
from sfumato.schema import Kind
from sfumato.table.sources import from_numpy, from_texts
from sfumato.table.table import MISSING, CodedColumn, Codes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


PROFILE, PERSONS, TIMES = f"{OWN}profile", f"{OWN}persons", f"{OWN}times"
"""A person's distinct records, how many persons have just these, how often each is there."""
OF_COLUMN = ("error", "squares", "penalty", "after", "persons", "hidden")
"""What is summed of each quasi-identifier."""
SIZES, QUERIES, MOMENTS = "sizes", "queries", "moments"


@dataclass(frozen=True, eq=False)
class LossOfClasses:
    """Sums what the records of some classes lose; runs on the executors.

    Attributes
    ----------
    columns
        The quasi-identifiers, with empty codes.
    centre
        What values on the unit scale are taken from, of each that has a scale.
    """

    columns: tuple[CodedColumn, ...]
    cells: tuple[tuple[str, ...], ...]
    centre: Floats
    form: Form
    queries: Queries

    def __call__(self, classes: pa.Table) -> pa.Table:
        """The sums of whole classes, not all of them 0.

        ``what`` is summed, ``at`` which place, its ``value``. Rows are distinct persons of the
        classes: cells, `PROFILE`, `PERSONS`.
        """
        people = _People.of(classes, self.columns, [name for cell in self.cells for name in cell])
        names, places, values = [], [], []
        for name, sums in self._sums(classes, people):
            # Most places of a few classes are 0, and need not be sent to the driver.
            at = np.flatnonzero(sums)
            names.append(np.full(len(at), name, dtype=object))
            places.append(at.astype(np.int64))
            values.append(sums[at])
        return pa.table(
            {
                "what": from_texts(np.concatenate(names).tolist()).cast(pa.string()),
                "at": from_numpy(np.concatenate(places)),
                "value": from_numpy(np.concatenate(values)),
            }
        )

    def _sums(self, classes: pa.Table, people: _People) -> Iterator[tuple[str, Floats]]:
        sizes = people.sizes
        attributes = []
        for place, column in enumerate(people.columns):
            cells = self._cells(place, column, classes, people)
            attributes.append(Attribute(column, cells))
            for what, sums in self._of_column(column, cells, people):
                yield f"{what}{place}", sums
        yield SIZES, np.bincount(sizes).astype(np.float64)
        queries = query_counts(attributes, sizes, self.queries, people.weight)
        yield QUERIES, np.concatenate([queries.exact, queries.estimate])
        chosen = [column for column in people.columns if information_loss.has_scale(column)]
        before, after = information_loss.moments(
            chosen, people.class_of, people.classes, people.weight, self.centre
        )
        yield MOMENTS, np.stack([before.sums, after.sums]).ravel()

    def _cells(self, place: int, column: CodedColumn, classes: pa.Table, people: _People) -> Cells:
        texts = _coded(classes.column(self.cells[place][0]))
        text_of_class = np.zeros(people.classes, dtype=np.int32)
        text_of_class[people.class_of_person] = texts
        printed = ReleasedColumn(column.name, column.name, (), text_of_class, np.zeros(0, np.int64))
        return released_cells(column, people.class_of, people.classes, self.form, printed)

    def _of_column(
        self, column: CodedColumn, cells: Cells, people: _People
    ) -> Iterator[tuple[str, Floats]]:
        class_of, classes = people.class_of, people.classes
        errors = information_loss.error_sums(column, class_of, classes, people.person, people.alike)
        within = information_loss.sse(column, class_of, classes, people.weight)
        leaves = cells.leaves[cells.of_class]
        penalty = information_loss.certainty_penalty(column, class_of, classes, leaves, self.form)
        known = column.codes != MISSING
        persons = persons_of_codes(
            column, column.codes[known], people.person[known], people.alike.persons
        )
        yield OF_COLUMN[0], np.array(errors[:4])
        yield OF_COLUMN[1], np.array([within])
        yield OF_COLUMN[2], np.array([penalty @ people.sizes])
        yield OF_COLUMN[5], np.array([(penalty > information_loss.WHOLE) @ people.sizes])
        yield OF_COLUMN[3], np.append(*cells.spread_evenly(people.sizes))
        yield OF_COLUMN[4], persons.astype(np.float64)


@dataclass(frozen=True, eq=False)
class _People:
    """The distinct persons of some classes, and their distinct records.

    Attributes
    ----------
    class_of_person
        Class of each person; shape (persons,).
    person
        Person of each record; shape (records,).
    """

    class_of_person: Codes
    classes: int
    columns: tuple[CodedColumn, ...]
    person: Codes
    alike: information_loss.Alike

    @classmethod
    def of(cls, classes: pa.Table, columns: Sequence[CodedColumn], cells: Sequence[str]) -> _People:
        """Read them from a batch of `LossOfClasses`."""
        texts = [_coded(classes.column(name)) for name in cells]
        class_of_person, count = group(texts, [int(text.max()) + 1 for text in texts])
        profiles = classes.column(PROFILE).combine_chunks()
        records = profiles.value_lengths().to_numpy(zero_copy_only=False)
        held = profiles.flatten()
        person = np.repeat(np.arange(len(profiles), dtype=np.int32), records)
        alike = information_loss.Alike(
            _numbers(held.field(TIMES)).astype(np.float64),
            _numbers(classes.column(PERSONS)).astype(np.float64),
        )
        own = tuple(
            replace(column, codes=_numbers(held.field(quasi_identifier(place))).astype(np.int32))
            for place, column in enumerate(columns)
        )
        return cls(class_of_person, count, own, person, alike)

    @property
    def class_of(self) -> Codes:
        """Class of each record."""
        return self.class_of_person[self.person]

    @property
    def weight(self) -> Floats:
        """How many records of the file each one stands for."""
        return self.alike.records(self.person)

    @property
    def sizes(self) -> Ints:
        """Records of the file in each class."""
        # Weights are doubles, but whole numbers: rounding gives the exact count back.
        sizes = np.bincount(self.class_of, weights=self.weight, minlength=self.classes)
        return np.rint(sizes).astype(np.int64)


def _numbers(array: pa.Array | pa.ChunkedArray) -> Integers:
    column = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    numbers: Integers = column.to_numpy(zero_copy_only=False)
    return numbers


def _coded(column: pa.ChunkedArray) -> Codes:
    """Distinct texts numbered; nothing is a text of its own."""
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int32)


RECORDS = 1 << 18
"""Records that are measured together, about."""
BUCKET = f"{OWN}bucket"
Sums = Mapping[str, tuple[Ints, Floats]]
"""Places and their sums, by what was summed."""
SUMS = "what string, at bigint, value double"


def utility_on_spark(
    table: SparkTable,
    records: DataFrame,
    cells: Sequence[Sequence[spark_released_file.CellColumn]],
    manifest: Manifest,
    *,
    together: int = RECORDS,
) -> Utility:
    """Measure what a release loses; the numbers are those of the embedded engine to 12 digits.

    Records of equal content are counted once. Whole classes are measured together by the
    functions of the embedded engine, whose sums are added up.
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
    """What sums the loss of whole classes of a file."""
    columns = table.quasi_identifiers
    counts = [table.value_counts[column.name] for column in columns]
    queries = draw_queries(columns, counts, query_stream(seed), ASKED)
    # Queries are drawn once and here, since what the executors count has to be about the same ones.
    return LossOfClasses(columns, cells, _centre(columns, counts), form, queries)


def utility_of_sums(table: SparkTable, found: Sums) -> Utility:
    """What a release loses, from the sums of `LossOfClasses`; records are not looked at."""
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
            # One centre for all buckets: sums of products add up only if they are taken from one
            # point.
            float(count @ information_loss.steps(column))
            / max(int(count.sum()), 1)
            / information_loss.full_range(information_loss.steps(column))
            for column, count in zip(columns, counts, strict=True)
            if information_loss.has_scale(column)
        ]
    )


def _people(records: DataFrame, cells: Sequence[str], columns: int, *, persons: bool) -> DataFrame:
    """One row per class and distinct set of records that a person of it has."""
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    codes = [quasi_identifier(place) for place in range(columns)]
    count = f.count(f.lit(1))
    # Each record is a person then, so that no list of records need be gathered.
    if not persons:
        alone = records.groupBy(*cells, *codes).agg(count.alias(PERSONS))
        profile = f.array(f.struct(*codes, f.lit(1).cast("bigint").alias(TIMES)))
        return alone.select(*cells, profile.alias(PROFILE), PERSONS)
    own = records.groupBy(PERSON, *cells, *codes).agg(count.alias(TIMES))
    # Sorted, as persons with the same records in another order are alike.
    profile = f.sort_array(f.collect_list(f.struct(*codes, TIMES)))
    each = own.groupBy(PERSON, *cells).agg(profile.alias(PROFILE))
    return each.groupBy(*cells, PROFILE).agg(count.alias(PERSONS))


def _summed(people: DataFrame, cells: Sequence[str], buckets: int, loss: LossOfClasses) -> Sums:
    """The sums of the whole file, by what and where."""
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    # By the cells, so that whole classes come together: errors are distances from means of whole
    # classes.
    bucket = f.pmod(f.xxhash64(*cells), f.lit(buckets)).alias(BUCKET)
    with said_plainly("measure what the release loses"):
        # Spark logs the words of an error on an executor, which may quote a record.
        sums = people.groupBy(bucket).applyInArrow(without_values(loss), SUMS)
        summed = sums.groupBy("what", "at").agg(f.sum("value").alias("value")).toArrow()
    return by_what(summed)


def by_what(summed: pa.Table) -> Sums:
    """Sums by what was summed, of a table of what `LossOfClasses` gives, each place once."""
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
    span = (
        1.0
        if column.kind is Kind.CATEGORICAL
        else information_loss.full_range(information_loss.steps(column))
    )
    ane, ane_persons = _errors(found, place, span).averages
    within = float(_array(found, f"squares{place}", 1)[0])
    squares = information_loss.SquaredError(
        within, information_loss.sst(column, table.value_counts[column.name])
    )
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


def _errors(found: Sums, place: int, span: float) -> information_loss.ErrorSums:
    off, records, of_persons, persons = _array(found, f"error{place}", 4).tolist()
    return information_loss.ErrorSums(off, records, of_persons, persons, span)


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
        discernibility=information_loss.discernibility_of(sizes, 0),
        average_class_records=table.records / classes,
        average_class_persons=table.persons / classes,
        records=table.records,
        persons=table.persons,
        suppressed_records=0,
        suppressed_persons=0,
        correlations=_correlations(table.quasi_identifiers, found),
        queried=Later(partial(error_of, _queries(table, found), table.records)),
        distributions=distributions,
    )


def _correlations(
    columns: Sequence[CodedColumn], found: Sums
) -> information_loss.CorrelationChange:
    chosen = [column for column in columns if information_loss.has_scale(column)]
    shape = (2, 4, len(chosen), len(chosen))
    sums = _array(found, MOMENTS, int(np.prod(shape))).reshape(shape)
    before, after = (
        information_loss.Moments([np.zeros(0)] * len(chosen)),
        information_loss.Moments([np.zeros(0)] * len(chosen)),
    )
    before.sums, after.sums = sums
    return information_loss.change_of(chosen, before, after)


def _queries(table: SparkTable, found: Sums) -> QueryCounts:
    usable = sum(
        bool(table.value_counts[identifier.name].any()) for identifier in table.quasi_identifiers
    )
    asked = ASKED if usable else 0
    exact, estimate = np.split(_array(found, QUERIES, 2 * asked), 2)
    return QueryCounts(min(usable, 2), exact, estimate)


STAGE = "release"
JOINED, RISK, LOSS = 0.3, 0.5, 0.8
"""Shares of the stage after which records have their cells, risks and losses are known."""


def make_release_on_spark(
    table: SparkTable,
    manifest: Manifest,
    secrets: Secrets | None = None,
    progress: Progress = silent,
    original: object = None,
) -> Release:
    """Make the release that a manifest describes, the records never leaving the cluster.

    Parameters
    ----------
    secrets
        What protects people; fresh when not given.
    original
        The DataFrame that the file was passed in as; ``None`` for a path.

    Raises
    ------
    ConstraintsNotMetError
        If even all records in one class break a constraint.
    SfumatoError
        If Spark fails.
    """
    ordered = ordered_attributes(manifest.constraints, table.schema.sensitive)
    before = assess_on_spark(
        table,
        threshold=manifest.options.threshold,
        ordered_distance=ordered,
        progress=progress,
    )
    # Ends for the division only: what is lost is measured against the values beyond them.
    divided = divide_on_spark(
        spark_released_file.with_coded_ends_on_spark(table), manifest, progress=progress
    )
    with forgotten(divided.classes):
        return _of_classes(
            table, divided, manifest, secrets or Secrets(), before, progress, original
        )


def _of_classes(
    table: SparkTable,
    divided: DividedOnSpark,
    manifest: Manifest,
    secrets: Secrets,
    before: Risk,
    progress: Progress,
    original: object,
) -> Release:
    """The release of persons who are divided."""
    session = table.frame.sparkSession
    cells = spark_released_file.cell_columns(divided.names, divided.numbers)
    with watched(session, progress, STAGE, 0.0, JOINED, jobs=3):
        keys = spark_released_file.keys_of(table, manifest.identity, secrets)
        records = spark_released_file.with_cells(table, divided.classes, cells)
    with forgotten(records):
        with watched(session, progress, STAGE, JOINED, RISK, jobs=2):
            risk = _risk(table, records, cells, manifest)
        with watched(session, progress, STAGE, RISK, LOSS):
            utility = utility_on_spark(table, records, cells, manifest)
        with watched(session, progress, STAGE, LOSS, 1.0, jobs=2):
            frame = spark_released_file.assembled(table, records, cells, keys)
            _check_whole(table, risk, frame)
    return Release(
        content=spark_released_file.ReleasedFrame(frame, original),
        schema=table.schema,
        constraints=manifest.constraints,
        assessed=Later(lambda: before),
        risk=risk,
        utility=utility,
        tree=divided.tree,
        manifest=manifest,
        warnings=(*spark_measures.unmeasured(table), *table.warnings),
        secret=secrets.own,
    )


def _check_whole(table: SparkTable, risk: Risk, frame: DataFrame) -> None:
    """Refuse a release that has lost records, or has some twice."""
    with said_plainly("count the released records"):
        released = frame.count()
    if not released == risk.records == table.records:
        raise SfumatoError(
            "Spark could not release the file: it gave back another number of records."
        )


def _risk(
    table: SparkTable,
    records: DataFrame,
    cells: Sequence[Sequence[spark_released_file.CellColumn]],
    manifest: Manifest,
) -> Risk:
    """What the release gives away: its classes are records of equal cells."""
    keys = [each.cells for cell in cells for each in cell]
    person = None if table.schema.person is None else PERSON
    columns = {column.name: sensitive(place) for place, column in enumerate(table.sensitive)}
    threshold = manifest.options.threshold
    ranks = ranks_of(table, ordered_attributes(manifest.constraints, table.schema.sensitive))
    with said_plainly("measure what the release gives away"):
        classes = spark_measures.classes_on_spark(
            records, keys, person, columns, table.value_counts, ranks
        )
        risk = spark_measures.risk_of_classes(
            classes,
            tuple(columns),
            threshold=threshold,
            persons=None if person is None else table.persons,
            warnings=table.warnings,
            ran=table.ran,
        )
        if table.schema.household is None:
            return risk
        found = spark_measures.household_on_spark(
            records, classes, keys, PERSON, HOUSEHOLD, threshold
        )
    return replace(risk, household=found)
