"""CSV by path: its delimiter, its bytes checked while they pass, its columns streamed as text."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import secrets
import string
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
from pyarrow import csv as arrow_csv

from sfumato.core.errors import InputError
from sfumato.table.sources import (
    Source,
    check_delimiter,
    check_file,
    check_names,
    no_records,
    subject_of,
    unreadable,
)

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

    return Source.of_batches(layout.subject, names, partial(_read, layout), text=True)


def _read_names(layout: _Layout) -> tuple[str, ...]:
    """The names of a file whose first block has a record."""
    token = _token(layout.delimiter)
    with (
        open_text(layout.path, layout.subject, f"{token}\n".encode()) as text,
        _arrow_errors(layout, token) as handler,
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
    waiting: pa.RecordBatch | None = None
    rows = 0
    with (
        open_text(layout.path, layout.subject, layout.mark(token).encode()) as text,
        _arrow_errors(layout, token) as handler,
    ):
        for batch in _reader(text, layout, handler, columns):
            if not batch.num_rows:
                continue
            if waiting is not None:
                rows += waiting.num_rows
                yield waiting
            waiting = batch
    if waiting is None:
        return
    last = waiting.num_rows - 1
    if any(column[last].as_py() != token for column in waiting.columns):
        raise _open_quote(layout.subject, f"row {rows + last + 1}")
    yield waiting.slice(0, last)


def _token(delimiter: str) -> str:
    """A text that no cell holds, without the delimiter."""
    letters = [letter for letter in string.ascii_letters if letter != delimiter]
    return "".join(secrets.choice(letters) for _ in range(24))


_RowHandler = Callable[[Any], str]


def _reader(
    text: CheckedText, layout: _Layout, handler: _RowHandler, columns: Sequence[str] | None
) -> arrow_csv.CSVStreamingReader:
    return arrow_csv.open_csv(
        text,
        read_options=arrow_csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=layout.columns != 1,
            invalid_row_handler=handler,
        ),
        convert_options=arrow_csv.ConvertOptions(
            default_column_type=pa.string(),
            check_utf8=False,
            null_values=[""],
            strings_can_be_null=True,
            include_columns=None if columns is None else list(columns),
        ),
    )


@contextmanager
def _arrow_errors(layout: _Layout, token: str) -> Iterator[_RowHandler]:
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
        raise _error_without_values(layout.subject, bad_rows, str(error)) from None


def _error_without_values(
    subject: str, bad_rows: list[tuple[int, int, int, bool]], said: str
) -> InputError:
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


CANDIDATES = (",", ";", "\t", "|")
RECORDS = 100


def find_delimiter(head: bytes) -> str:
    """The delimiter that gives the most records as many cells as the header has.

    Parameters
    ----------
    head
        The first bytes of the file, in UTF-8; a character cut at the end is left out.

    Returns
    -------
    str
        One of ``,`` ``;`` tab ``|``; a comma when none of them stands in the header.
    """
    text = head.decode("utf-8", errors="ignore")
    best, best_score = CANDIDATES[0], (0.0, 0)
    for candidate in CANDIDATES:
        score = _score(text, candidate)
        if score > best_score:
            best, best_score = candidate, score
    return best


def _score(text: str, delimiter: str) -> tuple[float, int]:
    """Share of records with as many cells as the header, and that number of cells."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        counts = [len(record) for record in itertools.islice(records, RECORDS) if record]
    except csv.Error:
        return (0.0, 0)
    if not counts or counts[0] == 1:
        return (0.0, 0)
    whole = counts[1:-1] or counts[1:] or counts
    return (sum(count == counts[0] for count in whole) / len(whole), counts[0])


_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class CheckedText(io.RawIOBase):
    """A stream of bytes that are UTF-8 without a zero byte; byte-order mark left out.

    Empty lines before the first text are left out, the last line always ends, and ``end``
    follows it.

    Parameters
    ----------
    file
        The file, opened for bytes.
    subject
        How errors call it.
    end
        Bytes to give after the file's own.
    """

    def __init__(self, file: IO[bytes], subject: str, end: bytes = b"") -> None:
        self._file = file
        self._subject = subject
        self._end = end
        self._ended = False
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._passed = 0
        self._lines = 0
        self._started = False
        self._last = b""

    def readable(self) -> bool:
        """True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next ``size`` bytes or fewer; none at the end.

        Raises
        ------
        InputError
            If they are not text in UTF-8, or cannot be unpacked.
        """
        while not self._ended:
            chunk = self._take(size)
            self._ended = size < 0 or len(chunk) < size
            self._check(chunk)
            if not self._started:
                chunk = self._start(chunk)
            self._last = chunk[-1:] or self._last
            if self._ended:
                chunk += self._finish()
            if chunk:
                return self._portion(chunk, size)
        return self._portion(self._rest, size)

    def _portion(self, ready: bytes, size: int) -> bytes:
        """The first ``size`` bytes; the rest is kept for the next read."""
        end = size if size >= 0 else len(ready)
        self._rest = ready[end:]
        return ready[:end]

    def _take(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise InputError(
                self._subject,
                "must be a whole gzip file, as its suffix says",
                found="another format, or a damaged or cut file",
            ) from None

    def _start(self, chunk: bytes) -> bytes:
        """Leave out the byte-order mark and empty lines; the first read is never that short."""
        chunk = chunk.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
        self._started = bool(chunk)
        return chunk

    def _finish(self) -> bytes:
        return self._end if self._last in b"\r\n" else b"\n" + self._end

    def _check(self, chunk: bytes) -> None:
        if not self._passed and chunk.startswith(_UTF16):
            raise self._not_text("UTF-16")
        zero = chunk.find(0)
        if zero >= 0:
            raise self._not_text(f"a zero byte at {self._place(chunk, zero)}")
        waiting = self._decoder.getstate()[0]
        if waiting or not chunk.isascii():
            try:
                self._decoder.decode(chunk, final=self._ended)
            except UnicodeDecodeError as error:
                at = max(error.start - len(waiting), 0)
                raise self._not_text(f"other bytes at {self._place(chunk, at)}") from None
        self._passed += len(chunk)
        self._lines += chunk.count(b"\n")

    def _place(self, chunk: bytes, at: int) -> str:
        line = self._lines + chunk.count(b"\n", 0, at) + 1
        return f"byte {self._passed + at + 1} (line {line} of the file)"

    def _not_text(self, found: str) -> InputError:
        return InputError(
            self._subject,
            "must be text in UTF-8",
            found=found,
            advice="save it as CSV in UTF-8, or give it the suffix of its format",
        )


@contextmanager
def open_text(path: Path, subject: str, end: bytes = b"") -> Iterator[CheckedText]:
    """Open a text file, unpacked when its suffix is `.gz`.

    Yields
    ------
    CheckedText
        Its bytes.

    Raises
    ------
    InputError
        If it cannot be opened.
    """
    try:
        file: IO[bytes] = path.open("rb")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    with file:
        if path.suffix.lower() == ".gz":
            yield CheckedText(cast(IO[bytes], gzip.GzipFile(fileobj=file)), subject, end)
        else:
            yield CheckedText(file, subject, end)
