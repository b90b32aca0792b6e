"""``sfumato schema``: propose what each column of a file is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.declared_options import Given, with_declared
from sfumato.cli.output import check_apart, say
from sfumato.cli.parameters import DataOrUri
from sfumato.core.shared_options import Delimited

app = typer.Typer(no_args_is_help=True)


@app.callback()
def schema() -> None:
    """What each column of a file is."""


@app.command()
@with_declared(Delimited)
def guess(
    data: DataOrUri,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here, not to the terminal."),
    ] = None,
    *,
    given: Given,
) -> None:
    """Propose a schema for a file: kinds, likely roles and why. Read and edit it."""
    from sfumato.core.atomic import check_target, write_text
    from sfumato.schema import dump_schema
    from sfumato.table.schema_guess import guess_schema
    from sfumato.table.table_files import open_source

    if output is not None:
        check_target(output)
        check_apart((output,), (Path(data),))
    proposed = guess_schema(open_source(data, delimiter=given["delimiter"]))
    text = dump_schema(proposed.schema, proposed.notes)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_text(output, text)
    say(f"Wrote {output}. Read and edit it: only you know what an intruder may know.")
