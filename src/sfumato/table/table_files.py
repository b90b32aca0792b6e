"""Files by their path: opened by their suffix, CSV and Parquet streamed, tables written.

The bytes of a CSV file are checked while they pass, so that no error has to show them.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import os
import re
import secrets
import string
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Unpack, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from sfumato.core.atomic import atomic_path, check_target
from sfumato.core.declaration import Layout, LayoutGiven, is_database, is_uri, layout_of
from sfumato.core.errors import InputError, unreadable_file
from sfumato.core.extensions import Extension, extension, extension_names
from sfumato.kernels.loop_calls import read_ahead
from sfumato.table import sources
from sfumato.table.file_layout import (
    ROWS_COMPARED,
    beginning_of,
    check_header,
    first_records,
    given_names,
)

if TYPE_CHECKING:
    import pyarrow.parquet as pq

BLOCK_BYTES = 1 << 22
HEAD_BYTES = 1 << 16
AS_FOUND = Layout()
"""Nothing said: all of it is found."""


@dataclass(frozen=True)
class _Layout:
    """How a CSV file is laid out.

    Attributes
    ----------
    delimiter
        The character between its cells.
    lines
        Lines before the table.
    encoding
        Its encoding; ``None`` where it tells it.
    names
        What its columns are called; ``None`` as its first record says.
    below
        Records that name columns otherwise, and are left out.
    """

    path: Path
    delimiter: str
    lines: int = 0
    encoding: str | None = None
    names: tuple[str, ...] | None = None
    below: int = 0
    columns: int | None = None

    @property
    def subject(self) -> str:
        return sources.subject_of(self.path)

    def mark(self, token: str) -> str:
        """A record that has the token in every cell."""
        return self.delimiter.join([token] * (self.columns or 0)) + "\n"


def open_csv_file(path: Path, given: Layout = AS_FOUND) -> sources.Source:
    """Open a CSV file; unpacked by its suffix, in UTF-8 or UTF-16 or as it is said.

    Cells are text as they stand, leading zeros and spaces included; an empty cell, quoted or not,
    is missing. Lines that are empty are skipped, except in a file of one column, where they are a
    record with a missing value. If nothing is said, the delimiter is found in the first lines among
    ``,`` ``;`` tab and ``|``, the table behind titles and comments.
    """
    if given.delimiter is not None:
        sources.check_delimiter(given.delimiter)
    sources.check_file(path)
    with open_text(path, sources.subject_of(path), encoding=given.encoding) as text:
        head = text.read(HEAD_BYTES)
    beginning = beginning_of(head, given.delimiter, given.skip_lines)
    layout = _Layout(path, beginning.delimiter, beginning.lines, given.encoding)
    rest = b"".join(head.splitlines(keepends=True)[beginning.lines :])
    records = first_records(
        rest.decode("utf-8", errors="ignore"), beginning.delimiter, ROWS_COMPARED
    )
    # The last record may be cut off where the head ends.
    if len(head) == HEAD_BYTES:
        records = records[:-1]
    if names := given_names(given, len(records[0]) if records else 0, layout.subject):
        layout = replace(layout, names=names)
    elif given.header is None and records:
        check_header(records[0], records[1:], layout.subject)
    names, layout = _read_names(layout)
    return sources.Source.of_batches(layout.subject, names, partial(_read, layout), text=True)


def _read_names(layout: _Layout) -> tuple[tuple[str, ...], _Layout]:
    """The names of a file whose first block has a record, and the layout with them."""
    token = _token(layout.delimiter)
    with (
        open_text(layout.path, layout.subject, f"{token}\n".encode(), layout) as text,
        _arrow_errors(layout, token) as handler,
    ):
        reader = _reader(text, layout, handler, None)
        said = tuple(reader.schema.names)
        names = sources.check_names(sources.with_every_name(said), layout.subject)
        if not any(_has_record(batch, token) for batch in reader):
            raise sources.NoRecordsError(layout.subject, names)
    if names != said:
        layout = replace(layout, names=names, below=1)
    return names, replace(layout, columns=len(names))


def _has_record(batch: pa.RecordBatch, token: str) -> bool:
    # The only row may be the mark that stands behind the file's last.
    if batch.num_rows == 1:
        return bool(batch.column(0)[0].as_py() != token)
    return bool(batch.num_rows)


def _read(layout: _Layout, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Stream the columns; a mark record behind the last tells whether a quote stayed open."""
    token = _token(layout.delimiter)
    waiting: pa.RecordBatch | None = None
    rows = 0
    with (
        open_text(layout.path, layout.subject, layout.mark(token).encode(), layout) as text,
        _arrow_errors(layout, token) as handler,
    ):
        for batch in _reader(text, layout, handler, columns):
            if not batch.num_rows:
                continue
            # A batch is held back until the next one is there, as the last one ends with the mark.
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
    # Drawn anew for each reading, so that no file can hold it on purpose.
    return "".join(secrets.choice(letters) for _ in range(24))


