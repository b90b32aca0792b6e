"""``sfumato link suggest``: propose what to compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.link.options.specification import AllowPairs, Asked, Dedupe, specification
from sfumato.cli.link.options.tables import (
    Id,
    SchemaOfTables,
    Tables,
    load_schema_of,
    named_paths,
)
from sfumato.cli.output import check_apart, say


def suggest(
    tables: Tables,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here, not to the terminal."),
    ] = None,
    schema: SchemaOfTables = None,
    dedupe: Dedupe = False,
    id_column: Id = None,
    allow_pairs: AllowPairs = None,
) -> None:
    """Propose a specification: what to compare, which records to bring together, and why."""
    from sfumato.core.atomic import check_target, write_text
    from sfumato.linkage.spec.toml import dump_link_spec

    named = named_paths(tables)
    if output is not None:
        check_target(output)
        check_apart((output,), (*named.values(), schema))
    asked = Asked(dedupe=dedupe, id_column=id_column, allow_pairs=allow_pairs)
    made = specification(named, asked, load_schema_of(schema))
    text = dump_link_spec(made.spec, made.notes)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_text(output, text)
    say(f"Wrote {output}. Read and edit it: what is compared decides who is found.")
