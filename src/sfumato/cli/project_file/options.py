"""Options of ``sfumato init``, and the words of those with choices."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

PROMISES, REVIEW, WHAT = "What is promised", "Who reviews", "What the tables are"


class ReviewWord(StrEnum):
    """Words of ``--review``; see `sfumato.pipeline.project.linking.Reviewers`."""

    NONE = "none"
    TERMINAL = "terminal"
    SIMULATED = "simulated"
    APPLICATION = "application"


class FormatWord(StrEnum):
    """Words of ``--format``."""

    CSV = "csv"
    PARQUET = "parquet"


Tables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TABLE...",
        help="The tables: FILE, or NAME=FILE. Without any sfumato asks.",
        show_default=False,
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The project file.")]
Name = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What it is called; the folder's name.")
]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER", min=0, help="Seed of every random choice; drawn when not given."
    ),
]
Attach = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SOURCE=FILE",
        help="Further records of a table's persons, such as visits. Repeatable.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="The column that names each record within its table.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]
Dedupe = Annotated[
    bool,
    typer.Option(
        "--dedupe", help="A table may have a person more than once.", rich_help_panel=WHAT
    ),
]
OnePerSource = Annotated[
    bool,
    typer.Option(
        "--one-per-source",
        help="Every table has at most one record per person.",
        rich_help_panel=WHAT,
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Take this schema.toml instead of a proposed one.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]
SpecFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Take this link.toml instead of a proposed one.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="The separator of CSV files; found by itself.",
        rich_help_panel=WHAT,
    ),
]
Review = Annotated[
    ReviewWord,
    typer.Option(help="Where possible matches are reviewed.", rich_help_panel=REVIEW),
]
ReviewK = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=1,
        help="Records that what is disclosed must fit at least; 1 when not given.",
        show_default=False,
        rich_help_panel=REVIEW,
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        metavar="KAPR",
        min=0,
        max=1,
        help="What each reviewer may spend; 0.2 when not given, 1 for no limit.",
        show_default=False,
        rich_help_panel=REVIEW,
    ),
]
GBalance = Annotated[
    float | None,
    typer.Option(
        metavar="G",
        help="g-balance of every class at least G.",
        show_default=False,
        rich_help_panel=PROMISES,
    ),
]
HAffiliation = Annotated[
    float | None,
    typer.Option(
        metavar="H",
        help="h-affiliation of every class at most H.",
        show_default=False,
        rich_help_panel=PROMISES,
    ),
]
PidK = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        help="At least K persons in every class.",
        show_default=False,
        rich_help_panel=PROMISES,
    ),
]
Preset = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Meet the thresholds of a preset; 'sfumato presets' lists them.",
        show_default=False,
        rich_help_panel=PROMISES,
    ),
]
Formats = Annotated[
    list[FormatWord] | None,
    typer.Option(
        "--format",
        help="The release's format; csv. Repeatable.",
        show_default=False,
    ),
]
JsonSchema = Annotated[
    bool,
    typer.Option(
        "--json-schema", help="Print the JSON Schema of project files, and write nothing."
    ),
]
