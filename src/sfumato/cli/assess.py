"""``sfumato assess``: measure what a file gives away."""

from __future__ import annotations

import typer

from sfumato.cli.output import print_json, progress_bar, say, warn
from sfumato.cli.parameters import Data, Delimiter, Json, Report, SchemaFile, Threshold


def assess(
    data: Data,
    schema: SchemaFile,
    threshold: Threshold = 0.2,
    report: Report = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Measure what a file gives away: about identities, about sensitive values."""
    from sfumato.risk.assess import assess as measure
    from sfumato.schema import load_schema

    declared = load_schema(schema)
    if report is not None:
        from sfumato.reports import check_report_path
        from sfumato.reports import report as write_report

        check_report_path(report)
    with progress_bar() as progress:
        risk = measure(data, declared, threshold=threshold, delimiter=delimiter, progress=progress)
    if report is not None:
        write_report(risk, report)
    if json:
        warn(risk.warnings)
        print_json(risk.to_json())
    else:
        typer.echo(str(risk))
    if report is not None:
        say(f"Report: {report}")
