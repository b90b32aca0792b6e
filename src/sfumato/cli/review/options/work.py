"""Options about the work: whose linkage or project it is, and how its pairs are dealt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WORK = "The work"

Folder = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        help="What 'sfumato link' wrote, or a review's project.",
        show_default=False,
    ),
]
LinkFolder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="What 'sfumato link' wrote.", show_default=False),
]
Title = Annotated[
    str, typer.Option(metavar="TEXT", help="What it is called.  [default: the folder's name]")
]
Custodian = Annotated[
    str, typer.Option(metavar="NAME", help="Who owns the data.  [default: the only custodian]")
]
Manager = Annotated[
    str, typer.Option(metavar="NAME", help="Who deals the work.  [default: the only manager]")
]
Gold = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Pairs of known truth: source_l, id_l, source_r, id_r, same.",
        show_default=False,
        rich_help_panel=WORK,
    ),
]
GoldShare = Annotated[
    float,
    typer.Option(min=0, max=0.5, metavar="SHARE", help="Of gold pairs.", rich_help_panel=WORK),
]
Overlap = Annotated[
    int,
    typer.Option(
        min=1, max=20, metavar="NUMBER", help="Workers who decide each pair.", rich_help_panel=WORK
    ),
]
PageSize = Annotated[
    int,
    typer.Option(min=1, max=50, metavar="NUMBER", help="Pairs on a page.", rich_help_panel=WORK),
]
