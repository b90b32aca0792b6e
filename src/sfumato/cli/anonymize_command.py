"""``sfumato anonymize``: release a file that keeps what was asked."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import release_checks
from sfumato.cli.declared_options import (
    Given,
    check_no_other,
    on_command_line,
    values_of,
    with_declared,
)
from sfumato.cli.output import (
    ABOVE,
    READY,
    check_apart,
    columns,
    few,
    in_classes,
    print_found,
    print_json,
    progress_bar,
    say,
    warn,
    write_report,
)
from sfumato.cli.own_process import keep_memory
from sfumato.cli.parameters import (
    DataOrUri,
    Details,
    Json,
    Report,
    SchemaFile,
    check_report,
    file_option,
)
from sfumato.core.atomic import all_or_none
from sfumato.core.declaration import declared, is_database, layout_of, takes_spark
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted, percentage, share_text
from sfumato.ledger.ledger_options import LedgerOptions
from sfumato.release.promises import PROMISES, AddedPromises, all_asked
from sfumato.release.release_options import Circumstances, Limited, Options
from sfumato.risk.assess_options import HeldAgainst, JudgedBy
from sfumato.semantics.request_options import RequestOptions

if TYPE_CHECKING:
    from sfumato.ledger.release_ledger import ReleaseLedger, Remembered
    from sfumato.release.promises.promise import Budget, Constraint
    from sfumato.release.release_manifest import Manifest
    from sfumato.release.release_result import Release
    from sfumato.risk.risk_thresholds import Preset
    from sfumato.semantics.requested_release import RequestedRelease

PROMISED, MAKING, REQUESTED = "Promises", "Making", "On request"
"""Headings under which the help lists options."""
Output = Annotated[
    str,
    file_option(
        "--output",
        "-o",
        help=f"The release: .csv, .tsv or .parquet, with sfumato\\[formats] .xlsx, .dta or .sav; "
        f"its codebook and {release_checks.MANIFEST} are written beside it. The URL of a new table "
        "with sfumato\\[databases]. With --engine spark a folder, or a URI.",
    ),
]
Repeat = Annotated[
    Path | None,
    file_option(
        help="Repeat the release of this release.toml: its promises, options and seed. It needs "
        "the secret beside that file, or --secret.",
        rich_help_panel=MAKING,
    ),
]


@with_declared(Circumstances)
@with_declared(JudgedBy)
@with_declared(Limited, panel=MAKING)
@with_declared(HeldAgainst)
@with_declared(LedgerOptions)
@with_declared(RequestOptions, panel=REQUESTED)
@with_declared(Options, panel=MAKING)
@with_declared(*PROMISES.values(), AddedPromises, panel=PROMISED, optional=True)
def anonymize(
    context: typer.Context,
    data: DataOrUri,
    schema: SchemaFile,
    output: Output,
    *,
    repeat: Repeat = None,
    report: Report = None,
    json: Json = False,
    details: Details = False,
    given: Given,
) -> int:
    """Release a file in which every class keeps the promises asked for.

    With --policy: linked data, as a policy's rules allow it for a request.

    Exit codes: 0 ready, 1 bad input, 2 written, but a number is above its limit, 4 written, but
    something was not measured, 5 a promise cannot be kept.
    """
    keep_memory()
    # The environment may name keys for other commands: only here do they want a ledger beside
    # them.
    if given["ledger"] is None and "keys" in dict(on_command_line(context)):
        raise InputError("option --keys", "needs --ledger beside it", advice="name the ledger")
    if is_requested(context, given):
        return release_requested(given, data, schema, Path(output), report, json=json)
    from sfumato.release.anonymize import anonymize as release_file
    from sfumato.risk.verdict import Limits
    from sfumato.schema import load_schema
    from sfumato.table.databases import DatabaseTable

    presets = HeldAgainst(**values_of(HeldAgainst, given)).chosen
    limits = Limits(given["limits"])
    declared_as = load_schema(schema)
    earlier = (
        None
        if repeat is None
        else release_checks.manifest_of(context, repeat, given["pseudonym_key"], given["continues"])
    )
    register, engine = given["register"], earlier.engine if earlier else given["engine"]
    key = release_checks.key_of(
        given["pseudonym_key"], (data, schema, register, given["thresholds"])
    )
    inputs = (data, schema, given["pseudonym_key"], register, given["withdrawn"])
    # What continues a series has the secret of the file before.
    again = None if given["continues"] else repeat
    secret = release_checks.secret_of(given["secret"], again, inputs)
    on_spark, seed = takes_spark(data, engine) and not declared_as.tables, given["seed"]
    url = output if is_database(output) and not on_spark else ""
    # The manifest of a table stands in the present folder, under the table's name.
    place = Path(DatabaseTable.of(url).table) if url else Path(output)
    if on_spark:
        release_checks.check_output_on_spark(output, declared_as, inputs)
    else:
        anew = seed is None or secret is None
        release_checks.check_output(
            place, declared_as, inputs, earlier, secret=secret, anew=anew, url=url
        )
    check_apart((place,), (given["secret"],))
    check_report(report)
    check_memory(given, on_spark=on_spark)
    promises, making = _plan(context, given, output, presets, earlier)
    if earlier is not None:
        release_checks.check_same(earlier, data, declared_as)
        release_checks.check_register(earlier, register)
    elif not (on_spark or seed is None or secret is None):
        # With its seed and secret it may be the release that is there, in another form.
        planned, keyed = making | {"secret": secret}, key is not None
        release_checks.check_other_release(
            place, data, declared_as, promises, planned, register, keyed
        )
    with progress_bar() as progress:
        release = release_file(
            release_checks.opened(data, declared_as),
            declared_as,
            *promises,
            *([limits] if given["promise_limits"] else []),
            progress=progress,
            register=register,
            pseudonym_key=key,
            secret=secret,
            **layout_of(given),
            engine=engine,
            **making,
        ).judged(limits, cured=not given["no_cures"])
    if earlier is not None:
        release_checks.check_same_series(earlier, release.manifest)
    release = _written(release, output, place, given, presets, report)
    text = "" if json else _summary(release) if details else _brief(release)
    _hand_over(release, str(place) if url else output, report, text)
    return release.verdict.exit_code


def _plan(
    context: typer.Context,
    given: Given,
    output: str,
    presets: tuple[Preset, ...],
    earlier: Manifest | None,
) -> tuple[tuple[Constraint | Budget, ...], dict[str, Any]]:
    """The promises and the options, those of a manifest that is repeated or of a series."""
    again = {}
    if earlier is not None:
        again = {"seed": earlier.seed, "period": earlier.series.get("period")}
    if given["continues"] is not None:
        release_checks.check_continue(context, Path(output))
        making = {name: given[name] for name in ("continues", "period", "withdrawn", "seed")}
        return (), making | again
    if earlier is None:
        making = {each.name: given[each.key] for each in declared(Options)}
        making |= {name: given[name] for name in ("seed", "population", "period", "withdrawn")}
        return _promised(given, presets), making
    more = {"population": earlier.population, **again}
    return earlier.constraints, earlier.options.to_dict() | more


def _written(
    release: Release,
    output: str,
    place: Path,
    given: Given,
    presets: tuple[Preset, ...],
    report: Path | None,
) -> Release:
    """Write the release and its report, note it where a ledger is named."""
    from sfumato.release.preset_promises import held_against

    # All or none: without its manifest and its secret a release cannot be repeated.
    with memory_of(given) as memory, all_or_none():
        kept = release_checks.secret_beside(output if is_database(output) else place)
        release = held_against(release.write(output, memory=memory, secret=kept), presets)
        write_report(release, report)
        draft = None if memory is None else memory.remembered()[-1]
    if draft is None:
        say("Ledger:   none named, so nothing is remembered of this release (--ledger FILE)")
    else:
        say_draft(draft, given)
    return release


def check_memory(given: Given, *, on_spark: bool) -> None:
    """Refuse a ledger that cannot remember the release, before work starts.

    Raises
    ------
    InputError
        If it cannot be opened, or the release is made on a cluster.
    """
    if on_spark and given["ledger"] is not None:
        raise InputError(
            "option --ledger",
            "cannot remember a release on Spark",
            found="records on a cluster",
            advice="make it with --engine embedded, or leave the ledger out",
        )
    # Opened once: a ledger that cannot be used must stop the command before the work.
    with memory_of(given):
        pass


def memory_of(given: Given) -> AbstractContextManager[ReleaseLedger | None]:
    """The ledger in which a release by promises is noted; ``None`` where none is named.

    Raises
    ------
    InputError
        If it cannot be opened.
    """
    if given["ledger"] is None:
        return nullcontext()
    from sfumato.cli.memory_commands import remembering

    return remembering(given["ledger"], given["keys"])


def say_draft(draft: Remembered, given: Given) -> None:
    """Say that a draft was noted, and what handing it over would give away."""
    say(
        f"Ledger:   {given['ledger']}, draft {draft.number}; it counts once 'sfumato ledger "
        f"hand-over {draft.number} --to RECIPIENT' lets it"
    )
    if draft.beyond is not None:
        say(
            f"It is not to be handed over as it is: with what was before, "
            f"{percentage(draft.beyond)} of people would be found. "
            f"'sfumato ledger hand-over {draft.number}' says what would help"
        )


def _promised(given: Given, presets: tuple[Preset, ...]) -> tuple[Constraint | Budget, ...]:
    """What the options ask for, and that under which the release meets the presets."""
    from sfumato.release.preset_promises import promises as of_presets

    return (
        *all_asked(given),
        *(of_presets(*presets, threshold=given["threshold"]) if presets else ()),
    )


def _hand_over(release: Release, place: str, report: Path | None, text: str) -> None:
    """Print what was found, as JSON where there is no text; say where everything is."""
    if not text:
        # JSON alone goes to standard output: other programs read it.
        warn(release.warnings)
        print_json(release.to_json())
    else:
        typer.echo(text)
    of_tables = bool(release.manifest.tables)
    _say_files(place, of_series=release.lasting is not None, of_tables=of_tables)
    if report is not None:
        say(f"Report:   {report}")


def _say_files(place: str, *, of_series: bool = False, of_tables: bool = False) -> None:
    """Name the files of a release, and those that stand beside it."""
    from sfumato.release.codebook import codebook_name
    from sfumato.release.lasting_classes import SERIES_FILE

    say(f"Release:  {place}\nManifest: {release_checks.manifest_beside(place)} (keep it inside)")
    say(f"Secret:   {release_checks.secret_beside(place)} (keep it inside; --repeat needs it)")
    if of_series:
        series = release_checks.secret_beside(place).with_name(SERIES_FILE)
        say(f"Series:   {series} (keep it inside: it holds records; --continue needs it)")
    where = "in" if of_tables else "beside"
    say(f"Codebook: {codebook_name(Path(place).name)} {where} it (goes out with it)")


_WHERE_ABOVE = (
    "Ask for what keeps the limits, at the least loss: --promise-limits (of one table)",
    "Or a person answers for what is above, in a project: sfumato init, run, accept",
)
"""What is left where nothing was tried."""
_WHERE_BELOW = (
    "Attack it, knowing the original: sfumato attack RELEASE --original DATA --schema SCHEMA",
    "Sign it and hand it over, in a project: sfumato init, run, sign",
)


def _brief(release: Release) -> str:
    """The release on one screen: what was lost, the promises, the verdict."""
    from sfumato.release.cures import detail_lost
    from sfumato.table.dependence import acceptances

    risk = release.risk
    where = "" if risk.ran is None else f", on {risk.ran}"
    lost = f"Detail lost: {share_text(detail_lost(release))}."
    people = in_classes(risk)
    of_tables = getattr(release.content, "lines", None)
    tables = [] if of_tables is None else columns(of_tables(), (1, 2, 4, 5, 6))
    lines = [
        *tables,
        *few([f"Accepted: {each}" for each in acceptances(risk.columns)], "accepted column"),
        *few(list(map(str, release.lost)), "lost column"),
        *few([f"Warning: {each}" for each in release.warnings], "warning"),
        f"Released: {people}{where}. {lost}",
        *few([f"Promise: {each}" for each in release.promise_words], "promise"),
    ]
    advice = {READY: _WHERE_BELOW, ABOVE: _WHERE_ABOVE}.get(release.verdict.exit_code, ())
    return "\n".join([*lines, "", release.verdict.text(False, options=True, advice=advice)])


def _summary(release: Release) -> str:
    from sfumato.table.dependence import acceptances

    # Where nobody named events the warning comes first: it is about all numbers below.
    told = "" if release.risk.known_events is None else release.risk.known_events.warning()
    first = [f"Known events: {told}", ""] if told else []
    accepted = acceptances(release.risk.columns)
    first = [*(f"Accepted: {each}" for each in accepted), *([""] if accepted else []), *first]
    lines = [*first, str(release.risk), "", str(release.utility), "", "Promises"]
    of_tables = getattr(release.content, "lines", None)
    if of_tables is not None:
        lines[:0] = [*columns(of_tables(), (1, 2, 4, 5, 6)), ""]
    if release.population is not None:
        at = len(first) + 2
        lines[at:at] = [str(release.population), ""]
    if release.lost:
        lines[:0] = [*map(str, release.lost), ""]
    lines += [f"  {each}" for each in release.promise_words]
    # Last, where a terminal leaves the eye.
    lines += ["", str(release.verdict)]
    return "\n".join(lines)


BESIDE_POLICY = frozenset(
    {
        *(each.key for each in declared(RequestOptions, LedgerOptions)),
        *("data", "schema", "output", "report", "json", "seed", "keep_order", "limits"),
        *("pseudonym_key", "secret"),
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
    named = dict(on_command_line(context))
    for each in declared(RequestOptions):
        if each.key in named:
            raise InputError(f"option {each.option_name}", "needs --policy beside it")
    return False


def release_requested(
    given: Given, data: str, schema: Path, output: Path, report: Path | None, *, json: bool
) -> int:
    """Make the release, note it in the ledger, write it and its report, say what was found.

    Returns the exit code that follows from what intruders find.

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
    book, keys = given["ledger"], given["keys"]
    inputs = (data, schema, request.policy, book, *request.local.values(), *request.rules)
    inputs = (*inputs, *policy.rules)
    key = release_checks.key_of(given["pseudonym_key"], inputs)
    inputs = (*inputs, given["pseudonym_key"])
    secret = release_checks.secret_of(given["secret"], None, inputs)
    release_checks.check_output(output, columns, inputs)
    check_apart((output,), (given["secret"],))
    check_report(report)
    if report is not None:
        check_apart((report,), (*inputs, output, output.with_name(release_checks.MANIFEST)))
    if book is not None:
        # Opened once: it must not fail after the work.
        opened(book, keys).close()
    asked = ask(
        data,
        columns,
        policy=policy,
        request=request.request,
        local=request.local,
        rules=request.rules,
        informed=request.informed,
    )
    with nullcontext() if book is None else opened(book, keys) as ledger:
        release = make_release(
            asked,
            ledger,
            output,
            mining=Mining(request.association_support, request.association_confidence),
            seed=given["seed"],
            keep_order=given["keep_order"],
            pseudonym_key=key,
            secret=secret,
            also=partial(_write_beside, output=output, report=report, limits=given["limits"]),
        )
    release = release.judged(given["limits"])
    warn(release.warnings)
    print_found(release.to_json(), [*_lines(release), "", str(release.verdict)], json=json)
    _say_files(str(output))
    if release.number is not None:
        say(f"Ledger:   {book}, release {release.number}")
    if report is not None:
        say(f"Report:   {report}")
    return release.verdict.exit_code


def _write_beside(
    release: RequestedRelease, output: Path, report: Path | None, limits: str
) -> None:
    """Write the secret and the report of a release on request."""
    assert release.secret is not None
    release.secret.write(release_checks.secret_beside(output))
    write_report(release.judged(limits), report)


def _lines(release: RequestedRelease) -> list[str]:
    from sfumato.cli.output import figure

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
        some = counted(change.tuples, "tuple")
        done = f"{some} changed" if change.tuples else "nothing to change"
        lines.append(f"  {change.association or 'releases':12}  {change.says}: {done}")
    if release.proposed and release.number is not None:
        lines += [
            "",
            f"{counted(len(release.proposed), 'association')} to review: see 'sfumato ledger'",
        ]
    return lines
