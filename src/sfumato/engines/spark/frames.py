"""DataFrames of Spark: which they are, the names and types of their columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.table.door import check_type
from sfumato.table.sources import ACCEPTED, check_names, plain_column, positions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SUBJECT = "dataframe"


def check_classic(frame: DataFrame) -> None:
    """Refuse a DataFrame of a session without a SparkContext.

    Parameters
    ----------
    frame
        Of any session.

    Raises
    ------
    InputError
        If it is of Spark Connect.
    """
    classic = needed("pyspark.sql.classic.dataframe", extra="spark", by="engine spark")
    if not isinstance(frame, classic.DataFrame):
        raise InputError(
            SUBJECT,
            "must be of a Spark session that runs here",
            found="one of Spark Connect",
            advice="start sfumato where the driver runs (on Databricks, a cluster with dedicated "
            "access mode)",
        )


def column_names(frame: DataFrame) -> tuple[str, ...]:
    """The checked names of a DataFrame's columns.

    Parameters
    ----------
    frame
        The DataFrame.

    Raises
    ------
    InputError
        If a name is empty, or there twice, case aside.
    """
    from sfumato.engines.spark.session import said_plainly

    with said_plainly("find the columns of the dataframe"):
        found = frame.columns
    names = check_names(found, SUBJECT)
    folded = [name.casefold() for name in names]
    same = [i for i, name in enumerate(folded, 1) if folded.count(name) > 1]
    if same:
        raise InputError(
            SUBJECT,
            "must have column names that differ in more than case",
            found=f"the same name among columns {positions(same)}",
        )
    return names


def column_types(
    frame: DataFrame, names: Sequence[str], encoded: Collection[str], people: Collection[str]
) -> dict[str, pa.DataType]:
    """The Arrow types of some columns.

    Parameters
    ----------
    frame
        A DataFrame whose columns have other names, in the order of ``names``.
    names
        How errors call the columns.
    encoded
        Names of those that are encoded, not handed on only.
    people
        Names of the columns of persons and households, where bytes are accepted too.

    Raises
    ------
    InputError
        If a column does not hold single values.
    """
    types = needed("pyspark.sql.pandas.types", extra="spark", by="engine spark")
    errors = needed("pyspark.errors", extra="spark", by="engine spark")
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    found = {}
    for name, field in zip(names, frame.schema.fields, strict=True):
        try:
            kind = types.to_arrow_type(field.dataType, timezone=zone)
        except errors.PySparkException:
            raise InputError(
                f"column '{name}'",
                "must hold single values",
                found="values of another type",
                accepted=ACCEPTED,
            ) from None
        plain_column(pa.nulls(0, kind), name)
        if name in encoded:
            check_type(name, kind, person=name in people)
        found[name] = kind
    return found


def column(name: str) -> Column:
    """A column by its name, whatever letters it has.

    Parameters
    ----------
    name
        The name.
    """
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    found: Column = functions.col(quoted(name))
    return found


def quoted(name: str) -> str:
    """A name as Spark's SQL takes it, whatever letters it has.

    Parameters
    ----------
    name
        The name of a column.
    """
    escaped = name.replace("`", "``")
    return f"`{escaped}`"
