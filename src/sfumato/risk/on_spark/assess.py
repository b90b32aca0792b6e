"""Assess a file on Spark: from its encoded records to every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from sfumato.core.extra import needed
from sfumato.core.progress import Progress, silent
from sfumato.engines.embedded.counts import LARGEST_SPACE
from sfumato.engines.spark.names import CLASS, HOUSEHOLD, PERSON, quasi_identifier, sensitive
from sfumato.engines.spark.progress import watched
from sfumato.engines.spark.session import said_plainly
from sfumato.engines.spark.table import SparkTable
from sfumato.risk.on_spark.household import household_on_spark
from sfumato.risk.on_spark.measure import classes_on_spark, risk_of_classes
from sfumato.risk.on_spark.population import population_on_spark
from sfumato.risk.population.given import Given
from sfumato.risk.population.names import AUTO
from sfumato.risk.result import Risk
from sfumato.risk.thresholds.hold import hold
from sfumato.risk.thresholds.preset import Preset

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def assess_on_spark(
    table: SparkTable,
    *,
    threshold: float = 0.2,
    population: Given | None = None,
    estimator: str = AUTO,
    seed: int | None = None,
    presets: Sequence[Preset] = (),
    progress: Progress = silent,
) -> Risk:
    """Measure what an encoded file on a cluster gives away.

    Its classes are counted on the cluster; sums, extremes and counts of counts come here, and
    where a population is estimated the sizes and keys of the classes, as far as they fit.

    Parameters
    ----------
    table
        The file.
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    population
        The population's number of persons, or the sampling fraction.
    estimator
        Name of the estimator.
    seed
        Seed of the estimator's draws; drawn where not given.
    presets
        What the measures are held against.
    progress
        Told how far the stage "measure" is.

    Raises
    ------
    InputError
        If a parameter is out of range, or the file lacks what a preset speaks about.
    SfumatoError
        If Spark fails.
    """
    frame, keys = keyed(table)
    person = PERSON if table.schema.person is not None else None
    columns = {column.name: sensitive(place) for place, column in enumerate(table.sensitive)}
    housed = table.schema.household is not None
    several = housed or population is not None
    share = 0.7 if several else 1.0
    session = table.frame.sparkSession
    classes = classes_on_spark(frame, keys, person, columns, table.value_counts)
    if several:
        classes = classes.persist()
    try:
        with said_plainly("count the equivalence classes"):
            with watched(session, progress, "measure", 0.0, share):
                risk = risk_of_classes(
                    classes,
                    tuple(columns),
                    threshold=threshold,
                    persons=None if person is None else table.persons,
                    warnings=table.warnings,
                    ran=table.ran,
                )
            with watched(session, progress, "measure", share, 1.0):
                if housed:
                    found = household_on_spark(frame, classes, keys, PERSON, HOUSEHOLD, threshold)
                    risk = replace(risk, household=found)
                if population is not None:
                    risk = population_on_spark(risk, table, classes, population, estimator, seed)
    finally:
        if several:
            classes.unpersist()
    return hold(risk, *presets)


def keyed(table: SparkTable) -> tuple[DataFrame, list[str]]:
    """The file with its quasi-identifiers packed into one column, where 64 bits hold them.

    Parameters
    ----------
    table
        The file.

    Returns
    -------
    tuple
        The records, and the columns that those of a class agree on.
    """
    names = [quasi_identifier(place) for place in range(len(table.quasi_identifiers))]
    widths = [column.domain.size + 1 for column in table.quasi_identifiers]
    if prod(widths) > LARGEST_SPACE:
        return table.frame, names
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    key = f.lit(0).cast("bigint")
    for name, width in zip(names, widths, strict=True):
        key = key * width + f.col(name) + 1
    return table.frame.withColumn(CLASS, key), [CLASS]
