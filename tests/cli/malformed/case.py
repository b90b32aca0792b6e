"""A good folder of files, and what a case changes in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CANARY = "zqCanary7"
"""A text that stands in every cell of text."""
NUMBER = 918273645
"""The same for numbers."""

PERSONS = (1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 6)
RECORDS = len(PERSONS)


def text(*values: object) -> list[str]:
    """Cells that hold the canary and a value."""
    return [f"{CANARY}-{value}" for value in values]


GOOD: Mapping[str, list[str]] = {
    "patient": text(*PERSONS),
    "name": text(*(f"name{person}" for person in PERSONS)),
    "age": [str(NUMBER if person == 6 else 20 + person) for person in PERSONS],
    "sex": text(*("fm"[person % 2] for person in PERSONS)),
    "edu": text(*(("low", "middle", "high")[person % 3] for person in PERSONS)),
    "zip": text(*(f"{12300 + person}" for person in PERSONS)),
    "icd9": text(*(f"{250 + row % 5}.1" for row in range(RECORDS))),
    "note": text(*range(RECORDS)),
}

HIERARCHY = "\n".join(
    f"{CANARY}-{leaf};{CANARY}-{above};*"
    for leaf, above in (("low", "basic"), ("middle", "basic"), ("high", "higher"))
)

ROLES = {
    "person": '"patient"',
    "direct_identifiers": '["name"]',
    "sensitive": '["icd9"]',
    "insensitive": '["note"]',
}
QUASI_IDENTIFIERS = {
    "age": 'kind = "numeric"',
    "sex": 'kind = "categorical"',
    "edu": 'kind = "ordered"\nhierarchy = "edu.csv"',
    "zip": 'kind = "categorical"\nhierarchy = { lengths = [14, 12] }',
}


def with_cell(column: str, value: str, row: int = 4) -> list[str]:
    """A column of the good file with another value in one row (1-based)."""
    values = list(GOOD[column])
    values[row - 1] = value
    return values


def to_csv(columns: Mapping[str, Sequence[str]], delimiter: str = ",") -> str:
    """Columns as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def data(**changed: Sequence[str] | None) -> str:
    """The good file as CSV with some columns changed, new, or left out (``None``)."""
    columns = {**GOOD, **changed}
    return to_csv({name: values for name, values in columns.items() if values is not None})


def schema(*, roles: Mapping[str, str | None] | None = None, **quasi: str | None) -> str:
    """The good schema as TOML with some roles and quasi-identifiers changed or left out."""
    said = {**ROLES, **(roles or {})}
    lines = [f"{name} = {value}" for name, value in said.items() if value is not None]
    for name, fields in {**QUASI_IDENTIFIERS, **quasi}.items():
        if fields is not None:
            lines += [f"[quasi_identifiers.{name}]", fields]
    return "\n".join(lines) + "\n"


Content = str | bytes | Callable[[Path], Any] | None
"""A file's text or bytes, what makes it, or ``None`` for no such file."""

FILES: Mapping[str, Content] = {
    "visits.csv": data(),
    "schema.toml": schema(),
    "edu.csv": HIERARCHY,
}


def make_folder(folder: Path, changed: Mapping[str, Content]) -> None:
    """Write the good files, with some of them changed."""
    for name, content in {**FILES, **changed}.items():
        path = folder / name
        if callable(content):
            content(path)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        elif content is not None:
            path.write_text(content, encoding="utf-8")


@dataclass(frozen=True)
class Case:
    """One fault.

    Attributes
    ----------
    what
        The fault in words.
    said
        What the message must match.
    files
        Files that differ from the good folder.
    data
        The file that is read.
    options
        Options of the command line, for the commands named in ``commands``.
    promise
        What ``anonymize`` is asked for.
    output
        Where ``anonymize`` writes.
    code
        The exit code.
    """

    what: str
    said: str
    files: Mapping[str, Content] = field(default_factory=dict)
    data: str = "visits.csv"
    schema: str = "schema.toml"
    options: tuple[str, ...] = ()
    promise: tuple[str, ...] = ("--k", "2")
    output: str = "release.csv"
    commands: tuple[str, ...] = ("assess", "anonymize")
    code: int = 1

    def line(self, command: str) -> list[str]:
        """The words of a command line, run in the folder."""
        words = [command, self.data, "--schema", self.schema, *self.options]
        return words if command == "assess" else [*words, *self.promise, "--output", self.output]
