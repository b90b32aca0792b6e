"""``sfumato ledger show``: a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.ledger.options import LEDGER, LedgerFile, LedgerKeyFolder, opened
from sfumato.cli.ledger.printed import association_lines, columns, figure, plain_release
from sfumato.cli.output import print_json
from sfumato.cli.parameters import Json

if TYPE_CHECKING:
    from sfumato.semantics.ledger.entries import Release
    from sfumato.semantics.ledger.tuples import Tuples


def show(
    number: Annotated[int, typer.Argument(help="Its number in 'sfumato ledger list'.")],
    ledger: LedgerFile = LEDGER,
    keys: LedgerKeyFolder = None,
    values: Annotated[
        bool, typer.Option("--show-values", help="Print the generalised tuples too.")
    ] = False,
    json: Json = False,
) -> None:
    """Show a release: who asked for it, what it was made with, what it gives away."""
    with opened(ledger, keys) as found:
        release = found.release(number)
        tuples = found.tuples(number) if values else None
    if json:
        shown = {} if tuples is None else {"shown": _plain_tuples(tuples)}
        print_json({**plain_release(release), **shown})
        return
    lines = _lines(release)
    if tuples is not None:
        lines += ["", *_tuple_lines(tuples)]
    typer.echo("\n".join(lines))


def _lines(release: Release) -> list[str]:
    facts = [
        ("Release", f"{release.number}, {release.time[:19].replace('T', ' ')} UTC"),
        ("Requester", f"{release.requester} ({release.role})"),
        ("Request", f"{release.request}: {release.purpose}"),
        ("Linkage", release.linkage),
        ("k", f"{release.k} on {', '.join(release.quasi_identifiers)}"),
        ("Individuals", f"{release.individuals:,}"),
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
        lines += ["", "Associations, as they were used:", *association_lines(release.associations)]
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
