"""``sfumato ledger associations``: what earlier releases tell, and what the custodian says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sfumato.cli.ledger.options import LEDGER, LedgerFile, LedgerKeyFolder, opened
from sfumato.cli.ledger.printed import association_lines, plain_association, printable
from sfumato.cli.output import print_json
from sfumato.cli.parameters import Json

app = typer.Typer(
    no_args_is_help=True,
    help="Review the associations that were found in earlier releases.",
)
Id = Annotated[str, typer.Argument(metavar="ID", help="Its id in the list.")]
Note = Annotated[str, typer.Option(metavar="TEXT", help="Why.", show_default=False)]
By = Annotated[
    str,
    typer.Option(
        metavar="NAME", envvar="SFUMATO_CUSTODIAN", help="Who decides.", show_default=False
    ),
]


@app.command("list")
def list_associations(
    ledger: LedgerFile = LEDGER,
    keys: LedgerKeyFolder = None,
    state: Annotated[
        Literal["proposed", "accepted", "rejected"] | None,
        typer.Option(help="Only those in this state.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """List the associations with what was decided on them."""
    with opened(ledger, keys) as found:
        associations = [each for each in found.associations() if state in {None, each.state}]
    if json:
        print_json([plain_association(each) for each in associations])
    elif associations:
        typer.echo("\n".join(association_lines(associations)))
    else:
        typer.echo("No associations.")


@app.command()
def accept(
    association: Id, note: Note, by: By, ledger: LedgerFile = LEDGER, keys: LedgerKeyFolder = None
) -> None:
    """Accept an association: a reader may know it, and releases must not rest on its secrecy."""
    _decide(association, "accept", note, by, ledger, keys)


@app.command()
def reject(
    association: Id, note: Note, by: By, ledger: LedgerFile = LEDGER, keys: LedgerKeyFolder = None
) -> None:
    """Reject an association: it is noise, or no secret."""
    _decide(association, "reject", note, by, ledger, keys)


def _decide(
    association: str,
    decision: Literal["accept", "reject"],
    note: str,
    by: str,
    ledger: Path,
    keys: Path | None,
) -> None:
    with opened(ledger, keys) as found:
        decided = found.decide(association, decision, note, by)
    typer.echo(f"{decided.id} is {decided.state}: {printable(decided.text)}")
