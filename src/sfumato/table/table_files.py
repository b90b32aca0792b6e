"""Files by their path: opened by their suffix, Parquet streamed, tables written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.atomic import atomic_path, check_target
from sfumato.core.errors import InputError
from sfumato.kernels.threads import read_ahead
from sfumato.table.sources import (
    ACCEPTED,
    BATCH_ROWS,
    Source,
    check_delimiter,
    check_file,
    check_known,
    check_names,
    from_texts,
    is_bytes,
    no_records,
    plain_batch,
    subject_of,
)

# What reads a format is loaded when a file of it comes: Parquet's and narwhals take long, and most
# commands need neither.
if TYPE_CHECKING:
    import pyarrow.parquet as pq

CSV_SUFFIXES = frozenset({".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"})
PARQUET_SUFFIXES = frozenset({".parquet", ".pq"})
EXCEL_SUFFIXES = frozenset({".xlsx", ".xlsm", ".xls"})
STATISTICS_SUFFIXES = frozenset({".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"})
OUTPUT_SUFFIXES = (".csv", ".tsv", ".parquet")
WRITTEN_ROWS = 1 << 16
"""Records that are written to CSV together."""
SMALL_DICTIONARY = 1 << 16
"""Bytes, as stored, of a dictionary that certainly holds every value of its part of the file."""


def open_source(data: object, *, delimiter: str | None = None) -> Source:
    """Open a file or a dataframe, without reading more of it than its names and first records.

    Parameters
    ----------
    data
        A path (`.csv`, `.tsv`, `.txt`, each also with `.gz`; `.parquet`, `.pq`; with the extra
        ``[formats]`` `.xlsx`, `.sav`, `.dta`, `.sas7bdat`, `.xpt`), or a dataframe of pandas,
        Polars (eager or lazy), PyArrow, DuckDB or PySpark.
    delimiter
        The character between the cells of a CSV file; ``None`` finds it in the first lines.

    Returns
    -------
    Source
        The columns, to be streamed.

    Raises
    ------
    InputError
        If the data is of no kind that is accepted, cannot be read, has no record, or has
        column names that are missing, empty or there twice.
    """
    if not isinstance(data, (str, os.PathLike)):
        if delimiter is not None:
            raise InputError(
                "parameter delimiter", "is for CSV files only", found="data that is not a path"
            )
        from sfumato.table.dataframes import open_frame

        return open_frame(data)
    path = Path(os.fsdecode(data))
    if "\n" in path.name:
        raise InputError(
            "data", "must be the path of a file, or a dataframe", found="text of several lines"
        )
    suffix = _suffix(path)
    if delimiter is not None and suffix not in CSV_SUFFIXES:
        found = f"a file {suffix}" if suffix else "a file without suffix"
        raise InputError("parameter delimiter", "is for CSV files only", found=found)
    if suffix in CSV_SUFFIXES:
        from sfumato.table.csv_files import open_csv_file

        return open_csv_file(path, delimiter=delimiter)
    if suffix in PARQUET_SUFFIXES:
        return _open_parquet(path)
    if suffix in EXCEL_SUFFIXES:
        from sfumato.table.formats import open_excel

        return open_excel(path)
    if suffix in STATISTICS_SUFFIXES:
        from sfumato.table.formats import open_statistics

        return open_statistics(path)
    raise InputError(
        subject_of(path),
        "must have a suffix that says its format",
        found=f"the suffix {suffix}" if suffix else "no suffix",
        accepted=".csv, .tsv, .txt (each also with .gz), .parquet, .pq, .xlsx, .sav, .dta, "
        ".sas7bdat, .xpt",
    )


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() + suffix if suffix == ".gz" else suffix


def _open_parquet(path: Path) -> Source:
    """Open a Parquet file by its footer."""
    import pyarrow.parquet as pq

    check_file(path)
    subject = subject_of(path)
    try:
        with pq.ParquetFile(path) as file:
            footer, schema = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        raise _damaged(subject) from None
    names = check_names(schema.names, subject)
    if not footer.num_rows:
        raise no_records(subject)
    nested = {name for name in names if pa.types.is_nested(schema.field(name).type)}

    def check(columns: Sequence[str]) -> None:
        check_known(columns, names, subject)
        for name in columns:
            if name in nested:
                raise InputError(
                    f"column '{name}'",
                    "must hold single values",
                    found="lists or nested records",
                    accepted=ACCEPTED,
                )

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        check(columns)
        return read_ahead(_batches(path, columns, footer))

    def column(name: str) -> Iterator[pa.Array]:
        check([name])
        repeated = pa.types.is_string(schema.field(name).type) and _has_few_values(footer, name)
        given = _batches(path, [name], footer, repeated=repeated)
        return (batch.column(0) for batch in given)

    return Source(subject, names, batches, footer.num_rows, text=False, column=column)


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
                batch_size=BATCH_ROWS, columns=list(columns), use_threads=len(columns) > 1
            ):
                if batch.num_rows:
                    yield plain_batch(batch, columns)
    except (pa.ArrowException, OSError):
        raise _damaged(subject_of(path)) from None


def _damaged(subject: str) -> InputError:
    return InputError(
        subject,
        "must be a whole Parquet file",
        found="another format, or a damaged or cut file",
        advice="write it again, or give it the suffix of its format",
    )


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
    plain = _decoded(table)
    suffix = target.suffix.lower()
    with atomic_path(target) as temporary:
        if suffix == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(plain, temporary)
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
    nothing, between, line_end = _text_scalar(""), _text_scalar(delimiter), _text_scalar("\n")
    for batch in table.to_batches(max_chunksize=WRITTEN_ROWS):
        cells = [_cells(column, delimiter) for column in batch.columns]
        if len(cells) == 1:
            filled = pc.fill_null(cells[0], nothing)
            lines = pc.if_else(pc.equal(filled, nothing), _text_scalar('""'), filled)
        else:
            lines = pc.binary_join_element_wise(
                *cells, between, null_handling="replace", null_replacement=""
            )
        lines = pc.binary_join_element_wise(lines, nothing, line_end)
        yield _bytes_of(lines)


def _text_scalar(text: str) -> pa.LargeStringScalar:
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
    quoted = pc.binary_join_element_wise(
        _text_scalar('"'), doubled, _text_scalar('"'), _text_scalar("")
    )
    return pc.if_else(needs, quoted, text)
