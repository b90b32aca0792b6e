"""``sfumato run``: make what is not done of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import NOT_MET, print_json, say
from sfumato.cli.parameters import Json
from sfumato.cli.project_file.telling import run_telling
from sfumato.cli.project_file.told import WAITING, waiting_lines

ProjectFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The project file, or its folder."),
]


def run(
    file: ProjectFile = Path("sfumato.toml"),
    until: Annotated[
        str | None,
        typer.Option(metavar="STAGE", help="Stop after this stage.", show_default=False),
    ] = None,
    force: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STAGE",
            help="Make this stage again even if nothing changed. Repeatable.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run a project: link, review, assess, release, attack, report.

    What did not change is not made again; interrupted, the next run goes on. It stops where people
    are needed, and says what waits for whom.

    Exit codes: 0 done, 1 bad input, 2 the promises cannot be met or
    an attack found more than was predicted, 3 it waits for people.
    """
    from sfumato.pipeline.project_folder import open_project

    status = run_telling(open_project(file), until, tuple(force or ()))
    if json:
        print_json(status.to_json())
    waiting = status.waiting
    if waiting is None:
        if status.is_caught:
            say("The attack found more than was predicted: read its report before you hand it out.")
            raise typer.Exit(NOT_MET)
        return
    for line in waiting_lines(waiting, status.place.file):
        say(line)
    raise typer.Exit(WAITING)
