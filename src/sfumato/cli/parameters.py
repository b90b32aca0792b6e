"""Parameters that several commands share, each declared once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import check_apart
from sfumato.core.declaration import Place

option = partial(typer.Option, show_default=False)
"""An option whose help says what holds without it."""
file_option = partial(option, metavar="FILE")
argument = partial(typer.Argument, show_default=False)

_TABLE = (
    "The file: CSV, Parquet; Excel, SPSS, Stata and SAS with sfumato\\[formats]; or the URL of a "
    "table of PostgreSQL or SQLite with sfumato\\[databases]"
)
Data = Annotated[str, argument(metavar="DATA", help=f"{_TABLE}.")]
DataOrUri = Annotated[
    str,
    argument(
        metavar="DATA",
        help=f"{_TABLE}; with --engine spark also a folder of files, or a URI that Spark reads.",
    ),
]
SchemaFile = Annotated[
    Path,
    file_option(
        "--schema", help="What each column is, as TOML; 'sfumato schema guess' proposes one."
    ),
]
TextOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write here, not to the terminal."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Details = Annotated[
    bool, typer.Option("--details", help="Print every measure, every column and every warning.")
]
Report = Annotated[
    Path | None, file_option(help="Write a report: .html (with its .json twin beside it) or .json.")
]


def asked_ids(question: str) -> set[str]:
    """Ids of people, asked or from standard input, a line each; arguments others could read."""
    given = typer.get_text_stream("stdin")
    if given.isatty():
        return {typer.prompt(question, hide_input=True, err=True).strip()} - {""}
    return {line.strip() for line in given} - {""}


def check_report(report: Path | None, inputs: Sequence[Place | None] = ()) -> None:
    """Refuse a report that cannot or must not be written, before work starts.

    Parameters
    ----------
    report
        Where it goes, if one is asked for.
    inputs
        Files that the command reads, which it must not replace.

    Raises
    ------
    InputError
        If it has no known ending, cannot be written, or is a file that the command reads.
    """
    if report is None:
        return
    from sfumato.reports import check_report_path

    check_report_path(report)
    # The JSON twin is written, too.
    check_apart((report, report.with_suffix(".json")), inputs)
