"""Sampling weights on Spark: summed by class there, and by size and weight where that is a lot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.extra import needed
from sfumato.engines.spark.counts import PERSONS, RECORDS
from sfumato.engines.spark.names import PERSON, WEIGHT
from sfumato.engines.spark.table import SparkTable
from sfumato.risk.on_spark.keys import keyed
from sfumato.risk.population.sampling_weights import ALIKE, share_of_sums

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

WEIGHTED, TIMES = "sfumato_weighted", "sfumato_times"
_MEAN, _INSIDE, _SCATTER, _NEAR = (
    f"sfumato_{each}" for each in ("mean", "inside", "scatter", "near")
)
OF_WEIGHTS = (WEIGHTED, _MEAN, _INSIDE)
"""What `weighted_classes` adds to a class."""
NEAR = 3
"""Digits of the logarithms of mean weights that classes agree on that are taken together."""


def weighted_classes(table: SparkTable) -> DataFrame:
    """The classes of a file with the sampling weights of their persons; nothing runs yet.

    A person's weight in a class is the mean over their records there.

    Parameters
    ----------
    table
        The file, with its weights.

    Returns
    -------
    DataFrame
        One row per class: its keys, the numbers of its `PERSONS` and `RECORDS`, the sum
        `WEIGHTED` of its persons' weights, and what `share_of_classes` reads.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    frame, keys = keyed(table)
    own = frame.select(*keys, WEIGHT, f.lit(1).alias(RECORDS))
    if table.schema.person is not None:
        own = frame.groupBy(*keys, PERSON).agg(
            f.avg(WEIGHT).alias(WEIGHT), f.count(f.lit(1)).alias(RECORDS)
        )
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

    Parameters
    ----------
    classes
        What `weighted_classes` gave.

    Returns
    -------
    DataFrame
        As there, without keys; one row for `TIMES` classes: `RECORDS` of all of them, and the
        mean of `WEIGHTED`.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    near = f.round(f.ln(f.col(WEIGHTED) / f.col(PERSONS)), NEAR).alias(_NEAR)
    times = f.count(f.lit(1))
    return classes.groupBy(PERSONS, near).agg(
        times.alias(TIMES),
        f.sum(RECORDS).alias(RECORDS),
        f.avg(WEIGHTED).alias(WEIGHTED),
        f.avg(_MEAN).alias(_MEAN),
        f.sum(_INSIDE).alias(_INSIDE),
        (f.var_pop(_MEAN) * times * f.col(PERSONS)).alias(_SCATTER),
    )


def share_of_classes(found: pa.Table) -> float:
    """How much of the variance of weights lies between classes, as `share_between` has it.

    Parameters
    ----------
    found
        Rows of `weighted_classes` or `of_near_weight`.
    """
    several = found.filter(pc.greater(found[PERSONS], 1))
    sizes = several[PERSONS].to_numpy()
    apart = TIMES in several.column_names
    times = several[TIMES].to_numpy() if apart else np.ones(len(sizes), dtype=np.int64)
    scatter = float(several[_SCATTER].to_numpy().sum()) if apart else 0.0
    inside = float(several[_INSIDE].to_numpy().sum())
    return share_of_sums(sizes, times, several[_MEAN].to_numpy(), inside, scatter)
