"""Make a release on a cluster: divide, join the cells, measure, assemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.core.errors import SfumatoError
from sfumato.core.shared_options import Progress, silent
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import HOUSEHOLD, PERSON, said_plainly, sensitive, watched
from sfumato.engines.spark.spark_session import released as forgotten
from sfumato.release.on_spark.spark_division import DividedOnSpark, divide_on_spark
from sfumato.release.on_spark.spark_released_file import (
    CellColumn,
    ReleasedFrame,
    assembled,
    cell_columns,
    secret_of,
    with_cells,
    with_coded_ends_on_spark,
)
from sfumato.release.on_spark.spark_utility import utility_on_spark
from sfumato.release.promises.promise import ordered_attributes
from sfumato.release.release_manifest import Manifest
from sfumato.release.release_result import Release
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.on_spark.spark_assessment import assess_on_spark
from sfumato.risk.on_spark.spark_measures import (
    classes_on_spark,
    household_on_spark,
    risk_of_classes,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


STAGE = "release"
JOINED, RISK, LOSS = 0.3, 0.5, 0.8
"""Shares of the stage after which records have their cells, risks and losses are known."""


def make_release_on_spark(
    table: SparkTable,
    manifest: Manifest,
    key: bytes | None = None,
    progress: Progress = silent,
    original: object = None,
) -> Release:
    """Make the release that a manifest describes, the records never leaving the cluster.

    Parameters
    ----------
    table
        The encoded original, with the columns that a release hands on.
    manifest
        What to do, with the seed of every random choice.
    key
        Secret for keyed pseudonyms; ``None`` for fresh ones.
    progress
        Told how far the work is.
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
    divided = divide_on_spark(with_coded_ends_on_spark(table), manifest, progress=progress)
    with forgotten(divided.classes):
        return _of_classes(table, divided, manifest, key, before, progress, original)


def _of_classes(
    table: SparkTable,
    divided: DividedOnSpark,
    manifest: Manifest,
    key: bytes | None,
    before: Risk,
    progress: Progress,
    original: object,
) -> Release:
    """The release of persons who are divided."""
    session = table.frame.sparkSession
    cells = cell_columns(divided.names, divided.numbers)
    with watched(session, progress, STAGE, 0.0, JOINED, jobs=3):
        secret = secret_of(table, manifest.seed, key)
        records = with_cells(table, divided.classes, cells)
    with forgotten(records):
        with watched(session, progress, STAGE, JOINED, RISK, jobs=2):
            risk = _risk(table, records, cells, manifest)
        with watched(session, progress, STAGE, RISK, LOSS):
            utility = utility_on_spark(table, records, cells, manifest)
        with watched(session, progress, STAGE, LOSS, 1.0, jobs=2):
            frame = assembled(table, records, cells, secret)
            _check_whole(table, risk, frame)
    return Release(
        content=ReleasedFrame(frame, original),
        schema=table.schema,
        constraints=manifest.constraints,
        risk_before=before,
        risk=risk,
        utility=utility,
        tree=divided.tree,
        manifest=manifest,
        warnings=table.warnings,
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
    cells: Sequence[Sequence[CellColumn]],
    manifest: Manifest,
) -> Risk:
    """What the release gives away: its classes are records of equal cells."""
    keys = [each.cells for own in cells for each in own]
    person = None if table.schema.person is None else PERSON
    columns = {column.name: sensitive(place) for place, column in enumerate(table.sensitive)}
    threshold = manifest.options.threshold
    ranks = ranks_of(table, ordered_attributes(manifest.constraints, table.schema.sensitive))
    with said_plainly("measure what the release gives away"):
        classes = classes_on_spark(records, keys, person, columns, table.value_counts, ranks)
        risk = risk_of_classes(
            classes,
            tuple(columns),
            threshold=threshold,
            persons=None if person is None else table.persons,
            warnings=table.warnings,
            ran=table.ran,
        )
        if table.schema.household is None:
            return risk
        found = household_on_spark(records, classes, keys, PERSON, HOUSEHOLD, threshold)
    return replace(risk, household=found)
