"""Files of Excel, SPSS, Stata and SAS, with the extra ``[formats]``."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.table.sources.batches import Source, check_known, check_names, no_records, with_records
from sfumato.table.sources.excel_sheet import read_header, read_sheet
from sfumato.table.sources.files import check_file, subject_of

CHUNK_ROWS = 50_000

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def _extra(module: str, subject: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(
            subject,
            f"needs the package {module}",
            found="no such package",
            advice='install it with: pip install "sfumato[formats]"',
        ) from None


def open_excel(path: Path) -> Source:
    """Open the first sheet of an Excel workbook; its first row holds the column names.

    A column of numbers, of dates or of true/false stays one; a mixed column becomes text. A
    formula counts by the value that was saved with it. Empty rows are skipped.

    Parameters
    ----------
    path
        The workbook, `.xlsx` or `.xlsm`.

    Raises
    ------
    InputError
        If ``[formats]`` is not installed, or the file cannot be read, is damaged or of the old
        kind `.xls`, has no record, or column names that are not text, empty or there twice.
    """
    subject = subject_of(path)
    if path.suffix.lower() == ".xls":
        raise InputError(
            subject,
            "must be of a kind that can be read",
            found="the old kind .xls",
            accepted=".xlsx",
            advice="save it as .xlsx",
        )
    openpyxl = _extra("openpyxl", subject)
    check_file(path)
    names = check_names(read_header(openpyxl, path, subject), subject)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        check_known(columns, names, subject)
        return with_records(read_sheet(openpyxl, path, subject, names, columns), subject)

    return Source(subject, names, batches, None, text=False)


def open_statistics(path: Path) -> Source:
    """Open a file of SPSS (`.sav`, `.zsav`), Stata (`.dta`) or SAS (`.sas7bdat`, `.xpt`).

    Values stay as stored (value labels are not applied); missing values of the system and of
    the user, and empty text, are missing.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If ``[formats]`` is not installed, or the file cannot be read, is damaged, has no
        record, or column names that are there twice.
    """
    subject = subject_of(path)
    pyreadstat = _extra("pyreadstat", subject)
    check_file(path)
    reader = _Statistics(pyreadstat, path)
    meta = reader.read(metadataonly=True)[1]
    names = check_names(meta.column_names, subject)
    rows = meta.number_rows if isinstance(meta.number_rows, int) else None
    if rows == 0 or not any(map(len, reader.read(row_limit=1)[0].values())):
        raise no_records(subject)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        check_known(columns, names, subject)
        return with_records(reader.batches(columns), subject)

    return Source(subject, names, batches, rows, text=False)


class _Statistics:
    """One file of a statistics package, read chunk by chunk."""

    def __init__(self, pyreadstat: Any, path: Path) -> None:
        self._path = path
        self._read = getattr(pyreadstat, _READERS[path.suffix.lower()])
        self._errors = (
            pyreadstat.ReadstatError,
            pyreadstat.PyreadstatError,
            OSError,
            ValueError,
            OverflowError,
        )

    def read(self, **options: Any) -> Any:
        """Columns as lists, and what the file says about them."""
        try:
            return self._read(self._path, output_format="dict", **options)
        except self._errors:
            raise InputError(
                subject_of(self._path),
                "must be a whole file of the format that its suffix says",
                found="another format, or a damaged or cut file",
            ) from None

    def _chunks(self, columns: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
        offset = 0
        while True:
            chunk = self.read(usecols=list(columns), row_offset=offset, row_limit=CHUNK_ROWS)[0]
            rows = max(map(len, chunk.values()), default=0)
            if rows:
                yield chunk
            if rows < CHUNK_ROWS:
                return
            offset += rows

    def _types(self, columns: Sequence[str]) -> dict[str, pa.DataType]:
        """The type of each column by its first value; text where there is none."""
        types = dict.fromkeys(columns, pa.string())
        waiting = list(columns)
        for chunk in self._chunks(columns):
            for name in waiting:
                first = next((value for value in chunk[name] if value is not None), None)
                if first is not None:
                    types[name] = _type_of(first)
            waiting = [name for name in waiting if all(v is None for v in chunk[name])]
            if not waiting:
                break
        return types

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Stream the columns."""
        types = self._types(columns)
        schema = pa.schema(list(types.items()))
        for chunk in self._chunks(columns):
            arrays = [_array(chunk[name], types[name], name) for name in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _type_of(value: object) -> pa.DataType:
    if isinstance(value, datetime):
        return pa.timestamp("us")
    if isinstance(value, date):
        return pa.date32()
    return pa.float64() if isinstance(value, (int, float)) else pa.string()


def _array(values: Sequence[Any], kind: pa.DataType, name: str) -> pa.Array:
    if pa.types.is_string(kind):
        values = [None if value is None or value == "" else str(value) for value in values]
    try:
        return pa.array(values, kind, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InputError(
            f"column '{name}'", "must hold values of one kind", found="values of several kinds"
        ) from None
