"""CSV in: what is read, streamed as text, and what is refused."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.table.file_layout import find_delimiter
from sfumato.table.sources import Source
from sfumato.table.table_files import open_source

Refused = Callable[..., str]
CANARY = "kanarienvogel"


def columns_of(source: Source, names: tuple[str, ...] | None = None) -> dict[str, list[str]]:
    batches = list(source.batches(names or source.names))
    columns: dict[str, list[str]] = pa.Table.from_batches(batches).to_pydict()
    return columns


def written(folder: Path, content: bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def read(folder: Path, content: bytes, **options: str) -> dict[str, list[str]]:
    return columns_of(open_source(written(folder, content), **options))


def test_every_cell_is_text_as_it_stands(tmp_path: Path) -> None:
    got = read(tmp_path, b'zip,n\n02138,1.50\n 7 ,NA\n"",\n')
    assert got == {"zip": ["02138", " 7 ", None], "n": ["1.50", "NA", None]}


def test_source_says_what_it_is(tmp_path: Path) -> None:
    source = open_source(written(tmp_path, b"a,b\n1,2\n"))
    assert (source.subject, source.names, source.rows, source.text) == (
        "file t.csv", ("a", "b"), None, True,
    )  # fmt: skip
    assert [batch.schema.types for batch in source.batches(["a"])] == [[pa.string()]]


def test_columns_come_in_the_order_asked_for_and_again(tmp_path: Path) -> None:
    source = open_source(written(tmp_path, b"a,b,c\n1,2,3\n"))
    for _ in range(2):
        (batch,) = source.batches(["c", "a"])
        assert batch.to_pydict() == {"c": ["3"], "a": ["1"]}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    text = delimiter.join(["id", "note", "x"]) + "\n"
    text += "".join(delimiter.join([str(i), '"a, b; c | d\te"', "1,5"]) + "\n" for i in range(9))
    if delimiter == ",":
        text = text.replace(",1,5", ',"1,5"')
    got = read(tmp_path, text.encode())
    assert list(got) == ["id", "note", "x"]
    assert got["x"] == ["1,5"] * 9


def test_delimiter_may_be_given(tmp_path: Path) -> None:
    assert read(tmp_path, b"a:b\n1:2\n", delimiter=":") == {"a": ["1"], "b": ["2"]}


def test_delimiter_of_one_column_is_a_comma() -> None:
    assert find_delimiter(b"a\nx y\n") == ","
    assert find_delimiter(b"") == ","


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\n1,2\n",
        b'\xef\xbb\xbf"a","b"\n1,2\n',
        b"a,b\r\n1,2\r\n",
        b"a,b\r1,2\r",
        b"\n\r\na,b\n\n1,2\n\n\n",
        b"a,b\n1,2",
    ],
)
def test_ways_to_write_the_same_file(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, content) == {"a": ["1"], "b": ["2"]}


def test_gzip_by_suffix(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(b"a;b\n1;2\n"), "t.csv.gz")
    assert columns_of(open_source(path)) == {"a": ["1"], "b": ["2"]}


def test_one_column_keeps_its_missing_records(tmp_path: Path) -> None:
    assert read(tmp_path, b"a\n1\n\n2\n") == {"a": ["1", None, "2"]}


def test_newlines_and_quotes_in_cells(tmp_path: Path) -> None:
    got = read(tmp_path, b'"a\nb",c\n"x\r\ny","he said ""no"""\n')
    assert got == {"a\nb": ["x\r\ny"], "c": ['he said "no"']}


def test_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.table.table_files.BLOCK_BYTES", 1000)
    rows = [[str(i), f"é{i}\n{i}"] for i in range(2000)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["a", "b"], *rows])
    source = open_source(written(tmp_path, text.getvalue().encode()))
    batches = list(source.batches(["b"]))
    assert len(batches) > 5
    assert pa.Table.from_batches(batches)["b"].to_pylist() == [row[1] for row in rows]


def test_a_batch_can_be_left_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.table.table_files.BLOCK_BYTES", 1000)
    source = open_source(written(tmp_path, b"a,b\n" + b"1,2\n" * 50_000))
    assert next(iter(source.batches(["a"]))).num_rows > 0


@pytest.mark.parametrize(
    ("name", "records", "columns"),
    [
        ("adult/adult.csv", 30_162, 9),
        ("febrl/dataset1.csv", 1_000, 11),
        ("classifications/ascl.csv", 504, 7),
    ],
)
def test_shared_data(shared_data: Path, name: str, records: int, columns: int) -> None:
    path = shared_data / name
    delimiter = ";" if "adult" in name else ","
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=delimiter)
    got = columns_of(open_source(path))
    assert (len(rows), len(header)) == (records, columns)
    assert list(got) == header
    assert [list(row) for row in zip(*got.values(), strict=True)] == [
        [cell or None for cell in row] for row in rows
    ]


cells = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


@given(rows=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=12))
def test_reads_what_the_csv_module_writes(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]]
) -> None:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([("a", "b", "c"), *rows])
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(text.getvalue().encode())
    got = columns_of(open_source(path, delimiter=",", header=True))
    assert list(zip(*got.values(), strict=True)) == [
        tuple(cell or None for cell in row) for row in rows
    ]


