"""The commands under ``sfumato review``."""

from __future__ import annotations

import typer

from sfumato.cli.review.create import create
from sfumato.cli.review.export import export
from sfumato.cli.review.play import play
from sfumato.cli.review.simulate import simulate
from sfumato.cli.review.status import status

app = typer.Typer(
    no_args_is_help=True,
    help="Review doubtful pairs, masked, within a budget of disclosure.",
)


@app.callback()
def review() -> None:
    """Review doubtful pairs, masked, within a budget of disclosure."""


app.command()(play)
app.command()(export)
app.command()(create)
app.command()(status)
app.command()(simulate)
