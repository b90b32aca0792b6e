"""Options that say what the search may change beside the constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options.panels import MAKING

Suppress = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Largest share of persons that may be suppressed; 0 for nobody.",
        rich_help_panel=MAKING,
    ),
]
CapRecords = Annotated[
    bool,
    typer.Option(
        "--cap-records/--no-cap-records",
        help="Whether the records of a person may be capped.",
        rich_help_panel=MAKING,
    ),
]
FullDomain = Annotated[
    bool,
    typer.Option(
        "--full-domain/--no-full-domain",
        help="Whether one level of each hierarchy for all records is tried too.",
        rich_help_panel=MAKING,
    ),
]
WriteSchema = Annotated[
    Path | None,
    typer.Option(
        "--write-schema",
        metavar="FILE",
        help="Also search other weights, coarser hierarchies and columns left out; the schema "
        "of the chosen point is written there.",
        rich_help_panel=MAKING,
        show_default=False,
    ),
]
CommandOutput = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", help="The release that the printed command writes."
    ),
]
