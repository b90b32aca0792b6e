"""The workflow of releases is closed by default, and a release without a contact is refused."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import check_wheel
import pytest
import release_check
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    return yaml.safe_load(WORKFLOW.read_text("utf-8"))


def test_every_action_is_pinned_to_its_commit(workflow: dict[Any, Any]) -> None:
    used = [
        step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step
    ]
    assert len(used) > 10
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each) for each in used)


def test_only_what_publishes_may_sign_and_only_for_a_tag(workflow: dict[Any, Any]) -> None:
    assert workflow["permissions"] == {}
    jobs = workflow["jobs"]
    signing = {name for name, job in jobs.items() if "id-token" in job["permissions"]}
    assert signing == {"attest", "publish"}
    assert "refs/tags/v" in jobs["publish"]["if"]
    assert "environment" in jobs["publish"]
    assert jobs["publish"]["needs"] == "attest"
    assert set(jobs["gather"]["needs"]) == {"wheel", "sdist", "suite"}
    kept = [
        step["with"]["persist-credentials"]
        for job in jobs.values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert kept
    assert not any(kept)


def test_the_suite_runs_with_every_python_from_the_least_on(workflow: dict[Any, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    matrix = workflow["jobs"]["suite"]["strategy"]["matrix"]
    assert matrix["python"][0] == project["project"]["requires-python"].removeprefix(">=")
    assert {each.split("-")[0] for each in matrix["os"]} == {"ubuntu", "macos", "windows"}
    built = project["tool"]["cibuildwheel"]["build"]
    assert built == f"cp{matrix['python'][0].replace('.', '')}-*"


def test_the_oldest_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = check_wheel.oldest().splitlines()
    assert len(lines) == len(project["dependencies"])
    for line, wanted in zip(lines, project["dependencies"], strict=True):
        assert wanted.startswith(line.replace("==", ">="))
    review = check_wheel.oldest("review", "attack").splitlines()[len(lines) :]
    assert len(review) == len(project["optional-dependencies"]["review"])
    assert "psycopg==3.2.1" in review


def test_without_a_contact_nothing_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    switch = release_check.Switch
    for contact, refused in (("", True), ("security@example.org", False)):
        monkeypatch.setattr(
            switch, "read", classmethod(lambda kind, root, contact=contact: kind(True, "", contact))
        )
        monkeypatch.setattr(release_check, "differing", lambda root: {})
        if refused:
            with pytest.raises(SystemExit, match="security-contact"):
                release_check.check_contact()
        else:
            release_check.check_contact()


def test_a_failed_step_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    def fails() -> None:
        raise SystemExit("no")

    def absent() -> None:
        raise release_check.NotRunError("nothing here")

    made = {"one": lambda: None, "two": absent}
    monkeypatch.setattr(release_check, "steps", lambda *, gathered: made)
    assert release_check.main([]) == 0
    made["three"] = fails
    assert release_check.main([]) == 1
    said = capsys.readouterr().out
    assert "two: not run (nothing here)" in said
    assert "three: FAILED" in said
