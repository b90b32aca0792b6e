"""A file on Spark against a register: both counted by class there, counts of counts here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.extra import needed
from sfumato.engines.spark.checkpoint import released
from sfumato.engines.spark.counts import PERSONS, RECORDS
from sfumato.engines.spark.encode import open_on_spark
from sfumato.engines.spark.frames import is_spark_frame
from sfumato.engines.spark.names import PERSON, quasi_identifier
from sfumato.engines.spark.read import open_on_cluster
from sfumato.engines.spark.session import said_plainly
from sfumato.engines.spark.table import SparkTable
from sfumato.engines.spark.tasks import WithoutValues
from sfumato.risk.in_register import in_register
from sfumato.risk.on_spark.keys import packed
from sfumato.risk.population.known import KnownClasses
from sfumato.risk.presence import Matching, open_register, register_schema, same_values
from sfumato.risk.result import Risk
from sfumato.table.table import CodedColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Codes = npt.NDArray[np.int32]

_OUTSIDE, _TIMES = "sfumato_outside", "sfumato_times"
_NOWHERE = -2
"""The codes of a record with a value that the file does not have: no class has them."""


@dataclass(frozen=True, eq=False)
class Register:
    """The persons of a population on Spark, in the codes of a file.

    Attributes
    ----------
    frame
        One row per record: ``sfumato_person`` and ``sfumato_q0``, ..., the codes of the file or
        -1 for missing; all -2 where the file lacks a value.
    persons
        Number of persons.
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
    table
        The file.

    Yields
    ------
    Register or None
        ``None`` without one.

    Raises
    ------
    InputError
        As `open_register`.
    SfumatoError
        If Spark fails.
    """
    if data is None:
        yield None
        return
    if not isinstance(data, (str, os.PathLike)) and not is_spark_frame(data):
        here = open_register(data, table.schema)
        columns = [column.codes for column in here.quasi_identifiers]
        own = _recoded(columns, _lookups(table, here.quasi_identifiers))
        with said_plainly("take the register"):
            codes = pa.table({PERSON: here.person, **own})
            frame = table.frame.sparkSession.createDataFrame(codes)
        yield Register(frame, here.persons, here.schema.person is not None)
        return
    source = open_on_cluster(data)
    there = open_on_spark(source, register_schema(table.schema, source.names))
    with released(there.frame):
        names = [quasi_identifier(place) for place in range(len(there.quasi_identifiers))]
        task = partial(_recode, lookups=_lookups(table, there.quasi_identifiers))
        with said_plainly("take the register"):
            frame = there.frame.select(PERSON, *names)
            frame = frame.mapInArrow(WithoutValues(task), frame.schema)
        yield Register(frame, there.persons, there.schema.person is not None)


def register_on_spark(
    risk: Risk, table: SparkTable, classes: DataFrame, register: Register
) -> Risk:
    """Add the risks that are counted in a register: one job.

    Parameters
    ----------
    risk
        The measures of the file.
    table
        The file.
    classes
        What `classes_on_spark` gave for it.
    register
        The population.
    """
    f: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    sizes = [column.domain.size for column in table.quasi_identifiers]
    frame, keys = packed(register.frame, sizes)
    persons = f.count_distinct(PERSON) if register.named else f.count(f.lit(1))
    outside = frame.groupBy(*keys).agg(persons.alias(_OUTSIDE))
    both = classes.select(*keys, PERSONS, RECORDS).join(outside, keys, "full")
    found = (
        both.groupBy(
            f.coalesce(PERSONS, f.lit(0)).alias(PERSONS),
            f.coalesce(_OUTSIDE, f.lit(0)).alias(_OUTSIDE),
        )
        .agg(f.count(f.lit(1)).alias(_TIMES), f.sum(RECORDS).alias(RECORDS))
        .toArrow()
        .sort_by([(PERSONS, "ascending"), (_OUTSIDE, "ascending")])
    )
    inside, beside, times = (found[name].to_numpy() for name in (PERSONS, _OUTSIDE, _TIMES))
    matching = Matching(np.empty(0, dtype=np.int32), inside, beside, register.persons, times)
    own = inside > 0
    counted = KnownClasses(
        persons=inside[own],
        records=found[RECORDS].fill_null(0).to_numpy()[own],
        sizes=np.maximum(inside, beside)[own],
        times=times[own],
    )
    return in_register(risk, matching, counted)


def _lookups(table: SparkTable, columns: Sequence[CodedColumn]) -> list[Codes]:
    """The file's code of every code of the register, by quasi-identifier."""
    lookups = []
    for own, other in zip(table.quasi_identifiers, columns, strict=True):
        codes = same_values(own, other)
        lookups.append(np.where(codes == own.domain.size, np.int32(_NOWHERE), codes))
    return lookups


def _recode(batches: Iterator[pa.RecordBatch], lookups: list[Codes]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns = [batch.column(quasi_identifier(i)).to_numpy() for i in range(len(lookups))]
        yield pa.record_batch({PERSON: batch.column(PERSON), **_recoded(columns, lookups)})


def _recoded(columns: Sequence[Codes], lookups: list[Codes]) -> dict[str, Codes]:
    """The codes of the file; none in any column where it lacks one of the values."""
    found = [codes[column] for column, codes in zip(columns, lookups, strict=True)]
    lacking = np.any([column == _NOWHERE for column in found], axis=0)
    return {
        quasi_identifier(place): np.where(lacking, np.int32(_NOWHERE), column)
        for place, column in enumerate(found)
    }
