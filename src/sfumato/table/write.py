"""Write a table to CSV or Parquet, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.atomic import atomic_path, check_target
from sfumato.core.errors import InputError
from sfumato.table.encoding.arrow_types import from_texts, is_bytes
from sfumato.table.sources.batches import check_names
from sfumato.table.sources.csv_delimiter import check_delimiter

OUTPUT_SUFFIXES = (".csv", ".tsv", ".parquet")
CHUNK_ROWS = 1 << 16


def check_output_path(path: str | os.PathLike[str]) -> None:
    """Refuse a path that a table cannot be written to, before any work starts.

    Raises
    ------
    InputError
        If the suffix is none of `.csv`, `.tsv`, `.parquet`, the folder does not exist or
        cannot be written, or the path is itself a folder.
    """
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


def write_table(table: pa.Table, path: str | os.PathLike[str], *, delimiter: str = ",") -> None:
    r"""Write a table by the suffix of the path, whole or not at all.

    CSV is UTF-8 with a header, a quote only where it is needed, an empty cell for a missing
    value, ISO dates and ``\n`` line ends. Dictionary columns are written as their values, and
    nothing but names, types and values is kept: categories that do not occur and metadata of
    the input would tell about records that were not released.

    Parameters
    ----------
    table
        The table.
    path
        Where to write: `.csv`, `.tsv` (its delimiter is a tab) or `.parquet`.
    delimiter
        The character between the cells of a `.csv`.

    Raises
    ------
    InputError
        If the path or the delimiter cannot be used, two columns have the same name, or a
        column holds lists, nested records or bytes.
    """
    target = Path(path)
    check_output_path(target)
    check_delimiter(delimiter)
    check_names(table.column_names, f"output {target.name}")
    plain = _plain(table)
    suffix = target.suffix.lower()
    with atomic_path(target) as temporary:
        if suffix == ".parquet":
            pq.write_table(plain, temporary)
        else:
            with temporary.open("wb") as file:
                _write_csv(plain, file, "\t" if suffix == ".tsv" else delimiter)


def _plain(table: pa.Table) -> pa.Table:
    """The same names and values, dictionaries decoded, without metadata."""
    columns = []
    for name, given in zip(table.column_names, table.columns, strict=True):
        encoded = pa.types.is_dictionary(given.type)
        column = given.cast(given.type.value_type) if encoded else given
        kind = column.type
        if pa.types.is_nested(kind) or pa.types.is_duration(kind) or is_bytes(kind):
            raise InputError(
                f"column '{name}'",
                "must hold single values to be written",
                found="lists, nested records, durations or bytes",
            )
        columns.append(column)
    return pa.Table.from_arrays(columns, names=table.column_names)


def _write_csv(table: pa.Table, file: IO[bytes], delimiter: str) -> None:
    names = _cells(from_texts(table.column_names), delimiter).to_pylist()
    if names[0].startswith("\ufeff"):
        names[0] = f'"{names[0]}"'
    file.write((delimiter.join(names) + "\n").encode("utf-8"))
    for lines in _csv_lines(table, delimiter):
        file.write(lines)


def _csv_lines(table: pa.Table, delimiter: str) -> Iterator[memoryview]:
    """The records as bytes, chunk by chunk."""
    nothing, between, line_end = _text(""), _text(delimiter), _text("\n")
    for batch in table.to_batches(max_chunksize=CHUNK_ROWS):
        cells = [_cells(column, delimiter) for column in batch.columns]
        if len(cells) == 1:
            filled = pc.fill_null(cells[0], nothing)
            lines = pc.if_else(pc.equal(filled, nothing), _text('""'), filled)
        else:
            lines = pc.binary_join_element_wise(
                *cells, between, null_handling="replace", null_replacement=""
            )
        lines = pc.binary_join_element_wise(lines, nothing, line_end)
        yield _bytes_of(lines)


def _text(text: str) -> pa.LargeStringScalar:
    return from_texts([text])[0]


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
    special = f'["\r\n\\x{ord(delimiter):02x}]'
    needs = pc.match_substring_regex(text, special)
    if not pc.any(needs).as_py():
        return text
    doubled = pc.replace_substring(text, '"', '""')
    quoted = pc.binary_join_element_wise(_text('"'), doubled, _text('"'), _text(""))
    return pc.if_else(needs, quoted, text)
