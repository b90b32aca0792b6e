"""Dataframes of any kind that narwhals knows, only the columns that are asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import partial
from numbers import Number
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError, NarwhalsError

from sfumato.core.errors import InputError
from sfumato.table import sources

SUBJECT = "dataframe"

_KINDS = (datetime, date, (bool, np.bool_), Number)
"""The narrower before the wider."""

_ENGINE_ERRORS = (
    ("polars.exceptions", "PolarsError"),
    ("duckdb", "Error"),
    ("pyspark.errors", "PySparkException"),
    ("py4j.protocol", "Py4JError"),
)


def open_frame(data: Any) -> sources.Source:
    """Open a dataframe by its column names; an index of pandas counts where it has a name.

    It is one of pandas, Polars (eager or lazy), PyArrow (table or record batch), DuckDB or PySpark,
    or anything else that narwhals accepts. A lazy one runs when its columns are read.
    """
    # narwhals knows tables of Arrow, but no single batches.
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    # A table's `columns` are arrays, in which `_same_names` would look for names in vain.
    if isinstance(data, pa.Table):
        sources.check_names(data.column_names, SUBJECT)
    frame = _wrapped(_with_named_index(data))
    names = _names(frame)
    rows = len(frame) if isinstance(frame, nw.DataFrame) else None
    if rows == 0:
        raise sources.NoRecordsError(SUBJECT, names)

    return sources.Source.of_batches(SUBJECT, names, partial(_batches, frame), rows)


def _with_named_index(data: Any) -> Any:
    """A dataframe of pandas with the levels of its index that have names as columns."""
    # Whoever has a dataframe of pandas has imported it: for others it is not loaded.
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, pandas.DataFrame):
        return data
    levels = [name for name in data.index.names if name is not None and name not in data.columns]
    if not levels:
        return data
    values = {level: data.index.get_level_values(level).array for level in levels}
    added = pandas.DataFrame(values, index=data.index)
    return pandas.concat([added, data], axis="columns")


_Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]


def _wrapped(data: Any) -> _Frame:
    try:
        frame: _Frame = nw.from_native(data)
    except DuplicateError:
        raise _same_names(data) from None
    except TypeError:
        raise InputError(
            "data",
            "must be a dataframe or the path of a file",
            found=f"an object of type {type(data).__name__}",
            accepted="pandas, Polars (eager or lazy), PyArrow, DuckDB and PySpark dataframes; "
            "paths of CSV, Parquet, Excel, SPSS, Stata and SAS files",
        ) from None
    return frame


def _same_names(data: Any) -> InputError:
    """The error of `check_names`, which tells the positions."""
    try:
        sources.check_names(list(data.columns), SUBJECT)
    except InputError as error:
        return error
    return InputError(SUBJECT, "must have column names that differ")


def _names(frame: _Frame) -> tuple[str, ...]:
    """The checked names; DuckDB and Spark take names that differ only in case as the same."""
    # Polars warns whoever asks a lazy frame for its columns that this works out its schema.
    lazy_polars = isinstance(frame, nw.LazyFrame) and frame.implementation.is_polars()
    try:
        found = frame.collect_schema().names() if lazy_polars else frame.columns
    except DuplicateError:
        raise InputError(SUBJECT, "must have column names that differ") from None
    except (pa.ArrowException, NarwhalsError, *_engine_errors()):
        raise _not_computed() from None
    names = sources.check_names(found, SUBJECT)
    if not (frame.implementation.is_duckdb() or frame.implementation.is_spark_like()):
        return names
    folded = [name.casefold() for name in names]
    same = [i for i, name in enumerate(folded, 1) if folded.count(name) > 1]
    if same:
        raise InputError(
            SUBJECT,
            "must have column names that differ in more than case",
            found=f"the same name among columns {sources.positions(same)}",
        )
    return names


def to_frame_like(table: pa.Table, original: Any) -> Any:
    """The table as the kind of dataframe that ``original`` is; itself where that is none."""
    try:
        frame = nw.from_native(original)
    except (TypeError, DuplicateError):
        return table
    kind = frame.implementation
    arrow = nw.from_native(table, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        return nw.from_arrow(arrow, backend=kind).to_native()
    if kind.is_pyspark():
        return original.sparkSession.createDataFrame(table)
    if kind.is_polars() or kind.is_duckdb():
        return arrow.lazy(kind).to_native()
    return table


def _batches(frame: _Frame, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    if isinstance(frame, nw.DataFrame):
        # One by one, so that an error can name the column that Arrow does not take.
        arrays = [_array(frame, name) for name in columns]
    else:
        arrays = _computed(frame, columns)
    table = pa.Table.from_arrays([_one_type(array) for array in arrays], names=list(columns))
    for batch in table.to_batches(max_chunksize=sources.BATCH_ROWS):
        yield sources.plain_batch(batch, columns)


def _array(frame: nw.DataFrame[Any], name: str) -> pa.Array | pa.ChunkedArray:
    """One column as Arrow; pandas' columns of Python objects must hold values of one kind."""
    series = frame.get_column(name)
    if frame.implementation.is_polars() and series.dtype == nw.Object:
        raise _several_kinds(name)
    if frame.implementation.is_pandas() and series.to_native().dtype == object:
        _check_one_kind(series.to_native(), name)
    try:
        return series.to_arrow()
    except (pa.ArrowException, NarwhalsError, TypeError, ValueError, OverflowError):
        raise _several_kinds(name) from None


def _check_one_kind(objects: Any, name: str) -> None:
    """Arrow takes numbers among dates for dates, and cuts the time off moments among them."""
    if len({_kind(each) for each in set(map(type, objects.dropna()))}) > 1:
        raise _several_kinds(name)


def _kind(of: type) -> object:
    """What counts as one kind; a moment is a date in Python, and a truth value is a number."""
    return next((kind for kind in _KINDS if issubclass(of, kind)), of)


def _several_kinds(name: str) -> InputError:
    return InputError(
        f"column '{name}'",
        "must hold values of one kind",
        found="values of several kinds, or of a kind that Arrow does not know",
        accepted="text, numbers, true/false, or dates, each with missing values",
        advice="turn the column into one of these",
    )


def _computed(frame: nw.LazyFrame[Any], columns: Sequence[str]) -> list[pa.ChunkedArray]:
    try:
        table: pa.Table = frame.select(*columns).collect("pyarrow").to_native()
    except (pa.ArrowException, NarwhalsError, OverflowError, *_engine_errors()):
        raise _not_computed() from None
    return list(table.columns)


def _one_type(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Dictionaries that differ between chunks as one."""
    if isinstance(array, pa.ChunkedArray) and pa.types.is_dictionary(array.type):
        return array.unify_dictionaries()
    return array


def _engine_errors() -> tuple[type[Exception], ...]:
    """What the engines that are loaded raise; none of them is loaded for it."""
    return tuple(
        getattr(sys.modules[module], name)
        for module, name in _ENGINE_ERRORS
        if module in sys.modules
    )


def _not_computed() -> InputError:
    return InputError(
        SUBJECT,
        "must be computed without an error",
        found="an error of its engine; its text may hold values",
        advice="compute it first, for example by collecting it, and pass on the result",
    )
