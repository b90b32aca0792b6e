"""Parameters that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="The file: CSV, Parquet; Excel, SPSS, Stata and SAS with sfumato\\[formats].",
        show_default=False,
    ),
]
DataOrUri = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="The file: CSV, Parquet; Excel, SPSS, Stata and SAS with sfumato\\[formats]; with "
        "--engine spark also a folder of files, or a URI that Spark reads.",
        show_default=False,
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Where the work is done: embedded (in this process) or spark, with sfumato\\[spark].",
        show_default=False,
    ),
]
SchemaFile = Annotated[
    Path,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="What each column is, as TOML; 'sfumato schema guess' proposes one.",
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="The separator of a CSV file; found by itself."),
]
Threshold = Annotated[
    float, typer.Option(metavar="SHARE", help="Risk above which a record counts as at risk.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="Seed of every random choice; drawn when not given."),
]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write a report: .html (with its .json twin beside it) or .json.",
        show_default=False,
    ),
]
