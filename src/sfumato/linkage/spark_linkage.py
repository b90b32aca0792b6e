"""A linkage on Spark: its tables, its session, comparisons in the SQL that Spark reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.declaration import is_database, is_spark_frame, is_uri
from sfumato.core.errors import InputError, SfumatoError, typed
from sfumato.core.optional_packages import needed, quiet
from sfumato.engines.spark import spark_session
from sfumato.engines.spark.spark_files import BROKEN, SparkSource, open_on_cluster, plain
from sfumato.linkage.comparison_levels import LevelsByRecord
from sfumato.linkage.link_spec import quoted
from sfumato.table.sources import Source, check_known, plain_batch, subject_of, with_records
from sfumato.table.table_files import open_source

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import DataFrame, SparkSession


_NAMES = {
    "jaro_winkler_similarity": "jaro_winkler",
    "jarowinkler_similarity": "jaro_winkler",
    "jaro_similarity": "jaro_sim",
    "damerau_levenshtein": "damerau_levenshtein",
    "jaccard": "jaccard",
}
"""Functions of DuckDB, as sqlglot writes them, and what Splink calls them in Spark."""


def spark_sql(sql: str) -> str:
    """A query or condition of DuckDB in Spark's SQL; ``ELSE``, a comparison's last level, stays."""
    if sql.strip().upper() == "ELSE":
        return sql
    sqlglot = needed("sqlglot")
    exp = sqlglot.exp

    def renamed(node: Any) -> Any:
        if not isinstance(node, exp.Func):
            return node
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        # sqlglot knows some as functions of its own and others by name only.
        other = _NAMES.get(str(name).lower())
        if other is None:
            return node
        values = [
            expression
            for expression in node.iter_expressions()
            if isinstance(expression, exp.Expression)
        ]
        return exp.Anonymous(this=other, expressions=values)

    tree = sqlglot.parse_one(sql, dialect="duckdb")
    return str(tree.transform(renamed).sql(dialect="spark"))


def spark_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Splink settings with all SQL in them, DuckDB's, as Spark's; the given ones stay."""
    rules = settings["blocking_rules_to_generate_predictions"]
    return {
        **{key: value for key, value in settings.items() if key != "sql_dialect"},
        "comparisons": [
            {
                **comparison,
                "comparison_levels": [
                    {**level, "sql_condition": spark_sql(level["sql_condition"])}
                    for level in comparison["comparison_levels"]
                ],
            }
            for comparison in settings["comparisons"]
        ],
        "blocking_rules_to_generate_predictions": [
            {**_without_dialect(rule), "blocking_rule": spark_sql(rule["blocking_rule"])}
            if isinstance(rule, dict)
            else spark_sql(rule)
            for rule in rules
        ],
    }


def _without_dialect(rule: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in rule.items() if key != "sql_dialect"}


_OWN = "sfumato_levels_"
_PLAIN = ("Column", "Identifier", "EQ", "NEQ", "And", "Or", "Not", "Is", "Null", "Paren")
"""What means the same in every SQL, as sqlglot calls it."""


@dataclass(frozen=True)
class Levels:
    """The levels of one comparison as a function of its columns, by a query of table ``pairs``."""

    name: str
    columns: tuple[str, ...]
    query: str

    def register(self, session: Any) -> None:
        """Make the function known."""
        # Spark 4.1 gives functions of Arrow columns, which spares a way through pandas.
        functions = needed("pyspark.sql.functions", extra="spark")
        if hasattr(functions, "arrow_udf"):
            function = functions.arrow_udf(self._on_arrow(), "int", functions.ArrowUDFType.SCALAR)
        else:
            scalar = functions.PandasUDFType.SCALAR
            function = functions.pandas_udf(self._on_pandas(), "int", scalar)
        session.udf.register(self.name, function)

    def _on_arrow(self) -> Callable[..., pa.Array]:
        names, query = list(self.columns), self.query

        def levels(*columns: pa.Array) -> pa.Array:
            return levels_of(pa.table(list(columns), names), query)

        return levels

    def _on_pandas(self) -> Callable[..., Any]:
        """The same for Spark 4.0, whose functions of columns take pandas."""
        on_arrow = self._on_arrow()

        def levels(*columns: Any) -> Any:
            return on_arrow(*map(pa.Array.from_pandas, columns)).to_pandas()

        return levels


