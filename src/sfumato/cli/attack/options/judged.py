"""Options about which attacks run and what they are held against."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.attack.options.panels import JUDGED

Names = Annotated[
    list[str] | None,
    typer.Option(
        "--attack",
        metavar="NAME",
        help="Run this attack; may be repeated. All that fit where not given.",
        rich_help_panel=JUDGED,
        show_default=False,
    ),
]
Population = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Persons of the population that --register is of, for what is predicted of a file "
        "without release.toml.",
        rich_help_panel=JUDGED,
        show_default=False,
    ),
]
Threshold = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="A right guess of which the intruder was surer counts as exposed.",
        rich_help_panel=JUDGED,
    ),
]
