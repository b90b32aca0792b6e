"""``sfumato ledger list``: the releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.ledger.options import LEDGER, LedgerFile, LedgerKeyFolder, opened
from sfumato.cli.ledger.printed import columns, figure, plain_release
from sfumato.cli.output import print_json
from sfumato.cli.parameters import Json

if TYPE_CHECKING:
    from sfumato.semantics.ledger.entries import Release


def list_releases(
    ledger: LedgerFile = LEDGER,
    keys: LedgerKeyFolder = None,
    linkage: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only releases of this linkage.")
    ] = None,
    requester: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only releases to this requester.")
    ] = None,
    json: Json = False,
) -> None:
    """List the releases: when, to whom, of what, with which k and risk."""
    with opened(ledger, keys) as found:
        releases = found.releases(linkage=linkage, requester=requester)
    if json:
        print_json([plain_release(each) for each in releases])
    elif releases:
        typer.echo("\n".join(_lines(releases)))
    else:
        typer.echo("No releases.")


def _lines(releases: list[Release]) -> list[str]:
    head = ("number", "time", "requester", "request", "linkage", "k", "individuals", "tuples")
    rows: list[tuple[str, ...]] = [(*head, "LA risk", "SLA risk", "digests")]
    for each in releases:
        risks = (figure(each.figures.get(scheme, {}).get("risk")) for scheme in ("LA", "SLA"))
        rows.append(
            (
                f"{each.number}",
                each.time[:16].replace("T", " "),
                each.requester,
                each.request,
                each.linkage,
                f"{each.k}",
                f"{each.individuals:,}",
                f"{each.tuples:,}",
                *risks,
                "yes" if each.digests else "no",
            )
        )
    return columns(rows, (0, 5, 6, 7, 8, 9))
