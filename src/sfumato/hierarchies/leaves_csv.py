"""Read the one-row-per-leaf CSV that ARX users have."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.text_file import read_text

DELIMITERS = (";", "\t", ",")
"""Delimiters that are tried; the first one that gives rows of one length is taken."""

_Rows = tuple[list[list[str]], list[int]]
"""The cells of each row, and the line of the file that each row starts in."""


def read_leaves_csv(path: str | os.PathLike[str]) -> Hierarchy:
    """Read a hierarchy from a file with one row per leaf: the leaf, then its ancestors.

    The file has no header; cells may be quoted as in CSV; the delimiter (semicolon, tab or
    comma) is detected. A root ``*`` is added where the last column is not one single label.

    Parameters
    ----------
    path
        The file, in UTF-8.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8, is empty, is not well-formed CSV, has rows of
        different lengths or empty cells, or is not nested.
    """
    subject = f"hierarchy file {Path(path).name}"
    text = read_text(Path(path), subject)
    rows, lines = _rows(text, subject)
    if not rows:
        raise InputError(
            subject, "must have one row per leaf", found="no row", accepted="leaf;ancestor;...;*"
        )
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise InputError(
                subject,
                "must have as many cells in every row",
                found=f"{len(row)} in line {line} and {len(rows[0])} in line {lines[0]}",
                advice="repeat a label where a branch has fewer levels",
            )
        if "" in row:
            raise InputError(
                subject,
                "must have a label in every cell",
                found=f"an empty cell in line {line}, column {row.index('') + 1}",
                advice="repeat a label where a branch has fewer levels; missing values need no row",
            )
    return Hierarchy.from_columns(list(zip(*rows, strict=True)), subject, lines)


def _rows(text: str, subject: str) -> _Rows:
    """Split the text with the first delimiter that gives rows of one length."""
    likely: _Rows | None = None
    single: _Rows | None = None
    refused: InputError | None = None
    for delimiter in DELIMITERS:
        if delimiter not in text:
            continue
        try:
            parsed = _split(text, delimiter, subject)
        except InputError as error:
            refused = refused or error
            continue
        lengths = {len(row) for row in parsed[0]}
        if len(lengths) == 1 and lengths != {1}:
            return parsed
        if lengths == {1}:
            single = single or parsed
        else:
            likely = likely or parsed
    if likely is not None:
        return likely
    if refused is not None:
        raise refused
    return single or _split(text, DELIMITERS[0], subject)


def _split(text: str, delimiter: str, subject: str) -> _Rows:
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return rows, lines
        except csv.Error:
            raise InputError(
                subject,
                "must be CSV",
                found=f"an error in the row that starts in line {line}",
                accepted='cells that hold a delimiter in double quotes, a quote in them as ""',
            ) from None
        if row:
            rows.append(row)
            lines.append(line)
