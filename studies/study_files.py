"""Files of data sets as published: where they lie, their cells as text, numbers and dates."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.errors import InputError

CENTURY = 1900
BLOCK_BYTES = 1 << 22
WHOLE, DECIMAL = r"^\d{1,15}$", r"^-?\d{1,12}(\.\d{1,6})?$"


def read_delimited(
    path: Path, wanted: Sequence[str], *, delimiter: str, names: Sequence[str] = ()
) -> pa.Table:
    """Some columns of a delimited file, every cell as text without spaces around it.

    Parameters
    ----------
    path
        The file.
    wanted
        The columns to read.
    delimiter
        The character between cells.
    names
        The names of all columns of a file that has no header and no quotes; without them the
        file has a header, and cells may stand in double quotes.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, or has a line with another number of cells.
    """
    subject = f"file {path.name}"
    ragged: list[int] = []

    def refuse(row: csv.InvalidRow) -> str:
        ragged.append(row.number - (not names))
        return "error"

    try:
        _check_text(path)
        table = csv.read_csv(
            path,
            csv.ReadOptions(use_threads=False, column_names=list(names) or None),
            csv.ParseOptions(
                delimiter=delimiter, quote_char=False if names else '"', invalid_row_handler=refuse
            ),
            csv.ConvertOptions(
                include_columns=list(wanted),
                column_types=dict.fromkeys(wanted, pa.string()),
                strings_can_be_null=False,
            ),
        )
    except KeyError:
        raise InputError(
            subject, "must have the columns as published", accepted=", ".join(wanted)
        ) from None
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError):
        raise InputError(
            subject,
            "must be delimited text in UTF-8 as published",
            found=f"another number of cells in row {ragged[0]}" if ragged else "",
        ) from None
    if not table.num_rows:
        raise InputError(subject, "must have records", found="none")
    trimmed = [pc.utf8_trim_whitespace(column) for column in table.columns]
    return pa.table(dict(zip(table.column_names, trimmed, strict=True)))


def _check_text(path: Path) -> None:
    """Decode the file once; Arrow's own check cannot be caught in a handler of rows."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            decoder.decode(block)
    decoder.decode(b"", final=True)


def whole_numbers(table: pa.Table, name: str, file: str) -> Ints:
    """A column of text as whole numbers.

    Parameters
    ----------
    table
        The file's columns.
    name
        The column.
    file
        Name of the file, for what is said.

    Raises
    ------
    InputError
        If a cell holds something else.
    """
    column = table.column(name)
    _refuse(_unlike(column, WHOLE), name, file, "whole numbers")
    numbers: Ints = column.cast(pa.int64()).to_numpy()
    return numbers


def decimals(table: pa.Table, name: str, file: str, *, missing: str = "") -> Floats:
    """A column of text as numbers, NaN where one is missing.

    Parameters
    ----------
    table
        The file's columns.
    name
        The column.
    file
        Name of the file, for what is said.
    missing
        The text that stands for a missing number; without it none may be missing.

    Raises
    ------
    InputError
        If a cell holds something else.
    """
    column = table.column(name)
    absent = pc.equal(column, missing) if missing else pa.scalar(False)
    known = pc.if_else(absent, "0", column)
    _refuse(_unlike(known, DECIMAL), name, file, "numbers")
    numbers: Floats = pc.if_else(absent, np.nan, known.cast(pa.float64())).to_numpy()
    return numbers


def dates(table: pa.Table, name: str, file: str, *, women_later: int = 0) -> pa.Array:
    """A column of dates YYMMDD of the 20th century.

    Parameters
    ----------
    table
        The file's columns.
    name
        The column.
    file
        Name of the file, for what is said.
    women_later
        What is added to the months of women's birth numbers.

    Raises
    ------
    InputError
        If a cell holds no such date.
    """
    numbers = whole_numbers(table, name, file)
    year, month, day = numbers // 10_000, numbers // 100 % 100, numbers % 100
    month = np.where(women_later and (month > women_later), month - women_later, month)
    inside = (year < 100) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(inside, (CENTURY + year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    found = months.astype("datetime64[D]") + (day - 1)
    wrong = ~inside | (found.astype("datetime64[M]") != months)
    _refuse(wrong, name, file, "dates YYMMDD")
    return pa.array(found, pa.date32())


def once_each(values: Ints, name: str, file: str) -> None:
    """Check that a key occurs once.

    Parameters
    ----------
    values
        The key of each row.
    name
        The column.
    file
        Name of the file, for what is said.

    Raises
    ------
    InputError
        If it occurs in several rows.
    """
    if len(np.unique(values)) < len(values):
        raise InputError(
            f"column '{name}' of file {file}",
            "must name each one once",
            found="the same one in several rows",
        )


def _unlike(column: pa.ChunkedArray, pattern: str) -> Bools:
    unlike: Bools = pc.invert(pc.match_substring_regex(column, pattern)).to_numpy()
    return unlike


def _refuse(wrong: Bools, name: str, file: str, what: str) -> None:
    if wrong.any():
        raise InputError(
            f"column '{name}' of file {file}",
            f"must hold {what}",
            found=f"something else in row {int(np.argmax(wrong)) + 1}",
        )


class Located(NamedTuple):
    """The folder that holds the files, or what is absent there."""

    folder: Path
    absent: tuple[str, ...]


def locate(data: Path, folders: Sequence[str], files: Sequence[str]) -> Located:
    """The first folder that holds all files of a data set, else the one that lacks fewest.

    Parameters
    ----------
    data
        The data folder.
    folders
        Where to look, relative to the data folder.
    files
        Names of the files.
    """
    candidates = []
    for name in folders:
        folder = data / name
        absent = tuple(file for file in files if not (folder / file).is_file())
        if not absent:
            return Located(folder, ())
        candidates.append(Located(folder, absent))
    return min(candidates, key=lambda each: len(each.absent))
