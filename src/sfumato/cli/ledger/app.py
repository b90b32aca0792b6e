"""The commands under ``sfumato ledger``."""

from __future__ import annotations

import typer

from sfumato.cli.ledger import associations
from sfumato.cli.ledger.check import checkpoint, verify
from sfumato.cli.ledger.list import list_releases
from sfumato.cli.ledger.show import show

app = typer.Typer(
    no_args_is_help=True,
    help="What was released to whom: append-only, chained and signed.",
)
app.command("list")(list_releases)
app.command()(show)
app.command()(verify)
app.command()(checkpoint)
app.add_typer(associations.app, name="associations")
