"""Which engine works on a file."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, TypeGuard

from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MODULES = ("pyspark.sql", "pyspark.sql.connect.dataframe")


class Engine(StrEnum):
    """Where a file is worked on: in this process, or on a Spark cluster."""

    EMBEDDED = "embedded"
    SPARK = "spark"


def is_spark_frame(data: object) -> TypeGuard[DataFrame]:
    """Whether the data is a DataFrame of PySpark, which is not imported for it.

    Parameters
    ----------
    data
        Anything.
    """
    kinds = [getattr(sys.modules.get(module), "DataFrame", None) for module in _MODULES]
    return any(kind is not None and isinstance(data, kind) for kind in kinds)


def takes_spark(data: object, engine: str | None) -> bool:
    """Whether a file is worked on by Spark.

    Parameters
    ----------
    data
        A dataframe, a path, or anything else that is opened.
    engine
        The name of an engine; without one, that of the data: Spark for a dataframe of PySpark.

    Raises
    ------
    InputError
        If there is no such engine.
    """
    if engine is None:
        return is_spark_frame(data)
    if engine not in tuple(Engine):
        raise InputError(
            "parameter engine",
            "must be the name of an engine",
            found="another value",
            accepted=", ".join(Engine),
        )
    return engine == Engine.SPARK
