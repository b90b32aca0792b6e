"""``sfumato assess``: measure what a file gives away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options.presets import Presets, ThresholdsFile, chosen_presets
from sfumato.cli.output import print_json, progress_bar, say, warn
from sfumato.cli.parameters import (
    DataOrUri,
    Delimiter,
    Engine,
    Json,
    Report,
    SchemaFile,
    Seed,
    Threshold,
)
from sfumato.cli.population import (
    Fraction,
    Population,
    RegisterOrUri,
    Weights,
    check_record_risks,
    given_population,
    write_record_risks,
)
from sfumato.cli.process import keep_memory
from sfumato.core.atomic import all_or_none


def assess(
    data: DataOrUri,
    schema: SchemaFile,
    threshold: Threshold = 0.2,
    ordered_distance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Sensitive numbers whose t-closeness is measured by ordered distance too.",
            show_default=False,
        ),
    ] = None,
    recursive_l: Annotated[
        list[int] | None,
        typer.Option(
            "--recursive-l",
            metavar="L",
            help="Measure recursive (c, L)-diversity too, beside L = 2 and 3.",
            show_default=False,
        ),
    ] = None,
    special_uniques: Annotated[
        bool,
        typer.Option(
            "--special-uniques", help="Look for persons who stand out by few columns; costs time."
        ),
    ] = False,
    msu_size: Annotated[
        int, typer.Option(metavar="N", help="Most columns of such a combination.")
    ] = 3,
    population: Population = None,
    fraction: Fraction = None,
    weights: Weights = None,
    register: RegisterOrUri = None,
    estimator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How the population is estimated: auto, accumulation, argus, log-linear, "
            "negative-binomial, shlosser, duj1 and others (docs).",
        ),
    ] = "auto",
    seed: Seed = None,
    record_risks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write each record's chance to be found in the population: .csv or .parquet.",
            show_default=False,
        ),
    ] = None,
    preset: Presets = None,
    thresholds: ThresholdsFile = None,
    report: Report = None,
    delimiter: Delimiter = None,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Measure what a file gives away: about identities, about sensitive values."""
    keep_memory()
    from sfumato.risk.assess import assess as measure
    from sfumato.schema import load_schema

    given = given_population(population, fraction, weights, register)
    check_record_risks(record_risks, Path(data), given, engine)
    presets = chosen_presets(preset, thresholds)
    declared = load_schema(schema)
    if report is not None:
        from sfumato.reports import check_report_path
        from sfumato.reports import report as write_report

        check_report_path(report)
    with progress_bar() as progress:
        risk = measure(
            data,
            declared,
            threshold=threshold,
            ordered_distance=ordered_distance or (),
            special_uniques=special_uniques,
            msu_size=msu_size,
            recursive_l=recursive_l or (),
            population=given,
            estimator=estimator,
            seed=seed,
            presets=presets,
            delimiter=delimiter,
            engine=engine,
            progress=progress,
        )
    with all_or_none():
        if record_risks is not None:
            write_record_risks(risk, record_risks)
        if report is not None:
            write_report(risk, report)
    if json:
        warn(risk.warnings)
        print_json(risk.to_json())
    else:
        typer.echo(str(risk))
    if report is not None:
        say(f"Report: {report}")