C = CANARY.encode()
GOOD = b"id,name\n1," + C + b"\n"
MALFORMED = {
    "empty": (b"", "0 bytes"),
    "only newlines": (b"\n\n\r\n", "no records"),
    "only a byte-order mark": (b"\xef\xbb\xbf", "no records"),
    "header only": (b"id,name\n", "no records"),
    "header without newline": (b"id,name", "no records"),
    "header and empty lines": (b"id,name\n\n\n", "no records"),
    "same name twice": (b"id,name,id\n1," + C + b",2\n", "columns 1 and 3"),
    "data for header": (C + b",x," + C + b"\n1,2,3\n", "columns 1 and 3"),
    "three times": (b"a,a,a\n1,2," + C + b"\n", "columns 1, 2 and 3"),
    "empty names": (b"id,,,name\n1,2,3," + C + b"\n", "column 2 and 3"),
    "cell missing": (b"id,name\n1,x\n" + C + b"\n", "1 cell in row 2"),
    "cell too many": (b"id,name\n1,x\n2,y\n3,z," + C + b"\n", "3 cells in row 3"),
    "cells missing at the end": (GOOD * 1 + b"7", "1 cell in row 2"),
    "row number skips empty lines": (b"id,name\n\n\n1," + C + b",2\n", "row 1"),
    "unquoted comma": (b"id,name\n1,Smith, " + C + b"\n", "3 cells in row 1"),
    "open quote in the last column": (b'id,name\n1,x\n2,"' + C + b"\n3,y\n", "row 2"),
    "open quote at the very end": (b'id,name\n1,x\n2,"' + C, "open quote"),
    "lone quote at the end": (b"id,name\n1," + C + b'\n2,"', "open quote"),
    "open quote in the first column": (b'id,name\n1,x\n"2,' + C + b"\n3,y\n", "open quote"),
    "open quote in the header": (b'id,"name\n1,' + C + b"\n", "open quote"),
    "open quote in one column": (b'name\nx\n"' + C + b"\n", "open quote"),
    "Latin-1": (b"id,name\n1," + C + b"\n2,M\xfcller\n", "line 3"),
    "Latin-1 at the end": (b"id,name\n1," + C + b"\n2,Andr\xe9", "UTF-8"),
    "Latin-1 in the header": (b"id,pr\xe9nom\n1," + C + b"\n", "line 1"),
    "cut character": (GOOD + b"2,\xe2\x82", "UTF-8"),
    "surrogate": (GOOD + b"2,\xed\xa0\x80\n", "UTF-8"),
    "UTF-32": (GOOD.decode().encode("utf-32-be"), "zero byte"),
    "zero byte in a cell": (b"id,name\n1," + C + b"\x00\n", "zero byte"),
    "zero byte in the header": (b"i\x00d,name\n1," + C + b"\n", "zero byte"),
    "zip": (b"PK\x03\x04\x14\x00\x06\x00" + C, "zero byte"),
    "png": (b"\x89PNG\r\n\x1a\n" + C, "UTF-8"),
    "Parquet": (b"PAR1\x15\x04\x15" + C + b"\x00", "zero byte"),
    "gzip without suffix": (gzip.compress(GOOD), "UTF-8"),
}


def read_all(path: Path, **options: str) -> None:
    for batch in (source := open_source(path, **options)).batches(source.names[:1]):
        assert batch.num_rows


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed(tmp_path: Path, refused: Refused, case: str) -> None:
    content, said = MALFORMED[case]
    path = written(tmp_path, content)
    message = refused(lambda: read_all(path), "file t.csv", said)
    assert str(tmp_path) not in message


@pytest.mark.parametrize("case", ["not gzip", "cut", "damaged"])
def test_malformed_gzip(tmp_path: Path, refused: Refused, case: str) -> None:
    whole = gzip.compress(b"id,name\n" + b"".join(b"%d,%s\n" % (i, C) for i in range(9999)))
    content = {"not gzip": GOOD, "cut": whole[:-400], "damaged": whole[:-8] + b"\0" * 8}[case]
    path = written(tmp_path, content, "t.csv.gz")
    refused(lambda: read_all(path), "gzip")


def test_late_faults(tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.table.table_files.BLOCK_BYTES", 1000)
    start = b"id,name\n" + b"1,x\n" * 5000
    for fault, said in [
        (b"2,M\xfcller\n", "line 5002"),
        (b"2,\x00\n", "zero byte"),
        (b"2\n", "row 5001"),
        (b'2,"' + C + b"\n", "open quote"),
        (b'2,"' + C * 500 + b"\n", "open quote"),
    ]:
        path = written(tmp_path, start + fault + b"3," + C + b"\n" * 3)
        refused(lambda path=path: read_all(path), said)


def test_missing_file(tmp_path: Path, refused: Refused) -> None:
    refused(lambda: open_source(tmp_path / "no.csv"), "file no.csv", "is not there")


def test_folder(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "t.csv").mkdir()
    refused(lambda: open_source(tmp_path / "t.csv"), "folder")


def test_zero_byte_in_the_path(refused: Refused) -> None:
    refused(lambda: open_source("a\0b.csv"))


@pytest.mark.parametrize("delimiter", ["", ",,", "é", '"', "\n", "\r", "\0"])
def test_delimiters_that_cannot_be(tmp_path: Path, refused: Refused, delimiter: str) -> None:
    path = written(tmp_path, GOOD)
    refused(lambda: open_source(path, delimiter=delimiter), "parameter delimiter")


@pytest.mark.parametrize("name", ["t", "t.docx", "t.gz", "t.json", ".csv"])
def test_suffixes_that_say_nothing(tmp_path: Path, refused: Refused, name: str) -> None:
    path = written(tmp_path, GOOD, name)
    refused(lambda: open_source(path), "suffix", ".parquet")


def test_delimiter_is_for_csv(tmp_path: Path, refused: Refused) -> None:
    refused(lambda: open_source(tmp_path / "t.parquet", delimiter=";"), "CSV files only")


def test_unknown_column(tmp_path: Path, refused: Refused) -> None:
    source = open_source(written(tmp_path, GOOD))
    refused(lambda: source.batches(["age"]), "column 'age'", "file t.csv")
