"""``sfumato tune``: search the constraints that lose least under thresholds."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.declared_options import Given, values_of, with_declared
from sfumato.cli.output import NOT_KEPT, check_apart, print_json, progress_bar, say, warn
from sfumato.cli.own_process import keep_memory
from sfumato.cli.parameters import Json, Report, argument, check_report, file_option, option
from sfumato.core.atomic import all_or_none
from sfumato.core.declaration import LAYOUT, Place
from sfumato.core.errors import InputError
from sfumato.pipeline.tune_options import Circumstances, Searching
from sfumato.risk.assess_options import HeldAgainst, JudgedBy

if TYPE_CHECKING:
    from sfumato.pipeline.project_folder import ProjectFolder
    from sfumato.pipeline.tune import Tuned
    from sfumato.schema import Schema

MAKING = "Making"
"""A heading under which the help lists options."""
Thresholds = Annotated[
    list[str] | None,
    option(
        "--threshold",
        metavar="MEASURE=LIMIT",
        help="What a measure of the release may be at most, or has to be at least (pid_k, ...); "
        "may be given several times.",
    ),
]
WriteSchema = Annotated[
    Path | None,
    file_option(
        "--write-schema",
        help="Also search other weights, coarser hierarchies and columns left out; the schema "
        "of the chosen point is written there.",
        rich_help_panel=MAKING,
    ),
]
TunedData = Annotated[
    str,
    argument(
        metavar="DATA",
        help="The file, as of 'sfumato anonymize'; or a project, its file or folder: its table, "
        "schema, limits and acceptances are taken.",
    ),
]
TunedSchema = Annotated[
    Path | None, file_option("--schema", help="What each column of a file is, as TOML.")
]
CommandOutput = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", help="The release that the printed command writes."
    ),
]


@with_declared(Circumstances, only=("at_risk", "register", "population", "seed", *LAYOUT))
@with_declared(Circumstances, only=("values", "unclassified"), panel=MAKING)
@with_declared(Searching, only=("suppress", "cap_records", "full_domain"), panel=MAKING)
@with_declared(Searching, only=("loss", "trials", "time_limit"))
@with_declared(HeldAgainst)
@with_declared(JudgedBy, optional=True)
def tune(
    data: TunedData,
    schema: TunedSchema = None,
    threshold: Thresholds = None,
    write_schema_to: WriteSchema = None,
    output: CommandOutput = Path("release.csv"),
    report: Report = None,
    json: Json = False,
    *,
    given: Given,
) -> None:
    """Search what loses least while a release keeps limits and meets thresholds.

    With limits, or without thresholds, no row of the verdict is above its limit but what was
    accepted. The rows of the point are printed last.

    Prints the 'sfumato anonymize' command of the point that it finds, of a project the keys
    under [release]. Ctrl-C stops the search and prints the best point until then.

    Exit codes: 0 limits and thresholds met, 1 bad input, 5 no point meets them, 130 interrupted.
    """
    keep_memory()
    from sfumato.pipeline.tune import tune as search

    options = values_of(Searching, given) | values_of(Circumstances, given)
    options["limits"] = given["limits"]
    table, declared, place = _about(data, schema, options)
    asked = thresholds_of(threshold)
    options["presets"] = HeldAgainst(**values_of(HeldAgainst, given)).chosen
    options["columns"] = write_schema_to is not None
    inputs = (data, schema, given["register"])
    _check_schema_file(write_schema_to, inputs)
    check_report(report, inputs)
    tuned: Tuned | None = None
    try:
        with progress_bar() as progress:
            tuned = search(table, declared, asked, progress=progress, **options)
    except KeyboardInterrupt:
        # The bar raises an interrupt once more, after the search has given its best point.
        if tuned is None:
            raise
    section = ""
    if place is not None:
        from sfumato.pipeline.release_stages import linkage_of

        tuned = replace(tuned, linkage=linkage_of(place))
        section = _section(tuned, given["limits"])
    _hand_over(tuned, (schema, write_schema_to), output, report, section, json=json)


def _about(
    data: str, schema: Path | None, options: dict[str, Any]
) -> tuple[Place, Schema, ProjectFolder | None]:
    """The table that is tuned and its schema; of a project, what its file says goes to options."""
    if not (data.endswith(".toml") or Path(data).is_dir()):
        if schema is None:
            raise InputError(
                "option --schema", "must be given for a file", advice="or name a project"
            )
        from sfumato.schema import load_schema

        return data, load_schema(schema), None
    from sfumato.pipeline.project_folder import open_project
    from sfumato.pipeline.tune.tuning import asked_by_project, check_one_table

    if schema is not None:
        from sfumato.schema import load_schema

        check_one_table(load_schema(schema))
        raise InputError("option --schema", "must be left out for a project", found="one")

    place = open_project(data)
    table, declared, said = asked_by_project(place)
    # What stands on the command line goes before what the project says.
    options |= {n: value for n, value in said.items() if options.get(n) in (None, (), "")}
    return table, declared, place


def _hand_over(
    tuned: Tuned,
    schemas: tuple[Path | None, Path | None],
    output: Path,
    report: Path | None,
    section: str,
    *,
    json: bool,
) -> None:
    """Write the schema and the report, print what was found.

    Parameters
    ----------
    schemas
        The schema's file, and where a changed one goes.
    section
        What makes the release in a project, in place of a command.

    Raises
    ------
    Exit
        If no point meets the thresholds.
    """
    schema, changed = schemas
    with all_or_none():
        if changed is not None and tuned.best is not None and tuned.best.point.change:
            write_schema(tuned.schema, changed)
            schema = changed
        tuned = tuned.with_files(schema=schema, output=output)
        if report is not None:
            tuned.report(report)
    if changed is not None and schema == changed:
        say(f"Schema: {changed}")
    if json:
        warn(tuned.setting.table.warnings)
        print_json(tuned.to_json())
    else:
        typer.echo(str(tuned))
        if tuned.met:
            typer.echo(f"\n{section or tuned.command()}")
    if report is not None:
        say(f"Report: {report}")
    if not tuned.met:
        raise typer.Exit(NOT_KEPT)


def _section(tuned: Tuned, limits: str | None) -> str:
    """What makes the chosen release in a project, as TOML; limits where they were named here."""
    import tomlkit

    document = tomlkit.document()
    if limits is not None:
        document["limits"] = {"preset": limits}
    document["release"] = tuned.section
    return tomlkit.dumps(document).rstrip()


def thresholds_of(given: list[str] | None) -> dict[str, float]:
    """The limits by the name of their measure.

    Parameters
    ----------
    given
        ``measure=limit`` for each.

    Raises
    ------
    InputError
        If one is not of that form, or a measure is given twice.
    """
    found: dict[str, float] = {}
    for each in given or ():
        name, _, text = each.partition("=")
        name = name.strip()
        try:
            limit = float(text)
        except ValueError:
            raise InputError(
                "option --threshold",
                "must be a measure, an equals sign and a number",
                accepted="max_gidr=0.2",
            ) from None
        if name in found:
            raise InputError(
                "option --threshold", "must name each measure once", found="one that repeats"
            )
        found[name] = limit
    return found


def _check_schema_file(target: Path | None, inputs: tuple[Place | None, ...]) -> None:
    """Refuse a place that cannot or must not be written, before work starts.

    Raises
    ------
    InputError
        If it is no ``.toml`` file, cannot be written, or is a file that is read.
    """
    if target is None:
        return
    from sfumato.core.atomic import check_target

    if target.suffix.lower() != ".toml":
        raise InputError("option --write-schema", "must name a file that ends in .toml")
    check_target(target)
    check_apart((target,), inputs)


def write_schema(schema: Schema, target: Path) -> None:
    """Write a schema, files of hierarchies named from its folder.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    from sfumato.core.atomic import write_text
    from sfumato.schema import dump_schema

    moved = schema.with_files(lambda path: Path(os.path.relpath(path, target.parent)))
    write_text(target, dump_schema(moved))
