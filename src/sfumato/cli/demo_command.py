"""``sfumato demo``: the project of two made-up clinics, run to its end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import ABOVE, say
from sfumato.cli.parameters import Details
from sfumato.cli.project_commands import run_telling
from sfumato.core.errors import InputError


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")
    ] = Path("sfumato-demo"),
    persons: Annotated[
        int, typer.Option(metavar="NUMBER", help="How many people to generate.")
    ] = 2_000,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", help="Seed of every random choice.")
    ] = 2020,
    details: Details = False,
) -> None:
    """Generate two clinics' patients and visits with a project file, and run that.

    Links the patients, lets a simulated worker review, measures the visits, releases them, attacks
    the release and reports. --details says what each number means, beside the truth.
    """
    from sfumato.cli.demo_findings import against_the_truth, brief_end, brief_findings, findings
    from sfumato.core.atomic import check_target
    from sfumato.core.optional_packages import needed
    from sfumato.pipeline.demo_project import write_demo_project
    from sfumato.pipeline.project_text import PROJECT_FILE
    from sfumato.review.review_extra import needs_review

    started = time.monotonic()
    _make_folder(output)
    check_target(output / PROJECT_FILE)
    # What is missing is said before anything is made.
    needed("splink")
    needs_review()
    say(f"Generating two clinics' patients and visits: {persons:,} people (seed {seed})")
    place = write_demo_project(output, persons, seed)
    status = run_telling(place, shown=None if details else 0)
    verdict, truth = status.verdict, against_the_truth(place)
    found = findings(status, truth) if details else brief_findings(status)
    typer.echo(found if verdict is None else f"{found}\n\n{verdict.text(details)}")
    if not details:
        typer.echo(f"\n{brief_end(status, truth)}")
    say(f"Done in {time.monotonic() - started:.0f} seconds.")
    raise typer.Exit(ABOVE if verdict is None else verdict.exit_code)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError("option --output", "must be a folder that exists or can be made") from None
