"""Excel, SPSS, Stata and SAS in."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from sfumato.core.optional_packages import install_command
from sfumato.table import formats
from sfumato.table.table_files import open_source

openpyxl = pytest.importorskip("openpyxl")
pyreadstat = pytest.importorskip("pyreadstat")

Refused = Callable[..., str]
CANARY = "kanarienvogel"

FRAME = pd.DataFrame(
    {
        "n": [1.0, 2.5, None, 9.0],
        "s": ["x", "", None, "é"],
        "day": [None, None, None, dt.date(1950, 2, 3)],
        "moment": pd.to_datetime([None, "2020-01-02 03:04:05", None, None]),
        "nothing": [None, None, None, None],
    }
)


def workbook(folder: Path, rows: list[list[Any]], name: str = "t.xlsx") -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.create_sheet("other").append([CANARY])
    book.save(folder / name)
    return folder / name


def columns_of(path: Path, names: list[str] | None = None) -> pa.Table:
    source = open_source(path)
    return pa.Table.from_batches(source.batches(names or source.names))


def test_excel_columns_have_one_type_each(tmp_path: Path) -> None:
    moment = dt.datetime(2020, 1, 2, 3, 4, 5)  # noqa: DTZ001
    rows = [
        ["code", "n", "half", "day", "moment", "yes", "mixed", "nothing"],
        ["007", 1, 0.5, dt.date(1950, 2, 3), moment, True, 1, None],
        [None, None, 1, None, dt.date(2020, 1, 2), None, "a", None],
        [],
        ["x", 3.0, None, dt.date(2020, 1, 1), None, False, dt.date(2020, 1, 2), None],
    ]
    got = columns_of(workbook(tmp_path, rows))
    assert got.to_pydict() == {
        "code": ["007", None, "x"],
        "n": [1, None, 3],
        "half": [0.5, 1.0, None],
        "day": [dt.date(1950, 2, 3), None, dt.date(2020, 1, 1)],
        "moment": [moment, dt.datetime(2020, 1, 2), None],  # noqa: DTZ001
        "yes": [True, None, False],
        "mixed": ["1", "a", "2020-01-02"],
        "nothing": [None, None, None],
    }
    assert got.schema.field("n").type == pa.int64()
    assert got.schema.field("nothing").type == pa.string()


def test_excel_columns_asked_for(tmp_path: Path) -> None:
    path = workbook(tmp_path, [["a", "b", "c"], [1, 2], [3, 4, 5]])
    assert columns_of(path, ["c", "a"]).to_pydict() == {"c": [None, 5], "a": [1, 3]}


EXCEL: dict[str, tuple[list[list[Any]], str]] = {
    "nothing": ([], "column names"),
    "header only": ([["a", CANARY]], "no records"),
    "header and empty rows": ([["a", "b"], [], [None, ""]], "no records"),
    "empty names": ([["a", None, "", "d"], [1, 2, 3, CANARY]], "column 2 and 3"),
    "same name twice": ([["a", "b", "a"], [1, 2, CANARY]], "columns 1 and 3"),
    "numbers for names": ([[1, 2], [3, CANARY]], "column 1 and 2"),
    "dates for names": ([["a", dt.date(2020, 1, 1)], [1, CANARY]], "column 2"),
    "row too long": ([["a", "b"], [1, 2], [1, 2, CANARY]], "row 2"),
    "error of a formula": ([["a", "b"], [CANARY, 2], ["#N/A", 3]], "record 2"),
}


@pytest.mark.parametrize("case", EXCEL)
def test_excel_malformed(tmp_path: Path, refused: Refused, case: str) -> None:
    rows, said = EXCEL[case]
    path = workbook(tmp_path, rows)
    refused(lambda: columns_of(path), said)


@pytest.mark.parametrize("case", ["empty", "text", "cut", "other zip", "old kind"])
def test_not_excel(tmp_path: Path, refused: Refused, case: str) -> None:
    path = workbook(tmp_path, [["a"], [CANARY]])
    whole = path.read_bytes()
    if case == "old kind":
        path = path.rename(tmp_path / "t.xls")
    content = {
        "empty": b"",
        "text": f"a\n{CANARY}\n".encode(),
        "cut": whole[: len(whole) // 2],
        "other zip": whole.replace(b"[Content_Types]", b"[Content_Typos]"),
        "old kind": whole,
    }
    path.write_bytes(content[case])
    refused(lambda: columns_of(path), f"file {path.name}")


def statistics_file(folder: Path, suffix: str, frame: pd.DataFrame = FRAME) -> Path:
    path = folder / f"t{suffix}"
    if suffix == ".xpt":
        pyreadstat.write_xport(frame, path)
    elif suffix == ".dta":
        pyreadstat.write_dta(frame, path)
    else:
        labels = {"n": {1: CANARY}} if "n" in frame else None
        ranges = {"n": [9]} if "n" in frame else None
        pyreadstat.write_sav(frame, path, variable_value_labels=labels, missing_ranges=ranges)
    return path


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
@pytest.mark.parametrize("rows", [1, 2, 3, 50_000])
def test_statistics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, rows: int
) -> None:
    monkeypatch.setattr(formats, "CHUNK_ROWS", rows)
    path = statistics_file(tmp_path, suffix)
    source = open_source(path)
    assert source.rows == (None if suffix == ".xpt" else 4)
    batches = list(source.batches(["s", "n", "day", "moment", "nothing"]))
    assert max(batch.num_rows for batch in batches) <= rows
    assert pa.Table.from_batches(batches).to_pydict() == {
        "s": ["x", None, None, "é"],
        "n": [1.0, 2.5, None, None if suffix == ".sav" else 9.0],
        "day": [None, None, None, dt.date(1950, 2, 3)],
        "moment": [None, dt.datetime(2020, 1, 2, 3, 4, 5), None, None],  # noqa: DTZ001
        "nothing": [None, None, None, None],
    }


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".sas7bdat", ".xpt"])
@pytest.mark.parametrize("case", ["empty", "text", "cut", "missing", "folder"])
def test_not_statistics(tmp_path: Path, refused: Refused, suffix: str, case: str) -> None:
    path = tmp_path / f"t{suffix}"
    if case == "cut" and suffix != ".sas7bdat":
        statistics_file(tmp_path, suffix)
        path.write_bytes(path.read_bytes()[:300])
    elif case == "folder":
        path.mkdir()
    elif case != "missing":
        path.write_bytes({"empty": b""}.get(case, f"a\n{CANARY}\n".encode() * 100))
    refused(lambda: columns_of(path), f"file t{suffix}")


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_statistics_without_records(tmp_path: Path, refused: Refused, suffix: str) -> None:
    path = statistics_file(tmp_path, suffix, FRAME[["n", "s"]].iloc[:0].astype({"s": str}))
    refused(lambda: columns_of(path), "no records")


@pytest.mark.parametrize(
    ("suffix", "module"), [(".xlsx", "openpyxl"), (".sav", "pyreadstat"), (".xpt", "pyreadstat")]
)
def test_without_the_extra(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch, suffix: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"x")
    refused(lambda: open_source(path), install_command("formats"))


def sheets(tmp_path: Path, *pages: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in pages:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "s.xlsx")
    return tmp_path / "s.xlsx"


TABLE: list[list[Any]] = [["name", "age"], ["Ann", 34], ["Bob", 29], ["Eve", 61]]
COVER: list[list[Any]] = [["Visits of 2024"], [], ["made by", "the ward"], ["on Monday"]]


def test_excel_with_a_cover_sheet_or_titles(tmp_path: Path, refused: Refused) -> None:
    expected = {"name": ["Ann", "Bob", "Eve"], "age": [34, 29, 61]}
    assert columns_of(sheets(tmp_path, COVER, TABLE)).to_pydict() == expected
    assert columns_of(sheets(tmp_path, [], TABLE, COVER)).to_pydict() == expected
    assert columns_of(sheets(tmp_path, [["Visits"], [], *TABLE])).to_pydict() == expected
    assert columns_of(sheets(tmp_path, TABLE, [["a", "b"], [1, 2]])).to_pydict() == expected
    path = sheets(tmp_path, COVER, TABLE, TABLE[::-1])
    refused(lambda: open_source(path), "--sheet")
    source = open_source(path, sheet="2")
    assert source.names == ("name", "age")
    refused(lambda: open_source(path, sheet="x"), "parameter sheet")
    refused(lambda: open_source(sheets(tmp_path, TABLE[1:] * 9)), "looks like a record")
    assert open_source(tmp_path / "s.xlsx", names=["a", "b"]).names == ("a", "b")


def test_excel_formulas_without_their_values(tmp_path: Path, refused: Refused) -> None:
    path = sheets(tmp_path, [["a", "b"], [1, "=A2+1"], [2, None]])
    refused(lambda: columns_of(path), "column 'b'", "formula")
    assert columns_of(path, ["a"]).to_pydict() == {"a": [1, 2]}
