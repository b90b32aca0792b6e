"""Options that the commands about a policy share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PolicyFile = Annotated[
    Path,
    typer.Argument(
        metavar="POLICY",
        help="The policy: a TOML file, or Turtle where the name ends in .ttl.",
        show_default=False,
    ),
]
Rules = Annotated[
    list[Path] | None,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="A file with more rules, beside those that the policy names. Repeatable.",
        show_default=False,
    ),
]
