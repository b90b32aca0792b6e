"""``sfumato run`` with a ``[ledger]``: drafts, what is handed over, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ledger.releases import people
from pipeline.clinics_project import Call, caller

from sfumato.core.errors import InputError
from sfumato.pipeline.project_text import parse_project

PROJECT = """\
[project]
name = "visits"
seed = 5

[sources.visits]
file = "visits.csv"

[schema]
person = "person"
sensitive = ["code"]
direct_identifiers = {direct}

[schema.quasi_identifiers]
{known}

[release]
g_balance = 0.93

[ledger]
file = "book/ledger.sqlite"
keys = "keys"
{more}

[outputs]
formats = ["csv"]
report = "json"
"""
FIRST = {
    "known": 'birth_year = "numeric"\nsex = "categorical"', "direct": '["income", "area"]',
}  # fmt: skip
SECOND = {
    "known": 'income = "numeric"\narea = "categorical"', "direct": '["birth_year", "sex"]',
}  # fmt: skip
BOOK = ("--ledger", "book/ledger.sqlite", "--keys", "keys")


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    people().to_csv(tmp_path / "visits.csv", index=False)
    called = caller(tmp_path, monkeypatch, capfd)
    assert called("ledger", "create", *BOOK).code == 0
    return called


def remembered(call: Call) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(call("ledger", "remembered", "--json", *BOOK).out)
    return found


def test_a_draft_then_handed_over_then_refused(call: Call, tmp_path: Path) -> None:
    project = tmp_path / "sfumato.toml"
    project.write_text(PROJECT.format(more="", **FIRST))
    made = call("run", "--json")
    assert made.code == 0, made.err
    (draft,) = remembered(call)
    assert draft["to"] == []
    assert call("run", "--json").ran() == []
    assert call("ledger", "hand-over", str(draft["number"]), "--to", "us", *BOOK).code == 0
    project.write_text(PROJECT.format(more='to = "them"', **SECOND))
    refused = call("run", "--json")
    assert refused.code == 2, refused.err
    assert "is not handed over" in refused.err
    assert "What can be done" in refused.err
    assert [each["to"] for each in remembered(call)] == [["us"], []]


def test_a_project_without_its_ledger_stops(call: Call, tmp_path: Path) -> None:
    text = PROJECT.format(more="", **FIRST).replace("book/ledger", "book/legder")
    (tmp_path / "sfumato.toml").write_text(text)
    made = call("run")
    assert made.code == 1
    assert "ledger create" in made.err
    assert not (tmp_path / "stages" / "assess").exists()


def test_the_old_place_says_where_it_stands_now() -> None:
    text = PROJECT.format(more="", **FIRST).replace("[ledger]\nfile", "[policy]\nledger")
    with pytest.raises(InputError, match=r"write 'ledger' as 'file'.* under \[ledger\]"):
        parse_project(text)


def test_a_project_whose_head_is_kept_elsewhere(call: Call, tmp_path: Path) -> None:
    project = tmp_path / "sfumato.toml"
    project.write_text(PROJECT.format(more='head = "elsewhere/head"', **FIRST))
    unknown = call("run")
    assert unknown.code == 1
    assert "ledger register --head FILE" in unknown.err
    (tmp_path / "elsewhere").mkdir()
    said = ("--note", "new disk", "--by", "carol")
    assert call("ledger", "register", "--head", "elsewhere/head", *said, *BOOK).code == 0
    assert call("run").code == 0
    head = call("ledger", "checkpoint", *BOOK).out.strip()
    assert (tmp_path / "elsewhere" / "head").read_text(encoding="utf-8").startswith(head)
