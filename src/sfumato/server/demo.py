"""A server to look around in: two made-up clinics, linked, with a review of doubtful pairs."""

from __future__ import annotations

import secrets
import string
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.csv as pc

from sfumato.core.progress import Progress, silent
from sfumato.examples import generate_clinics, generate_registrations, write_registrations
from sfumato.linkage.link import link
from sfumato.linkage.spec.model import Mode, SetThresholds
from sfumato.linkage.suggest.suggest import suggest
from sfumato.review.project.dealing import deal as deal_pairs
from sfumato.review.project.dealing import of_one_record
from sfumato.review.project.from_linkage import from_linkage
from sfumato.review.project.project import ID, LEFT, RIGHT
from sfumato.review.project.project import Project as ReviewProject
from sfumato.review.settings import Settings
from sfumato.schema import load_schema
from sfumato.server.live.deal import deal
from sfumato.server.live.make import make_project
from sfumato.server.store.models import Account, Role

TITLE = "Patients of two clinics"
PERSONS, SEED = 1_000, 2020
GOLD = 12
"""Number of pairs whose truth is known."""
WORKERS = ("worker1", "worker2", "worker3")
PEOPLE = {
    "custodian": Role.CUSTODIAN,
    "manager": Role.MANAGER,
    "auditor": Role.AUDITOR,
    **dict.fromkeys(WORKERS, Role.WORKER),
}
_RULES = Settings(budget=0.2, project_budget=0.4, hints=True)
_DOUBTFUL = SetThresholds(lower=0.001, upper=0.9999)
_CLINICS = ("hospital", "practice")


def make_demo(progress: Progress = silent) -> dict[str, str]:
    """Fill an empty server, and give the password of each account.

    Parameters
    ----------
    progress
        Told how far it is.
    """
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as name:
        project = _linked(Path(name), rng, progress)
    progress("storing", 0.9)
    passwords = {name: _password() for name in PEOPLE}
    people = {
        name: Account.objects.make(name, passwords[name], [role]) for name, role in PEOPLE.items()
    }
    made = make_project(
        project,
        title=TITLE,
        custodian=people["custodian"],
        manager=people["manager"],
        overlap=2,
        gold_share=GOLD / len(project.pairs),
    )
    groups = of_one_record(project.pairs[LEFT].to_numpy(), project.pairs[RIGHT].to_numpy())
    dealt = deal_pairs(project.pair_ids, WORKERS, 2, rng, groups=groups.tolist())
    number = {pair: place for place, pair in enumerate(project.pair_ids)}
    for worker, pairs in dealt.pairs_of.items():
        deal(made, people[worker], [number[pair] for pair in pairs])
    progress("storing", 1.0)
    return passwords


def _linked(folder: Path, rng: np.random.Generator, progress: Progress) -> ReviewProject:
    """Generate the clinics' patients, link them, and take what is doubtful for a review."""
    progress("generating", 0.02)
    write_registrations(generate_registrations(generate_clinics(PERSONS, rng=SEED)), folder)
    progress("suggesting", 0.1)
    patients = {name: folder / f"patients_{name}.csv" for name in _CLINICS}
    schema = load_schema(folder / "schema.toml")
    made = suggest(patients, schema, mode=Mode.LINK_AND_DEDUPE, id_column="patient")
    links = link(
        patients,
        made.spec.model_copy(update={"thresholds": _DOUBTFUL}),
        schema=schema,
        seed=SEED,
        quasi_identifiers=[],
        progress=lambda stage, share: progress(stage, 0.15 + 0.7 * share),
    )
    links.write(folder / "linkage")
    project = from_linkage(folder / "linkage", rng, settings=_RULES)
    return replace(project, gold=_truth(project, folder / "truth.csv", rng))


def _truth(project: ReviewProject, path: Path, rng: np.random.Generator) -> dict[str, bool]:
    """The truth of some of the pairs."""
    truth = pc.read_csv(path)
    person = dict(zip(truth["patient"].to_pylist(), truth["person"].to_pylist(), strict=True))
    who = [person[each] for each in project.records[ID].to_pylist()]
    left, right = project.pairs[LEFT].to_pylist(), project.pairs[RIGHT].to_pylist()
    chosen = rng.choice(len(project.pairs), min(GOLD, len(project.pairs)), replace=False)
    return {project.pair_ids[at]: who[left[at]] == who[right[at]] for at in chosen.tolist()}


def _password() -> str:
    """Three groups of five letters and digits that are not taken for each other."""
    signs = [sign for sign in string.ascii_lowercase + string.digits if sign not in "l1o0"]
    return "-".join("".join(secrets.choice(signs) for _ in range(5)) for _ in range(3))