def levels_of(pairs: pa.Table, query: str) -> pa.Array:
    """The place of the level of each pair by a query of `Levels`; runs on an executor.

    SfumatoError if DuckDB fails, whose words may hold values: Spark logs them.
    """
    connection, failure = _database(), needed("duckdb").Error
    connection.register("pairs", pairs)
    try:
        return pa.array(connection.execute(query).fetchnumpy()["level"], pa.int32())
    except failure as error:
        # Without the cause, whose words would go into the cluster's logs.
        raise SfumatoError(f"an executor stopped with {type(error).__name__}.") from None
    finally:
        connection.unregister("pairs")


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One of each Python process of an executor; every task has a process of its own."""
    # Spark has a task for each core already.
    connection: duckdb.DuckDBPyConnection = needed("duckdb").connect(config={"threads": 1})
    return connection


def as_functions(settings: dict[str, Any]) -> tuple[dict[str, Any], tuple[Levels, ...]]:
    """Splink settings whose conditions ask a function for the level, and the functions.

    The given settings have the SQL of DuckDB, and stay as they are. Conditions that mean the same
    in every SQL, such as that two columns are equal, stay.
    """
    comparisons, functions = [], []
    for number, comparison in enumerate(settings["comparisons"]):
        conditions = [level["sql_condition"] for level in comparison["comparison_levels"]]
        if not all(map(_is_plain, conditions)):
            function = _function(f"{_OWN}{number}", conditions)
            functions.append(function)
            call = f"{function.name}({', '.join(map(quoted, function.columns))})"
            conditions = [
                sql if _is_plain(sql) else f"{call} = {place}"
                for place, sql in enumerate(conditions)
            ]
        levels = [
            {**level, "sql_condition": sql}
            for level, sql in zip(comparison["comparison_levels"], conditions, strict=True)
        ]
        comparisons.append({**comparison, "comparison_levels": levels})
    return {**settings, "comparisons": comparisons}, tuple(functions)


def _function(name: str, conditions: list[str]) -> Levels:
    sqlglot = needed("sqlglot")
    trees = [sqlglot.parse_one(sql, dialect="duckdb") for sql in conditions if not _is_else(sql)]
    columns = [column.name for tree in trees for column in tree.find_all(sqlglot.exp.Column)]
    ways = [
        f"ELSE {place}" if _is_else(sql) else f"WHEN {sql} THEN {place}"
        for place, sql in enumerate(conditions)
    ]
    case = f"CASE {' '.join(ways)} END"
    # −1 is the place of no level: a condition that is null is not met.
    query = f"SELECT CAST(coalesce({case}, -1) AS INTEGER) AS level FROM pairs"
    return Levels(name, tuple(dict.fromkeys(columns)), query)


def _is_else(sql: str) -> bool:
    return sql.strip().upper() == "ELSE"


def _is_plain(sql: str) -> bool:
    if _is_else(sql):
        return True
    tree = needed("sqlglot").parse_one(sql, dialect="duckdb")
    return all(type(node).__name__ in _PLAIN for node in tree.walk())


_BATCH = "batch"
_ANSWERS: dict[str, bool] = {}
"""By application: whether its executors run sfumato."""


def any_on_spark(tables: Mapping[str, object]) -> bool:
    """Whether one of the tables is a DataFrame of a Spark session that runs here."""
    return any(_runs_here(table) for table in tables.values())


def streamed(tables: Mapping[str, object], *, spark: bool) -> dict[str, object]:
    """The tables, those that only Spark reads as sources; the others as they are.

    Parameters
    ----------
    tables
        Name of each table, and a DataFrame, a path, or anything else.
    spark
        Whether Spark may be started for a path: of a folder, or a URI such as ``s3a://bucket/a``.
    """
    found: dict[str, object] = {}
    for name, data in tables.items():
        if _runs_here(data):
            found[name] = _source(data)
        elif spark and is_spark_frame(data):
            spark_session.check_classic(data)
        elif isinstance(data, (str, os.PathLike)) and is_for_spark(data):
            found[name] = _of_path(os.fsdecode(data), spark=spark)
        else:
            found[name] = data
    return found


def is_for_spark(path: str | os.PathLike[str]) -> bool:
    """Whether only Spark reads a path: a folder, or a URI other than that of a database."""
    return not is_database(path) and (is_uri(path) or _is_folder(os.fsdecode(path)))


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def runs_sfumato(session: SparkSession) -> bool:
    """Whether the executors' Python has sfumato and DuckDB, kept for the session's application."""
    application = str(session.sparkContext.applicationId)
    # A trial starts Python on the executors: once for each application.
    if application not in _ANSWERS:
        try:
            with spark_session.said_plainly("try its executors"):
                session.range(1).mapInArrow(_trial, "id bigint").collect()
            _ANSWERS[application] = True
        except SfumatoError:
            _ANSWERS[application] = False
    return _ANSWERS[application]


def _trial(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs on an executor, if it has what it needs."""
    needed("duckdb")
    yield from batches


def _runs_here(data: object) -> TypeGuard[DataFrame]:
    if not is_spark_frame(data):
        return False
    classic = needed("pyspark.sql.classic.dataframe", extra="spark")
    return isinstance(data, classic.DataFrame)


def _of_path(path: str, *, spark: bool) -> Source:
    if not spark:
        raise InputError(
            subject_of(Path(path)),
            "must be a file on this machine",
            found="a folder" if _is_folder(path) else "a URI",
            advice="Spark reads it: " + typed("engine='spark'", "--engine spark"),
        )
    return _source(path)


def _source(data: object) -> Source:
    opened = open_on_cluster(data)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        check_known(columns, opened.names, opened.subject)
        return with_records(_batches(opened, columns), opened.subject)

    return Source(opened.subject, opened.names, batches, None, text=False)


