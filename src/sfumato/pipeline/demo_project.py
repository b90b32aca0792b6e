"""A project to try everything on: the patients and visits of two made-up clinics."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from sfumato.core.errors import InputError
from sfumato.examples import (
    Registrations,
    generate_clinics,
    generate_registrations,
    write_registrations,
)
from sfumato.ledger.release_ledger import ReleaseLedger
from sfumato.linkage.link_spec import LinkSpec, SetThresholds
from sfumato.pipeline import project_model
from sfumato.pipeline.project_folder import ProjectFolder, open_project
from sfumato.pipeline.project_text import PROJECT_FILE, dump_project
from sfumato.pipeline.proposal import NOTES, ProposalRequest, propose, write_project_file
from sfumato.release.release_options import KnownCounts
from sfumato.review.review_settings import PROPOSED
from sfumato.risk.verdict import PUBLIC
from sfumato.schema import Event, EventKind

PERSONS, SEED = 2_000, 2020
CLINICS = ("hospital", "practice")
"""The clinics whose patients are linked."""
FEWEST = 11
"""People of a class: as few as a public release may have of 1 in 11."""
H_AFFILIATION = 0.8
"""Less than a certain diagnosis: of the few with most visits nearly three in four have one."""
AGE_WEIGHT = 3.0
"""How much more a year of age is worth to those who get the release than another value."""
RELEASE = {
    "known_events": f"2:{PUBLIC.found:.4f}",
    "known_counts": KnownCounts.BANDS,
    "withhold": ("source", "charge"),
}
"""Who knows two visits of a person, to within 3 days, and about how many there were, finds no more
than by the quasi-identifiers; no class can hold bills that are nearly all different."""
_VISIT = "visit_date"
_EVENTS = {_VISIT: Event(kind=EventKind.DATE, known="3 days")}
LEDGER, LEDGER_KEYS = Path("ledger/ledger.sqlite"), Path("ledger-keys")
TRUTH = "truth.csv"
"""The file that says who is who; nothing that the project makes is made of it."""
# Wider than what is proposed, so that there are possible matches to look at.
_DOUBTFUL = SetThresholds(lower=0.01, upper=0.999)
_REVIEW = project_model.Review.model_validate(
    {
        "by": project_model.Reviewers.SIMULATED,
        "k": PROPOSED.k,
        "budget": PROPOSED.budget,
        "hints": True,
        "certainty": 0.99,
    }
)


def write_demo_project(folder: Path, persons: int = PERSONS, seed: int = SEED) -> ProjectFolder:
    """Write the tables of two made-up clinics and their project file.

    Parameters
    ----------
    folder
        Where; made if it does not exist.
    seed
        Seed of the tables, and of the project.
    """
    registrations = _for_release(generate_registrations(generate_clinics(persons, rng=seed)))
    # Aside first: a folder that holds another project must not be touched.
    with tempfile.TemporaryDirectory() as name:
        write_registrations(registrations, name)
        text = _project_text(Path(name), persons, seed)
    file = folder / PROJECT_FILE
    # The same demo may be written again; a project that somebody changed stays as it is.
    if file.is_file() and file.read_bytes() != text.encode():
        raise InputError(
            f"output folder {folder.name}",
            "must not hold another project",
            found=f"a {PROJECT_FILE} that says something else",
            advice="choose another folder with --output, or run that project with sfumato run",
        )
    write_registrations(registrations, folder)
    write_project_file(text, file)
    with ReleaseLedger.open(folder / LEDGER, folder / LEDGER_KEYS, make=True):
        return open_project(file)


def truth_of(place: ProjectFolder) -> pa.Table:
    """Who is who: of each record ``clinic`` (its source), ``patient`` (its id), ``person``."""
    return csv.read_csv(place.folder / TRUTH)


def _for_release(registrations: Registrations) -> Registrations:
    """The same, dates of visits being released and known to an intruder, ages worth most."""
    schema = registrations.schema
    age = schema.quasi_identifiers["age"].model_copy(update={"weight": AGE_WEIGHT})
    direct = tuple(identifier for identifier in schema.direct_identifiers if identifier != _VISIT)
    dated = schema.model_copy(
        update={
            "direct_identifiers": direct,
            "quasi_identifiers": {**schema.quasi_identifiers, "age": age},
            "insensitive": (*schema.insensitive, _VISIT),
            "events": _EVENTS,
        }
    )
    return replace(registrations, schema=dated)


def _project_text(folder: Path, persons: int, seed: int) -> str:
    """The project file: what is proposed for the tables, but for what is reviewed."""
    made = propose(
        ProposalRequest(
            sources={name: folder / f"patients_{name}.csv" for name in CLINICS},
            attach={name: folder / f"visits_{name}.csv" for name in CLINICS},
            folder=folder,
            name="two clinics",
            seed=seed,
            id="patient",
            schema=folder / "schema.toml",
            dedupe=True,
            reviewers=_REVIEW.by,
            pid_k=FEWEST,
            h_affiliation=H_AFFILIATION,
        )
    )
    link = made.project.link
    given = None if link is None else link.specification
    if not isinstance(given, LinkSpec):
        raise InputError("the demo", "must propose how records are linked", found="nothing")
    wider = project_model.Link(specification=given.model_copy(update={"thresholds": _DOUBTFUL}))
    about = made.project.about.model_copy(update=NOTES["about"])
    # As many as a band of too few people may have.
    few = {"suppress": round(FEWEST / persons, 4)}
    release = made.project.release.model_copy(update=RELEASE | few)
    changed = {"about": about, "link": wider, "review": _REVIEW, "release": release}
    answers = {
        name: project_model.Accepted.model_validate(note) for name, note in NOTES["accept"].items()
    }
    # Of its own: people who do not exist are in nobody's ledger.
    ledger = project_model.LedgerSection(file=LEDGER, keys=LEDGER_KEYS)
    unchecked = project_model.Answered.model_validate(NOTES["linkage"])
    changed |= {
        "accept": project_model.Accept(insider=answers, linkage=unchecked),
        "ledger": ledger,
    }
    project = made.project.model_copy(update=changed)
    return dump_project(project, {**made.notes, **NOTES["demo"]})
