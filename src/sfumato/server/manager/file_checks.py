"""What an uploaded file must be, before anything is made of it."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.core.errors import InputError

MOST_ROWS = 5_000_000
"""Most rows of a file."""
MOST_UNPACKED = 4 << 30
"""Most bytes of a Parquet file once it is unpacked."""
MOST_COLUMNS = 500
_PARQUET = b"PAR1"
_TEXT = 1 << 16
"""Bytes of a text that are looked at for what no text has."""


def check_file(name: str, data: bytes) -> None:
    """Refuse a file that is not what its name says, or too large.

    Parameters
    ----------
    name
        The name that it has for the server.
    data
        What it holds.

    Raises
    ------
    InputError
        If it is refused.
    """
    subject = f"file {name}"
    if not data:
        raise InputError(subject, "must hold something", found="an empty file")
    if name.endswith(".parquet"):
        _check_parquet(subject, data)
        return
    if data[:_TEXT].startswith((_PARQUET, b"PK\x03\x04", b"\x1f\x8b")) or b"\0" in data[:_TEXT]:
        raise InputError(
            subject,
            "must be text",
            found="a file of another kind",
            accepted="CSV (UTF-8, with headers)" if name.endswith(".csv") else "what sfumato wrote",
        )
    rows = data.count(b"\n")
    if rows > MOST_ROWS:
        raise InputError(subject, f"must have at most {MOST_ROWS:,} rows", found=f"{rows:,}")


def _check_parquet(subject: str, data: bytes) -> None:
    if not (data.startswith(_PARQUET) and data.endswith(_PARQUET)):
        raise InputError(subject, "must be Parquet", found="a file of another kind, or a cut one")
    try:
        about = pq.ParquetFile(io.BytesIO(data)).metadata
        unpacked = sum(
            about.row_group(number).total_byte_size for number in range(about.num_row_groups)
        )
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(subject, "must be Parquet", found="a damaged file") from None
    if about.num_rows > MOST_ROWS:
        raise InputError(
            subject, f"must have at most {MOST_ROWS:,} rows", found=f"{about.num_rows:,}"
        )
    if about.num_columns > MOST_COLUMNS or unpacked > MOST_UNPACKED:
        raise InputError(subject, "must not be that large", found="more columns or bytes")
