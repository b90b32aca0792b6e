"""A table of nicknames: which given names are one."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa

from sfumato.core.errors import InputError


def read_nicknames(path: Path) -> pa.Table:
    """Read a CSV file of two columns, nickname and name; a header is taken for a pair of names.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    pyarrow.Table
        Columns ``nickname`` and ``name``; each nickname once, with the first name given for it.

    Raises
    ------
    InputError
        If it cannot be read, or a line has not two cells.
    """
    subject = f"file of nicknames {path.name}"
    names: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            for number, row in enumerate(csv.reader(text), 1):
                if not row:
                    continue
                if len(row) != 2:
                    raise InputError(
                        subject,
                        "must have two columns, nickname and name",
                        found=f"{len(row)} cells in line {number}",
                    )
                names.setdefault(row[0], row[1])
    except (UnicodeDecodeError, csv.Error):
        raise InputError(subject, "must be a CSV file in UTF-8") from None
    except OSError as error:
        found = (error.strerror or type(error).__name__).lower()
        raise InputError(subject, "must be a file that can be read", found=found) from None
    types = pa.schema([("nickname", pa.string()), ("name", pa.string())])
    return pa.table([pa.array(names), pa.array(names.values())], schema=types)


def formal_sql(name: str) -> str:
    """The name that the first of some given names stands for, as SQL.

    The database has a table ``nicknames``, standardised, with each nickname once. Its columns
    have names that no column of a specification has.

    Parameters
    ----------
    name
        Standardised given names, as SQL.
    """
    first = f"split_part({name}, ' ', 1)"
    return f"coalesce((SELECT formal__ FROM nicknames WHERE nickname__ = {first}), {first})"
