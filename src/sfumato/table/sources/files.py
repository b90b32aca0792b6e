"""What the readers of files share: how errors call a file, and whether it can be read."""

from __future__ import annotations

from pathlib import Path

from sfumato.core.errors import InputError

CSV_SUFFIXES = frozenset({".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"})
PARQUET_SUFFIXES = frozenset({".parquet", ".pq"})
EXCEL_SUFFIXES = frozenset({".xlsx", ".xlsm", ".xls"})
STATISTICS_SUFFIXES = frozenset({".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"})


def subject_of(path: Path) -> str:
    """How errors call a file: by its name, without its folder."""
    return f"file {path.name or path}"


def check_file(path: Path) -> None:
    """Refuse a path that is not a file with content.

    Raises
    ------
    InputError
        If the file is missing, is a folder, a pipe or a device, cannot be read, or is empty.
    """
    subject = subject_of(path)
    try:
        if path.is_dir():
            raise InputError(subject, "must be one file", found="a folder")
        if path.exists() and not path.is_file():
            raise InputError(subject, "must be one file", found="a pipe or a device")
        with path.open("rb") as file:
            if not file.read(1):
                raise InputError(subject, "must have content", found="an empty file (0 bytes)")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: OSError | ValueError) -> InputError:
    """The error for a file that the system does not give."""
    said = error.strerror if isinstance(error, OSError) else None
    return InputError(
        subject_of(path), "must be a file that can be read", found=(said or "an error").lower()
    )
