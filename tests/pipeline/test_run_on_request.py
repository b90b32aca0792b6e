"""``sfumato run`` where a policy decides: associations wait for the custodian, then it releases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipeline.clinics_project import Call, caller, change
from semantics.requests import opened, write_example

PROJECT = """\
[project]
name = "diabetes"
seed = 5

[sources.linked]
file = "linked.csv"

[schema]
file = "schema.toml"

[policy]
file = "one.toml"
request = "diabetes"

[policy.local]
"Hospital A" = "hospital.csv"

[ledger]
file = "book/ledger.sqlite"
keys = "keys"

[outputs]
formats = ["csv", "parquet"]
report = "json"
"""
BOOK = ("--ledger", "book/ledger.sqlite", "--keys", "keys")


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    (tmp_path / "book").mkdir()
    write_example(tmp_path)
    opened(tmp_path).close()
    (tmp_path / "sfumato.toml").write_text(PROJECT)
    return caller(tmp_path, monkeypatch, capfd)


def test_associations_wait_and_then_it_is_released_once(call: Call, tmp_path: Path) -> None:
    made = call("run", "--json")
    assert made.code == 3, made.err
    waiting = made.json["waiting"]
    assert waiting["whom"] == "custodian"
    assert waiting["count"] > 0
    assert not (tmp_path / "stages" / "release").exists()
    listed = json.loads(call("ledger", "associations", "list", "--json", *BOOK).out)
    assert len(listed) == waiting["count"]
    assert call("run").code == 3
    assert len(json.loads(call("ledger", "list", "--json", *BOOK).out)) == 0
    for each in listed:
        chosen = "accept" if each["then"]["label"] == "Chinese" else "reject"
        said = ("--note", "it is so", "--by", "carol")
        assert call("ledger", "associations", chosen, each["id"], *said, *BOOK).code == 0
    # Three people of three classes: the rules are kept, and a stranger finds everybody.
    done = call("run", "--json")
    assert done.code == 2, done.err
    rows = {each["intruder"]: each for each in done.json["verdict"]["rows"]}
    assert rows["stranger"]["found"]["value"] > done.json["verdict"]["limits"]["found"]
    assert rows["recipient"]["state"] == "above"
    assert done.ran() == ["assess", "release", "report"] or done.ran() == ["release", "report"]
    assert call("run", "--json").ran() == []
    assert len(json.loads(call("ledger", "list", "--json", *BOOK).out)) == 1
    assert call("dossier", "Dr. Gary", "--output", "d.json", "--public").code == 0
    dossier = json.loads((tmp_path / "d.json").read_text())
    assert dossier["others"] == []
    said = {each["title"]: each for every in dossier["headings"].values() for each in every}
    assert said["Rules of the policy"]["kind"] == "measured"
    assert said["Linkability: releases joined"]["kind"] == "measured"
    assert "Dr. Gary" not in json.dumps(dossier)
    measured = json.loads((tmp_path / "stages" / "release" / "measured.json").read_text())
    assert measured["k"] == 3
    assert (tmp_path / "output" / "release" / "release.parquet").is_file()
    assert (tmp_path / "output" / "release" / "release.codebook.md").is_file()


def test_who_does_not_wait_goes_on(call: Call, tmp_path: Path) -> None:
    change(tmp_path, "[policy]", '[policy]\nundecided = "go on"')
    made = call("run", "--json")
    assert made.code == 2, made.err
    assert made.ran() == ["assess", "release", "report"]


def test_a_request_that_the_rules_refuse(call: Call, tmp_path: Path) -> None:
    change(tmp_path, 'request = "diabetes"', 'request = "stranger"')
    made = call("run")
    assert made.code == 1
    assert "visitor" in made.err
    assert not (tmp_path / "output").exists()
