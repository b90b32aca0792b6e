"""Parquet and every format of output: good and bad files, and what is written."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.schema import Schema
from sfumato.table.door import open_table
from sfumato.table.table_files import check_output_path, open_source, write_table

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


def test_same_name_twice_in_a_file(tmp_path: Path, refused: Refused) -> None:
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


cells = st.none() | st.text(
    st.sampled_from(',;|"\n\r\t \u2028\ufeffé漢0') | st.characters(exclude_categories=["Cs"]),
    max_size=8,
).filter(lambda text: "\0" not in text)


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


@settings(max_examples=examples(150))
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
    monkeypatch.setattr("sfumato.table.table_files.WRITTEN_ROWS", 7)
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


def test_same_name_twice_in_an_output(tmp_path: Path, refused: Refused) -> None:
    table = pa.table([[1], [2]], names=["a", "a"])
    refused(lambda: write_table(table, tmp_path / "t.csv"), "columns 1 and 2")


@pytest.mark.parametrize("name", ["t", "t.ods", "t.csv.gz", "no/t.csv", "folder.csv"])
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


def test_a_zero_byte_is_not_written_to_csv(tmp_path: Path, refused: Refused) -> None:
    table = pa.table({"a": ["x", "y\0z"]})
    refused(lambda: write_table(table, tmp_path / "t.csv"), "zero byte", ".parquet")
    assert not (tmp_path / "t.csv").exists()
    write_table(table, tmp_path / "t.parquet")


def test_a_list_column_that_nobody_needs_is_left_unread(tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"age": [1, 2], "codes": [["x"], ["y"]]}), path)
    source = open_source(path)
    refused(lambda: source.batches(["codes"]), "column 'codes'", "direct_identifiers")
    schema = Schema(quasi_identifiers={"age": "numeric"}, direct_identifiers=["codes"])
    assert open_table(path, schema).records == 2
