"""A file on Spark as a sample: its population estimated here, or counted in a register there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.core.declaration import Progress, is_spark_frame, silent
from sfumato.core.optional_packages import needed
from sfumato.engines.embedded.counts import LARGEST_SPACE
from sfumato.engines.spark.counts import PERSONS, RECORDS
from sfumato.engines.spark.spark_encoding import open_on_spark
from sfumato.engines.spark.spark_files import open_on_cluster
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import (
    CLASS,
    HOUSEHOLD,
    PERSON,
    WEIGHT,
    WithoutValues,
    quasi_identifier,
    released,
    said_plainly,
    sensitive,
    watched,
)
from sfumato.risk import register_presence
from sfumato.risk.class_measures import RECURSIVE_L, ranks_of
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.on_spark import spark_measures
from sfumato.risk.on_spark.spark_measures import keyed, packed
from sfumato.risk.population import population_estimates
from sfumato.risk.population.estimator_protocol import AUTO, SampleClasses
from sfumato.risk.population.population_risk import RegisterClasses, register_population
from sfumato.risk.population.population_size import (
    Given,
    population_by_weights,
    population_in_classes,
    population_size,
)
from sfumato.risk.population.sampling_weights import ALIKE, share_of_sums
from sfumato.risk.risk_thresholds import Preset
from sfumato.risk.threshold_checks import hold
from sfumato.table.table import CodedColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WEIGHTED, TIMES = "sfumato_weighted", "sfumato_times"
_MEAN, _INSIDE, _SCATTER, _NEAR = (
    f"sfumato_{each}" for each in ("mean", "inside", "scatter", "near")
)
OF_WEIGHTS = (WEIGHTED, _MEAN, _INSIDE)
"""What `weighted_classes` adds to a class."""
NEAR = 3
"""Digits of the logarithms of mean weights that classes agree on that are taken together."""
MOST_CLASSES = 1 << 22
"""Classes whose keys and sizes come here; of more, only the numbers of each size do."""
BY_NUMBERS = (
    "the classes are too many to look at their values: estimated from the numbers of classes of "
    "each size"
)
_OUTSIDE, _TIMES = "sfumato_outside", "sfumato_times"
_NOWHERE = -2
"""The codes of a record with a value that the file does not have: no class has them."""


def weighted_classes(table: SparkTable) -> DataFrame:
    """The classes of a file with the weights of their persons, a row each; nothing runs yet.

    A row has the keys, the numbers of `PERSONS` and `RECORDS`, the sum `WEIGHTED` of its
    persons' weights, and what `share_of_classes` reads. A person's weight in a class is the
    mean over their records there.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    frame, keys = keyed(table)
    own = frame.select(*keys, WEIGHT, f.lit(1).alias(RECORDS))
    if table.schema.person is not None:
        own = frame.groupBy(*keys, PERSON).agg(
            f.avg(WEIGHT).alias(WEIGHT), f.count(f.lit(1)).alias(RECORDS)
        )
    # Rounded as `share_between` does: equal weights must agree in both engines.
    logarithm = f.rint(f.ln(WEIGHT) * 10.0**ALIKE) / 10.0**ALIKE
    persons = f.count(f.lit(1))
    return own.groupBy(*keys).agg(
        persons.alias(PERSONS),
        f.sum(RECORDS).alias(RECORDS),
        f.sum(WEIGHT).alias(WEIGHTED),
        f.avg(logarithm).alias(_MEAN),
        (f.var_pop(logarithm) * persons).alias(_INSIDE),
    )


