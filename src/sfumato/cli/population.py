"""What the command line says of the population behind a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import check_apart
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.risk.disclosure_risk import Risk
    from sfumato.risk.population.population_size import Given

Population = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Persons of the population that the file is a sample of.",
        show_default=False,
    ),
]
Fraction = Annotated[
    float | None,
    typer.Option(
        metavar="P", help="Share of the population who are in the file.", show_default=False
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column with each record's sampling weight.", show_default=False
    ),
]
Register = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The population itself, with the same columns: nothing is estimated.",
        show_default=False,
    ),
]
RegisterOrUri = Annotated[
    str | None,
    typer.Option(
        "--register",
        metavar="FILE",
        help="The population itself, with the same columns: nothing is estimated; with --engine "
        "spark also a folder of files, or a URI that Spark reads.",
        show_default=False,
    ),
]


def given_population(
    population: int | None, fraction: float | None, weights: str | None, register: str | None
) -> Given | None:
    """The one thing that is known of the population, or nothing.

    Raises
    ------
    InputError
        If there are several, or a number is out of range.
    """
    options = {
        "--population": population,
        "--fraction": fraction,
        "--weights": weights,
        "--register": register,
    }
    named = [name for name, value in options.items() if value is not None]
    if len(named) > 1:
        raise InputError(
            f"option {named[1]}",
            "must be the only one that says what the population is",
            found=f"{named[0]} beside it",
        )
    if not named:
        return None
    from sfumato.risk.population.population_size import Given, given_fraction, given_size

    if population is not None:
        return given_size(population)
    if fraction is not None:
        return given_fraction(fraction)
    if weights is not None:
        return Given(weights=weights)
    return Given(register=register)


def check_record_risks(
    target: Path | None, data: Path, given: Given | None, engine: str | None = None
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
            "option --record-risks",
            "must be left out on Spark",
            advice="take --engine embedded",
        )
    if given is None:
        raise InputError(
            "option --record-risks",
            "must come with a population",
            accepted="--population, --fraction, --weights or --register",
        )
    from sfumato.table.table_files import check_output_path

    check_output_path(target)
    register = None if given.register is None else Path(given.register)
    check_apart([target], [data, register])


def write_record_risks(risk: Risk, target: Path) -> None:
    """Write row, equivalence class and risk of every record.

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
    columns = {
        "row": np.arange(1, risk.records + 1),
        "equivalence_class": risk.population.class_of.astype(np.int64) + 1,
        "risk": risk.population.record_risks,
    }
    write_table(pa.table(columns), target)
