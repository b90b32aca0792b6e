"""``sfumato demo``: the main job on generated data."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import progress_bar, say
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.release.result import Release
    from sfumato.risk.result import Risk

G_BALANCE, H_AFFILIATION = 0.9, 0.5


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")
    ] = Path("sfumato-demo"),
    persons: Annotated[
        int, typer.Option(metavar="NUMBER", help="How many persons to generate.")
    ] = 2_000,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", help="Seed of the generator and of the release.")
    ] = 2020,
) -> None:
    """Generate two clinics' visits, measure them, release them, write a report."""
    from sfumato.examples import generate_clinics, write_clinics
    from sfumato.release.anonymize import anonymize
    from sfumato.release.constraints import GBalance, HAffiliation
    from sfumato.reports import check_report_path
    from sfumato.reports import report as write_report
    from sfumato.schema import load_schema

    _make_folder(output)
    report = output / "report.html"
    check_report_path(report)
    say(f"1  Generating the visits of {persons:,} persons to two clinics (seed {seed})")
    clinics = generate_clinics(persons, rng=seed)
    write_clinics(clinics, output)
    say("2  Measuring, releasing and measuring again")
    with progress_bar() as progress:
        release = anonymize(
            output / "visits.csv",
            load_schema(output / "schema.toml"),
            GBalance(G_BALANCE),
            HAffiliation(H_AFFILIATION),
            seed=seed,
            progress=progress,
        ).write(output / "release.csv")
    say("3  Writing the report")
    write_report(release, report)
    typer.echo(_told(release.risk_before, release, output))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError("option --output", "must be a folder that exists or can be made") from None


def _told(before: Risk, release: Release, folder: Path) -> str:
    after = release.risk
    icd9_before, icd9_after = before.sensitive["icd9"], after.sensitive["icd9"]
    rows = (
        ("equivalence classes", f"{before.classes:,}", f"{after.classes:,}"),
        ("classes with only one person", f"{before.sample_uniques:,}", f"{after.sample_uniques:,}"),
        ("fewest persons in a class (pid_k)", f"{before.pid_k:,}", f"{after.pid_k:,}"),
        ("a record's best guess at its person (max_gidr)",
         f"{before.max_gidr.value:.1%}", f"{after.max_gidr.value:.1%}"),
        ("the same, averaged over classes (avg_gidr)",
         f"{before.avg_gidr.value:.1%}", f"{after.avg_gidr.value:.1%}"),
        ("persons matched by a register (marketer)",
         f"{before.marketer.value:.1%}", f"{after.marketer.value:.1%}"),
        ("a diagnosis learned about a person (h_affiliation)",
         f"{icd9_before.h_affiliation.value:.1%}", f"{icd9_after.h_affiliation.value:.1%}"),
    )  # fmt: skip
    width = max(len(name) for name, *_ in rows)
    asked = f"g_balance >= {G_BALANCE} and h_affiliation <= {H_AFFILIATION} in every class"
    loss = release.utility
    program = "sfumato" if which("sfumato") else sys.argv[0]
    again = f"{program} anonymize {folder / 'visits.csv'} --schema {folder / 'schema.toml'}"
    lines = [
        "",
        f"{before.records:,} records of {before.persons:,} persons; asked for {asked}:",
        "",
        f"  {'':<{width}}  {'before':>8}  {'after':>8}",
        *(f"  {name:<{width}}  {old:>8}  {new:>8}" for name, old, new in rows),
        "",
        f"  Information lost: ncp {loss.ncp:.1%}, mean error of a value (ane) {loss.ane:.3f}",
        "",
        f"  {folder / 'report.html'}   the report to read and sign: open it in a browser",
        f"  {folder / 'release.csv'}   the release",
        f"  {folder / 'release.toml'}  what repeats the release; keep it inside",
        f"  {folder / 'visits.csv'}    the generated visits to both clinics",
        f"  {folder / 'schema.toml'}   what each column is: read it, change it, run again:",
        "",
        f"  {again} --g-balance 0.95 --output {folder / 'release.csv'}",
    ]
    return "\n".join(lines)
