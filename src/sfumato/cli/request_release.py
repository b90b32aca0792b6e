"""``sfumato anonymize --policy``: release what a policy's rules allow for a request."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.cli.declared_options import Given, check_no_other, values_of
from sfumato.cli.output import check_apart, print_json, say, warn
from sfumato.cli.parameters import check_report
from sfumato.cli.release_checks import MANIFEST, check_output, key_of
from sfumato.core.declaration import declared
from sfumato.core.errors import InputError
from sfumato.semantics.request_options import RequestOptions

if TYPE_CHECKING:
    from sfumato.semantics.requested_release import RequestedRelease


BESIDE_POLICY = frozenset(
    {
        *(each.key for each in declared(RequestOptions)),
        *("data", "schema", "output", "report", "json", "seed", "keep_order", "pseudonym_key"),
    }
)
"""Parameters that may stand beside ``--policy``; the rules decide all others."""


def is_requested(context: typer.Context, given: Given) -> bool:
    """Whether the command line asks for a release on request, and for nothing beside it.

    Parameters
    ----------
    given
        What was given with the declared options.

    Raises
    ------
    InputError
        If it has promises beside the policy, or a request without one.
    """
    if given["file"] is not None:
        check_no_other(
            context,
            "option --policy",
            BESIDE_POLICY,
            "lets the rules decide what must hold",
            "leave it out, or ask for it in the policy",
        )
        return True
    for each in declared(RequestOptions):
        source = context.get_parameter_source(each.key)
        if each.key != "file" and source is not None and source.name == "COMMANDLINE":
            raise InputError(f"option {each.option_name}", "needs --policy beside it")
    return False


def release_requested(
    given: Given, data: Path, schema: Path, output: Path, report: Path | None, *, json: bool
) -> None:
    """Make the release, note it in the ledger, write it and its report, say what was found.

    Parameters
    ----------
    json
        Whether the result is printed as JSON.

    Raises
    ------
    InputError
        If there is no request, a file cannot be read or written, or the rules refuse it.
    """
    from sfumato.cli.ledger_commands import opened
    from sfumato.schema import load_schema
    from sfumato.semantics.policy import load_policy
    from sfumato.semantics.release_request import Mining, ask
    from sfumato.semantics.requested_release import make_release

    request = RequestOptions(**values_of(RequestOptions, given))
    if request.policy is None or request.request is None:
        raise InputError("option --policy", "needs --request beside it")
    columns, policy = load_schema(schema), load_policy(request.policy)
    book, keys = request.ledger, request.keys
    inputs = (data, schema, request.policy, book, *request.local.values(), *request.rules)
    inputs = (*inputs, *policy.rules)
    key = key_of(given["pseudonym_key"], inputs)
    inputs = (*inputs, given["pseudonym_key"])
    check_output(output, columns, inputs)
    check_report(report)
    if report is not None:
        check_apart((report,), (*inputs, output, output.with_name(MANIFEST)))
    if book is not None and book.exists():
        opened(book, keys).close()
    asked = ask(
        data,
        columns,
        policy=policy,
        request=request.request,
        local=request.local,
        rules=request.rules,
    )
    with nullcontext() if book is None else opened(book, keys, make=True) as ledger:
        release = make_release(
            asked,
            ledger,
            output,
            mining=Mining(request.association_support, request.association_confidence),
            seed=given["seed"],
            keep_order=given["keep_order"],
            pseudonym_key=key,
            also=partial(_write_report, path=report),
        )
    _say_found(release, json=json)
    say(f"Release:  {output}\nManifest: {output.with_name(MANIFEST)} (keep it inside)")
    if release.number is not None:
        say(f"Ledger:   {book}, release {release.number}")
    if report is not None:
        say(f"Report:   {report}")


def _write_report(release: RequestedRelease, path: Path | None) -> None:
    if path is not None:
        from sfumato.reports import report

        report(release, path)


def _say_found(release: RequestedRelease, *, json: bool) -> None:
    warn(release.warnings)
    if json:
        print_json(release.to_json())
    else:
        typer.echo("\n".join(_lines(release)))


def _lines(release: RequestedRelease) -> list[str]:
    from sfumato.cli.output import columns, figure

    request = release.asked.details
    lines = columns(
        [
            ("Request", release.asked.request),
            ("Requester", f"{request.requester or '(not named)'} ({request.role})"),
            ("Linkage", request.linkage),
            *(
                (f"k = {release.k} in {local.name}", ", ".join(local.quasi_identifiers))
                for local in release.linked.locals_
            ),
        ]
    )
    rows: list[tuple[str, ...]] = [
        ("", "risk", "without associations", "SSE/SST", "NCP", "fewest match")
    ]
    for name, each in release.figures.items():
        numbers = (each.risk, each.risk_unaware, each.sse_sst, each.ncp)
        rows.append((name, *map(figure, numbers), f"{each.smallest_match}"))
    lines += ["", *columns(rows, (1, 2, 3, 4, 5)), "", "Rules"]
    lines += [f"  {each}" for each in release.rules]
    if release.changes:
        lines += ["", "Known to readers"]
    for change in release.changes:
        some = "1 tuple" if change.tuples == 1 else f"{change.tuples:,} tuples"
        done = f"{some} changed" if change.tuples else "nothing to change"
        lines.append(f"  {change.association or 'releases':12}  {change.says}: {done}")
    if release.proposed and release.number is not None:
        lines += ["", f"{len(release.proposed):,} associations to review: see 'sfumato ledger'"]
    return lines
