"""``sfumato status``: how far a project is."""

from __future__ import annotations

from pathlib import Path

import typer

from sfumato.cli.output import print_json
from sfumato.cli.parameters import Json
from sfumato.cli.project_file.run import ProjectFile
from sfumato.cli.project_file.told import status_lines


def status(file: ProjectFile = Path("sfumato.toml"), json: Json = False) -> None:
    """Say how far a project is: each stage, its time, its size, and what waits for whom."""
    from sfumato.pipeline.project_folder import open_project
    from sfumato.pipeline.run import status_of

    found = status_of(open_project(file))
    if json:
        print_json(found.to_json())
    else:
        typer.echo("\n".join(status_lines(found)))