def of_near_weight(classes: DataFrame) -> DataFrame:
    """Classes of one size taken together where their mean weights are nearly the same.

    They are those of `weighted_classes` without keys; one row for `TIMES` classes: `RECORDS` of all
    of them, and the mean of `WEIGHTED`.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    # Weights within a thousandth are one: strata are wider, and far fewer rows come here.
    near = f.round(f.ln(f.col(WEIGHTED) / f.col(PERSONS)), NEAR).alias(_NEAR)
    times = f.count(f.lit(1))
    return classes.groupBy(PERSONS, near).agg(
        times.alias(TIMES),
        f.sum(RECORDS).alias(RECORDS),
        f.avg(WEIGHTED).alias(WEIGHTED),
        f.avg(_MEAN).alias(_MEAN),
        f.sum(_INSIDE).alias(_INSIDE),
        # Σ f (mean − mean of the entry)², what `share_of_sums`
        # adds to the variance between classes.
        (f.var_pop(_MEAN) * times * f.col(PERSONS)).alias(_SCATTER),
    )


def share_of_classes(found: pa.Table) -> float:
    """How much of the variance of weights lies between classes, as `share_between` has it."""
    # A class of one person has no variance within.
    several = found.filter(pc.greater(found[PERSONS], 1))
    sizes = several[PERSONS].to_numpy()
    apart = TIMES in several.column_names
    times = several[TIMES].to_numpy() if apart else np.ones(len(sizes), dtype=np.int64)
    scatter = float(several[_SCATTER].to_numpy().sum()) if apart else 0.0
    inside = float(several[_INSIDE].to_numpy().sum())
    return share_of_sums(sizes, times, several[_MEAN].to_numpy(), inside, scatter)


def population_on_spark(
    risk: Risk,
    table: SparkTable,
    classes: DataFrame,
    given: Given,
    estimator: str,
    seed: int | None,
    *,
    most_classes: int = MOST_CLASSES,
) -> Risk:
    """Add the risks of the file as a sample of a population whose size is known.

    Up to ``most_classes`` the classes come here, in the order in which the embedded engine has
    them, so that the same seed gives the same numbers in both. Of more classes, the numbers of
    classes of each size, and of nearly the same mean weight, say what there is to say;
    the sizes alone are extrapolated then.

    Parameters
    ----------
    classes
        What `classes_on_spark` gave for it.
    given
        The population's number of persons, the sampling fraction, or the column of weights
        that ``table`` was opened with.
    seed
        Seed of the draws; drawn where not given.
    most_classes
        Classes that come here, at most.
    """
    shape, memberships = risk.shape, risk.shape.held
    counted = classes if given.weights is None else weighted_classes(table)
    if risk.classes <= most_classes:
        found = _with_keys(table, counted)
    elif given.weights is not None:
        found = _of_table(of_near_weight(counted).toArrow())
    else:
        found = _Collected(shape.persons, shape.records, shape.classes)
    if found.weighted is None:
        persons = population_size(given, risk.persons)
    else:
        persons = population_by_weights(found.total, memberships, risk.persons)
    sample = SampleClasses(
        found.sizes,
        population_in_classes(persons, memberships, risk.persons),
        found.keys,
        found.domains,
        found.weighted,
        found.times,
    )
    chosen = population_estimates.estimator_named(estimator, found.between)
    used = secrets.randbits(32) if seed is None else seed
    own = population_estimates.estimated_population(
        found.records, sample, persons, chosen, risk.threshold, used, auto=estimator == AUTO
    )
    if sample.times is not None:
        own = replace(own, path=(BY_NUMBERS, *own.path))
    return risk.with_population(own)


@dataclass(frozen=True, eq=False)
class _Collected:
    """Classes, or numbers of them, that came here; as `SampleClasses` has them."""

    sizes: Ints
    records: Ints
    times: Ints | None = None
    weighted: Floats | None = None
    between: float = 0.0
    keys: Codes | None = None
    domains: tuple[int, ...] = ()

    @property
    def total(self) -> float:
        """The sum of the weights."""
        weighted = np.zeros(0) if self.weighted is None else self.weighted
        return float(weighted.sum() if self.times is None else weighted @ self.times)


def _of_table(found: pa.Table) -> _Collected:
    """Classes without their keys."""
    weighted = WEIGHTED in found.column_names
    return _Collected(
        found[PERSONS].to_numpy(),
        found[RECORDS].to_numpy(),
        found[TIMES].to_numpy() if TIMES in found.column_names else None,
        found[WEIGHTED].to_numpy() if weighted else None,
        share_of_classes(found) if weighted else 0.0,
    )


def _with_keys(table: SparkTable, classes: DataFrame) -> _Collected:
    """The classes with their keys, ascending."""
    domains = tuple(column.domain.size + 1 for column in table.quasi_identifiers)
    is_packed = prod(domains) <= LARGEST_SPACE
    names = [CLASS] if is_packed else [quasi_identifier(place) for place in range(len(domains))]
    own = [name for name in classes.columns if name in {*names, PERSONS, RECORDS, *OF_WEIGHTS}]
    found = classes.select(*own).toArrow()
    if is_packed:
        keys = _unpacked(found[CLASS].to_numpy(), domains)
    else:
        keys = np.column_stack([found[name].to_numpy() + 1 for name in names]).astype(np.int32)
    order = population_estimates.order_of_keys(keys, domains)
    return replace(_of_table(found.take(pa.array(order))), keys=keys[order], domains=domains)


def _unpacked(packed: Ints, domains: tuple[int, ...]) -> Codes:
    """Codes of every quasi-identifier, missing ones 0."""
    keys = np.empty((len(packed), len(domains)), dtype=np.int32)
    # The last column is the least digit of the key.
    for place in range(len(domains) - 1, -1, -1):
        packed, keys[:, place] = np.divmod(packed, domains[place])
    return keys


@dataclass(frozen=True, eq=False)
class Register:
    """The persons of a population on Spark, in the codes of a file.

    Attributes
    ----------
    frame
        One row per record: ``sfumato_person`` and ``sfumato_q0``, ..., the codes of the file or
        -1 for missing; all -2 where the file lacks a value.
    named
        Whether a person may have several records.
    """

    frame: DataFrame = field(repr=False)
    persons: int
    named: bool


@contextmanager
def opened_register(data: object, table: SparkTable) -> Iterator[Register | None]:
    """Open a register, and leave nothing behind.

    Parameters
    ----------
    data
        A DataFrame of PySpark, or a path or URI that Spark reads; any other dataframe is encoded
        in this process, and its codes are sent to the cluster. ``None`` for no register.

    Yields
    ------
    Register or None
        ``None`` without one.

    Raises
    ------
    SfumatoError
        If Spark fails.
    """
    if data is None:
        yield None
        return
    if not isinstance(data, (str, os.PathLike)) and not is_spark_frame(data):
        # A dataframe of this process cannot be read by executors: its codes can be sent.
        here = register_presence.open_register(data, table.schema)
        columns = [column.codes for column in here.quasi_identifiers]
        own = _recoded(columns, _lookups(table, here.quasi_identifiers))
        with said_plainly("take the register"):
            codes = pa.table({PERSON: here.person, **own})
            frame = table.frame.sparkSession.createDataFrame(codes)
        yield Register(frame, here.persons, here.schema.person is not None)
        return
    source = open_on_cluster(data)
    spark_table = open_on_spark(
        source, register_presence.register_schema(table.schema, source.names)
    )
    with released(spark_table.frame):
        names = [quasi_identifier(place) for place in range(len(spark_table.quasi_identifiers))]
        task = partial(_recode, lookups=_lookups(table, spark_table.quasi_identifiers))
        with said_plainly("take the register"):
            frame = spark_table.frame.select(PERSON, *names)
            frame = frame.mapInArrow(WithoutValues(task), frame.schema)
        yield Register(frame, spark_table.persons, spark_table.schema.person is not None)


def register_on_spark(
    risk: Risk, table: SparkTable, classes: DataFrame, register: Register
) -> Risk:
    """Add the risks that are counted in a register: one job."""
    f: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    sizes = [column.domain.size for column in table.quasi_identifiers]
    frame, keys = packed(register.frame, sizes)
    persons = f.count_distinct(PERSON) if register.named else f.count(f.lit(1))
    outside = frame.groupBy(*keys).agg(persons.alias(_OUTSIDE))
    # A full join: classes of the file alone are strangers,
    # those of the register alone make presence 0.
    both = classes.select(*keys, PERSONS, RECORDS).join(outside, keys, "full")
    found = (
        both.groupBy(
            # Counted by the pair (f, F): few numbers come here, however many classes there are.
            f.coalesce(PERSONS, f.lit(0)).alias(PERSONS),
            f.coalesce(_OUTSIDE, f.lit(0)).alias(_OUTSIDE),
        )
        .agg(f.count(f.lit(1)).alias(_TIMES), f.sum(RECORDS).alias(RECORDS))
        .toArrow()
        .sort_by([(PERSONS, "ascending"), (_OUTSIDE, "ascending")])
    )
    inside, beside, times = (found[name].to_numpy() for name in (PERSONS, _OUTSIDE, _TIMES))
    matching = register_presence.Matching(
        np.empty(0, dtype=np.int32), inside, beside, register.persons, times
    )
    own = inside > 0
    counted = RegisterClasses(
        persons=inside[own],
        records=found[RECORDS].fill_null(0).to_numpy()[own],
        # F ≥ f, where the register lacks persons of the file.
        sizes=np.maximum(inside, beside)[own],
        times=times[own],
    )
    population = max(register.persons, risk.persons)
    return risk.with_population(
        register_population(counted, population, risk.threshold),
        register_presence.presence(matching),
    )


def _lookups(table: SparkTable, columns: Sequence[CodedColumn]) -> list[Codes]:
    """The file's code of every code of the register, by quasi-identifier."""
    lookups = []
    for identifier, column in zip(table.quasi_identifiers, columns, strict=True):
        codes = register_presence.same_values(identifier, column)
        # -1 means missing already, which would match persons without a value.
        lookups.append(np.where(codes == identifier.domain.size, np.int32(_NOWHERE), codes))
    return lookups