def _batches(opened: SparkSource, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    chosen = [plain(opened.names.index(name)) for name in columns]
    checked = [] if opened.cells is None else [BROKEN]
    frame = opened.frame.select(*chosen, *checked)
    broken = 0
    for batch in _streamed(frame) if runs_sfumato(frame.sparkSession) else _whole(frame):
        found = batch.columns[: len(columns)]
        broken += sum(int(pc.sum(column).as_py() or 0) for column in batch.columns[len(columns) :])
        yield plain_batch(pa.RecordBatch.from_arrays(found, names=list(columns)), columns)
    opened.check_cells(broken)


def _streamed(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    """Each partition's batches as they came out of Arrow on its executor.

    Of what Spark holds, no more than the partition in hand, and the next, is on this machine.
    """
    with spark_session.said_plainly("read the records"):
        task: Any = spark_session.WithoutValues(_packed)
        packed = frame.mapInArrow(task, f"{_BATCH} binary")
        # The next partition is made while this one is read.
        rows = packed.toLocalIterator(prefetchPartitions=True)
    while True:
        with spark_session.said_plainly("read the records"):
            row = next(rows, None)
        if row is None:
            return
        yield from pa.ipc.open_stream(row[_BATCH])


def _whole(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    """The records as Spark gives them without Python on its executors: all at once."""
    source = open_source(frame)
    return source.batches(source.names)


def _packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch as one value; runs on an executor."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        packed = pa.array([sink.getvalue().to_pybytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([packed], names=[_BATCH])


_EXTRA = "spark"
_ROWS = 200_000
"""Records that are sent to Spark at once, about."""

OTHER_LEVELS = (
    "Spark's executors have no sfumato[link]: values were compared by Splink's functions for "
    "Spark; their similarity of names is not quite DuckDB's."
)


class OnSpark:
    """Splink in a Spark session of its own, so that its tables and settings are nobody else's.

    The standardised tables come from DuckDB; candidate pairs are made, compared and scored in
    Spark. Comparisons are those of DuckDB, which runs on the executors, or where it is not
    there, of Splink for Spark.
    """

    def __init__(self, session: Any, connection: duckdb.DuckDBPyConnection) -> None:
        backend = needed("splink.backends.spark", extra=_EXTRA)
        session.sql(f"ADD JAR '{backend.similarity_jar_location()}'")
        self._session, self._connection = session, connection
        # Without a break Spark would make each table again for each query that uses it.
        self._api = backend.SparkAPI(spark_session=session, break_lineage_method="persist")
        self.notes: tuple[str, ...] = () if runs_sfumato(session) else (OTHER_LEVELS,)

    def register(self, tables: Sequence[str]) -> list[Any]:
        """The standardised tables as Splink knows them."""
        return [self._api.register(self._sent(n), dataset_display_name=n) for n in tables]

    def _sent(self, name: str) -> Any:
        """A table in parts, none of which is too large for a task, that are sent once."""
        parts = self._connection.table(name).fetch_arrow_reader(_ROWS)
        frames = [self._session.createDataFrame(pa.Table.from_batches([part])) for part in parts]
        if len(frames) == 1:
            return frames[0]
        return reduce(lambda one, other: one.unionAll(other), frames).persist()

    def settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Splink settings in Spark's SQL."""
        return spark_settings({**settings, "comparisons": self.comparisons(settings)[0]})

    def comparisons(self, settings: dict[str, Any]) -> LevelsByRecord:
        """The comparisons of settings, which ask DuckDB on the executors if it is there."""
        if self.notes:
            return list(settings["comparisons"]), {}
        with quiet("bring the comparisons to Spark"):
            asking, functions = as_functions(settings)
            for function in functions:
                function.register(self._session)
        return list(asking["comparisons"]), {}

    def send(self, table: str) -> None:
        """Make a table of DuckDB known to queries."""
        self._sent(table).createOrReplaceTempView(table)

    def store(self, name: str, sql: str) -> None:
        """Keep what a query gives, under a name."""
        self._session.sql(spark_sql(sql)).persist().createOrReplaceTempView(name)

    def columns(self, sql: str) -> Mapping[str, npt.NDArray[Any]]:
        """The columns of a query, in their order."""
        table = self._session.sql(spark_sql(sql)).toArrow()
        return {
            name: column.combine_chunks().to_numpy(zero_copy_only=False)
            for name, column in zip(table.column_names, table.columns, strict=True)
        }


@contextmanager
def open_spark(connection: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[OnSpark]:
    """Splink on Spark, in a session beside the active one or, without one, on this machine.

    At the end its tables are dropped, and a Spark that was started for it is stopped.
    """
    with quiet("start Spark"):
        active = spark_session.active_session()
        shared = active or spark_session.start_session(folder, "sfumato link")
    session = None
    try:
        with quiet("take Spark"):
            session = spark_session.own_session(shared)
            spark = OnSpark(session, connection)
        yield spark
    finally:
        with quiet("leave Spark"):
            if active is None:
                shared.stop()
            elif session is not None:
                for table in session.catalog.listTables():
                    if table.isTemporary:
                        session.catalog.dropTempView(table.name)
