"""``sfumato anonymize``: release a file that keeps what was asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.declared_options import Given, values_of, with_declared
from sfumato.cli.output import print_json, progress_bar, say, warn
from sfumato.cli.own_process import keep_memory
from sfumato.cli.parameters import DataOrUri, Json, Report, SchemaFile, check_report, file_option
from sfumato.cli.release_checks import (
    MANIFEST,
    check_other_release,
    check_output,
    check_output_on_spark,
    check_register,
    check_same,
    key_of,
    manifest_beside,
    manifest_of,
)
from sfumato.cli.request_release import is_requested, release_requested
from sfumato.core.atomic import all_or_none
from sfumato.core.declaration import declared
from sfumato.core.measure import verdict
from sfumato.release.promises import PROMISES
from sfumato.release.promises.promise import asked
from sfumato.release.release_manifest import Circumstances, Options
from sfumato.risk.assess_options import HeldAgainst
from sfumato.semantics.request_options import RequestOptions

if TYPE_CHECKING:
    from sfumato.release.promises.promise import Budget, Constraint
    from sfumato.release.release_result import Release
    from sfumato.risk.risk_thresholds import Preset

PROMISED, MAKING, REQUESTED = "Promises", "Making", "On request"
"""Headings under which the help lists options."""
Output = Annotated[
    str,
    file_option(
        "--output",
        "-o",
        help=f"The release: .csv, .tsv or .parquet, with sfumato\\[formats] .xlsx, .dta or .sav; "
        f"its codebook and {MANIFEST} are written beside it. The URL of a new table with "
        "sfumato\\[databases]. With --engine spark a folder, or a URI.",
    ),
]
Repeat = Annotated[
    Path | None,
    file_option(
        help="Repeat the release of this release.toml: its promises, options and seed.",
        rich_help_panel=MAKING,
    ),
]


@with_declared(Circumstances)
@with_declared(HeldAgainst)
@with_declared(RequestOptions, panel=REQUESTED)
@with_declared(Options, panel=MAKING)
@with_declared(*PROMISES.values(), panel=PROMISED, optional=True)
def anonymize(
    context: typer.Context,
    data: DataOrUri,
    schema: SchemaFile,
    output: Output,
    *,
    repeat: Repeat = None,
    report: Report = None,
    json: Json = False,
    given: Given,
) -> None:
    """Release a file whose every equivalence class keeps the promises asked for.

    With --policy: linked data, as a policy's rules allow it for a request.

    Exit codes: 0 released and met, 1 bad input, 2 the promises cannot be met.
    """
    keep_memory()
    if is_requested(context, given):
        release_requested(given, Path(data), schema, Path(output), report, json=json)
        return
    from sfumato.core.shared_options import takes_spark
    from sfumato.release.anonymize import anonymize as release_file
    from sfumato.release.preset_promises import held_against
    from sfumato.schema import load_schema
    from sfumato.table.databases import DatabaseTable, is_database

    presets = HeldAgainst(**values_of(HeldAgainst, given)).chosen
    columns = load_schema(schema)
    earlier = None if repeat is None else manifest_of(context, repeat, given["pseudonym_key"])
    register, engine = given["register"], earlier.engine if earlier else given["engine"]
    key = key_of(given["pseudonym_key"], (data, schema, register, given["thresholds"]))
    inputs = (Path(data), schema, given["pseudonym_key"], register)
    on_spark, seed = takes_spark(data, engine), given["seed"]
    url = output if is_database(output) and not on_spark else ""
    place = Path(DatabaseTable.of(url).table) if url else Path(output)
    if on_spark:
        check_output_on_spark(output, columns, inputs)
    else:
        check_output(place, columns, inputs, earlier, anew=seed is None, url=url)
    check_report(report)
    if earlier is not None:
        check_same(earlier, Path(data), columns)
        check_register(earlier, register)
        promises = earlier.constraints
        making = {
            **earlier.options.to_dict(),
            "seed": earlier.seed,
            "population": earlier.population,
        }
    else:
        promises = _promised(given, presets)
        making = {each.name: given[each.key] for each in declared(Options)}
        making |= {"seed": seed, "population": given["population"]}
        if seed is not None and not on_spark:
            keyed = key is not None
            check_other_release(place, Path(data), columns, promises, making, register, keyed)
    with progress_bar() as progress:
        release = release_file(
            data,
            columns,
            *promises,
            progress=progress,
            register=register,
            pseudonym_key=key,
            delimiter=given["delimiter"],
            engine=engine,
            **making,
        )
    with all_or_none():
        release = held_against(release.write(output), presets)
        if report is not None:
            from sfumato.reports import report as write_report

            write_report(release, report)
    _hand_over(release, str(place) if url else output, report, json=json)


def _promised(given: Given, presets: tuple[Preset, ...]) -> tuple[Constraint | Budget, ...]:
    """What the options ask for, and that under which the release meets the presets."""
    from sfumato.release.preset_promises import promises as of_presets
    from sfumato.release.preset_promises import strictest

    every = [asked(kind, given) for kind in PROMISES.values()]
    named = tuple(each for each in every if each is not None)
    if not presets:
        return named
    return strictest((*named, *of_presets(*presets, threshold=given["threshold"])))


def _hand_over(release: Release, output: str, report: Path | None, *, json: bool) -> None:
    """Print what was found, say where everything is."""
    if json:
        warn(release.warnings)
        print_json(release.to_json())
    else:
        typer.echo(_summary(release))
    from sfumato.release.codebook import codebook_name

    codebook = codebook_name(Path(output).name)
    say(f"Release:  {output}\nManifest: {manifest_beside(output)} (keep it inside)")
    say(f"Codebook: {codebook} beside it (goes out with it)")
    if report is not None:
        say(f"Report:   {report}")


def _summary(release: Release) -> str:
    told = release.risk.known_events
    first = [] if told is None or told.named else [f"Known events: {told.warning()}", ""]
    lines = [*first, str(release.risk), "", str(release.utility), "", "Promises"]
    if release.population is not None:
        at = len(first) + 2
        lines[at:at] = [str(release.population), ""]
    if release.lost:
        lines[:0] = [*map(str, release.lost), ""]
    for constraint in release.constraints:
        stated = ", ".join(f"{name} = {value}" for name, value in constraint.parameters().items())
        said = verdict(True, release.manifest.promised(constraint))
        lines.append(f"  {constraint.name} ({stated}): {said}")
    return "\n".join(lines)