def _recode(batches: Iterator[pa.RecordBatch], lookups: list[Codes]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns = [batch.column(quasi_identifier(i)).to_numpy() for i in range(len(lookups))]
        yield pa.record_batch({PERSON: batch.column(PERSON), **_recoded(columns, lookups)})


def _recoded(columns: Sequence[Codes], lookups: list[Codes]) -> dict[str, Codes]:
    """The codes of the file; none in any column where it lacks one of the values."""
    found = [codes[column] for column, codes in zip(columns, lookups, strict=True)]
    # One foreign value makes the whole combination foreign:
    # its packed key could else be that of another class.
    lacking = np.any([column == _NOWHERE for column in found], axis=0)
    return {
        quasi_identifier(place): np.where(lacking, np.int32(_NOWHERE), column)
        for place, column in enumerate(found)
    }


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
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    ordered_distance
        Sensitive attributes whose t-closeness is measured by ordered distance too.
    population
        The population's number of persons, the sampling fraction, or the column of weights that
        the file was opened with.
    register
        The population itself; where it is given, ``population`` is not read.
    seed
        Seed of the estimator's draws; drawn where not given.
    recursive_l
        The l for which recursive (c, l)-diversity is measured, beside 2 and 3.

    Raises
    ------
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
        # Several jobs read the classes, each of which would count them again.
        classes = classes.persist()
    try:
        with said_plainly("count the classes"):
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
