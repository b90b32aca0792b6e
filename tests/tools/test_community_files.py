"""What a forge shows of the project is whole, agrees with pyproject.toml, and asks for no data."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
KINDS = {"markdown", "textarea", "input", "checkboxes"}


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_citation_is_that_of_the_project() -> None:
    """`make release-check` holds the whole of it against the schema of the format."""
    cited, own = load(ROOT / "CITATION.cff"), project()
    assert cited["cff-version"] == "1.2.0"
    assert cited["title"] == own["name"]
    assert cited["license"] == own["license"]
    assert cited["keywords"] == own["keywords"]
    assert [each["name"] for each in cited["authors"]] == [each["name"] for each in own["authors"]]
    # The version is git's; one that is written down would be an old one.
    assert "version" not in cited


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form(path: Path) -> None:
    form = load(path)
    assert {"name", "description", "body"} <= form.keys()
    fields = {each["id"]: each for each in form["body"] if each["type"] != "markdown"}
    assert {each["type"] for each in form["body"]} <= KINDS
    assert all(each["attributes"]["label"] for each in fields.values())
    assert "sfumato --version" in fields["version"]["attributes"]["label"]
    assert fields["without-data"]["attributes"]["options"][0]["required"]


def test_a_bug_needs_its_version() -> None:
    fields = {each.get("id"): each for each in load(FORMS[0])["body"]}
    assert len(FORMS) == 2
    assert fields["version"]["validations"]["required"]
    assert not load(ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml")["blank_issues_enabled"]


def test_governance_is_ten_lines() -> None:
    lines = (ROOT / "GOVERNANCE.md").read_text("utf-8").splitlines()
    assert sum(line[:1].isdigit() for line in lines) == 10


def test_the_least_python_is_among_the_classifiers() -> None:
    own = project()
    least = own["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {least}" in own["classifiers"]
