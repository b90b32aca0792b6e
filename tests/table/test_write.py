"""A table out: CSV that comes back as it was, Parquet without remains of the input."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.table import write
from sfumato.table.sources.open_source import open_source
from sfumato.table.write import check_output_path, write_table

Refused = Callable[..., str]
CANARY = "kanarienvogel"

cells = st.none() | st.text(
    st.sampled_from(',;|"\n\r\t \u2028\ufeffé漢0') | st.characters(exclude_categories=["Cs"]),
    max_size=8,
).filter(lambda text: "\0" not in text)


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


@settings(max_examples=150)
@given(
    columns=st.integers(1, 3).flatmap(
        lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=10)
    ),
    delimiter=st.sampled_from([",", ";", "|", "\t", "^", "]", "a"]),
)
def test_csv_comes_back(
    tmp_path_factory: pytest.TempPathFactory, columns: list[tuple[str | None, ...]], delimiter: str
) -> None:
    path = tmp_path_factory.mktemp("write") / "t.csv"
    names = [f"\ufeff{i}:,;\r" for i in range(len(columns[0]))]
    arrays = [pa.array(cells, pa.string()) for cells in zip(*columns, strict=True)]
    write_table(pa.Table.from_arrays(arrays, names=names), path, delimiter=delimiter)
    source = open_source(path, delimiter=delimiter)
    got = pa.Table.from_batches(source.batches(source.names))
    assert got.column_names == names
    assert list(zip(*got.to_pydict().values(), strict=True)) == [
        tuple(cell or None for cell in row) for row in columns
    ]


def test_quotes_only_where_needed(tmp_path: Path) -> None:
    table = pa.table(
        {"a": ["x", "y z", None, "1,5", 'q"', "l\nm", "c\rd"], "b,": [1, 2, 3, None, 5, 6, 7]}
    )
    write_table(table, tmp_path / "t.csv")
    assert text_of(tmp_path / "t.csv") == (
        'a,"b,"\nx,1\ny z,2\n,3\n"1,5",\n"q""",5\n"l\nm",6\n"c\rd",7\n'
    )
    write_table(table.slice(3, 1), tmp_path / "u.csv", delimiter=";")
    assert text_of(tmp_path / "u.csv") == "a;b,\n1,5;\n"


def test_types(tmp_path: Path) -> None:
    moment = dt.datetime(2020, 1, 2, 3, 4, 5, 600, tzinfo=dt.UTC)
    table = pa.table(
        {
            "day": [dt.date(1950, 2, 3), None],
            "moment": pa.array([moment.replace(tzinfo=None), None]),
            "second": pa.array([moment, None], pa.timestamp("ms", "UTC")).cast(
                pa.timestamp("s", "UTC"), safe=False
            ),
            "yes": [True, None],
            "half": [0.5, None],
            "five": [5.0, None],
            "money": [decimal.Decimal("1.50"), None],
            "place": pa.array(["u, v", None]).dictionary_encode(),
            "code": pa.array([7, None]).dictionary_encode(),
            "none": pa.nulls(2),
        }
    )
    write_table(table, tmp_path / "t.csv")
    assert text_of(tmp_path / "t.csv").splitlines()[1:] == [
        '1950-02-03,2020-01-02T03:04:05.000600,2020-01-02T03:04:05Z,true,0.5,5,1.50,"u, v",7,',
        ",,,,,,,,,",
    ]


def test_one_column_with_missing_values_keeps_its_records(tmp_path: Path) -> None:
    write_table(pa.table({"a": ["x", None, "y"]}), tmp_path / "t.csv")
    assert text_of(tmp_path / "t.csv") == 'a\nx\n""\ny\n'


def test_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "CHUNK_ROWS", 7)
    table = pa.concat_tables([pa.table({"a": map(str, range(n)), "b": range(n)}) for n in (5, 40)])
    write_table(table.slice(3), tmp_path / "t.tsv")
    rows = [*range(5), *range(40)][3:]
    assert text_of(tmp_path / "t.tsv") == "a\tb\n" + "".join(f"{i}\t{i}\n" for i in rows)


def test_parquet_keeps_nothing_but_values(tmp_path: Path) -> None:
    city = pa.DictionaryArray.from_arrays([0, 0], ["a", CANARY])
    field = pa.field("city", city.type, metadata={"was": CANARY})
    schema = pa.schema([field], metadata={"pandas": CANARY})
    table = pa.Table.from_arrays([city], schema=schema)
    write_table(table, tmp_path / "t.parquet")
    got = pq.read_table(tmp_path / "t.parquet")
    assert got.to_pydict() == {"city": ["a", "a"]}
    assert got.schema.metadata is None
    assert CANARY.encode() not in (tmp_path / "t.parquet").read_bytes()


@pytest.mark.parametrize(
    "column",
    [pa.array([[CANARY]]), pa.array([{"k": CANARY}]), pa.array([CANARY.encode()]),
     pa.array([dt.timedelta(1)])],
)  # fmt: skip
def test_columns_that_cannot_be_written(tmp_path: Path, refused: Refused, column: pa.Array) -> None:
    path = tmp_path / "t.csv"
    refused(lambda: write_table(pa.table({"c": column}), path), "column 'c'")
    assert list(tmp_path.iterdir()) == []


def test_same_name_twice(tmp_path: Path, refused: Refused) -> None:
    table = pa.table([[1], [2]], names=["a", "a"])
    refused(lambda: write_table(table, tmp_path / "t.csv"), "columns 1 and 2")


@pytest.mark.parametrize("name", ["t", "t.xlsx", "t.csv.gz", "no/t.csv", "folder.csv"])
def test_paths_that_cannot_be_written(tmp_path: Path, refused: Refused, name: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    refused(lambda: check_output_path(tmp_path / name), "output")
    refused(lambda: write_table(pa.table({"a": [CANARY]}), tmp_path / name), "output")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_delimiter_must_be_one_character(tmp_path: Path, refused: Refused) -> None:
    table = pa.table({"a": [CANARY]})
    refused(lambda: write_table(table, tmp_path / "t.csv", delimiter=",,"), "delimiter")


def test_good_paths_pass(tmp_path: Path) -> None:
    for name in ("t.csv", "t.TSV", "t.parquet"):
        check_output_path(tmp_path / name)
