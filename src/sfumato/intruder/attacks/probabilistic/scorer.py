"""Splink on the released classes and the register, in a database of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.optional_packages import needed, quiet
from sfumato.core.workspace import Workspace
from sfumato.intruder.attacks.probabilistic.levels import Levels, Near
from sfumato.intruder.attacks.probabilistic.tables import (
    ID,
    REGISTER,
    RELEASED,
    comparison,
    frequencies,
    register_table,
    released_table,
)

if TYPE_CHECKING:
    import duckdb

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_SOURCE = "source_dataset"
_KEY = "-__-"
_LOWEST = -10_000.0
"""No match weight is below it."""
_PRIOR = 0.01
"""Taken out of the weights again."""
_BY = "the probabilistic attack"


class Scorer:
    """Weighs pairs of a released class and a distinct register row with Splink.

    Parameters
    ----------
    connection
        A database.
    columns
        What the cells of each column reach.
    cells
        The cells of each class, shape (classes, columns).
    rows
        The places of the values of each distinct row, shape (rows, columns).

    Raises
    ------
    InputError
        If Splink is not installed.
    SfumatoError
        If it cannot take the tables.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        columns: Sequence[Levels],
        cells: Ints,
        rows: Ints,
    ) -> None:
        self._connection = connection
        self._columns = columns
        self._chances = [column.by_chance for column in columns]
        with quiet("take the tables"):
            self._api = needed("splink.backends.duckdb", by=_BY).DuckDBAPI(connection)
            self._table(RELEASED, released_table(columns, cells))
            self._table(REGISTER, register_table(columns, rows))
            for number, chance in enumerate(self._chances):
                for level in Near:
                    table = frequencies(number, level, chance[:, level])
                    self._table(f"tf{number}_{level.name}", table)

    def weights(self, of_class: Ints, of_row: Ints, m: Floats) -> Floats:
        """The match weight of each pair without the prior, in bits.

        Parameters
        ----------
        of_class, of_row
            The pairs.
        m
            m of each column and level, shape (columns, 3).

        Raises
        ------
        InputError
            If Splink is not installed.
        SfumatoError
            If it fails.
        """
        with quiet("score the pairs"):
            linker = self._linker(m)
            self._connection.register(
                "given", pa.table({"pair": np.arange(len(of_class)), "c": of_class, "r": of_row})
            )
            self._connection.execute(
                "CREATE OR REPLACE TABLE blocked AS SELECT "  # noqa: S608
                f"'{RELEASED}{_KEY}' || c AS join_key_l, "
                f"'{REGISTER}{_KEY}' || r AS join_key_r, '0' AS match_key FROM given"
            )
            blocked = self._api.register("blocked")
            linker.table_management.register_blocked_pairs_for_predict(blocked)
            predicted = linker.inference.predict(
                threshold_match_weight=_LOWEST, warning_mode="never"
            )
            found = self._connection.execute(
                f"SELECT match_weight FROM {predicted.physical_name} "  # noqa: S608
                f"JOIN given ON {ID}_l = c AND {ID}_r = r ORDER BY pair"
            ).fetchnumpy()["match_weight"]
            predicted.drop_table_from_database_and_remove_from_cache()
            self._connection.unregister("given")
        return np.asarray(found, dtype=np.float64) - float(np.log2(_PRIOR / (1 - _PRIOR)))

    def _linker(self, m: Floats) -> Any:
        """A linker with these m, and u of each cell."""
        settings = {
            "link_type": "link_only",
            "unique_id_column_name": ID,
            "source_dataset_column_name": _SOURCE,
            "linker_uid": "sfumato",
            "comparisons": [
                comparison(number, m[number], _typical(chance))
                for number, chance in enumerate(self._chances)
            ],
            "blocking_rules_to_generate_predictions": [f"l.{ID} = r.{ID}"],
            "probability_two_random_records_match": _PRIOR,
            "retain_matching_columns": False,
            "retain_intermediate_calculation_columns": False,
        }
        tables = [
            self._api.register(name, dataset_display_name=name) for name in (RELEASED, REGISTER)
        ]
        linker = needed("splink", by=_BY).Linker(
            tables, settings, log_level=None, validate_settings=False
        )
        for number in range(len(self._columns)):
            for level in Near:
                linker.table_management.register_term_frequency_lookup(
                    self._api.register(f"tf{number}_{level.name}"), f"q{number}_{level.name}"
                )
        return linker

    def _table(self, name: str, table: pa.Table) -> None:
        self._connection.register("given", table)
        self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")  # noqa: S608
        self._connection.unregister("given")


@contextmanager
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that spills into a private folder, which goes with it or the next run.

    Yields
    ------
    duckdb.DuckDBPyConnection
        The connection.

    Raises
    ------
    InputError
        If DuckDB is not installed, or there is no place for the folder.
    """
    duckdb_ = needed("duckdb", by=_BY)
    with Workspace() as workspace:
        connection: duckdb.DuckDBPyConnection = duckdb_.connect(
            config={
                "temp_directory": str(workspace.path / "spill"),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        try:
            # In a notebook without ipywidgets it is off, and DuckDB refuses to hear of it.
            shown = "SELECT current_setting('enable_progress_bar')"
            if connection.execute(shown).fetchall() == [(True,)]:
                connection.execute("SET enable_progress_bar = false")
            yield connection
        finally:
            connection.close()


def _typical(chance: Floats) -> Floats:
    """The u over all cells; Splink puts each cell's own in its place."""
    told = chance[~np.isnan(chance[:, 0])]
    return told.mean(axis=0) if len(told) else np.full(len(Near), 1 / len(Near))
