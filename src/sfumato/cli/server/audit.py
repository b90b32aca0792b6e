"""``sfumato audit``: check the audit log of the web application."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.output import NOT_MET, say
from sfumato.cli.server.options import DATA, Data, Database, KeyFolder, existing

app = typer.Typer(help="Check the audit log of the web application.", no_args_is_help=True)


@app.command()
def verify(
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
    against: Annotated[
        str,
        typer.Option(
            metavar="HEAD",
            help="What 'sfumato audit checkpoint' printed earlier: shows whether the log was cut "
            "off or rewritten since.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Check that nothing in the audit log was changed, left out or rewritten.

    Exit code 2 if something was.
    """
    existing(data, keys, database)
    from sfumato.server.audit.verify import parse_head
    from sfumato.server.audit.verify import verify as check

    verdict = check(parse_head(against) if against else None)
    if not verdict.whole:
        say(f"The audit log is not whole: {verdict.fault}.")
        raise typer.Exit(NOT_MET)
    typer.echo(f"The audit log is whole: {verdict.entries:,} entries.")
    typer.echo(f"Head: {verdict.head}")


@app.command()
def checkpoint(data: Data = DATA, keys: KeyFolder = None, database: Database = "") -> None:
    """Print the head of the audit log, to be kept outside this machine."""
    existing(data, keys, database)
    from sfumato.server.audit.verify import head

    typer.echo(str(head()))
