"""``sfumato anonymize --policy``: release what a policy's rules allow for a request."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.cli.options.output import MANIFEST, check_output, key_of
from sfumato.cli.options.requested import local_files
from sfumato.cli.output import check_apart, print_json, say, warn
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.semantics.requested import RequestedRelease


@dataclass(frozen=True)
class Options:
    """What the command line says about a release on request.

    Attributes
    ----------
    data, schema, output, report, pseudonym_key
        Files.
    policy, request, local, site_rules
        Who asks for what, by which rules, beside which local data.
    ledger, keys
        The ledger and the folder of its keys.
    support, confidence
        From when on an association is proposed.
    seed, keep_order, json
        How it is made and printed.
    """

    data: Path
    schema: Path
    output: Path
    report: Path | None
    pseudonym_key: Path | None
    policy: Path
    request: str | None
    local: list[str] | None
    site_rules: list[Path] | None
    ledger: Path | None
    keys: Path | None
    support: float
    confidence: float
    seed: int | None
    keep_order: bool
    json: bool


def release_requested(options: Options) -> None:
    """Make the release, note it in the ledger, write it and its report, say what was found.

    Parameters
    ----------
    options
        What the command line says.

    Raises
    ------
    InputError
        If there is no request, a file cannot be read or written, or the rules refuse it.
    """
    from sfumato.cli.ledger.options import opened
    from sfumato.schema import load_schema
    from sfumato.semantics.policy import load_policy
    from sfumato.semantics.requested import Mining, ask, make_release

    if options.request is None:
        raise InputError("option --policy", "needs --request beside it")
    declared = load_schema(options.schema)
    policy = load_policy(options.policy)
    local = local_files(options.local)
    rules = options.site_rules or []
    read = (options.data, options.schema, options.policy, options.ledger)
    inputs = (*read, *local.values(), *rules, *policy.rules)
    key = key_of(options.pseudonym_key, inputs)
    inputs = (*inputs, options.pseudonym_key)
    check_output(options.output, declared, inputs)
    if options.report is not None:
        from sfumato.reports import check_report_path

        check_report_path(options.report)
        outputs = {options.output, options.output.with_name(MANIFEST)}
        check_apart((options.report,), (*inputs, *outputs))
    if options.ledger is not None and options.ledger.exists():
        opened(options.ledger, options.keys).close()
    asked = ask(
        options.data, declared, policy=policy, request=options.request, local=local, rules=rules
    )
    mining = Mining(options.support, options.confidence)
    book = options.ledger
    with nullcontext() if book is None else opened(book, options.keys, make=True) as ledger:
        release = make_release(
            asked,
            ledger,
            options.output,
            mining=mining,
            seed=options.seed,
            keep_order=options.keep_order,
            pseudonym_key=key,
            also=partial(_write_report, path=options.report),
        )
    _hand_over(release, options)


def _write_report(release: RequestedRelease, path: Path | None) -> None:
    if path is not None:
        from sfumato.reports import report

        report(release, path)


def _hand_over(release: RequestedRelease, options: Options) -> None:
    warn(release.warnings)
    if options.json:
        print_json(release.to_json())
    else:
        typer.echo("\n".join(_lines(release)))
    say(
        f"Release:  {options.output}\n"
        f"Manifest: {options.output.with_name(MANIFEST)} (keep it inside)"
    )
    if release.number is not None:
        say(f"Ledger:   {options.ledger}, release {release.number}")
    if options.report is not None:
        say(f"Report:   {options.report}")


def _lines(release: RequestedRelease) -> list[str]:
    from sfumato.cli.ledger.printed import columns, figure

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
