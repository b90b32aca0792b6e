"""``sfumato ledger verify`` and ``checkpoint``: whether the ledger is whole."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.ledger.options import LEDGER, LedgerFile, LedgerKeyFolder, opened
from sfumato.cli.output import NOT_MET, say


def verify(
    ledger: LedgerFile = LEDGER,
    keys: LedgerKeyFolder = None,
    against: Annotated[
        str,
        typer.Option(
            metavar="HEAD",
            help="What 'sfumato ledger checkpoint' printed earlier: shows whether the ledger was "
            "cut off or rewritten since.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Check that nothing in the ledger was changed, left out or rewritten.

    Exit code 2 if something was.
    """
    from sfumato.core.chain import parse_head

    kept = parse_head(against, "sfumato ledger checkpoint") if against else None
    with opened(ledger, keys) as found:
        verdict = found.verify(kept)
    if not verdict.whole:
        say(f"The ledger is not whole: {verdict.fault}.")
        raise typer.Exit(NOT_MET)
    typer.echo(f"The ledger is whole: {verdict.entries:,} entries.")
    typer.echo(f"Head: {verdict.head}")


def checkpoint(ledger: LedgerFile = LEDGER, keys: LedgerKeyFolder = None) -> None:
    """Print the head of the ledger, to be kept outside this machine."""
    with opened(ledger, keys) as found:
        typer.echo(str(found.head()))
