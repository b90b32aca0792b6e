"""CSV by path, streamed, every cell as text."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from sfumato.core.errors import InputError
from sfumato.table.sources.batches import Source, check_known, check_names, no_records, with_records
from sfumato.table.sources.csv_delimiter import check_delimiter, find_delimiter
from sfumato.table.sources.csv_stream import CheckedText, open_text
from sfumato.table.sources.files import check_file, subject_of

BLOCK_BYTES = 1 << 22
HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class _Layout:
    """How a CSV file is laid out."""

    path: Path
    delimiter: str
    columns: int | None = None

    @property
    def subject(self) -> str:
        return subject_of(self.path)

    def mark(self, token: str) -> str:
        """A record that has the token in every cell."""
        return self.delimiter.join([token] * (self.columns or 0)) + "\n"


def open_csv_file(path: Path, *, delimiter: str | None = None) -> Source:
    """Open a CSV file in UTF-8 with a header; gzip by its suffix.

    Cells are text as they stand, leading zeros and spaces included; an empty cell, quoted or
    not, is missing. Lines that are empty are skipped, except in a file of one column, where
    they are a record with a missing value.

    Parameters
    ----------
    path
        The file.
    delimiter
        The character between cells; ``None`` finds it in the first lines among ``,`` ``;``
        tab and ``|``.

    Raises
    ------
    InputError
        If it cannot be read, is not text in UTF-8, has no record, a record with another number
        of cells than the header, a quote that is not closed, or column names that are empty or
        there twice.
    """
    if delimiter is not None:
        check_delimiter(delimiter)
    check_file(path)
    if delimiter is None:
        with open_text(path, subject_of(path)) as text:
            delimiter = find_delimiter(text.read(HEAD_BYTES))
    names = _read_names(_Layout(path, delimiter))
    layout = _Layout(path, delimiter, len(names))

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        check_known(columns, names, layout.subject)
        return with_records(_read(layout, columns), layout.subject)

    return Source(layout.subject, names, batches, None, text=True)


def _read_names(layout: _Layout) -> tuple[str, ...]:
    """The names of a file whose first block has a record."""
    token = _token(layout.delimiter)
    with (
        open_text(layout.path, layout.subject, f"{token}\n".encode()) as text,
        _said_plainly(layout, token) as handler,
    ):
        reader = _reader(text, layout, handler, None)
        names = check_names(reader.schema.names, layout.subject)
        if not any(_has_record(batch, token) for batch in reader):
            raise no_records(layout.subject)
    return names


def _has_record(batch: pa.RecordBatch, token: str) -> bool:
    if batch.num_rows == 1:
        return bool(batch.column(0)[0].as_py() != token)
    return bool(batch.num_rows)


def _read(layout: _Layout, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Stream the columns; a mark record behind the last tells whether a quote stayed open."""
    token = _token(layout.delimiter)
    held: pa.RecordBatch | None = None
    rows = 0
    with (
        open_text(layout.path, layout.subject, layout.mark(token).encode()) as text,
        _said_plainly(layout, token) as handler,
    ):
        for batch in _reader(text, layout, handler, columns):
            if not batch.num_rows:
                continue
            if held is not None:
                rows += held.num_rows
                yield held
            held = batch
    if held is None:
        return
    last = held.num_rows - 1
    if any(column[last].as_py() != token for column in held.columns):
        raise _open_quote(layout.subject, f"row {rows + last + 1}")
    yield held.slice(0, last)


def _token(delimiter: str) -> str:
    """A text that no cell holds, without the delimiter."""
    letters = [letter for letter in string.ascii_letters if letter != delimiter]
    return "".join(secrets.choice(letters) for _ in range(24))


_RowHandler = Callable[[Any], str]


def _reader(
    text: CheckedText, layout: _Layout, handler: _RowHandler, columns: Sequence[str] | None
) -> csv.CSVStreamingReader:
    return csv.open_csv(
        text,
        read_options=csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
        parse_options=csv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=layout.columns != 1,
            invalid_row_handler=handler,
        ),
        convert_options=csv.ConvertOptions(
            default_column_type=pa.string(),
            check_utf8=False,
            null_values=[""],
            strings_can_be_null=True,
            include_columns=None if columns is None else list(columns),
        ),
    )


@contextmanager
def _said_plainly(layout: _Layout, token: str) -> Iterator[_RowHandler]:
    """Turn what Arrow says about a file, rows of it included, into an error without values."""
    bad_rows: list[tuple[int, int, int, bool]] = []

    def handler(row: Any) -> str:
        text = row.text.rstrip("\r\n")
        if text == token:
            return "skip"
        open_quote = text.endswith(token)
        bad_rows.append((row.number - 1, row.expected_columns, row.actual_columns, open_quote))
        return "error"

    try:
        yield handler
    except (pa.ArrowException, OSError) as error:
        raise _plain_error(layout.subject, bad_rows, str(error)) from None


def _plain_error(subject: str, bad_rows: list[tuple[int, int, int, bool]], said: str) -> InputError:
    if bad_rows:
        number, expected, actual, open_quote = bad_rows[0]
        if open_quote:
            return _open_quote(subject, f"row {number}")
        cells = "1 cell" if actual == 1 else f"{actual} cells"
        return InputError(
            subject,
            "must have as many cells in every row as in the header",
            found=f"{cells} in row {number}",
            accepted=f"{expected} cells" if expected != 1 else "1 cell",
            advice="quote cells that hold the delimiter, or name the right delimiter",
        )
    if "straddling" in said or "sync with chunker" in said:
        return _open_quote(subject, "a long record")
    if "cannot infer number of columns" in said or "Empty CSV" in said:
        return InputError(
            subject,
            "must have a header and records",
            found="neither, or an open quote in the header",
        )
    return InputError(subject, "must be a CSV file", found="content that is not CSV")


def _open_quote(subject: str, place: str) -> InputError:
    return InputError(
        subject,
        "must close every quote that it opens",
        found=f"an open quote, in {place}",
        advice="close the quote, or double it where it is part of the text",
    )
