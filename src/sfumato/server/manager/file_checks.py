"""What uploaded files must be, before anything is made of them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.table.table_files import CANDIDATES

MOST_ROWS = 5_000_000
"""Most rows of a file."""
MOST_DECODED = 768 << 20
"""Most bytes that all files of an upload take as columns of text: three times what can be sent, so
that tables with cells of three letters and more fit, and no small file becomes a large one."""
MOST_COLUMNS = 500
MOST_SETTINGS = 4 << 20
"""Most bytes of a text that is no table."""
_CELL = 8
"""Bytes of a cell beside its text: where it begins; a number takes as many."""
_BATCH, _PAGE = 1 << 20, 1 << 10
"""Values of a column that are looked at together; bytes that a page counts for beside what is in
it, so that nobody has the server look at millions of empty ones."""
_PARQUET = b"PAR1"
_TEXT = 1 << 16
"""Bytes of a text that are looked at for what no text has."""


def check_files(files: Mapping[str, bytes]) -> None:
    """Refuse files that are not what their names say, or too large once they are read.

    Parameters
    ----------
    files
        By the name that it has for the server, what each holds.

    Raises
    ------
    InputError
        If one is refused.
    """
    room = MOST_DECODED
    for name, data in files.items():
        subject = f"file {name}"
        if not data:
            raise InputError(subject, "must hold something", found="an empty file")
        sizes = _of_parquet(subject, data) if name.endswith(".parquet") else _of_text(name, data)
        for size in sizes:
            room -= size
            if room < 0:
                raise InputError(
                    subject,
                    f"must take at most {MOST_DECODED >> 20} MiB, with the other files, once read",
                    found="more",
                    advice="make the project where the server runs: sfumato review create",
                )


def _of_text(name: str, data: bytes) -> Iterator[int]:
    """Bytes that a text takes."""
    table = name.endswith(".csv")
    if data[:_TEXT].startswith((_PARQUET, b"PK\x03\x04", b"\x1f\x8b")) or b"\0" in data[:_TEXT]:
        raise InputError(
            f"file {name}",
            "must be text",
            found="a file of another kind",
            accepted="CSV (UTF-8, with headers)" if table else "what sfumato wrote",
        )
    if not table and len(data) > MOST_SETTINGS:
        raise InputError(f"file {name}", "must be as sfumato wrote it", found="a much longer one")
    rows = data.count(b"\n")
    _check_rows(f"file {name}", rows)
    if table:
        cells = rows + max(data.count(each.encode()) for each in CANDIDATES)
        yield len(data) + (_CELL - 1) * cells


def _check_rows(subject: str, rows: int) -> None:
    if rows > MOST_ROWS:
        raise InputError(subject, f"must have at most {MOST_ROWS:,} rows", found=f"{rows:,}")


def _of_parquet(subject: str, data: bytes) -> Iterator[int]:
    """Bytes that a Parquet file takes, counted little by little.

    What its own summary says counts for nothing: a value that is there once may stand in every
    row, and the size of what is unpacked may be any number.
    """
    if not (data.startswith(_PARQUET) and data.endswith(_PARQUET)):
        raise InputError(subject, "must be Parquet", found="a file of another kind, or a cut one")
    try:
        about = pq.ParquetFile(io.BytesIO(data)).metadata
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        rows = sum(abs(group.num_rows) for group in groups)
        _check_rows(subject, rows)
        columns = [about.schema.column(number) for number in range(about.num_columns)]
        if len(columns) > MOST_COLUMNS:
            raise InputError(subject, f"must have at most {MOST_COLUMNS} columns", found="more")
        if any(each.max_repetition_level or each.max_definition_level > 1 for each in columns):
            raise InputError(subject, "must have columns of single values", found="nested ones")
        yield rows * sum(max(_CELL, each.length or 0) for each in columns)
        for group in groups:
            for number in range(len(columns)):
                yield from _pages(data, group.column(number))
        texts = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]
        yield from _values(subject, data, texts)
    except (pa.ArrowException, OSError, ValueError, LookupError):
        raise InputError(
            subject, "must be Parquet as sfumato wrote it", found="a damaged file, or another's"
        ) from None


def _values(subject: str, data: bytes, columns: list[str]) -> Iterator[int]:
    """Bytes of the values of columns of texts, each in memory once however often it is there."""
    file = pq.ParquetFile(io.BytesIO(data), read_dictionary=columns)
    for name in columns:
        if not pa.types.is_dictionary(file.schema_arrow.field(name).type):
            raise InputError(subject, "must have columns of texts and numbers", found="others")
        for batch in file.iter_batches(_BATCH, columns=[name], use_threads=False):
            values = batch.column(name)
            lengths = pc.binary_length(values.dictionary).cast(pa.int64())
            yield pc.sum(lengths.take(values.indices)).as_py() or 0


def _pages(data: bytes, column: pq.ColumnChunkMetaData) -> Iterator[int]:
    """Bytes that each page of a column is unpacked to, as its reader will take them."""
    at = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)))
    end = at + column.total_compressed_size
    while at < end:
        unpacked, packed, at = _page(data, at)
        if min(unpacked, packed) < 0:
            raise ValueError
        at += packed
        yield unpacked + _PAGE


def _page(data: bytes, at: int) -> tuple[int, int, int]:
    """A page's bytes, unpacked and as they stand, and where they begin.

    Its header is a structure in Thrift's compact protocol, of which the numbers 2 and 3 are wanted
    (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
    """
    sizes: dict[int, int] = {}
    numbers = [0]
    while numbers:
        step, kind = divmod(data[at], 16)
        at += 1
        if not kind:
            numbers.pop()
            continue
        if step:
            numbers[-1] += step
        else:
            numbers[-1], at = _integer(data, at)
        if kind == _STRUCTURE:
            numbers.append(0)
        elif kind in _INTEGERS:
            value, at = _integer(data, at)
            if len(numbers) == 1:
                sizes[numbers[0]] = (value >> 1) ^ -(value & 1)
        elif kind == _BYTES:
            length, at = _integer(data, at)
            at += length
        else:
            at += _FIXED[kind]
    return sizes[2], sizes[3], at


_STRUCTURE, _BYTES, _INTEGERS = 12, 8, (4, 5, 6)
_FIXED = {1: 0, 2: 0, 3: 1, 7: 8}
"""Bytes of the other kinds: truths, which stand in the kind itself, a byte, a fraction."""


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """An integer of any length, as it stands, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise ValueError
