"""Dataframes of every kind give the same columns, and the same refusals."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.table.dataframes import to_frame_like
from sfumato.table.table_files import open_source

Refused = Callable[..., str]
CANARY = "kanarienvogel"

DATA: dict[str, list[Any]] = {
    "sex": ["f", None, "m"],
    "age": [30, 41, 52],
    "income": [1.5, float("nan"), None],
    "born": [dt.date(1990, 1, 2), None, dt.date(1970, 3, 4)],
    "new": [True, False, None],
}
ARROW = pa.table(DATA)

KINDS: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda table: table,
    "arrow batch": lambda table: table.combine_chunks().to_batches()[0],
    "pandas": lambda table: table.to_pandas(),
    "pandas of arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "polars lazy": lambda table: pl.DataFrame(table).lazy(),
    "duckdb": duckdb.from_arrow,
}


def rows_of(frame: Any, names: list[str]) -> list[dict[str, Any]]:
    table = pa.Table.from_batches(open_source(frame).batches(names))
    assert table.column_names == names
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same(kind: str) -> None:
    frame = KINDS[kind](ARROW)
    source = open_source(frame)
    assert source.names == tuple(DATA)
    assert source.subject == "dataframe"
    assert source.text is False
    assert source.rows == (None if kind in {"polars lazy", "duckdb"} else 3)
    rows = rows_of(frame, ["born", "income", "age", "sex", "new"])
    assert [row["age"] for row in rows] == [30, 41, 52]
    assert [row["income"] for row in rows] == [1.5, None, None]
    assert [row["born"] for row in rows] == DATA["born"]
    assert [row["sex"] for row in rows] == DATA["sex"]
    assert [row["new"] for row in rows] == DATA["new"]
    assert rows_of(frame, ["sex"]) == [{"sex": "f"}, {"sex": None}, {"sex": "m"}]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "arrow batch"])
def test_like_gives_the_kind_back(kind: str) -> None:
    original = KINDS[kind](ARROW)
    back = to_frame_like(ARROW.select(["sex", "age"]), original)
    assert type(back) is type(original)
    assert rows_of(back, ["age", "sex"]) == ARROW.select(["age", "sex"]).to_pylist()


@pytest.mark.parametrize("original", [None, "visits.csv", pa.record_batch({"a": [1]}), [1]])
def test_like_is_arrow_for_anything_else(original: object) -> None:
    assert to_frame_like(ARROW, original) is ARROW


@pytest.mark.slow
def test_spark(spark: Any) -> None:
    frame = spark.createDataFrame(ARROW)
    rows = rows_of(frame, ["age", "sex", "income", "born"])
    assert rows == [
        {"age": 30, "sex": "f", "income": 1.5, "born": dt.date(1990, 1, 2)},
        {"age": 41, "sex": None, "income": None, "born": None},
        {"age": 52, "sex": "m", "income": None, "born": dt.date(1970, 3, 4)},
    ]
    back = to_frame_like(ARROW.select(["sex"]), frame)
    assert [row.sex for row in back.collect()] == DATA["sex"]


KINDS_MIXED: dict[str, list[Any]] = {
    "a date and a number": [dt.date(2020, 1, 2), 5],
    "a date and a moment": [dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3)],  # noqa: DTZ001
    "a moment and a number": [dt.datetime(2020, 1, 2), 5],  # noqa: DTZ001
    "a time of day and a number": [dt.time(1), 5],
    "a decimal number and a truth": [1.5, True],
    "text and bytes": [CANARY, CANARY.encode()],
    "text, then a date": [CANARY] * 200 + [dt.date(2020, 1, 2)],
}


@pytest.mark.parametrize("what", KINDS_MIXED)
def test_objects_of_several_kinds_are_not_taken_for_one(what: str, refused: Refused) -> None:
    frame = pd.DataFrame({"a": pd.Series([None, *KINDS_MIXED[what]], dtype=object)})
    said = refused(lambda: rows_of(frame, ["a"]))
    assert "column 'a' must hold values of one kind; found values of several kinds" in said
    assert CANARY not in said


def test_objects_of_one_kind_may_be_missing() -> None:
    for missing in (None, float("nan"), pd.NA, pd.NaT):
        for value in ("text", dt.date(2020, 1, 2), 7, True):
            frame = pd.DataFrame({"a": pd.Series([value, missing], dtype=object)})
            assert rows_of(frame, ["a"]) == [{"a": value}, {"a": None}]
    numbers = pd.DataFrame({"a": pd.Series([1, np.int64(2), np.int8(3)], dtype=object)})
    assert [row["a"] for row in rows_of(numbers, ["a"])] == [1, 2, 3]
    truths = pd.DataFrame({"a": pd.Series([True, np.bool_(False)], dtype=object)})
    assert [row["a"] for row in rows_of(truths, ["a"])] == [True, False]


def test_many_batches_of_one_type() -> None:
    values = [None] * 200_000 + [CANARY]
    batches = list(open_source(pd.DataFrame({"a": values})).batches(["a"]))
    assert len(batches) > 1
    assert len({str(batch.schema) for batch in batches}) == 1


def test_a_pandas_index_without_a_name_is_left_out() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([CANARY, "x"]))
    assert open_source(frame).names == ("a",)
    assert rows_of(frame, ["a"]) == [{"a": 1}, {"a": 2}]


def test_categories_stay_dictionaries_and_numbers_among_them_do_not() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["u", None]), "n": pd.Categorical([1.5, None])})
    (batch,) = open_source(frame).batches(["c", "n"])
    assert pa.types.is_dictionary(batch.schema.field("c").type)
    assert batch.schema.field("n").type == pa.float64()
    assert batch.to_pylist() == [{"c": "u", "n": 1.5}, {"c": None, "n": None}]


def test_nan_among_nulls_of_pandas() -> None:
    values = pd.array([0.0, 1.0, None], dtype="Float64")
    assert rows_of(pd.DataFrame({"a": values / values}), ["a"]) == [
        {"a": None}, {"a": 1.0}, {"a": None},
    ]  # fmt: skip


def test_uuids_become_text() -> None:
    one = uuid.UUID(int=7)
    table = pa.table({"id": pa.array([one.bytes, None], pa.uuid())})
    assert rows_of(table, ["id"]) == [{"id": str(one)}, {"id": None}]


def test_columns_not_asked_for_are_not_converted() -> None:
    frame = pd.DataFrame({"a": [1], "b": [object()]})
    assert rows_of(frame, ["a"]) == [{"a": 1}]


def test_only_columns_asked_for_are_computed() -> None:
    def explode(series: pl.Series) -> pl.Series:
        raise RuntimeError(CANARY)

    lazy = pl.LazyFrame({"a": [1], "b": [CANARY]})
    lazy = lazy.with_columns(pl.col("b").map_batches(explode, return_dtype=pl.String))
    assert rows_of(lazy, ["a"]) == [{"a": 1}]


NOT_FRAMES: dict[str, Any] = {
    "list of dicts": [{"a": CANARY}],
    "dict": {"a": [CANARY]},
    "number": 7,
    "None": None,
    "bytes": CANARY.encode(),
    "pandas series": pd.Series([CANARY], name=CANARY),
    "polars series": pl.Series(CANARY, [CANARY]),
    "arrow array": pa.array([CANARY]),
    "set": {CANARY},
}


@pytest.mark.parametrize("case", NOT_FRAMES)
def test_not_a_dataframe(refused: Refused, case: str) -> None:
    refused(lambda: open_source(NOT_FRAMES[case]), "data must be", "pandas", "PySpark")


BAD_NAMES: dict[str, tuple[Callable[[], Any], str]] = {
    "pandas twice": (lambda: pd.DataFrame([[1, CANARY]], columns=["a", "a"]), "columns 1 and 2"),
    "pandas twice among others": (
        lambda: pd.DataFrame([[1, 2, CANARY]], columns=[CANARY, "b", CANARY]), "columns 1 and 3",
    ),
    "pandas numbers": (lambda: pd.DataFrame([[1, CANARY]]), "column 1 and 2"),
    "pandas missing name": (lambda: pd.DataFrame([[1]], columns=[None]), "column 1"),
    "pandas levels": (
        lambda: pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", CANARY)])), "column 1",
    ),
    "pandas empty name": (lambda: pd.DataFrame([[1]], columns=[""]), "column 1"),
    "arrow twice": (lambda: pa.table([[1], [CANARY]], names=["a", "a"]), "columns 1 and 2"),
    "arrow empty name": (lambda: pa.table([[1]], names=[" "]), "column 1"),
    "duckdb twice": (lambda: duckdb.sql("select 1 as a, 2 as a"), "columns 1 and 2"),
    "duckdb twice in case": (lambda: duckdb.sql("select 1 as a, 2 as A"), "columns 1 and 2"),
    "polars empty name": (lambda: pl.DataFrame({"": [CANARY]}), "column 1"),
    "no columns in pandas": (lambda: pd.DataFrame(index=[1, 2]), "at least one column"),
    "no columns in polars": (pl.DataFrame, "at least one column"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_NAMES)
def test_bad_names(refused: Refused, case: str) -> None:
    make, said = BAD_NAMES[case]
    frame = make()
    refused(lambda: open_source(frame), "dataframe", said)


@pytest.mark.parametrize("kind", KINDS)
def test_no_records(refused: Refused, kind: str) -> None:
    frame = KINDS[kind](ARROW) if kind == "arrow batch" else KINDS[kind](ARROW.slice(0, 0))
    if kind == "arrow batch":
        frame = frame.slice(0, 0)
    refused(lambda: list(open_source(frame).batches(["sex"])), "no records")


BAD_VALUES: dict[str, Any] = {
    "number and text": pd.DataFrame({"c": [1, CANARY]}, dtype=object),
    "text and number": pd.DataFrame({"c": [CANARY, 1]}, dtype=object),
    "date and text": pd.DataFrame({"c": [dt.date(2020, 1, 1), CANARY]}, dtype=object),
    "objects": pd.DataFrame({"c": [object(), CANARY]}),
    "lists and text": pd.DataFrame({"c": [[1], CANARY]}),
    "lists": pd.DataFrame({"c": [[CANARY], [CANARY]]}),
    "dicts": pd.DataFrame({"c": [{CANARY: 1}]}),
    "complex": pd.DataFrame({"c": [1 + 2j]}),
    "too large": pd.DataFrame({"c": [2**70, 1]}, dtype=object),
    "periods": pd.DataFrame({"c": pd.period_range("2020", periods=2, freq="M")}),
    "intervals": pd.DataFrame({"c": pd.interval_range(0, 2)}),
    "durations": pd.DataFrame({"c": pd.to_timedelta([1, 2])}),
    "polars objects": pl.DataFrame({"c": [object()]}),
    "polars lists": pl.DataFrame({"c": [[CANARY]]}),
    "polars structs": pl.DataFrame({"c": [{"k": CANARY}]}).lazy(),
    "polars durations": pl.DataFrame({"c": [dt.timedelta(1)]}),
    "arrow maps": pa.table({"c": pa.array([[(CANARY, 1)]], pa.map_(pa.string(), pa.int8()))}),
    "duckdb lists": duckdb.sql(f"select ['{CANARY}'] as c"),
    "duckdb intervals": duckdb.sql("select interval 1 day as c"),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_values_that_are_not_single(refused: Refused, case: str) -> None:
    source = open_source(BAD_VALUES[case])
    refused(lambda: list(source.batches(["c"])), "column 'c'")


FAILING: dict[str, Callable[[], Any]] = {
    "polars cast": lambda: pl.LazyFrame({"c": [CANARY]}).cast(pl.Int32),
    "polars column": lambda: pl.LazyFrame({"c": [CANARY]}).select("c", pl.col(CANARY)),
    "duckdb cast": lambda: duckdb.sql(
        f"select case when i = 5 then '{CANARY}' else '1' end::int as c from range(9) t(i)"
    ),
    "duckdb error": lambda: duckdb.sql(f"select error('{CANARY}') as c"),
}


@pytest.mark.parametrize("case", FAILING)
def test_what_an_engine_says_is_not_repeated(refused: Refused, case: str) -> None:
    frame = FAILING[case]()
    refused(lambda: list(open_source(frame).batches(["c"])), "engine")


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_column(refused: Refused, kind: str) -> None:
    source = open_source(KINDS[kind](ARROW))
    refused(lambda: list(source.batches(["weight"])), "column 'weight'")


def test_delimiter_is_for_csv(refused: Refused) -> None:
    refused(lambda: open_source(ARROW, delimiter=","), "CSV files only")


def test_an_index_of_pandas_that_has_a_name_is_a_column() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3]}, index=pd.Index(["a", "a", "b"], name="patient"))
    assert open_source(frame).names == ("patient", "age")
    table = pa.Table.from_batches(open_source(frame).batches(["patient", "age"]))
    assert table.to_pydict() == {"patient": ["a", "a", "b"], "age": [1, 2, 3]}
    assert open_source(frame.set_index("age", append=True)[[]]).names == ("patient", "age")
    assert open_source(frame.reset_index(drop=True)).names == ("age",)
    assert open_source(frame.rename_axis("age")).names == ("age",)
