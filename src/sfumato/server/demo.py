"""A server to look around in: the project of ``sfumato demo``, linked, with its doubtful pairs."""

from __future__ import annotations

import secrets
import string
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.core.declaration import Progress, silent
from sfumato.pipeline.demo_project import SEED, truth_of, write_demo_project
from sfumato.pipeline.project_folder import LINK
from sfumato.pipeline.run import run
from sfumato.review.review_project import ID, LEFT, RIGHT
from sfumato.review.review_project import Project as ReviewProject
from sfumato.review.review_sources import from_linkage
from sfumato.server.accounts.sessions import make_account
from sfumato.server.config import Role
from sfumato.server.custodian.consent import answer
from sfumato.server.live.new_projects import make_project
from sfumato.server.live.worker_tasks import admit

TITLE = "Patients of two clinics"
GOLD = 12
"""Number of pairs whose truth is known."""
WORKERS = ("worker1", "worker2", "worker3")
PEOPLE = {
    "custodian": Role.CUSTODIAN,
    "manager": Role.MANAGER,
    "auditor": Role.AUDITOR,
    **dict.fromkeys(WORKERS, Role.WORKER),
}
TOGETHER = 0.4
"""KAPR that all workers together may spend."""


def make_demo(progress: Progress = silent) -> dict[str, str]:
    """Fill an empty server, and give the password of each account."""
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as name:
        project = _linked(Path(name), rng, progress)
    progress("storing", 0.9)
    passwords = {name: _password() for name in PEOPLE}
    people = {name: make_account(name, passwords[name], [role]) for name, role in PEOPLE.items()}
    made = make_project(
        project,
        title=TITLE,
        custodian=people["custodian"],
        manager=people["manager"],
        overlap=2,
        gold_share=GOLD / len(project.pairs),
    )
    answer(people["custodian"], made.pk, made.proposals.get().pk, accepts=True)
    for worker in WORKERS:
        admit(made, people[worker], len(project.pairs))
    progress("storing", 1.0)
    return passwords


def _linked(folder: Path, rng: np.random.Generator, progress: Progress) -> ReviewProject:
    """Link the patients as ``sfumato demo`` does, and take what is doubtful for a review."""
    progress("generating", 0.02)
    place = write_demo_project(folder)

    @contextmanager
    def working(name: str) -> Iterator[Progress]:
        yield lambda stage, share: progress(f"{name}: {stage}", 0.15 + 0.7 * share)

    # Only the linkage: what follows waits for the answers that are to be given here.
    run(place, until=LINK, working=working)
    rules = place.project.review.settings.model_copy(update={"project_budget": TOGETHER})
    project = from_linkage(place.of_stage(LINK), rng, settings=rules)
    return replace(project, gold=_truth(project, truth_of(place), rng))


def _truth(project: ReviewProject, truth: pa.Table, rng: np.random.Generator) -> dict[str, bool]:
    """The truth of some of the pairs."""
    person = dict(zip(truth["patient"].to_pylist(), truth["person"].to_pylist(), strict=True))
    who = [person[record] for record in project.records[ID].to_pylist()]
    left, right = project.pairs[LEFT].to_pylist(), project.pairs[RIGHT].to_pylist()
    chosen = rng.choice(len(project.pairs), min(GOLD, len(project.pairs)), replace=False)
    return {project.pair_ids[at]: who[left[at]] == who[right[at]] for at in chosen.tolist()}


def _password() -> str:
    """Three groups of five letters and digits that are not taken for each other."""
    # Without signs that look alike, as passwords are read off a screen.
    signs = [sign for sign in string.ascii_lowercase + string.digits if sign not in "l1o0"]
    return "-".join("".join(secrets.choice(signs) for _ in range(5)) for _ in range(3))
