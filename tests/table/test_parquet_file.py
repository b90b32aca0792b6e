"""Parquet in: what is read, and what is refused."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.core.errors import InputError
from sfumato.table.sources.open_source import open_source

Refused = Callable[..., str]
CANARY = "kanarienvogel"


def written(folder: Path, table: pa.Table, name: str = "t.parquet") -> Path:
    path = folder / name
    pq.write_table(table, path, row_group_size=100)
    return path


def test_columns_keep_their_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": ["a", None],
            "large": pa.array(["x", "y"], pa.large_string()),
            "int": [1, None],
            "yes": [True, False],
            "day": [dt.date(2020, 1, 1), None],
            "money": [decimal.Decimal("1.50"), None],
            "dictionary": pa.array(["u", "v"]).dictionary_encode(),
            "number": [0.5, float("nan")],
        }
    )
    source = open_source(written(tmp_path, table))
    assert (source.rows, source.text, source.names) == (2, False, tuple(table.column_names))
    got = pa.Table.from_batches(source.batches(source.names))
    assert got.schema.types == table.schema.types
    assert got["number"].to_pylist() == [0.5, None]
    assert got.drop_columns("number").equals(table.drop_columns("number"))


def test_only_columns_asked_for_in_that_order(tmp_path: Path) -> None:
    table = pa.table({"a": [1], "b.c": [2], "s": [{"x": CANARY}], "l": [[1]], "z": [3]})
    source = open_source(written(tmp_path, table, "t.pq"))
    (batch,) = source.batches(["z", "b.c"])
    assert batch.to_pydict() == {"z": [3], "b.c": [2]}


@pytest.mark.parametrize("dictionaries", [True, False])
def test_a_column_by_itself_has_the_same_values(tmp_path: Path, dictionaries: bool) -> None:
    table = pa.table(
        {
            "s": [{"t": n} for n in range(1000)],
            "t": [None if n % 7 == 0 else f"é{n % 3}" for n in range(1000)],
            "n": range(1000),
        }
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, row_group_size=300, use_dictionary=dictionaries)
    column = open_source(path).column
    assert column is not None
    texts, numbers = pa.chunked_array(column("t")), pa.chunked_array(column("n"))
    assert pa.types.is_dictionary(texts.type) == dictionaries
    assert texts.to_pylist() == table["t"].to_pylist()
    assert numbers.equals(table["n"])
    for name in ("s", "nowhere"):
        with pytest.raises(InputError):
            column(name)


def test_streams_row_groups_again_and_again(tmp_path: Path) -> None:
    source = open_source(written(tmp_path, pa.table({"a": range(1000)})))
    for _ in range(2):
        got = pa.Table.from_batches(source.batches(["a"]))
        assert got["a"].to_pylist() == list(range(1000))


def test_informs(shared_data: Path) -> None:
    source = open_source(shared_data / "informs" / "demographics_2005.parquet")
    assert source.rows == 33_961
    got = pa.Table.from_batches(source.batches(["SEX", "DUPERSID"]))
    assert got.column_names == ["SEX", "DUPERSID"]
    assert got.num_rows == 33_961


def canaries() -> pa.Table:
    return pa.table({"id": range(500), "name": [f"{CANARY}{i}" for i in range(500)]})


@pytest.mark.parametrize(
    "case", ["empty", "text", "cut", "head only", "footer only", "zeros", "folder", "missing"]
)
def test_not_parquet(tmp_path: Path, refused: Refused, case: str) -> None:
    path = written(tmp_path, canaries())
    whole = path.read_bytes()
    content = {
        "empty": b"",
        "text": f"id,name\n1,{CANARY}\n".encode(),
        "cut": whole[: len(whole) // 2],
        "head only": whole[:10],
        "footer only": whole[-500:],
        "zeros": bytes(1000),
    }
    path.unlink()
    if case == "folder":
        path.mkdir()
    elif case != "missing":
        path.write_bytes(content[case])
    refused(lambda: open_source(path), "file t.parquet")


def test_damaged_in_the_middle(tmp_path: Path, refused: Refused) -> None:
    path = written(tmp_path, canaries())
    whole = bytearray(path.read_bytes())
    whole[4:400] = bytes(396)
    path.write_bytes(whole)
    refused(lambda: list(open_source(path).batches(["id", "name"])), "whole Parquet file")


def test_no_records(tmp_path: Path, refused: Refused) -> None:
    path = written(tmp_path, canaries().slice(0, 0))
    refused(lambda: open_source(path), "no records")


def test_no_columns(tmp_path: Path, refused: Refused) -> None:
    path = written(tmp_path, pa.table({}))
    refused(lambda: open_source(path), "at least one column")


def test_same_name_twice(tmp_path: Path, refused: Refused) -> None:
    path = written(tmp_path, pa.table([[1], [CANARY]], names=["a", "a"]))
    refused(lambda: open_source(path), "columns 1 and 2")


@pytest.mark.parametrize("value", [[CANARY], {CANARY: 1}])
def test_nested_only_matters_when_asked_for(
    tmp_path: Path, refused: Refused, value: object
) -> None:
    source = open_source(written(tmp_path, pa.table({"a": [1], "n": pa.array([value])})))
    assert next(source.batches(["a"])).num_rows == 1
    refused(lambda: list(source.batches(["n"])), "column 'n'", "nested")


def test_durations(tmp_path: Path, refused: Refused) -> None:
    stay = pa.array([dt.timedelta(days=3)])
    source = open_source(written(tmp_path, pa.table({"stay": stay})))
    refused(lambda: list(source.batches(["stay"])), "column 'stay'", "durations")
