"""Read a standard classification: a CSV with a code, its narrow and its broad group per row."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.hierarchies.code_list import CodeList
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.text_file import read_text

HEADER = (
    "code",
    "label",
    "narrow_group",
    "narrow_label",
    "broad_group",
    "broad_label",
    "kind",
)


def is_classification(text: str) -> bool:
    """Whether a file's first line is that of a classification."""
    return tuple(text.partition("\n")[0].strip().split(",")) == HEADER


def read_classification(path: str | os.PathLike[str]) -> CodeList:
    """Read a classification such as the Australian ones of languages and of ethnic groups.

    One row per code: ``code,label,narrow_group,narrow_label,broad_group,broad_label,kind``, with
    that header. ``7104 Mandarin`` lies below ``71``, ``7`` and ``*``. A code without a narrow or
    a broad group (supplementary codes) stays as it is up to the next level that it has.

    Parameters
    ----------
    path
        The file, in UTF-8.

    Raises
    ------
    InputError
        If the file cannot be read, has another header or rows of another length, a code or a
        label is missing, a code is at two places, a group is in two others, or a code or group
        has two names.
    """
    subject = f"hierarchy file {Path(path).name}"
    text = read_text(Path(path), subject)
    if not is_classification(text):
        raise InputError(
            subject, "must have the header of a classification", accepted=",".join(HEADER)
        )
    rows, lines = _rows(text, subject)
    _check_once([row[0] for row in rows], lines, subject)
    columns = [[row[0] for row in rows]]
    for group in (2, 4):
        columns.append([row[group] or below for row, below in zip(rows, columns[-1], strict=True)])
    return CodeList(Hierarchy.from_columns(columns, subject, lines), _names(rows, lines, subject))


def _rows(text: str, subject: str) -> tuple[list[list[str]], list[int]]:
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    next(reader)
    try:
        for row in reader:
            if row:
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
    except csv.Error:
        raise InputError(
            subject, "must be CSV", found=f"an error in line {reader.line_num}"
        ) from None
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(HEADER):
            raise InputError(
                subject,
                "must have as many cells in every row as its header",
                found=f"{len(row)} in line {line}",
            )
        for code, name in ((0, 1), (2, 3), (4, 5)):
            lacking = [place for place in (code, name) if not row[place]]
            if lacking and (code == 0 or lacking == [code]):
                place = HEADER[lacking[0]]
                raise InputError(
                    subject,
                    "must have a code and a label in every row, and a code for every named group",
                    found=f"no '{place}' in line {line}",
                )
    if not rows:
        raise InputError(subject, "must have one row per code", found="no row")
    return rows, lines


def _check_once(codes: Sequence[str], lines: Sequence[int], subject: str) -> None:
    first: dict[str, int] = {}
    for code, line in zip(codes, lines, strict=True):
        if code in first:
            raise InputError(
                subject,
                "must have each code at one place",
                found=f"the same code in lines {first[code]} and {line}",
            )
        first[code] = line


def _names(rows: Sequence[Sequence[str]], lines: Sequence[int], subject: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for row, line in zip(rows, lines, strict=True):
        for code, name in ((0, 1), (2, 3), (4, 5)):
            if row[name] and names.setdefault(row[code], row[name]) != row[name]:
                raise InputError(
                    subject,
                    "must call each code and group by one name",
                    found=f"another '{HEADER[name]}' in line {line} than above",
                )
    return names
