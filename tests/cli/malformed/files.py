"""Files that are no table, or whose table is broken."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from cli.malformed.case import CANARY, GOOD, NUMBER, Case, Content, data, to_csv, with_cell

CSV = data()
LINES = CSV.splitlines(keepends=True)
WHOLE = "whole Parquet file; found another format, or a damaged or cut file"
BOOK = "whole Excel workbook; found another format"
CELLS = "must have as many cells in every row as it has columns"
TWICE = "column names that differ; found the same name more than once among columns"
NO_RECORD = "at least one record"
ONE_COLUMN = "must have the column 'patient'.*found one column, .*--delimiter"
UTF8 = "must be text in UTF-8 or UTF-16, or in the encoding that is named; found"
PACKED_WHOLE = "a whole packed file"
SINGLE = "column '{}' must hold single values; found {}"


def csv_case(what: str, said: str, content: Content, *options: str) -> Case:
    return Case(what, said, {"visits.csv": content}, options=options)


def line(number: int, changed: str) -> str:
    """The good file with another line (the header is line 1)."""
    return "".join([*LINES[: number - 1], changed + "\n", *LINES[number:]])


ROW = LINES[3].rstrip("\n")
HEADER = LINES[0].rstrip("\n")
PIPE = "a pipe or a device"

TEXT = [
    csv_case("no file", "file visits.csv is not there", None),
    csv_case("a folder", "file visits.csv must be one file; found a folder", Path.mkdir),
    csv_case("a pipe", f"file visits.csv must be one file; found {PIPE}", os.mkfifo),
    csv_case("a link to nothing", "is not there", lambda path: path.symlink_to(CANARY)),
    csv_case("a link to itself", "too many levels", lambda path: path.symlink_to(path.name)),
    csv_case("no byte", "found an empty file", b""),
    csv_case("a line end alone", NO_RECORD, b"\n"),
    csv_case("line ends alone", NO_RECORD, b"\r\n\r\n\n"),
    csv_case("a byte-order mark alone", NO_RECORD, b"\xef\xbb\xbf"),
    csv_case("spaces alone", "no name at column 1", b"   \n"),
    csv_case("a header alone", NO_RECORD, LINES[0]),
    csv_case("a header without line end", NO_RECORD, HEADER),
    csv_case("a header and empty lines", NO_RECORD, LINES[0] + "\n\n\n"),
    csv_case("random bytes", f"{UTF8} (other bytes|a zero byte)", bytes(range(250, 0, -1)) * 40),
    csv_case("a picture", f"{UTF8} other bytes at byte 1 ", b"\x89PNG\r\n\x1a\n" + b"\xff" * 99),
    csv_case("UTF-32", f"{UTF8} (UTF-16|a zero byte)", CSV.encode("utf-32")),
    csv_case(
        "Latin-1 in a cell",
        f"{UTF8} other bytes at byte \\d+ \\(line 5 of the file\\)",
        data(note=with_cell("note", f"{CANARY} café")).encode("latin-1"),
    ),
    csv_case("Latin-1 in the header", "line 1 of", b"n\xe4me," + CSV.encode()),
    csv_case("a character cut at the end", UTF8, CSV.encode() + CANARY.encode() + b"\xc3"),
    csv_case("an overlong character", UTF8, CSV.encode() + b"\xc0\x80"),
    csv_case("half a surrogate pair", UTF8, CSV.encode() + b"\xed\xa0\x80"),
    csv_case("a zero byte in a cell", "a zero byte at byte .*line 5", line(5, ROW + "\0")),
    csv_case("a zero byte at the start", "a zero byte at byte 1 ", "\0" + CSV),
    csv_case("a row too short", f"{CELLS}; found 1 cell in row 3; accepted: 8", line(4, CANARY)),
    csv_case("a row too long", f"{CELLS}; found 9 cells in row 3", line(4, f"{ROW},{CANARY}")),
    csv_case("the last row too short", f"{CELLS}; found 7", CSV + ",".join([CANARY] * 7) + "\n"),
    csv_case("a cut last row", f"{CELLS}; found 2 cells in row 13", CSV + f"{CANARY},{CANARY}"),
    csv_case("an open quote", "an open quote.* in row 3; close the quote", line(4, f'"{ROW}')),
    csv_case(
        "an open quote in the last cell",
        "an open quote.* in row 13; close the quote",
        f'{CSV}{ROW[:-1]},"{CANARY}',
    ),
    csv_case("an open quote in the header", "open quote|neither", f'"{CSV}'),
    csv_case("a quote in the middle", "open quote|as many cells", line(4, f'{CANARY}",{ROW},"')),
    csv_case("a column twice", f"{TWICE} 2 and 3", CSV.replace("age", "name", 1)),
    csv_case("all columns the same", TWICE, CSV.replace(HEADER, ",".join("abc"[:1] * 8))),
    csv_case("a column without name", "must have the column 'age'", CSV.replace(",age,", ",,", 1)),
    csv_case("a name of spaces", "must have the column 'age'", CSV.replace(",age,", ",  ,", 1)),
    csv_case("no header", "must name its columns in the first line", "".join(LINES[1:])),
    csv_case("no header, equal cells", TWICE, to_csv(GOOD).replace(HEADER, ",".join([CANARY] * 8))),
    csv_case("wrong delimiter", ONE_COLUMN, CSV, "--delimiter", ";"),
    csv_case("a delimiter that no file has", ONE_COLUMN, CSV, "--delimiter", "~"),
    csv_case("a delimiter of the other kind", ONE_COLUMN, CSV, "--delimiter", "\t"),
    csv_case("HTML", "must have the column|cell", f"<html><td>{CANARY}</td></html>\n<p>{CANARY}\n"),
    csv_case("JSON", "must have the column|cell", f'[{{"age": "{CANARY}", "sex": 1}},\n{{}}]\n'),
]


def parquet(**changed: Any) -> bytes:
    """The good file as Parquet with some columns changed or left out (``None``)."""
    columns = {name: pa.array(values) for name, values in GOOD.items()}
    columns |= {"age": pa.array([int(value) for value in GOOD["age"]])}
    columns |= changed
    out = io.BytesIO()
    pq.write_table(pa.table({n: v for n, v in columns.items() if v is not None}), out)
    return out.getvalue()


def all_rows(value: Any, kind: pa.DataType) -> pa.Array:
    return pa.array([value] * len(GOOD["age"]), kind)


BROKEN_UTF8 = pa.array([CANARY.encode() + b"\xff"] * len(GOOD["age"]), pa.binary()).view(
    pa.string()
)
PARQUET = parquet()
LISTS = all_rows([CANARY], pa.list_(pa.string()))
RECORD = all_rows({CANARY: CANARY}, pa.struct([(CANARY, pa.string())]))
MAPPING = all_rows([(CANARY, NUMBER)], pa.map_(pa.string(), pa.int64()))
DURATION = all_rows(NUMBER, pa.duration("s"))
BYTES = all_rows(CANARY.encode(), pa.binary())


def file_case(what: str, said: str, name: str, content: Content, *options: str) -> Case:
    return Case(what, said, {name: content}, data=name, options=options)


def parquet_case(what: str, said: str, content: Content) -> Case:
    return file_case(f"Parquet: {what}", said, "visits.parquet", content)


def flipped(content: bytes, start: int, size: int) -> bytes:
    """Bytes with a part of them turned around."""
    part = bytes(255 - each for each in content[start : start + size])
    return content[:start] + part + content[start + size :]


def no_rows() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({name: pa.array([], pa.string()) for name in GOOD}), out)
    return out.getvalue()


def repeated_names() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array([CANARY])] * 2, names=["age", "age"]), out)
    return out.getvalue()


COLUMNAR = [
    parquet_case("cut in the middle", WHOLE, PARQUET[: len(PARQUET) // 2]),
    parquet_case("cut by a byte", WHOLE, PARQUET[:-1]),
    parquet_case("its first bytes alone", WHOLE, PARQUET[:4]),
    parquet_case("without its first bytes", WHOLE, PARQUET[9:]),
    parquet_case("a broken footer", WHOLE, flipped(PARQUET, len(PARQUET) - 60, 40)),
    parquet_case("broken pages", WHOLE, flipped(PARQUET, 4, 400)),
    parquet_case("CSV in truth", WHOLE, CSV),
    parquet_case("empty", "found an empty file", b""),
    parquet_case("a folder", "must be one file; found a folder", Path.mkdir),
    parquet_case("no record", NO_RECORD, no_rows()),
    parquet_case("a column twice", TWICE, repeated_names()),
    parquet_case("lists", SINGLE.format("age", "lists"), parquet(age=LISTS)),
    parquet_case("nested records", SINGLE.format("sex", "lists"), parquet(sex=RECORD)),
    parquet_case("mappings", SINGLE.format("icd9", "lists"), parquet(icd9=MAPPING)),
    parquet_case("lists of persons", SINGLE.format("patient", "lists"), parquet(patient=LISTS)),
    parquet_case("durations", SINGLE.format("age", "durations"), parquet(age=DURATION)),
    parquet_case("bytes", SINGLE.format("zip", "bytes"), parquet(zip=BYTES)),
    parquet_case("bytes as sensitive", SINGLE.format("icd9", "bytes"), parquet(icd9=BYTES)),
    parquet_case("text that is not UTF-8", "'sex' must .*UTF-8", parquet(sex=BROKEN_UTF8)),
    parquet_case("persons not in UTF-8", "'patient' must .*UTF-8", parquet(patient=BROKEN_UTF8)),
    parquet_case("diagnoses not in UTF-8", "'icd9' must .*UTF-8", parquet(icd9=BROKEN_UTF8)),
    parquet_case("no column of that name", "must have the column 'age'", parquet(age=None)),
    file_case(
        "a delimiter for Parquet",
        "is for CSV files only",
        "visits.parquet",
        PARQUET,
        "--delimiter",
        ";",
    ),
]

ONLY_RELEASED = [
    Case(
        f"Parquet: {what} in a column that is handed on",
        f"column 'note' must {said}",
        {"visits.parquet": parquet(note=values)},
        data="visits.parquet",
        commands=("anonymize",),
    )
    for what, said, values in (
        ("lists", "hold single values", LISTS),
        ("bytes", "hold single values", BYTES),
        ("durations", "hold single values", DURATION),
        ("text that is not UTF-8", "hold text in UTF-8", BROKEN_UTF8),
    )
]


def workbook(rows: list[list[Any]]) -> bytes:
    """An Excel workbook of one sheet."""
    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(out)
    return out.getvalue()


ROWS = [list(row) for row in zip(*GOOD.values(), strict=True)]
NAMES: list[Any] = list(GOOD)
BOOK_BYTES = workbook([NAMES, *ROWS])
PACKED = gzip.compress(CSV.encode())


def excel_case(what: str, said: str, content: Content) -> Case:
    return file_case(f"Excel: {what}", said, "visits.xlsx", content)


def changed_cell(row: int, column: int, value: Any) -> bytes:
    cells = [NAMES, *[list(each) for each in ROWS]]
    cells[row][column] = value
    return workbook(cells)


OTHER_FORMATS = [
    excel_case("cut", BOOK, BOOK_BYTES[: len(BOOK_BYTES) // 2]),
    excel_case("CSV in truth", BOOK, CSV),
    excel_case("broken inside", BOOK, flipped(BOOK_BYTES, 100, 600)),
    excel_case("empty", "found an empty file", b""),
    excel_case("an empty sheet", "column names in the first row", workbook([])),
    excel_case("a header alone", NO_RECORD, workbook([NAMES])),
    excel_case("a column twice", TWICE, workbook([["age", "age"], [CANARY, CANARY]])),
    excel_case("a number as name", "column names that are text", workbook([[NUMBER], [CANARY]])),
    excel_case(
        "no name", "must have the column 'patient'", workbook([[None, "age"], [CANARY, CANARY]])
    ),
    excel_case(
        "a cell beyond the names", "a cell in row 13 beyond", workbook([NAMES, *ROWS, [CANARY] * 9])
    ),
    excel_case(
        "a formula's error", "error of a formula in record 2", changed_cell(2, 3, "#DIV/0!")
    ),
    file_case("old Excel", "the old kind .xls; accepted: .xlsx", "visits.xls", BOOK_BYTES),
    file_case("gzip: cut", PACKED_WHOLE, "visits.csv.gz", PACKED[: len(PACKED) // 2]),
    file_case("gzip: without its check", PACKED_WHOLE, "visits.csv.gz", PACKED[:-6]),
    file_case("gzip: CSV in truth", PACKED_WHOLE, "visits.csv.gz", CSV),
    file_case("gzip: broken", PACKED_WHOLE, "visits.csv.gz", flipped(PACKED, 30, 20)),
    file_case("gzip: nothing in it", NO_RECORD, "visits.csv.gz", gzip.compress(b"")),
    file_case("gzip by its content alone", UTF8, "visits.csv", PACKED),
    file_case("Stata: CSV in truth", "of the format that its suffix says", "visits.dta", CSV),
    file_case("SPSS: CSV in truth", "of the format that its suffix says", "visits.sav", CSV),
    file_case("SAS: CSV in truth", "of the format that its suffix says", "visits.sas7bdat", CSV),
    file_case("SAS transport: noise", "format that its suffix says", "visits.xpt", b"\x07" * 400),
    file_case(
        "JSON by its suffix", "must have a suffix.*found the suffix .json", "visits.json", "{}"
    ),
    file_case("no suffix", "must have a suffix.*found no suffix", "visits", CSV),
    file_case("a hidden file", "must have a suffix.*found no suffix", ".csv", CSV),
    file_case("zip", "must hold one file of text; found 9 files", "visits.zip", BOOK_BYTES),
    file_case("Parquet by content alone", UTF8, "visits.csv", PARQUET),
    file_case("Excel by content alone", UTF8, "visits.csv", BOOK_BYTES),
]

CASES = [*TEXT, *COLUMNAR, *ONLY_RELEASED, *OTHER_FORMATS]
