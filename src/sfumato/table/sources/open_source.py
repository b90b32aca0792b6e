"""Open anything that holds a table: a file by its path, or a dataframe."""

from __future__ import annotations

import os
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.table.sources.batches import Source
from sfumato.table.sources.files import (
    CSV_SUFFIXES,
    EXCEL_SUFFIXES,
    PARQUET_SUFFIXES,
    STATISTICS_SUFFIXES,
    subject_of,
)

__all__ = ["Source", "open_source"]


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
        from sfumato.table.sources.frames import open_frame  # narwhals, which no file needs

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
        from sfumato.table.sources.csv_file import open_csv_file

        return open_csv_file(path, delimiter=delimiter)
    if suffix in PARQUET_SUFFIXES:
        from sfumato.table.sources.parquet_file import open_parquet_file

        return open_parquet_file(path)
    if suffix in EXCEL_SUFFIXES:
        from sfumato.table.sources.formats import open_excel

        return open_excel(path)
    if suffix in STATISTICS_SUFFIXES:
        from sfumato.table.sources.formats import open_statistics

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
