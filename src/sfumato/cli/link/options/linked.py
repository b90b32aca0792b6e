"""Options about the linked file: its columns, its ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.link.options.panels import LINKED
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import read_secret

QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A compared column that goes into the linked file; without any those of the "
        "schema, or dates, postcodes, numbers and categories.",
        show_default=False,
        rich_help_panel=LINKED,
    ),
]
Attach = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SOURCE=FILE",
        help="Further records of a table's persons by its ids, such as visits; they stand in "
        "the linked file instead of the table's own.",
        show_default=False,
        rich_help_panel=LINKED,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Key for person ids that are the same in every run; random without it.",
        show_default=False,
        rich_help_panel=LINKED,
    ),
]


@dataclass(frozen=True)
class LinkedFile:
    """What a command line says about the linked file.

    Attributes
    ----------
    quasi_identifiers
        Compared columns that go into it.
    attach
        Tables to attach, by their sources.
    key
        Key of the persons' ids.
    seed
        Seed of its order, and of ids without a key.
    """

    quasi_identifiers: list[str] | None
    attach: dict[str, Path | str]
    key: bytes | None
    seed: int | None


def attached(words: list[str]) -> dict[str, str]:
    """The tables to attach, by their sources.

    Raises
    ------
    InputError
        If a word is no source, an equals sign and a file, or a source is there twice.
    """
    tables: dict[str, str] = {}
    for word in words:
        name, sign, path = word.partition("=")
        if not sign or not name or not path or name in tables:
            raise InputError(
                "option --attach",
                "must be a source and its file, once for each source",
                accepted="--attach hospital=visits.csv",
            )
        tables[name] = path
    return tables


def key_of(path: Path | None, inputs: Iterable[str | Path | None]) -> bytes | None:
    """The key that a file holds.

    Parameters
    ----------
    path
        The file; ``None`` without a key.
    inputs
        The other files that the command reads.

    Raises
    ------
    InputError
        If the file cannot be read, or is no key.
    """
    return None if path is None else read_secret(path, "option --key-file", inputs)
