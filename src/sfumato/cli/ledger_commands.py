"""``sfumato ledger``: what was released to whom, and what the custodian says of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sfumato.cli import memory_commands
from sfumato.cli.memory_commands import By, LedgerFile, LedgerKeyFolder, Note
from sfumato.cli.output import columns, figure, print_found, printable, show_verdict
from sfumato.cli.parameters import Json, option
from sfumato.core.declaration import fields_of
from sfumato.core.number_text import percentage
from sfumato.ledger.ledger_options import default_ledger, default_ledger_keys

if TYPE_CHECKING:
    from sfumato.semantics.request_ledger import RequestLedger
    from sfumato.semantics.requested_content import NotedAssociation, Release, Tuples

Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Their ids in the list.")]
app = typer.Typer(no_args_is_help=True)
associations = typer.Typer(
    no_args_is_help=True, help="Review the associations that were found in earlier releases."
)


@app.callback()
def ledger() -> None:
    """What was released, and its recipients: append-only, chained and signed."""


@app.command("list")
def list_releases(
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    linkage: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only releases of this linkage.")
    ] = None,
    requester: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only releases to this requester.")
    ] = None,
    json: Json = False,
) -> None:
    """List the releases: when, who got them, of what, with which k and risk."""
    with opened(ledger, keys) as found:
        releases = found.releases(linkage=linkage, requester=requester)
    lines = _lines_of_releases(releases) if releases else ["No releases."]
    print_found([_plain_release(each) for each in releases], lines, json=json)


def _lines_of_releases(releases: list[Release]) -> list[str]:
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


@app.command()
def show(
    number: Annotated[int, typer.Argument(help="Its number in 'sfumato ledger list'.")],
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    values: Annotated[
        bool, typer.Option("--show-values", help="Print the generalised tuples too.")
    ] = False,
    json: Json = False,
) -> None:
    """Show a release: who asked for it, what it was made with, what it gives away."""
    with opened(ledger, keys) as found:
        release = found.release(number)
        # They hold labels of the data, and are read only where somebody asks for them.
        tuples = found.tuples(number) if values else None
    plain, lines = _plain_release(release), _lines_of_release(release)
    if tuples is not None:
        plain["shown"] = _plain_tuples(tuples)
        lines += ["", *_tuple_lines(tuples)]
    print_found(plain, lines, json=json)


def _lines_of_release(release: Release) -> list[str]:
    facts = [
        ("Release", f"{release.number}, {release.time[:19].replace('T', ' ')} UTC"),
        ("Requester", f"{release.requester} ({release.role})"),
        ("Request", f"{release.request}: {release.purpose}"),
        ("Linkage", release.linkage),
        ("k", f"{release.k} on {', '.join(release.quasi_identifiers)}"),
        ("People", f"{release.individuals:,}"),
        (
            "Tuples",
            f"{release.tuples:,} distinct"
            + ("" if release.smallest is None else f", the smallest of {release.smallest:,}"),
        ),
        ("Intersection", release.intersection),
        *(
            (scheme, ", ".join(f"{name} {figure(each)}" for name, each in figures.items()))
            for scheme, figures in release.figures.items()
        ),
        ("Policy", release.policy_hash),
        ("Manifest", release.manifest_hash),
        *(("File", f"{name} {each}") for name, each in release.file_hashes.items()),
        ("Entry", release.digest),
    ]
    lines = columns(facts)
    if release.associations:
        lines += ["", "Associations, as they were used:", *_association_lines(release.associations)]
    return lines


def _tuple_lines(tuples: Tuples) -> list[str]:
    rows = [
        (*("" if value is None else value["label"] for value in row["values"]), f"{row['count']:,}")
        for row in _plain_tuples(tuples)
    ]
    head = (*tuples.attributes, "individuals")
    return columns([head, *rows], (len(tuples.attributes),))


def _plain_tuples(tuples: Tuples) -> list[dict[str, Any]]:
    return [
        {
            "values": [
                None if code < 0 else values[code]._asdict()
                for values, code in zip(tuples.values, row, strict=True)
            ],
            "count": int(count),
        }
        for row, count in zip(tuples.codes.tolist(), tuples.counts.tolist(), strict=True)
    ]


@app.command()
def grant(
    linkage: Annotated[str, option(metavar="NAME", help="The linkage of the policy.")],
    note: Note,
    by: By,
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    k: Annotated[int | None, option(metavar="K", help="The k from now on.")] = None,
    local: Annotated[
        list[str] | None,
        option(metavar="NAME=FILE", help="The new data of a database. Repeatable."),
    ] = None,
) -> None:
    """Let later releases on request keep a lower k, or be held against other local data."""
    from sfumato.core.declaration import places_by_name
    from sfumato.table.table_files import data_sha256

    places = places_by_name("option --local", local or ())
    hashes = {name: data_sha256(place) for name, place in places.items()}
    with opened(ledger, keys) as found:
        found.grant(linkage, k=k, local=hashes, note=note, by=by)
    typer.echo("Granted; the entry says who did it and why.")


@app.command()
def verify(
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    against: Annotated[
        str,
        option(
            metavar="HEAD",
            help="What 'sfumato ledger checkpoint' printed earlier: shows whether the ledger was "
            "cut off or rewritten since.  [default: the head beside its keys]",
        ),
    ] = "",
) -> None:
    """Check that nothing in the ledger was changed, left out or rewritten.

    Exit code 2 if something was.
    """
    from sfumato.core.chain import parse_head

    kept = parse_head(against, "sfumato ledger checkpoint") if against else None
    # A ledger that is not as its keys know it is what is looked for here.
    with opened(ledger, keys, anchored=False) as found:
        verdict = found.verify(kept or found.kept())
    show_verdict("ledger", verdict)


@app.command()
def checkpoint(ledger: LedgerFile = None, keys: LedgerKeyFolder = None) -> None:
    """Print the head of the ledger, to be kept outside this machine."""
    with opened(ledger, keys) as found:
        typer.echo(str(found.head()))


app.add_typer(memory_commands.app)
app.add_typer(associations, name="associations")


@associations.command("list")
def list_associations(
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    state: Annotated[
        Literal["proposed", "accepted", "rejected"] | None, option(help="Only those in this state.")
    ] = None,
    json: Json = False,
) -> None:
    """List the associations with what was decided on them."""
    with opened(ledger, keys) as found:
        known = [each for each in found.associations() if state in {None, each.state}]
    lines = _association_lines(known) if known else ["No associations."]
    print_found([_plain_association(each) for each in known], lines, json=json)


@associations.command()
def accept(
    associations: Ids, note: Note, by: By, ledger: LedgerFile = None, keys: LedgerKeyFolder = None
) -> None:
    """Accept associations: a reader may know them, and releases must not rest on their secrecy."""
    _decide(associations, "accept", note, by, ledger, keys)


@associations.command()
def reject(
    associations: Ids, note: Note, by: By, ledger: LedgerFile = None, keys: LedgerKeyFolder = None
) -> None:
    """Reject associations: they are noise, or no secret."""
    _decide(associations, "reject", note, by, ledger, keys)


def _decide(
    associations: Sequence[str],
    decision: Literal["accept", "reject"],
    note: str,
    by: str,
    ledger: Path | None,
    keys: Path | None,
) -> None:
    with opened(ledger, keys) as found:
        decided = found.decide(associations, decision, note, by)
    for each in decided:
        # Labels come from the data, and may hold what steers a terminal.
        typer.echo(f"{each.id} is {each.state}: {printable(each.text)}")


def opened(ledger: Path | None, keys: Path | None, *, anchored: bool = True) -> RequestLedger:
    """The ledger that was named, or the user's own.

    Parameters
    ----------
    anchored
        Whether to refuse one that is not as its keys have seen it last.

    Raises
    ------
    InputError
        If it cannot be opened.
    """
    from sfumato.semantics.request_ledger import RequestLedger

    place, folder = ledger or default_ledger(), keys or default_ledger_keys()
    return RequestLedger.open(place, folder, anchored=anchored)


def _plain_release(release: Release) -> dict[str, Any]:
    """A release as plain values."""
    return {
        **fields_of(release, "number time requester role request purpose linkage k"),
        "quasi_identifiers": list(release.quasi_identifiers),
        **fields_of(release, "individuals tuples"),
        "smallest_tuple": release.smallest,
        **fields_of(release, "digests intersection"),
        "figures": {name: dict(each) for name, each in release.figures.items()},
        "associations": [_plain_association(each) for each in release.associations],
        **fields_of(release, "policy_hash manifest_hash"),
        "file_hashes": dict(release.file_hashes),
        "digest": release.digest,
    }


def _plain_association(association: NotedAssociation) -> dict[str, Any]:
    """An association as plain values."""
    return {
        "id": association.id,
        "if": [term._asdict() for term in association.antecedent],
        "then": association.consequent._asdict(),
        **fields_of(association, "support confidence"),
        "state": str(association.state),
        **fields_of(association, "note by time"),
        "found": list(association.found),
    }


def _association_lines(associations: Sequence[NotedAssociation]) -> list[str]:
    """Associations as lines."""
    head = ("id", "state", "support", "confidence", "association", "note")
    rows = [
        (
            each.id,
            str(each.state),
            percentage(each.support),
            percentage(each.confidence),
            each.text,
            each.note,
        )
        for each in associations
    ]
    return columns([head, *rows], (2, 3))
