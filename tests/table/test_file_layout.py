"""Files whose table is not laid out as expected: read right, or asked about, never by guessing."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.errors import InputError, naming_options
from sfumato.table.file_layout import beginning_of, check_header
from sfumato.table.file_profile import profile
from sfumato.table.schema_guess import guess_schema
from sfumato.table.table_files import open_source

Refused = Callable[..., str]
PEOPLE = "name,town,age\nAnn,Wien,34\nBob,Graz,29\nÉva,Wien,61\n"


def written(tmp_path: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows_of(path: Path, **layout: object) -> list[list[str | None]]:
    source = open_source(path, **layout)  # type: ignore[arg-type]
    table = pa.Table.from_batches(source.batches(source.names))
    records = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return [list(source.names), *map(list, records)]


EXPECTED = [line.split(",") for line in PEOPLE.splitlines()]
SEMICOLONS = PEOPLE.replace(",", ";")


@pytest.mark.parametrize(
    "content",
    [
        PEOPLE.encode("utf-16"),
        b"\xfe\xff" + PEOPLE.encode("utf-16-be"),
        PEOPLE.encode("utf-16-le"),
        "sep=;\n" + SEMICOLONS,
        '"sep=;"\r\n' + SEMICOLONS.replace("\n", "\r\n"),
        ("sep=\t\n" + PEOPLE.replace(",", "\t")).encode("utf-16"),
        "# made on Monday, by hand\n#\n" + PEOPLE,
        "\ufeff# made\n" + SEMICOLONS,
        "#" + PEOPLE.replace("name", "name", 1),
        "Visits\n" + PEOPLE,
        "Visits, all\nof 2024\n\n" + SEMICOLONS,
        "Visits,,\n,,\n" + PEOPLE,
    ],
)
def test_files_that_are_read_as_they_are_meant(tmp_path: Path, content: str | bytes) -> None:
    found = rows_of(written(tmp_path, content))
    found[0][0] = str(found[0][0]).removeprefix("#")
    assert found == EXPECTED


def test_what_is_said_of_a_layout(tmp_path: Path, refused: Refused) -> None:
    path = written(tmp_path, PEOPLE.encode("windows-1252"))
    refused(lambda: rows_of(path), "--encoding")
    assert rows_of(path, encoding="windows-1252") == EXPECTED
    refused(lambda: rows_of(path, encoding="klingon"), "encoding")
    refused(lambda: rows_of(path, encoding="utf-8"), "utf-8")
    path = written(tmp_path, "a,b\nc,d\n" + PEOPLE)
    refused(lambda: rows_of(path), "--skip-lines")
    assert rows_of(path, skip_lines=2) == EXPECTED
    refused(lambda: open_source(tmp_path / "t.parquet", encoding="utf-8"), "CSV files only")
    refused(lambda: open_source(pa.table({"a": [1]}), names=["b"]), "CSV files only")


def test_one_column_without_name(tmp_path: Path) -> None:
    path = written(tmp_path, ",name\n0,Ann\n1,Bob\n")
    assert rows_of(path) == [["unnamed_1", "name"], ["0", "Ann"], ["1", "Bob"]]
    path = written(tmp_path, 'unnamed_2,""\n0,"A\nB"\n1,\n')
    assert rows_of(path) == [["unnamed_2", "unnamed_2_"], ["0", "A\nB"], ["1", None]]


def test_packed_files(tmp_path: Path, refused: Refused) -> None:
    codec = pa.Codec("zstd")
    path = written(tmp_path, codec.compress(PEOPLE.encode(), asbytes=True), "t.csv.zst")
    assert rows_of(path) == EXPECTED
    refused(lambda: rows_of(written(tmp_path, b"a,b\n1,2\n", "u.csv.zst")), "zst")
    for name, inside in (("t.zip", ["t.csv"]), ("u.csv.zip", ["__MACOSX/._t", "a/b.tsv"])):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in inside:
                archive.writestr(each, PEOPLE.replace(",", "\t") if "tsv" in each else PEOPLE)
        assert rows_of(tmp_path / name) == EXPECTED
    for files in (["a.csv", "b.csv"], ["a.xlsx"], []):
        with zipfile.ZipFile(tmp_path / "v.zip", "w") as archive:
            for each in files:
                archive.writestr(each, PEOPLE)
        refused(lambda: rows_of(tmp_path / "v.zip"), "one file of text")
    refused(lambda: rows_of(written(tmp_path, PEOPLE, "w.zip")), "packed")


@pytest.mark.parametrize("kind", ["zip", "zst", "gz"])
def test_a_bomb_fills_neither_disk_nor_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused, kind: str
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    zeros = bytes(20_000_000)
    path = tmp_path / f"t.csv.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", zeros)
    else:
        packed = gzip.compress(zeros) if kind == "gz" else pa.compress(zeros, "zstd", asbytes=True)
        path.write_bytes(packed)
    refused(lambda: rows_of(path), "zero byte")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


RNG = np.random.default_rng(11)


def drawn(kind: str, rows: int) -> list[str]:
    """Cells of a column."""
    match kind:
        case "id":
            return [str(place + 1) for place in range(rows)]
        case "code":
            return [f"P{each:05d}" for each in RNG.integers(0, 99999, rows)]
        case "born":
            days = np.datetime64("1930-01-01") + RNG.integers(0, 30000, rows)
            return days.astype(str).tolist()
        case "age":
            return RNG.integers(0, 95, rows).astype(str).tolist()
        case "amount":
            return [f"{each:.2f}" for each in RNG.lognormal(4, 1, rows)]
        case "year":
            return RNG.integers(1935, 2010, rows).astype(str).tolist()
        case "town":
            return RNG.choice(["Wien", "Graz", "Linz", "Sankt Pölten"], rows).tolist()
        case "icd":
            return RNG.choice(["I10", "E11.9", "J45", "F32", "K21"], rows).tolist()
        case "sex":
            return RNG.choice(["f", "m"], rows).tolist()
        case "count":
            return RNG.integers(0, 5000, rows).astype(str).tolist()
    digits = str.maketrans("0123456789", "abcdefghik")
    return [str(each).translate(digits).title() for each in RNG.integers(10**6, 10**7, rows)]


KINDS = ["id", "code", "born", "age", "amount", "year", "town", "icd", "sex", "count", "name"]


def asked(names: list[str], rows: list[list[str]]) -> bool:
    try:
        check_header(names, rows, "file t.csv")
    except InputError:
        return True
    return False


def tables(count: int) -> list[tuple[list[str], list[list[str]]]]:
    found = []
    for _ in range(count):
        kinds = RNG.choice(KINDS, int(RNG.integers(2, 9)), replace=False).tolist()
        rows = int(RNG.integers(12, 120))
        columns = [drawn(kind, rows) for kind in kinds]
        found.append((kinds, [list(row) for row in zip(*columns, strict=True)]))
    return found


def test_headers_of_words_years_and_codes_are_not_asked_about() -> None:
    honest = tables(120)
    assert sum(asked(*each) for each in honest) <= len(honest) / 50
    for header in (
        ["2019", "2020", "2021"], ["country", "2019"], ["2021", "2020"], ["0", "1", "2", "3"],
        ["1", "2", "3"], ["101", "102", "103", "104"], ["I10", "E11.9", "J45"],
        ["town", "10101", "10103", "10107"], ["4548-4", "2345-7", "718-7"],
        ["2020-01", "2020-02", "2020-03"], ["Q1", "Q2", "Q3"],
    ):  # fmt: skip
        for kind in ("count", "amount", "age", "sex"):
            named = [name.isalpha() for name in header]
            columns = [drawn("town" if word else kind, 60) for word in named]
            assert not asked(header, [list(row) for row in zip(*columns, strict=True)])


def test_records_in_the_place_of_the_header_are_asked_about() -> None:
    records = tables(120)
    found = sum(asked(rows[0], rows[1:]) for _, rows in records)
    assert found >= 0.95 * len(records)


def test_a_file_without_header(tmp_path: Path, refused: Refused) -> None:
    lines = [
        f"Ann{n % 7},{1950 + n}-02-26,{'Graz' if n % 3 else 'Wien'},I1{n % 2}" for n in range(40)
    ]
    path = written(tmp_path, "\n".join([*lines, ""]))
    for reading in (open_source, profile, guess_schema):
        said = refused(lambda reading=reading: reading(path), "header=False", "names=")
        assert "--" not in said
        with naming_options():
            refused(lambda reading=reading: reading(path), "--no-header", "--names")
        assert not any(cell in said for cell in lines[0].split(","))
    given = rows_of(path, header=False)
    assert given == [
        ["column_1", "column_2", "column_3", "column_4"],
        *(x.split(",") for x in lines),
    ]
    assert rows_of(path, names=list("abcd"))[:2] == [list("abcd"), lines[0].split(",")]
    assert rows_of(path, header=True)[0] == lines[0].split(",")
    refused(lambda: rows_of(path, names=["a"]), "4 names")
    refused(lambda: rows_of(path, names=["a"] * 4), "same name")
    assert profile(path, header=False).records == 40


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        ("a,b\n", {}),
        ("a,a\n", {}),
        ("", {"header": False}),
        ("", {"names": ["x", "y"]}),
    ],
)
def test_a_bad_record_is_named_by_its_number(
    content: str, layout: dict[str, object], tmp_path: Path, refused: Refused
) -> None:
    path = written(tmp_path, f"{content}1,2\n3,4\n5,6,7\n8,9\n")
    refused(lambda: rows_of(path, **layout), "row 3")


def test_where_a_table_begins() -> None:
    assert beginning_of(b"id\n1\n2\n").lines == 0
    assert beginning_of(b"id;x\n1;2\n").delimiter == ";"
    assert beginning_of(b"a b\nx,y,z\n1,2,3\n4,5,6\n").lines == 1
