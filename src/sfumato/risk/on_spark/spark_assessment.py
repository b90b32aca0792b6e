"""Assess a file on Spark: from its encoded records to every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.core.shared_options import Progress, silent
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import HOUSEHOLD, PERSON, said_plainly, sensitive, watched
from sfumato.risk.class_measures import RECURSIVE_L, ranks_of
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.on_spark import spark_measures
from sfumato.risk.on_spark.spark_population import Register, population_on_spark, register_on_spark
from sfumato.risk.population.estimation import AUTO
from sfumato.risk.population.population_size import Given
from sfumato.risk.risk_thresholds import Preset
from sfumato.risk.threshold_checks import hold


def assess_on_spark(
    table: SparkTable,
    *,
    threshold: float = 0.2,
    ordered_distance: Sequence[str] = (),
    population: Given | None = None,
    register: Register | None = None,
    estimator: str = AUTO,
    seed: int | None = None,
    presets: Sequence[Preset] = (),
    recursive_l: Sequence[int] = (),
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
    ordered_distance
        Sensitive attributes whose t-closeness is measured by ordered distance too.
    population
        The population's number of persons, the sampling fraction, or the column of weights that
        the file was opened with.
    register
        The population itself; where it is given, ``population`` is not read.
    estimator
        Name of the estimator.
    seed
        Seed of the estimator's draws; drawn where not given.
    presets
        What the measures are held against.
    recursive_l
        The l for which recursive (c, l)-diversity is measured, beside 2 and 3.
    progress
        Told how far the stage "measure" is.

    Raises
    ------
    InputError
        If a parameter is out of range, an attribute of ``ordered_distance`` is none or not all
        numbers, or the file lacks what a preset speaks about.
    SfumatoError
        If Spark fails.
    """
    frame, keys = spark_measures.keyed(table)
    person = PERSON if table.schema.person is not None else None
    columns = {column.name: sensitive(place) for place, column in enumerate(table.sensitive)}
    housed = table.schema.household is not None
    several = housed or population is not None or register is not None
    share = 0.7 if several else 1.0
    session = table.frame.sparkSession
    ranks = ranks_of(table, ordered_distance)
    every_l = (*RECURSIVE_L, *recursive_l)
    counts = table.value_counts
    classes = spark_measures.classes_on_spark(frame, keys, person, columns, counts, ranks, every_l)
    if several:
        classes = classes.persist()
    try:
        with said_plainly("count the equivalence classes"):
            with watched(session, progress, "measure", 0.0, share):
                risk = spark_measures.risk_of_classes(
                    classes,
                    tuple(columns),
                    threshold=threshold,
                    persons=None if person is None else table.persons,
                    warnings=(*spark_measures.unmeasured(table), *table.warnings),
                    ran=table.ran,
                    recursive_l=every_l,
                )
            risk = replace(risk, preparation=table.preparation)
            with watched(session, progress, "measure", share, 1.0):
                if housed:
                    found = spark_measures.household_on_spark(
                        frame, classes, keys, PERSON, HOUSEHOLD, threshold
                    )
                    risk = replace(risk, household=found)
                if register is not None:
                    risk = register_on_spark(risk, table, classes, register)
                elif population is not None:
                    risk = population_on_spark(risk, table, classes, population, estimator, seed)
    finally:
        if several:
            classes.unpersist()
    return hold(risk, *presets)
