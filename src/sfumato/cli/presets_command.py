"""``sfumato presets``: list the thresholds in use, with source and evidence."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer

from sfumato.cli.output import SCREEN, columns, cut, print_json
from sfumato.cli.parameters import Details, Json, file_option


def presets(
    file: Annotated[
        Path | None, file_option("--thresholds", help="List the thresholds of this file instead.")
    ] = None,
    json: Json = False,
    details: Details = False,
) -> None:
    """List thresholds in use elsewhere: what they limit, their source, how well it is evidenced.

    For orientation, and no legal advice.
    """
    from dataclasses import asdict

    from sfumato.risk.risk_thresholds import thresholds

    listed = thresholds(file=file)
    if json:
        print_json({"presets": [asdict(each) for each in listed]})
        return
    rows = []
    for each in listed:
        limits = "; ".join(limit.words() for limit in each.thresholds) or "no number"
        rows.append((each.name, shorten(each.source, 34, placeholder="…"), limits))
        if details:
            typer.echo(f"{each.name}: {limits}")
            typer.echo(f"    {each.source}{f': {each.says}' if each.says else ''}")
            typer.echo(f"    evidence: {each.evidence}")
    if not details:
        lines = columns([("preset", "source", "limits"), *rows])
        typer.echo("\n".join(cut(lines, SCREEN - 3, "preset")))
        typer.echo("What each source says, and its evidence: --details")