_RowHandler = Callable[[Any], str]


def _reader(
    text: CheckedText, layout: _Layout, handler: _RowHandler, columns: Sequence[str] | None
) -> arrow_csv.CSVStreamingReader:
    return arrow_csv.open_csv(
        text,
        read_options=arrow_csv.ReadOptions(
            block_size=BLOCK_BYTES,
            # Arrow knows the number of a wrong row in one thread only.
            use_threads=False,
            column_names=layout.names,
            skip_rows_after_names=layout.below,
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=layout.columns != 1,
            invalid_row_handler=handler,
        ),
        convert_options=arrow_csv.ConvertOptions(
            default_column_type=pa.string(),
            # `CheckedText` has looked at all bytes.
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
    # Arrow counts a header as the first row; where names are given and no row is passed over, the
    # file has none.
    header = 0 if layout.names and not layout.below else 1

    def handler(row: Any) -> str:
        text = row.text.rstrip("\r\n")
        # Where the number of columns is not known yet, the mark has one cell.
        if text == token:
            return "skip"
        open_quote = text.endswith(token)
        bad_rows.append((row.number - header, row.expected_columns, row.actual_columns, open_quote))
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
            "must have as many cells in every row as it has columns",
            found=f"{cells} in row {number}",
            accepted=f"{expected} cells" if expected != 1 else "1 cell",
            advice="quote cells that hold the delimiter, name the right delimiter, or the number "
            "of lines before the table (--skip-lines)",
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


_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FIRST_LINE = re.compile(rb"[^\r\n]*(\r\n|\n|\r(?=[^\n]))")
MOSTLY = 0.9
"""Share of every second byte that is zero in UTF-16 of Latin letters."""


class CheckedText(io.RawIOBase):
    """A stream of bytes that are UTF-8 without a zero byte; byte-order mark left out.

    Empty lines before the first text are left out, the last line always ends, and ``end`` follows
    it.
    """

    def __init__(self, file: IO[bytes], subject: str, end: bytes = b"", lines: int = 0) -> None:
        self._file = file
        self._subject = subject
        self._end = end
        self._left_out = lines
        self._ended = False
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._passed = 0
        self._lines = 0
        self._started = self._begun = False
        self._last = b""

    def readable(self) -> bool:
        """True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next ``size`` bytes or fewer; none at the end."""
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
        except UnicodeDecodeError as error:
            raise self._not_text(f"other bytes than those of {error.encoding}") from None
        except (EOFError, zlib.error, OSError, zipfile.BadZipFile, RuntimeError):
            raise _not_packed(self._subject) from None

    def _start(self, chunk: bytes) -> bytes:
        """Leave out the byte-order mark and empty lines; the first read is never that short."""
        if not self._begun:
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
            self._begun = bool(chunk)
        while self._left_out and chunk:
            line = _FIRST_LINE.match(chunk)
            if line is None:  # it goes on in the next chunk
                return b""
            chunk = chunk[line.end() :]
            self._left_out -= 1
        chunk = chunk.lstrip(b"\r\n")
        self._started = bool(chunk)
        return chunk

    def _finish(self) -> bytes:
        # The mark has to be a record of its own.
        return self._end if self._last in b"\r\n" else b"\n" + self._end

    def _check(self, chunk: bytes) -> None:
        zero = chunk.find(0)
        if zero >= 0:
            raise self._not_text(f"a zero byte at {self._place(chunk, zero)}")
        # A character may be cut in two between chunks: its first bytes wait in the decoder.
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
            "must be text in UTF-8 or UTF-16, or in the encoding that is named",
            found=found,
            advice="name its encoding, such as --encoding windows-1252 (encoding = ...), save it "
            "as CSV in UTF-8, or give it the suffix of its format",
        )


class _AsUtf8(io.RawIOBase):
    """A stream of text in another encoding, as UTF-8."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._ready = b""

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; 0 at the end."""
        while not self._ready:
            chunk = self._file.read(HEAD_BYTES)
            self._ready = self._decoder.decode(chunk, final=not chunk).encode("utf-8")
            if not chunk:
                break
        given = self._ready[: len(buffer)]
        self._ready = self._ready[len(given) :]
        buffer[: len(given)] = given
        return len(given)


def _encoding_of(head: bytes) -> str | None:
    """UTF-16 by its first bytes: a mark, or every second one zero; ``None`` for another one."""
    if head.startswith(_UTF16):
        return "utf-16"
    for name, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        # A table of Latin letters; a zero byte is in no other text.
        if len(zeros) > 1 and zeros.count(0) > MOSTLY * len(zeros) > head.count(0) - zeros.count(0):
            return name
    return None


@contextmanager
def _unpacked(path: Path, subject: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked as they are read: nothing of them is written to a disk."""
    try:
        file: IO[bytes] = path.open("rb")
    except (OSError, ValueError) as error:
        raise unreadable_file(sources.subject_of(path), error) from None
    with file:
        match path.suffix.lower():
            case ".gz":
                yield cast(IO[bytes], gzip.GzipFile(fileobj=file))
            case ".zst":
                with pa.CompressedInputStream(file, "zstd") as stream:
                    yield cast(IO[bytes], stream)
            case ".zip":
                with _only_member(file, subject) as member:
                    yield member
            case _:
                yield file


@contextmanager
def _only_member(file: IO[bytes], subject: str) -> Iterator[IO[bytes]]:
    try:
        with zipfile.ZipFile(file) as archive:
            members = [
                member for member in archive.infolist()
                # macOS adds such a folder to what it packs.
                if not member.is_dir() and not member.filename.startswith("__MACOSX/")
            ]  # fmt: skip
            found = [member for member in members if suffix_of(Path(member.filename)) in PLAIN_TEXT]
            if len(members) != 1 or not found:
                raise InputError(
                    subject,
                    "must hold one file of text",
                    found=f"{len(members)} files" if len(members) != 1 else "another format",
                    accepted=", ".join(sorted(PLAIN_TEXT)),
                    advice="unpack it",
                )
            # The first bit says that the file is encrypted (APPNOTE of ZIP, 4.4.4).
            if found[0].flag_bits & 1:
                raise InputError(
                    subject, "must be readable", found="an encrypted file", advice="unpack it"
                )
            with archive.open(found[0]) as member:
                yield member
    except (zipfile.BadZipFile, NotImplementedError):
        raise _not_packed(subject) from None


def _not_packed(subject: str) -> InputError:
    return InputError(
        subject,
        "must be a whole packed file (gzip, zst, zip), as its suffix says",
        found="another format, or a damaged or cut file",
    )


@contextmanager
def open_text(
    path: Path,
    subject: str,
    end: bytes = b"",
    layout: _Layout | None = None,
    *,
    encoding: str | None = None,
) -> Iterator[CheckedText]:
    """Open a text file as bytes of UTF-8, unpacked when its suffix is `.gz`, `.zst` or `.zip`."""
    if layout is not None:
        encoding = layout.encoding
    with _unpacked(path, subject) as file:
        if encoding is None:
            # Opened once more, as what is looked at here would be lacking in the stream.
            with _unpacked(path, subject) as first:
                try:
                    encoding = _encoding_of(first.read(512))
                except (EOFError, zlib.error, OSError, zipfile.BadZipFile):
                    raise _not_packed(subject) from None
        lines = layout.lines if layout else 0
        if encoding is not None:
            try:
                text = cast(IO[bytes], io.BufferedReader(_AsUtf8(file, encoding)))
            except LookupError:
                raise InputError(
                    "parameter encoding",
                    "must be the name of an encoding",
                    found="an unknown one",
                    accepted="utf-8, utf-16, windows-1252, iso-8859-15, windows-1250 and others",
                ) from None
        yield CheckedText(file if encoding is None else text, subject, end, lines)


PLAIN_TEXT = frozenset({".csv", ".tsv", ".txt"})
PACKED = (".gz", ".zst", ".zip")
CSV_SUFFIXES = PLAIN_TEXT | {text + packed for text in PLAIN_TEXT for packed in PACKED} | {".zip"}
"""Those of files of text; a `.zip` says by what it holds."""
PARQUET_SUFFIXES = frozenset({".parquet", ".pq"})
EXCEL_SUFFIXES = frozenset({".xlsx", ".xlsm", ".xls"})
STATISTICS_SUFFIXES = frozenset({".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"})
LABELLED_SUFFIXES = (".xlsx", ".dta", ".sav")
OUTPUT_SUFFIXES = (".csv", ".tsv", ".parquet", *LABELLED_SUFFIXES)
WRITTEN_ROWS = 1 << 16
"""Records that are written to CSV together."""
SMALL_DICTIONARY = 1 << 16
"""Bytes, as stored, of a dictionary that certainly holds every value of its part of the file."""


def open_source(data: object, **layout: Unpack[LayoutGiven]) -> sources.Source:
    """Open a file or a dataframe, without reading more of it than its names and first records.

    Parameters
    ----------
    data
        A path (`.csv`, `.tsv`, `.txt`, each also with `.gz`, `.zst`, `.zip`; `.parquet`, `.pq`;
        with the extra ``[formats]`` `.xlsx`, `.sav`, `.dta`, `.sas7bdat`, `.xpt`), the URL of a
        table of PostgreSQL or SQLite (with ``[databases]``), or a dataframe of pandas, Polars
        (eager or lazy), PyArrow, DuckDB or PySpark; a source that is open stays itself.
    """
    given = Layout(**cast(dict[str, Any], layout))
    if not isinstance(data, (str, os.PathLike)):
        check_layout(given, (), "data that is not a path")
        if isinstance(data, sources.Source):
            return data
        # Imported for dataframes alone: a file needs no narwhals.
        from sfumato.table.dataframes import open_frame

        return open_frame(data)
    if is_database(data):
        check_layout(given, (), "a table of a database")
        from sfumato.table.databases import open_database

        return open_database(data)
    sources.check_no_url(data)
    path = Path(os.fsdecode(data))
    # A file's content in the place of its path must not stand in an error.
    if "\n" in path.name:
        raise InputError(
            "data", "must be the path of a file, or a dataframe", found="text of several lines"
        )
    suffix = suffix_of(path)
    kind = f"a file {suffix}" if suffix else "a file without suffix"
    if suffix in CSV_SUFFIXES:
        check_layout(given, ("delimiter", "header", "names", "encoding", "skip_lines"), kind)
        return open_csv_file(path, given)
    if suffix in EXCEL_SUFFIXES:
        check_layout(given, ("header", "names", "skip_lines", "sheet"), kind)
        from sfumato.table.formats import open_excel

        return open_excel(path, given)
    check_layout(given, (), kind)
    if suffix in PARQUET_SUFFIXES:
        return _open_parquet(path)
    if suffix in STATISTICS_SUFFIXES:
        from sfumato.table.formats import open_statistics

        return open_statistics(path)
    if reader := reader_of(path):
        return _open_added(path, reader)
    more = "".join(f", .{name}" for name in extension_names("reader"))
    raise InputError(
        sources.subject_of(path),
        "must have a suffix that says its format",
        found=f"the suffix {suffix}" if suffix else "no suffix",
        accepted=".csv, .tsv, .txt (each also with .gz, .zst, .zip), .zip, .parquet, .pq, .xlsx, "
        f".sav, .dta, .sas7bdat, .xpt{more}",
    )


def reader_of(data: object) -> Extension | None:
    """The reader of another package that a file's suffix names; ``None`` where we read it."""
    if not isinstance(data, (str, os.PathLike)) or is_uri(data):
        return None
    suffix = suffix_of(Path(os.fsdecode(data)))
    ours = (CSV_SUFFIXES, EXCEL_SUFFIXES, PARQUET_SUFFIXES, STATISTICS_SUFFIXES)
    if not suffix or any(suffix in our for our in ours):
        return None
    return extension("reader", suffix[1:])


def _open_added(path: Path, reader: Extension) -> sources.Source:
    """Open a file by the reader of another package, which gives a dataframe."""
    from sfumato.table.dataframes import open_frame

    sources.check_file(path)
    with reader.at_work():
        opened = open_frame(reader.part(path))
    return replace(opened, subject=sources.subject_of(path), read_by=str(reader))


def opened_where_needed(data: object, layout: LayoutGiven) -> object:
    """A table as it stands where it can be read so, opened with a layout where it cannot.

    Of several files that stand in one command not all have the layout that is named there.
    """
    if not layout or not isinstance(data, (str, os.PathLike)) or is_uri(data):
        return data
    # An encoding says nothing of the first line, so that it is tried without what does.
    encoding: LayoutGiven = {"encoding": layout.get("encoding")}
    for tried in (LayoutGiven(), encoding):
        try:
            source = open_source(data, **tried)
            # Bytes of another encoding may stand in any line.
            for _ in source.batches(source.names[:1]):
                pass
        except InputError:
            continue
        return source if layout_of(tried) else data
    return open_source(data, **layout)


def check_layout(given: Layout, fitting: Collection[str], kind: str) -> None:
    """Refuse what is said of the layout of a kind of table that has none such."""
    for name in layout_of(given):
        if name not in fitting:
            of = "Excel workbooks" if name == "sheet" else "CSV files"
            raise InputError(f"parameter {name}", f"is for {of} only", found=kind)
    if given.header and given.names:
        raise InputError("parameter names", "are for a file without header", found="a header")


def suffix_of(path: Path) -> str:
    """The suffix of a file, that of a packed one with it."""
    suffix = path.suffix.lower()
    whole = Path(path.stem).suffix.lower() + suffix
    return whole if suffix in PACKED and whole in CSV_SUFFIXES else suffix


def _open_parquet(path: Path) -> sources.Source:
    """Open a Parquet file by its footer."""
    import pyarrow.parquet as pq

    sources.check_file(path)
    subject = sources.subject_of(path)
    try:
        with pq.ParquetFile(path) as file:
            footer, schema = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        raise _damaged(subject) from None
    names = sources.check_names(schema.names, subject)
    if not footer.num_rows:
        raise sources.NoRecordsError(subject, names)
    nested = {name for name in names if pa.types.is_nested(schema.field(name).type)}

    def check(columns: Sequence[str]) -> None:
        sources.check_known(columns, names, subject)
        for name in columns:
            if name in nested:
                raise sources.NoSingleValuesError(name, "lists or nested records")

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        check(columns)
        return read_ahead(_batches(path, columns, footer))

    def column(name: str) -> Iterator[pa.Array]:
        check([name])
        repeated = pa.types.is_string(schema.field(name).type) and _has_few_values(footer, name)
        given = _batches(path, [name], footer, repeated=repeated)
        return (batch.column(0) for batch in given)

    return sources.Source(subject, names, batches, footer.num_rows, text=False, column=column)


def _has_few_values(footer: pq.FileMetaData, name: str) -> bool:
    """Whether the file itself holds the column as codes into small dictionaries."""
    paths = footer.row_group(0)
    places = [i for i in range(footer.num_columns) if paths.column(i).path_in_schema == name]
    chunks = [footer.row_group(i).column(places[0]) for i in range(footer.num_row_groups)]
    return all(
        chunk.has_dictionary_page
        and 0 < chunk.data_page_offset - chunk.dictionary_page_offset <= SMALL_DICTIONARY
        for chunk in chunks
    )


def _batches(
    path: Path, columns: Sequence[str], footer: pq.FileMetaData, *, repeated: bool = False
) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    coded = list(columns) if repeated else None
    try:
        with pq.ParquetFile(path, metadata=footer, read_dictionary=coded) as file:
            for batch in file.iter_batches(
                batch_size=sources.BATCH_ROWS, columns=list(columns), use_threads=len(columns) > 1
            ):
                if batch.num_rows:
                    yield sources.plain_batch(batch, columns)
    except (pa.ArrowException, OSError):
        raise _damaged(sources.subject_of(path)) from None


def _damaged(subject: str) -> InputError:
    return InputError(
        subject,
        "must be a whole Parquet file",
        found="another format, or a damaged or cut file",
        advice="write it again, or give it the suffix of its format",
    )


def check_output_path(path: str | os.PathLike[str]) -> None:
    """Refuse a path that a table cannot be written to, before any work starts."""
    sources.check_no_url(path)
    target = Path(path)
    subject = f"output {target.name}"
    check_target(target)
    if target.suffix.lower() not in OUTPUT_SUFFIXES:
        raise InputError(
            subject,
            "must have a suffix that says its format",
            found=f"the suffix {target.suffix}" if target.suffix else "no suffix",
            accepted=", ".join(OUTPUT_SUFFIXES),
        )
    if target.suffix.lower() in LABELLED_SUFFIXES:
        from sfumato.table.labelled_files import check_writable

        check_writable(target.suffix.lower(), subject)


def write_table(
    table: pa.Table,
    path: str | os.PathLike[str],
    *,
    delimiter: str = ",",
    labels: sources.Labels = sources.NO_LABELS,
) -> None:
    r"""Write a table by the suffix of the path, whole or not at all.

    CSV is UTF-8 with a header, a quote only where it is needed, an empty cell for a missing
    value, ISO dates and ``\n`` line ends. Dictionary columns are written as their values, and
    nothing but names, types and values is kept: categories that do not occur and metadata of
    the input would tell about records that were not released.

    Parameters
    ----------
    path
        Where to write: `.csv`, `.tsv` (its delimiter is a tab), `.parquet`, or with the extra
        ``[formats]`` `.xlsx`, `.dta`, `.sav`.
    delimiter
        The character between the cells of a `.csv`.
    labels
        What the columns and values of an `.xlsx`, `.dta` or `.sav` are called.
    """
    target = Path(path)
    check_output_path(target)
    sources.check_delimiter(delimiter)
    sources.check_names(table.column_names, f"output {target.name}")
    plain = _decoded(table)
    suffix = target.suffix.lower()
    with atomic_path(target) as temporary:
        if suffix == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(plain, temporary)
        elif suffix in LABELLED_SUFFIXES:
            from sfumato.table.labelled_files import write_labelled

            write_labelled(plain, temporary, suffix, f"output {target.name}", labels)
        else:
            with temporary.open("wb") as file:
                _write_csv(plain, file, "\t" if suffix == ".tsv" else delimiter)


def _decoded(table: pa.Table) -> pa.Table:
    """The same names and values, dictionaries decoded, without metadata."""
    columns = []
    for name, given in zip(table.column_names, table.columns, strict=True):
        encoded = pa.types.is_dictionary(given.type)
        column = given.cast(given.type.value_type) if encoded else given
        kind = column.type
        if pa.types.is_nested(kind) or pa.types.is_duration(kind) or sources.is_bytes(kind):
            raise InputError(
                f"column '{name}'",
                "must hold single values to be written",
                found="lists, nested records, durations or bytes",
            )
        columns.append(column)
    return pa.Table.from_arrays(columns, names=table.column_names)


def _write_csv(table: pa.Table, file: IO[bytes], delimiter: str) -> None:
    names = _cells(sources.from_texts(table.column_names), delimiter).to_pylist()
    # Readers take a byte-order mark off the beginning of a file; in quotes it stays.
    if names[0].startswith("\ufeff"):
        names[0] = f'"{names[0]}"'
    file.write((delimiter.join(names) + "\n").encode("utf-8"))
    for lines in _csv_lines(table, delimiter):
        file.write(lines)


def content_sha256(names: Sequence[str], batches: Iterable[pa.RecordBatch]) -> str:
    """Hash of a table as CSV, where there is no file to tell it by."""
    digest = hashlib.sha256("\x1f".join(names).encode("utf-8"))
    for batch in batches:
        for lines in _csv_lines(_decoded(pa.Table.from_batches([batch])), ","):
            digest.update(lines)
    return digest.hexdigest()


def data_sha256(data: object) -> str:
    """Hash of a file, or of what a table of a database holds; empty of what is neither."""
    if is_database(data):
        source = open_source(data)
        return content_sha256(source.names, source.batches(source.names))
    if not isinstance(data, (str, os.PathLike)) or not Path(data).is_file():
        return ""
    with Path(data).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _csv_lines(table: pa.Table, delimiter: str) -> Iterator[memoryview]:
    """The records as bytes, chunk by chunk."""
    nothing, between, line_end = _text_scalar(""), _text_scalar(delimiter), _text_scalar("\n")
    for batch in table.to_batches(max_chunksize=WRITTEN_ROWS):
        cells = [_cells(column, delimiter) for column in batch.columns]
        if len(cells) == 1:
            filled = pc.fill_null(cells[0], nothing)
            # A reader skips an empty line, so that an empty cell that is alone gets quotes.
            lines = pc.if_else(pc.equal(filled, nothing), _text_scalar('""'), filled)
        else:
            lines = pc.binary_join_element_wise(
                *cells, between, null_handling="replace", null_replacement=""
            )
        lines = pc.binary_join_element_wise(lines, nothing, line_end)
        yield _bytes_of(lines)


def _text_scalar(text: str) -> pa.LargeStringScalar:
    return sources.from_texts([text])[0]


def _bytes_of(lines: pa.LargeStringArray) -> memoryview:
    """All texts of an array, one behind the other."""
    _, offsets, data = lines.buffers()
    ends = memoryview(offsets).cast("q")
    return memoryview(data)[ends[lines.offset] : ends[lines.offset + len(lines)]]


def _cells(column: pa.Array, delimiter: str) -> pa.LargeStringArray:
    """A column as CSV cells: text in quotes where it needs them."""
    kind = column.type
    text = column.cast(pa.large_string())
    if pa.types.is_timestamp(kind):
        text = pc.replace_substring(text, " ", "T", max_replacements=1)
        return pc.replace_substring_regex(text, r"\.0+(\D|$)", r"\1")
    if pa.types.is_time(kind):
        return pc.replace_substring_regex(text, r"\.0+$", "")
    if pa.types.is_temporal(kind) or pa.types.is_boolean(kind):
        return text
    if pc.any(pc.match_substring(text, "\0")).as_py():
        raise InputError(
            "a column of the table",
            "must hold no zero byte to be written as CSV, which could not be read again",
            found="one in a text",
            advice="leave the column out, mend its texts, or write .parquet",
        )
    special = f'["\r\n\\x{ord(delimiter):02x}]'
    needs = pc.match_substring_regex(text, special)
    if not pc.any(needs).as_py():
        return text
    doubled = pc.replace_substring(text, '"', '""')
    quoted = pc.binary_join_element_wise(
        _text_scalar('"'), doubled, _text_scalar('"'), _text_scalar("")
    )
    return pc.if_else(needs, quoted, text)
