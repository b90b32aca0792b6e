"""The commands under ``sfumato link``."""

from __future__ import annotations

import typer

from sfumato.cli.link.apply import apply
from sfumato.cli.link.encode import encode
from sfumato.cli.link.group import RUN, LinkGroup
from sfumato.cli.link.key import key
from sfumato.cli.link.run import run
from sfumato.cli.link.suggest import suggest

app = typer.Typer(cls=LinkGroup, help="Link tables without a common identifier.")


@app.callback()
def link() -> None:
    """Link tables without a common identifier."""


app.command(RUN)(run)
app.command()(suggest)
app.command()(apply)
app.command()(key)
app.command()(encode)
