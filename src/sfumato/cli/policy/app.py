"""The commands under ``sfumato policy``."""

from __future__ import annotations

import typer

from sfumato.cli.policy.check import check
from sfumato.cli.policy.convert import convert
from sfumato.cli.policy.explain import explain

app = typer.Typer(
    no_args_is_help=True,
    help="Who may get which linkage, and what must hold for it.",
)


@app.callback()
def policy() -> None:
    """Who may get which linkage, and what must hold for it."""


app.command()(check)
app.command()(explain)
app.command()(convert)
