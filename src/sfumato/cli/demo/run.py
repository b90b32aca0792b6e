"""``sfumato demo``: two clinics' patients, linked; their visits, released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.demo.asked import CLINICS, G_BALANCE, H_AFFILIATION, LINKAGE
from sfumato.cli.output import progress_bar, say
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.linkage.links import Links
    from sfumato.release.result import Release


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
    """Generate two clinics' patients and visits, link them, release them, write reports."""
    from sfumato.cli.demo.truth import against_the_truth
    from sfumato.cli.demo.words import told
    from sfumato.examples import generate_clinics, generate_registrations, write_registrations
    from sfumato.linkage.extra import needed
    from sfumato.linkage.write import check_links_folder
    from sfumato.reports import check_report_path
    from sfumato.reports import report as write_report

    _make_folder(output)
    report = output / "report.html"
    check_report_path(report)
    check_links_folder(output / LINKAGE)
    needed("splink")
    say(f"1  Generating two clinics' patients and visits: {persons:,} persons (seed {seed})")
    registrations = generate_registrations(generate_clinics(persons, rng=seed))
    write_registrations(registrations, output)
    say("2  Linking the patients of the clinics, with a report on it")
    links = _linked(output, seed)
    say("3  Measuring the linked visits, releasing them and measuring again")
    release = _released(output, seed)
    say("4  Writing the report on the release")
    write_report(release, report)
    quality = against_the_truth(links, registrations.truth)
    typer.echo(told(links, quality, release, output))


def _linked(folder: Path, seed: int) -> Links:
    """Link the patients with a suggested specification; persons may be in a clinic twice."""
    from sfumato.linkage.files import REPORT
    from sfumato.linkage.link import link
    from sfumato.linkage.spec.model import Mode
    from sfumato.linkage.suggest.suggest import suggest
    from sfumato.reports import report
    from sfumato.schema import load_schema

    schema = load_schema(folder / "schema.toml")
    patients = {name: folder / f"patients_{name}.csv" for name in CLINICS}
    with progress_bar() as progress:
        progress("suggesting", 0.0)
        made = suggest(patients, schema, mode=Mode.LINK_AND_DEDUPE, id_column="patient")
        links = link(
            patients,
            made,
            schema=schema,
            attach_tables={name: folder / f"visits_{name}.csv" for name in CLINICS},
            seed=seed,
            progress=progress,
        )

    def draw(place: Path) -> None:
        report(links, place / REPORT)

    links.write(folder / LINKAGE, also=draw)
    return links


def _released(folder: Path, seed: int) -> Release:
    from sfumato.linkage.files import LINKED, LINKED_SCHEMA
    from sfumato.release.anonymize import anonymize
    from sfumato.release.constraints import GBalance, HAffiliation
    from sfumato.schema import load_schema

    with progress_bar() as progress:
        return anonymize(
            folder / LINKAGE / LINKED,
            load_schema(folder / LINKAGE / LINKED_SCHEMA),
            GBalance(G_BALANCE),
            HAffiliation(H_AFFILIATION),
            seed=seed,
            progress=progress,
        ).write(folder / "release.csv")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError("option --output", "must be a folder that exists or can be made") from None
