"""Files of Excel, SPSS, Stata and SAS, with the extra ``[formats]``."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import pyarrow as pa

from sfumato.core.declaration import Layout
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.table import sources
from sfumato.table.file_layout import KNOWN_FORM, ROWS_COMPARED, check_header, given_names

CHUNK_ROWS = 50_000
"""Records of a statistics package's file that are read together."""
FORMULA_ERRORS = frozenset(
    {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA"}
)
LARGEST_EXACT = 2**53
"""Size up to which floats hold every whole number."""

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def open_excel(path: Path, given: Layout) -> sources.Source:
    """Open a sheet of an Excel workbook; the first row of its table holds the column names.

    A column of numbers, of dates or of true/false stays one; a mixed column becomes text. A formula
    counts by the value that was saved with it. Empty rows are skipped. Without a sheet it is the
    first one, or the only one that holds a table where the first is a cover; titles above a table
    are skipped.
    """
    subject = sources.subject_of(path)
    if path.suffix.lower() == ".xls":
        raise InputError(
            subject,
            "must be of a kind that can be read",
            found="the old kind .xls",
            accepted=".xlsx",
            advice="save it as .xlsx",
        )
    openpyxl = needed("openpyxl", extra="formats", by=subject)
    sources.check_file(path)
    workbook = _Workbook(openpyxl, path, given)

    return sources.Source.of_batches(subject, workbook.names, workbook.batches)


def open_statistics(path: Path) -> sources.Source:
    """Open a file of SPSS (`.sav`, `.zsav`), Stata (`.dta`) or SAS (`.sas7bdat`, `.xpt`).

    Values stay as stored; what the file says they mean is kept beside them. Missing values of the
    system and of the user, and empty text, are missing.
    """
    subject = sources.subject_of(path)
    pyreadstat = needed("pyreadstat", extra="formats", by=subject)
    sources.check_file(path)
    reader = _Statistics(pyreadstat, path)
    meta = reader.read(metadataonly=True)[1]
    names = sources.check_names(meta.column_names, subject)
    rows = meta.number_rows if isinstance(meta.number_rows, int) else None
    # Not every format says how many records it has: reading one shows whether there are any.
    if rows == 0 or not any(map(len, reader.read(row_limit=1)[0].values())):
        raise sources.NoRecordsError(subject, names)

    labels = sources.Labels(
        {name: label for name, label in meta.column_names_to_labels.items() if label},
        meta.variable_value_labels,
    )
    return replace(sources.Source.of_batches(subject, names, reader.batches, rows), labels=labels)


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
                sources.subject_of(self._path),
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
        # Settled before the first chunk goes out, as that may hold no value of a column.
        types = self._types(columns)
        schema = pa.schema(list(types.items()))
        for chunk in self._chunks(columns):
            arrays = [_array_of(chunk[name], types[name], name) for name in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _type_of(value: object) -> pa.DataType:
    # A moment is a date in Python, so that it is asked for first.
    if isinstance(value, datetime):
        return pa.timestamp("us")
    if isinstance(value, date):
        return pa.date32()
    return pa.float64() if isinstance(value, (int, float)) else pa.string()


def _array_of(values: Sequence[Any], kind: pa.DataType, name: str) -> pa.Array:
    if pa.types.is_string(kind):
        values = [None if value is None or value == "" else str(value) for value in values]
    try:
        # The reader gives NaN for a number that is missing.
        return pa.array(values, kind, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InputError(
            f"column '{name}'", "must hold values of one kind", found="values of several kinds"
        ) from None


class _Workbook:
    """The sheet of a workbook that holds its table."""

    def __init__(self, openpyxl: Any, path: Path, given: Layout) -> None:
        self._openpyxl, self._path, self._subject = openpyxl, path, sources.subject_of(path)
        self._sheet = self._chosen(given)
        self._before = 0 if given.skip_lines is None else given.skip_lines
        first = self._first_rows(self._sheet)
        if given.skip_lines is None:
            self._before = _titles(first)
        rows = [_trimmed(row) for row in first[self._before :]]
        header = rows[0] if rows else ()
        if not header:
            raise InputError(
                self._subject,
                "must have column names in the first row of its first sheet",
                found="an empty row",
                advice="name the sheet of the table (--sheet), or the rows above it (--skip-lines)",
            )
        rows = [row for row in rows[1:] if row]
        cells = [[_as_text(cell) for cell in row] for row in (header, *rows)]
        names = given_names(given, len(header), self._subject)
        self._records_from = self._before + (names is None)
        if names is None:
            if not rows:
                raise sources.NoRecordsError(self._subject)
            if given.header is None:
                check_header(cells[0], cells[1:], self._subject)
            named = ["" if cell is None else cell for cell in header]
            if all(isinstance(name, str) for name in named):
                named = list(sources.with_every_name(named))
            names = sources.check_names(named, self._subject)
        self.names = names

    @contextmanager
    def _book(self, *, formulas: bool = False) -> Iterator[list[Any]]:
        """The sheets that are shown."""
        try:
            with self._path.open("rb") as file, warnings.catch_warnings():
                # openpyxl warns of styles and extensions that it drops, none of which is read here.
                warnings.simplefilter("ignore")
                book = self._openpyxl.load_workbook(file, read_only=True, data_only=not formulas)
                if not book.worksheets:
                    raise InputError(self._subject, "must have a sheet with cells", found="none")
                shown = [
                    worksheet for worksheet in book.worksheets if worksheet.sheet_state == "visible"
                ]
                yield shown or book.worksheets
        # openpyxl lets what its parts raise about a broken file through, values included.
        except (
            zipfile.BadZipFile,
            zlib.error,
            self._openpyxl.utils.exceptions.InvalidFileException,
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
                self._subject,
                "must be a whole Excel workbook",
                found="another format, or a damaged, cut or encrypted file",
                advice="save it again as .xlsx",
            ) from None

    def _chosen(self, given: Layout) -> int:
        """The place of the sheet with the table, among those that are shown."""
        with self._book() as sheets:
            titles = [sheet.title for sheet in sheets]
        if given.sheet is not None:
            if given.sheet in titles:
                return titles.index(given.sheet)
            if given.sheet.isdigit() and 0 < int(given.sheet) <= len(titles):
                return int(given.sheet) - 1
            raise InputError(
                "parameter sheet",
                f"must be the name or the number of a sheet of {self._subject}",
                found=f"another text, and {len(titles)} sheets that are shown",
            )
        tables = [place for place in range(len(titles)) if _is_table(self._first_rows(place))]
        if not tables or tables[0] == 0:
            return 0
        if len(tables) > 1:
            raise InputError(
                self._subject,
                "must have its table in its first sheet",
                found=f"tables in the sheets {sources.positions([table + 1 for table in tables])}",
                advice="name one of them, such as --sheet 2 (sheet = ...)",
            )
        return tables[0]

    def _first_rows(self, place: int) -> list[tuple[Any, ...]]:
        with self._rows(place) as rows:
            return list(islice(rows, ROWS_COMPARED))

    @contextmanager
    def _rows(self, place: int, *, formulas: bool = False) -> Iterator[Iterator[tuple[Any, ...]]]:
        """The rows of a sheet as tuples of cell values."""
        with self._book(formulas=formulas) as sheets:
            # Programs write wrong sizes into a sheet, and rows beyond them would be left out.
            sheets[place].reset_dimensions()
            yield sheets[place].iter_rows(values_only=True)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns, one type each."""
        places = [self.names.index(column) for column in columns]
        cells: list[list[Any]] = [[] for _ in columns]
        with self._rows(self._sheet) as rows:
            for number, row in enumerate(islice(rows, self._records_from, None), 1):
                filled = _trimmed(row)
                if len(filled) > len(self.names):
                    raise InputError(
                        self._subject,
                        "must name every column in its first row",
                        found=f"a cell in row {number} beyond the last name",
                    )
                if filled:
                    for place, column in zip(places, cells, strict=True):
                        column.append(filled[place] if place < len(filled) else None)
        # Only a cell without a value may be such a formula: to see, the sheet is read twice more.
        if any(None in column for column in cells):
            self._check_formulas(places)
        arrays = [_typed(column, name) for name, column in zip(columns, cells, strict=True)]
        table = pa.Table.from_arrays(arrays, names=list(columns))
        yield from table.to_batches(max_chunksize=sources.BATCH_ROWS)

    def _check_formulas(self, places: Sequence[int]) -> None:
        """Refuse formulas whose value was not saved with them, as programs other than Excel do."""
        with (
            self._rows(self._sheet) as values,
            self._rows(self._sheet, formulas=True) as formulas,
        ):
            for row, formula in zip(values, formulas, strict=False):
                for place in places:
                    if place < min(len(row), len(formula)) and row[place] is None and (
                        formula[place] is not None and formula[place] != ""
                    ):  # fmt: skip
                        raise InputError(
                            f"column '{self.names[place]}'",
                            "must hold the values of its formulas",
                            found="a formula without one",
                            advice="open the workbook in Excel or LibreOffice and save it, or put "
                            "the values in the place of the formulas",
                        )


def _titles(rows: Sequence[tuple[Any, ...]]) -> int:
    """Rows above the first one with several cells, where nearly all below it have several, too."""
    filled = [sum(cell not in (None, "") for cell in row) for row in rows]
    if max(filled, default=0) < 2:
        return 0
    first = next(place for place, cells in enumerate(filled) if cells > 1)
    several = sum(cells > 1 for cells in filled[first:])
    below = sum(cells > 0 for cells in filled[first:])
    return first if any(filled[:first]) and several > 1 and several >= KNOWN_FORM * below else 0


def _is_table(rows: Sequence[tuple[Any, ...]]) -> bool:
    """Whether rows begin with several different texts, below which there are records as long."""
    below = [_trimmed(row) for row in rows[_titles(rows) :]]
    below = [row for row in below if row]
    if len(below) < 2:
        return False
    header = below[0]
    names = [cell for cell in header if cell not in (None, "")]
    # One name may be lacking, as pandas writes none above the numbers of rows.
    whole = len(names) > 1 and len(names) >= len(header) - 1 and len(set(names)) == len(names)
    long = sum(1 < len(row) <= len(header) for row in below[1:])
    return whole and long >= KNOWN_FORM * len(below[1:])


def _trimmed(row: Sequence[Any]) -> Sequence[Any]:
    end = len(row)
    while end and (row[end - 1] is None or row[end - 1] == ""):
        end -= 1
    return row[:end]


def _typed(cells: list[Any], name: str) -> pa.Array:
    """One column in the one type that its cells have, else as text."""
    kinds = {type(cell) for cell in cells} - {type(None)}
    if str in kinds:
        wrong = [
            i for i, cell in enumerate(cells, 1) if isinstance(cell, str) and cell in FORMULA_ERRORS
        ]
        if wrong:
            raise InputError(
                f"column '{name}'",
                "must hold values",
                found=f"the error of a formula in record {sources.positions(wrong)}",
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
