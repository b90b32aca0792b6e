"""A released file that stays on the cluster."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.engines.spark.frames import column
from sfumato.engines.spark.session import said_plainly
from sfumato.release.on_spark.write import write_beside, write_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COUNT = "count"


@dataclass(frozen=True, eq=False)
class ReleasedFrame:
    """A released file as a DataFrame of Spark.

    Attributes
    ----------
    frame
        The file, computed.
    original
        The DataFrame that it was made from, or ``None`` for a path.
    """

    frame: DataFrame = field(repr=False)
    original: Any = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns, in their order."""
        return tuple(self.frame.columns)

    @property
    def data(self) -> DataFrame:
        """It as a DataFrame of Spark, whatever it was made from."""
        return self.frame

    def arrow(self) -> pa.Table:
        """Nothing: the records stay where they are.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            "a release on Spark",
            "has no table in this process",
            found="one on the cluster",
            advice="take release.data, a DataFrame of Spark, or anonymize with engine='embedded'",
        )

    def records_per_person(self, person: str) -> Mapping[int, int]:
        """How many persons have each number of records.

        Parameters
        ----------
        person
            The column of their pseudonyms.
        """
        functions = needed("pyspark.sql.functions", extra="spark", by="engine spark")
        with said_plainly("count the records of persons"):
            counted = self.frame.select(column(person).alias("person")).groupBy("person").count()
            sizes = counted.groupBy(COUNT).agg(functions.count(functions.lit(1)).alias("persons"))
            found = sizes.orderBy(COUNT).collect()
        return {row[0]: row[1] for row in found}

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write it as a folder, whole or not at all; see `write_frame`.

        Parameters
        ----------
        path
            A folder with the suffix ``.csv``, ``.tsv`` or ``.parquet``, or its URI.
        """
        return write_frame(self.frame, path)

    def write_beside(self, path: str | os.PathLike[str], name: str, text: str) -> None:
        """Write a text to the folder around ``path``, whole or not at all.

        Parameters
        ----------
        path
            A folder, or its URI.
        name
            Name of the file beside it.
        text
            What it holds.
        """
        write_beside(self.frame.sparkSession, path, name, text)
