"""Hierarchies from CSV: the one-row-per-leaf files of ARX, and code lists with names."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.core.errors import InputError, unreadable_file
from sfumato.hierarchies.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class CodeList:
    """A hierarchy whose labels are codes, with their names.

    Attributes
    ----------
    names
        What codes and groups are called, by code; those that are called as they are written,
        and those in no level, are left out.
    """

    hierarchy: Hierarchy
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = {label for labels in self.hierarchy.labels for label in labels}
        kept = {code: name for code, name in self.names.items() if code in known and name != code}
        object.__setattr__(self, "names", kept)

    def named(self, code: str) -> str:
        """The code with its name: ``7104 Mandarin``."""
        return f"{code} {self.names[code]}" if code in self.names else code


HEADER = ("code", "label", "narrow_group", "narrow_label", "broad_group", "broad_label", "kind")


def is_classification(text: str) -> bool:
    """Whether a file's first line is that of a classification."""
    return tuple(text.partition("\n")[0].strip().split(",")) == HEADER


def read_classification(path: str | os.PathLike[str]) -> CodeList:
    """Read a classification such as the Australian ones of languages and of ethnic groups.

    One row per code: ``code,label,narrow_group,narrow_label,broad_group,broad_label,kind``, with
    that header. ``7104 Mandarin`` lies below ``71``, ``7`` and ``*``. A code without a narrow or
    a broad group (supplementary codes) stays as it is up to the next level that it has.
    """
    subject = f"hierarchy file {Path(path).name}"
    text = read_text(Path(path), subject)
    if not is_classification(text):
        raise InputError(
            subject, "must have the header of a classification", accepted=",".join(HEADER)
        )
    rows, lines = _classification_rows(text, subject)
    _check_once([row[0] for row in rows], lines, subject)
    columns = [[row[0] for row in rows]]
    for group in (2, 4):
        # All leaves need all levels: where a group is lacking the label below is repeated.
        columns.append([row[group] or below for row, below in zip(rows, columns[-1], strict=True)])
    return CodeList(Hierarchy.from_columns(columns, subject, lines), _names(rows, lines, subject))


def _classification_rows(text: str, subject: str) -> tuple[list[list[str]], list[int]]:
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
            # A group may lack its name or both, but a name without a code would be lost.
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


DELIMITERS = (";", "\t", ",")
"""Delimiters that are tried; the first one that gives rows of one length is taken."""

_Rows = tuple[list[list[str]], list[int]]
"""The cells of each row, and the line of the file that each row starts in."""


def read_leaves_csv(path: str | os.PathLike[str]) -> Hierarchy:
    """Read a hierarchy from a file with one row per leaf: the leaf, then its ancestors.

    The file has no header; cells may be quoted as in CSV; the delimiter (semicolon, tab or
    comma) is detected. A root ``*`` is added where the last column is not one single label.
    """
    subject = f"hierarchy file {Path(path).name}"
    text = read_text(Path(path), subject)
    rows, lines = _leaf_rows(text, subject)
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


def _leaf_rows(text: str, subject: str) -> _Rows:
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
            # A wrong delimiter may break quotes that the right
            # one does not: the error counts if nothing fits.
            refused = refused or error
            continue
        lengths = {len(row) for row in parsed[0]}
        # Rows of one cell fit every delimiter that does not occur: they tell nothing.
        if len(lengths) == 1 and lengths != {1}:
            return parsed
        if lengths == {1}:
            single = single or parsed
        else:
            # Rows of several lengths are likely this delimiter
            # with an error, which is said with its lines.
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
        # Before the row is read, as a quoted cell may run over several lines.
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


def read_text(path: Path, subject: str, kind: str = "CSV") -> str:
    """The whole text of a hierarchy's file, of this kind, without a byte-order mark."""
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable_file(subject, error) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The place is said and not the bytes, which are the data's.
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            subject,
            "must be text in UTF-8",
            found=f"other bytes in line {line}",
            advice=f"save it as {kind} UTF-8",
        ) from None
