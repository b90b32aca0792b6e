"""``sfumato assess``: measure what a file gives away."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sfumato.cli import parameters
from sfumato.cli.declared_options import Given, values_of, with_declared
from sfumato.cli.output import brief, check_apart, hand_over, progress_bar, write_report
from sfumato.cli.own_process import keep_memory
from sfumato.cli.release_checks import opened
from sfumato.core.atomic import all_or_none
from sfumato.core.declaration import LAYOUT, Place, is_uri
from sfumato.core.errors import InputError
from sfumato.risk.assess_options import (
    Circumstances,
    HeldAgainst,
    JudgedBy,
    KnownPopulation,
    Measuring,
)

if TYPE_CHECKING:
    from sfumato.risk.disclosure_risk import Risk
    from sfumato.risk.population.population_size import Given as GivenPopulation


@with_declared(Circumstances, only=("seed", *LAYOUT, "engine"))
@with_declared(JudgedBy)
@with_declared(HeldAgainst)
@with_declared(KnownPopulation)
@with_declared(Measuring)
def assess(
    data: parameters.DataOrUri,
    schema: parameters.SchemaFile,
    record_risks: Annotated[
        Path | None,
        parameters.file_option(
            help="Write each record's chance to be found in the population: .csv or .parquet."
        ),
    ] = None,
    report: parameters.Report = None,
    json: parameters.Json = False,
    details: parameters.Details = False,
    *,
    given: Given,
) -> None:
    """Measure what a file gives away: about identities, about sensitive values."""
    keep_memory()
    from sfumato.risk.assessment import assess as measure
    from sfumato.schema import load_schema

    population = KnownPopulation(**values_of(KnownPopulation, given)).given
    check_record_risks(record_risks, data, population, given["engine"])
    presets = HeldAgainst(**values_of(HeldAgainst, given)).chosen
    declared = load_schema(schema)
    parameters.check_report(report)
    with progress_bar() as progress:
        risk = measure(
            opened(data, declared),
            declared,
            population=population,
            presets=presets,
            progress=progress,
            **values_of(JudgedBy, given),
            **values_of(Measuring, given),
            **{name: given[name] for name in ("seed", *LAYOUT, "engine")},
        )
    with all_or_none():
        if record_risks is not None:
            write_record_risks(risk, record_risks)
        write_report(risk, report)
    # A URL may hold a password.
    named = "DATA" if is_uri(data) else shlex.quote(data)
    advice = (
        f"sfumato anonymize {named} --schema {shlex.quote(str(schema))} "
        "--output FILE --promise-limits"
    )
    hand_over(risk, report, json=json, text="" if details else brief(risk, advice))


def check_record_risks(
    target: Path | None, data: Place, given: GivenPopulation | None, engine: str | None = None
) -> None:
    """Refuse a file of risks that could not be written, before work starts.

    Raises
    ------
    InputError
        If nothing is known of the population, the engine is Spark, whose records have no
        numbers, or the file is no CSV or Parquet file, or the one that is read.
    """
    if target is None:
        return
    if engine == "spark":
        raise InputError(
            "option --record-risks", "must be left out on Spark", advice="take --engine embedded"
        )
    if given is None:
        raise InputError(
            "option --record-risks",
            "must come with a population",
            accepted="--population, --fraction, --weights or --register",
        )
    from sfumato.table.table_files import check_output_path

    check_output_path(target)
    check_apart([target], [data, given.register])


def write_record_risks(risk: Risk, target: Path) -> None:
    """Write row, equivalence class, risk and chance to be unique of every record.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    import numpy as np
    import pyarrow as pa

    from sfumato.table.table_files import write_table

    if risk.population is None or risk.population.class_of is None:
        return
    population, class_of = risk.population, risk.population.class_of
    columns = {
        # Rows count from 1, as people count them in a file.
        "row": np.arange(1, risk.records + 1),
        "equivalence_class": class_of.astype(np.int64) + 1,
        "risk": population.record_risks,
        **{name: values[class_of] for name, values in population.class_intervals.items()},
    }
    write_table(pa.table(columns), target)
