"""``sfumato project``: the projects of the web application, from the machine that it runs on."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from sfumato.cli.output import say
from sfumato.cli.server.options import DATA, Data, Database, KeyFolder, existing
from sfumato.core.errors import InputError

app = typer.Typer(help="List and purge projects of the web application.", no_args_is_help=True)


@app.command(name="list")
def list_projects(data: Data = DATA, keys: KeyFolder = None, database: Database = "") -> None:
    """List all projects: id, state, when it was made, title."""
    existing(data, keys, database)
    from sfumato.server.store.models import Project

    for project in Project.objects.order_by("created"):
        typer.echo(f"{project.id}  {project.state:<6}  {project.created:%Y-%m-%d}  {project.title}")


@app.command()
def purge(
    project: Annotated[
        UUID, typer.Argument(metavar="ID", help="As 'sfumato project list' prints it.")
    ],
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for the title.")] = False,
) -> None:
    """Destroy a project's key and remove its records, pairs and decisions, for good.

    The audit log stays, and what each worker was shown of the source stays charged. Restart a
    server that runs: it may have the project in memory.
    """
    existing(data, keys, database)
    from sfumato.server.custodian.purge import purge as destroy
    from sfumato.server.live.stop import Stop
    from sfumato.server.store.models import Project

    found = Project.objects.filter(pk=project).first()
    if found is None:
        raise InputError("argument ID", "must be a project", advice="see: sfumato project list")
    if not yes and typer.prompt(f"Type the title of the project '{found.title}'") != found.title:
        raise InputError("the title", "must be that of the project", found="another")
    try:
        destroy(None, project)
    except Stop as error:
        raise InputError("the project", "must not be purged yet", found=error.reason) from None
    say("Purged. Its data cannot be read any more; a backup that holds its key still can.")
