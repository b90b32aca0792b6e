"""``sfumato tune``: search the constraints that lose least under thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.cli.declared_options import Given, with_declared
from sfumato.cli.options.panels import MAKING
from sfumato.cli.options.presets import Presets, ThresholdsFile, chosen_presets
from sfumato.cli.output import NOT_MET, check_apart, print_json, progress_bar, say, warn
from sfumato.cli.parameters import Data, Delimiter, Json, Report, SchemaFile, Seed
from sfumato.cli.population import Population, Register
from sfumato.cli.process import keep_memory
from sfumato.cli.tune.options.allowed import (
    CapRecords,
    CommandOutput,
    FullDomain,
    Suppress,
    WriteSchema,
)
from sfumato.cli.tune.options.asked import AtRisk, Loss, LossWord, Thresholds, thresholds_of
from sfumato.cli.tune.options.effort import TimeLimit, Trials, seconds_of
from sfumato.cli.tune.schema_file import check_schema_file, write_schema
from sfumato.core.atomic import all_or_none
from sfumato.release.options import Options

if TYPE_CHECKING:
    from sfumato.pipeline.tune import Tuned


@with_declared(Options, only=("values", "unclassified"), panel=MAKING)
def tune(
    data: Data,
    schema: SchemaFile,
    threshold: Thresholds = None,
    preset: Presets = None,
    thresholds: ThresholdsFile = None,
    loss: Loss = LossWord.ANE,
    at_risk: AtRisk = 0.2,
    register: Register = None,
    population: Population = None,
    time_limit: TimeLimit = None,
    trials: Trials = None,
    seed: Seed = None,
    suppress: Suppress = 0.02,
    cap_records: CapRecords = True,
    full_domain: FullDomain = True,
    write_schema_to: WriteSchema = None,
    output: CommandOutput = Path("release.csv"),
    report: Report = None,
    delimiter: Delimiter = None,
    json: Json = False,
    *,
    given: Given,
) -> None:
    """Search the constraints that lose least while the release meets thresholds.

    Prints the 'sfumato anonymize' command of the point that it finds. Ctrl-C stops the search
    and prints the best point until then.

    Exit codes: 0 thresholds met, 1 bad input, 2 no point meets them, 130 interrupted.
    """
    keep_memory()
    from sfumato.pipeline.tune import tune as search
    from sfumato.schema import load_schema

    seconds = seconds_of(time_limit)
    asked = thresholds_of(threshold)
    presets = chosen_presets(preset, thresholds)
    declared = load_schema(schema)
    check_schema_file(write_schema_to, (data, schema, register))
    if report is not None:
        from sfumato.reports import check_report_path

        check_report_path(report)
        check_apart((report, report.with_suffix(".json")), (data, schema, register))
    tuned: Tuned | None = None
    try:
        with progress_bar() as progress:
            tuned = search(
                data,
                declared,
                asked,
                presets=presets,
                loss=loss.value,
                register=register,
                population=population,
                trials=trials,
                time_limit=seconds,
                suppress=suppress,
                cap_records=cap_records,
                recoding=full_domain,
                columns=write_schema_to is not None,
                values=given["values"].value,
                threshold=at_risk,
                unclassified=given["unclassified"].value,
                seed=seed,
                delimiter=delimiter,
                progress=progress,
            )
    except KeyboardInterrupt:
        if tuned is None:
            raise
    _hand_over(tuned, schema, write_schema_to, output, report, json=json)


def _hand_over(
    tuned: Tuned,
    schema: Path,
    changed: Path | None,
    output: Path,
    report: Path | None,
    *,
    json: bool,
) -> None:
    """Write the schema and the report, print what was found.

    Raises
    ------
    Exit
        If no point meets the thresholds.
    """
    with all_or_none():
        if changed is not None and tuned.best is not None and tuned.best.point.change:
            write_schema(tuned.schema, changed)
            schema = changed
        tuned = tuned.with_files(schema=schema, output=output)
        if report is not None:
            tuned.report(report)
    if schema == changed:
        say(f"Schema: {changed}")
    if json:
        warn(tuned.setting.table.warnings)
        print_json(tuned.to_json())
    else:
        typer.echo(str(tuned))
        if tuned.met:
            typer.echo(f"\n{tuned.command()}")
    if report is not None:
        say(f"Report: {report}")
    if not tuned.met:
        raise typer.Exit(NOT_MET)
