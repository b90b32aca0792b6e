"""Options about the released file: its place, its order, its pseudonyms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options.panels import MAKING
from sfumato.cli.output import check_apart
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.schema import Schema

MANIFEST = "release.toml"

Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=f"The release: .csv, .tsv or .parquet; {MANIFEST} is written beside it.",
        show_default=False,
    ),
]
KeepOrder = Annotated[
    bool,
    typer.Option(
        "--keep-order",
        help="Do not shuffle the records; their order may give persons away.",
        rich_help_panel=MAKING,
    ),
]
PseudonymKey = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Key for pseudonyms that are the same in every release; random without it.",
        rich_help_panel=MAKING,
    ),
]


def check_output(output: Path, declared: Schema, inputs: tuple[Path | None, ...]) -> None:
    """Refuse places for the release and its manifest that cannot or must not be written.

    Raises
    ------
    InputError
        If one cannot be written, or is a file that the command reads.
    """
    from sfumato.core.atomic import check_target
    from sfumato.table.write import check_output_path

    check_output_path(output)
    manifest = output.with_name(MANIFEST)
    check_target(manifest)
    hierarchies = (quasi.hierarchy for quasi in declared.quasi_identifiers.values())
    check_apart((output, manifest), (*inputs, *(h for h in hierarchies if isinstance(h, Path))))


def key_of(path: Path | None) -> bytes | None:
    """The key for pseudonyms that a file holds.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    if path is None:
        return None
    try:
        return path.read_bytes().strip()
    except OSError:
        raise InputError("option --pseudonym-key", "must be a file that can be read") from None
