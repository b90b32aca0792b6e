"""The first sheet of an Excel workbook as typed columns."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.table.sources.batches import BATCH_ROWS, no_records, positions

ERRORS = frozenset(
    {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA"}
)
LARGEST_EXACT = 2**53


@contextmanager
def _rows(openpyxl: Any, path: Path, subject: str) -> Iterator[Iterator[tuple[Any, ...]]]:
    """The rows of the first sheet as tuples of cell values."""
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            if not book.worksheets:
                raise InputError(subject, "must have a sheet with cells", found="none")
            sheet = book.worksheets[0]
            sheet.reset_dimensions()
            yield sheet.iter_rows(values_only=True)
    except (
        zipfile.BadZipFile,
        zlib.error,
        openpyxl.utils.exceptions.InvalidFileException,
        ParseError,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        EOFError,
        OSError,
        RuntimeError,
    ):
        raise InputError(
            subject,
            "must be a whole Excel workbook",
            found="another format, or a damaged, cut or encrypted file",
            advice="save it again as .xlsx",
        ) from None


def read_header(openpyxl: Any, path: Path, subject: str) -> list[object]:
    """The cells of the first row, up to the last one that is filled.

    Parameters
    ----------
    openpyxl
        The package.
    path
        The workbook.
    subject
        How errors call it.

    Raises
    ------
    InputError
        If the workbook cannot be read, or its first sheet has no record.
    """
    with _rows(openpyxl, path, subject) as rows:
        header = _trimmed(next(rows, ()))
        if not header:
            raise InputError(
                subject,
                "must have column names in the first row of its first sheet",
                found="an empty row",
            )
        if not any(_trimmed(row) for row in rows):
            raise no_records(subject)
    return ["" if cell is None else cell for cell in header]


def read_sheet(
    openpyxl: Any, path: Path, subject: str, names: Sequence[str], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Read columns of the first sheet.

    Parameters
    ----------
    openpyxl
        The package.
    path
        The workbook.
    subject
        How errors call it.
    names
        Names of all columns.
    columns
        Names of the columns to read.

    Yields
    ------
    pyarrow.RecordBatch
        The columns; one type each.

    Raises
    ------
    InputError
        If the workbook cannot be read, a row is longer than the header, or a cell of these
        columns holds the error of a formula.
    """
    places = [names.index(column) for column in columns]
    cells: list[list[Any]] = [[] for _ in columns]
    with _rows(openpyxl, path, subject) as rows:
        next(rows, None)
        for number, row in enumerate(rows, 1):
            filled = _trimmed(row)
            if len(filled) > len(names):
                raise InputError(
                    subject,
                    "must name every column in its first row",
                    found=f"a cell in row {number} beyond the last name",
                )
            if filled:
                for place, column in zip(places, cells, strict=True):
                    column.append(filled[place] if place < len(filled) else None)
    arrays = [_typed(column, name) for name, column in zip(columns, cells, strict=True)]
    table = pa.Table.from_arrays(arrays, names=list(columns))
    yield from table.to_batches(max_chunksize=BATCH_ROWS)


def _trimmed(row: Sequence[Any]) -> Sequence[Any]:
    end = len(row)
    while end and (row[end - 1] is None or row[end - 1] == ""):
        end -= 1
    return row[:end]


def _typed(cells: list[Any], name: str) -> pa.Array:
    """One column in the one type that its cells have, else as text."""
    kinds = {type(cell) for cell in cells} - {type(None)}
    if str in kinds:
        wrong = [i for i, cell in enumerate(cells, 1) if isinstance(cell, str) and cell in ERRORS]
        if wrong:
            raise InputError(
                f"column '{name}'",
                "must hold values",
                found=f"the error of a formula in record {positions(wrong)}",
                advice="repair or empty these cells",
            )
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds and kinds <= {int, float}:
        return _numbers(cells)
    if kinds and kinds <= {datetime, date}:
        if all(cell is None or _is_midnight(cell) for cell in cells):
            return pa.array([None if c is None else date(c.year, c.month, c.day) for c in cells])
        return pa.array([_moment(cell) for cell in cells], pa.timestamp("us"))
    return pa.array([_as_text(cell) for cell in cells], pa.string())


def _numbers(cells: list[Any]) -> pa.Array:
    """Excel stores every number as a float; whole ones are integers."""
    if all(cell is None or (cell == int(cell) and abs(cell) <= LARGEST_EXACT) for cell in cells):
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())


def _is_midnight(cell: date) -> bool:
    return not isinstance(cell, datetime) or cell.time() == time()


def _moment(cell: date | None) -> datetime | None:
    if cell is None or isinstance(cell, datetime):
        return cell
    return datetime.combine(cell, time())


def _as_text(cell: Any) -> str | None:
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= LARGEST_EXACT:
        return str(int(cell))
    if isinstance(cell, datetime):
        return (cell.date() if _is_midnight(cell) else cell).isoformat()
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    return str(cell) if not isinstance(cell, timedelta) else str(cell.total_seconds())
