"""How Splink calls Spark; the iterations over counted patterns of agreement run on the driver."""

from __future__ import annotations

from typing import Any

import sqlglot
from splink.backends.duckdb import DuckDBAPI
from splink.backends.spark import SparkAPI

PATTERNS = "__splink__agreement_pattern_counts"
"""What Splink calls the table of the patterns that expectation maximisation is made from."""


class _OnDriver(DuckDBAPI):
    """DuckDB for SQL that is written for Spark."""

    def _setup_for_execute_sql(self, sql: str, physical_name: str) -> str:
        own = sqlglot.transpile(sql, read="spark", write="duckdb")[0]
        return super()._setup_for_execute_sql(own, physical_name)


class PatternsOnDriver(SparkAPI):
    """Spark, but for the iterations of expectation maximisation.

    Pairs are compared, and how often each pattern of agreement occurs is counted, in Spark. The
    patterns are some thousands; each iteration over them would be dozens of jobs of Spark, most
    of the time of which is their planning.
    """

    def __init__(self, session: Any) -> None:
        options: dict[str, Any] = {"spark_session": session, "break_lineage_method": "persist"}
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._on_driver = _OnDriver(self.duckdb_con)

    def sql_pipeline_to_splink_dataframe(self, pipeline: Any) -> Any:
        """Run a pipeline where its inputs are.

        Parameters
        ----------
        pipeline
            What Splink wants to know.
        """
        if any(frame.db_api is self._on_driver for frame in pipeline.input_dataframes):
            return self._on_driver.sql_pipeline_to_splink_dataframe(pipeline)
        frame: Any = super().sql_pipeline_to_splink_dataframe(pipeline)
        if frame.templated_name != PATTERNS:
            return frame
        self.duckdb_con.register(frame.physical_name, frame.as_pyarrow_table())
        return self._on_driver.table_to_splink_dataframe(PATTERNS, frame.physical_name)
