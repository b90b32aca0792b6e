"""The tables, and what is known of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.link.options.panels import WHAT
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.schema import Schema

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="TABLE...",
        help="The tables: CSV, Parquet; Excel, SPSS, Stata and SAS with sfumato\\[formats]. "
        "A source is named as its file, without the ending, or as you say: hospital=FILE. "
        "Or, of all owners, what 'sfumato link encode' wrote. With --engine spark also folders "
        "of files, and URIs that Spark reads.",
        show_default=False,
    ),
]
SchemaOfTables = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="What the columns are, as TOML: sensitive ones are never compared or shown.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="The column that names each record within its table.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]


def named_paths(tables: Sequence[str | Path]) -> dict[str, Path]:
    """The tables by the names of their sources: as said, or as their files.

    Parameters
    ----------
    tables
        Paths, some with a name and an equals sign before them.

    Raises
    ------
    InputError
        If two have the same name.
    """
    return {name: Path(path) for name, path in _named(tables).items()}


def named_places(tables: Sequence[str]) -> dict[str, Path | str]:
    """The same, where URIs that Spark reads stay as they are.

    Parameters
    ----------
    tables
        Paths and URIs, some with a name and an equals sign before them.

    Raises
    ------
    InputError
        If two have the same name.
    """
    return {name: place_of(path) for name, path in _named(tables).items()}


def place_of(text: str) -> Path | str:
    """A path; of a URI, such as ``s3a://bucket/a``, the text.

    Parameters
    ----------
    text
        What was said.
    """
    return text if _URI.match(text) else Path(text)


def _named(tables: Sequence[str | Path]) -> dict[str, str]:
    from sfumato.linkage.asked import stem_of

    named: dict[str, str] = {}
    for each in map(str, tables):
        name, sign, path = each.partition("=")
        if not (sign and name and path) or _URI.match(name) or Path(each).exists():
            name, path = stem_of(Path(each)), each
        if name in named:
            raise InputError(
                "the tables",
                "must have names that differ",
                found="two of one name",
                advice="say how each is called: hospital=FILE practice=FILE",
            )
        named[name] = path
    return named


def load_schema_of(path: Path | None) -> Schema | None:
    """The schema of a file, where one is given."""
    from sfumato.schema import load_schema

    return None if path is None else load_schema(path)
