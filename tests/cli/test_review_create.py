"""From a linkage's folder to the web application and back, at the command line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sfumato.examples import generate_clinics, generate_registrations
from sfumato.linkage.earlier_linkage import apply_decisions
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, SetThresholds
from sfumato.review.review_settings import PROPOSED

pytestmark = pytest.mark.usefixtures("few_random_pairs")

SPEC = LinkSpec(
    id="patient",
    columns={"given_name": "given name", "surname": "surname", "date_of_birth": "date"},
    blocking=["surname:2", "date_of_birth"],
    thresholds=SetThresholds(lower=0.001, upper=0.9999),
)
BEGIN = """
from pathlib import Path
from sfumato.server.config import ServerConfig
from sfumato.server.boot import boot
boot(ServerConfig(Path("data"), Path("keys")))
from sfumato.server.store.models import *
"""
STATED = """
from sfumato.server.audit_log import append
from sfumato.server.stated_rows import stated
def say(row, *names):
    append(None, "state", "a row", rows=[stated(row, *names)])
"""
PEOPLE = """
for name in ("custodian", "manager", "worker"):
    say(Account.objects.make(name, None, [name]))
"""
DECIDE = """
from sfumato.server.custodian.consent import answer
from sfumato.server.live.worker_tasks import admit
from sfumato.server.live.worker_actions import decide_pair
from sfumato.server.live.worker_actions import show_page
project, worker = Project.objects.get(), Account.objects.get(name="worker")
answer(project.custodian, project.pk, project.proposals.get().pk, accepts=True)
project.refresh_from_db()
admit(project, worker, 2)
show_page(worker, project.pk)
for dealt, answer in zip(Dealt.objects.order_by("place"), (3, -3)):
    decide_pair(worker, project.pk, dealt.token, answer)
project.state = "closed"
project.save()
say(project, "state")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def sfumato(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    options = ("--data", "data", "--keys", "keys")
    return run(folder, "-c", "from sfumato.cli.start import main; main()", *arguments, *options)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a linkage and a server's data; no test changes it."""
    folder = tmp_path_factory.mktemp("begun")
    found = generate_registrations(generate_clinics(120, rng=2))
    tables = {"hospital": found.hospital, "practice": found.practice}
    link(tables, SPEC, seed=1).write(folder / "links")
    made = run(folder, "-c", BEGIN + STATED + PEOPLE)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture
def folder(begun: Path, tmp_path: Path) -> Path:
    """The same where the commands run."""
    return Path(shutil.copytree(begun, tmp_path, dirs_exist_ok=True))


@pytest.mark.slow
def test_a_project_is_made_reviewed_exported_and_applied(folder: Path) -> None:
    made = sfumato(folder, "review", "create", "links", "--title", "Clinics", "--k", "2")
    assert made.returncode == 0, made.stderr
    number = made.stdout.strip()
    early = sfumato(folder, "review", "export", number, "--output", "decisions.parquet")
    assert early.returncode == 1
    assert "closed first" in early.stderr
    decided = run(folder, "-c", BEGIN + STATED + DECIDE)
    assert decided.returncode == 0, decided.stderr
    done = sfumato(folder, "review", "export", number, "--output", "decisions.parquet")
    assert done.returncode == 0, done.stderr
    answers = pq.read_table(folder / "decisions.parquet")
    assert sorted(answers["answer"].to_pylist()) == [-3, 3]
    applied = apply_decisions(folder / "links", folder / "decisions.parquet")
    assert applied.decisions is not None
    verified = sfumato(folder, "audit", "verify")
    assert verified.returncode == 0, verified.stderr


RULES = """
import json
print(json.dumps([each.settings for each in Project.objects.order_by("created")]))
"""


@pytest.mark.slow
def test_what_is_proposed_holds_where_nothing_is_said(folder: Path) -> None:
    proposed = PROPOSED.model_dump(mode="json")
    for options in ((), ("--k", "3", "--budget", "1")):
        made = sfumato(folder, "review", "create", "links", *options)
        assert made.returncode == 0, made.stderr
    told = run(folder, "-c", BEGIN + RULES)
    assert json.loads(told.stdout) == [proposed, {**proposed, "k": 3, "budget": 1.0}]


@pytest.mark.parametrize("command", [("review", "create"), ("init",)])
def test_the_help_names_what_is_proposed(tmp_path: Path, command: tuple[str, ...]) -> None:
    command = ("-c", "from sfumato.cli.start import main; main()", *command, "--help-all")
    text = " ".join(run(tmp_path, *command).stdout.replace("│", " ").split())
    usual = f"{PROPOSED.k} when not given" if command[2] == "init" else f"[default: ({PROPOSED.k})]"
    assert re.search(rf"fit at least[.;] {re.escape(usual)}", text)
    assert f"what was spent stays spent. [default: ({PROPOSED.budget})]" in text


@pytest.mark.slow
def test_who_is_missing_is_said(folder: Path) -> None:
    wrong = sfumato(folder, "review", "create", "links", "--manager", "nobody")
    assert wrong.returncode == 1
    assert "--manager" in wrong.stderr
    none = sfumato(
        folder, "review", "export", "6f1c7a62-0000-4000-8000-000000000000", "--output", "x.parquet"
    )
    assert none.returncode == 1
    assert "must be a project" in none.stderr
