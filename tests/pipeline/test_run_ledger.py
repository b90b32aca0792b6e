"""``sfumato run`` with a ``[ledger]``: drafts, what is handed over, what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import RELEASED
from ledger.releases import people
from pipeline.clinics_project import Call, caller

from sfumato.core.errors import InputError
from sfumato.ledger.ledger_options import movable
from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.project_text import load_project, parse_project
from sfumato.pipeline.release_stages import ledger_file

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

[limits]
found = 1
person = 1
learned = 1

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
    assert made.code in RELEASED, made.err
    (draft,) = remembered(call)
    assert draft["to"] == []
    assert call("run", "--json").ran() == []
    words = ("ledger", "hand-over", str(draft["number"]), "--to", "us", *BOOK)
    strict = project.read_text().replace("found = 1", "found = 0.01")
    (tmp_path / "strict.toml").write_text(strict)
    assert call(*words, "--project", "strict.toml").code == 2
    assert call(*words).code == 0  # by the limits that it was noted with
    project.write_text(PROJECT.format(more='to = "them"', **SECOND))
    refused = call("run", "--json")
    assert refused.code == 2, refused.err
    assert "not handed over" in refused.err
    assert refused.err.count("\n- ") >= 1
    assert [each["to"] for each in remembered(call)] == [["us"], []]


def test_a_dossier_is_for_one_recipient_with_all_that_left(call: Call, tmp_path: Path) -> None:
    project, south = tmp_path / "sfumato.toml", "Southern Institute"

    def dossier(*more: str) -> dict[str, Any]:
        made = call("dossier", "them", "--output", "d.json", *more)
        assert made.code == 0, made.err
        found: dict[str, Any] = json.loads((tmp_path / "d.json").read_text())
        return found

    def found(plain: dict[str, Any]) -> list[str]:
        rows = plain["verdict"]["rows"]
        return [row["found"] for row in rows if row["intruder"] == "Recipient"]

    project.write_text(PROJECT.format(more="", **FIRST))
    assert call("dossier", "them").code == 1  # nothing was released yet
    assert call("run").code in RELEASED
    assert call("ledger", "hand-over", "2", "--to", south, *BOOK).code == 0
    stated = (
        '\n[dossier.them]\nby = "officer (A. Person)"\non = 2026-11-30\ncontract = "clause 7"\n'
    )
    project.write_text(PROJECT.format(more="", **SECOND))
    assert call("dossier", "them").code == 1  # the release is one of another file
    assert call("run").code in RELEASED
    before = (tmp_path / "book" / "ledger.sqlite").read_bytes()
    project.write_text(project.read_text() + stated)
    assert call("run", "--json").ran() == []  # what is signed stays as it is
    assert "clause 7" not in (tmp_path / "output" / "reports" / "project.json").read_text()
    inside = dossier()
    assert "clause 7" in json.dumps(inside)
    (other,) = inside["others"]
    assert (other["to"], other["compared"]) == ([south], True)
    assert (tmp_path / "book" / "ledger.sqlite").read_bytes() == before  # nothing was noted
    outside = json.dumps(dossier("--public"))
    assert south in json.dumps(inside)
    for hidden in (south, "clause 7", "A. Person", "visits.csv", str(tmp_path)):
        assert hidden not in outside
    said = ("--note", "shares with nobody", "--by", "carol")
    assert call("ledger", "waive", "--recipient", south, *said, *BOOK).code == 0
    waived = dossier()
    assert not waived["others"][0]["compared"]
    share = [float(each.split()[0]) for each in found(inside) + found(waived)]
    assert share[0] > share[1] > 0
    assert "shares with nobody" in json.dumps(waived["headings"])
    assert "carol" in json.dumps(waived["headings"])
    outside = json.dumps(dossier("--public"))
    assert "carol" not in outside
    assert south not in outside
    project.write_text(project.read_text().replace("contract =", "contarct ="))
    assert "contarct" in call("dossier", "them").err


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
    assert call("run").code in RELEASED
    head = call("ledger", "checkpoint", *BOOK).out.strip()
    assert (tmp_path / "elsewhere" / "head").read_text(encoding="utf-8").startswith(head)


UNNAMED = re.sub(
    r"\[ledger\].*?(?=\[outputs\])", "", PROJECT.format(more="", **FIRST), flags=re.DOTALL
)


@pytest.fixture
def own(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the ledger of a user is who has none yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "sfumato.toml").write_text(UNNAMED)
    return tmp_path / "data" / "sfumato" / "ledger.sqlite"


def test_a_project_that_names_no_ledger_is_remembered(call: Call, own: Path) -> None:
    assert call("status").code == 0
    assert not own.exists()
    made = call("run")
    assert made.code in RELEASED, made.err
    assert str(own) in made.err
    assert "remember = false" in made.err
    (draft,) = json.loads(call("ledger", "remembered", "--json").out)
    assert draft["to"] == []
    assert str(own) not in call("run").err  # nothing was made anew
    own.unlink()
    gone = call("run", "--force", "release")
    assert gone.code == 1
    assert "is missing" in gone.err


def test_the_own_ledger_is_the_one_that_the_environment_names(
    call: Call, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_LEDGER", "book/ledger.sqlite")
    monkeypatch.setenv("SFUMATO_LEDGER_KEYS", "keys")
    assert call("run").code in RELEASED
    assert len(json.loads(call("ledger", "remembered", "--json").out)) == 1
    assert not own.exists()
    monkeypatch.setenv("SFUMATO_LEDGER", "book/legder.sqlite")
    assert "ledger create" in call("run", "--force", "release").err


def test_a_project_that_is_not_to_be_remembered(call: Call, own: Path, tmp_path: Path) -> None:
    project = tmp_path / "sfumato.toml"
    project.write_text(f"{UNNAMED}\n[ledger]\nremember = false\n")
    made = call("run")
    assert made.code in RELEASED, made.err
    assert "Not remembered" in made.err
    assert not own.exists()
    project.write_text(f'{UNNAMED}\n[ledger]\nremember = false\nto = "us"\n')
    refused = call("run")
    assert refused.code == 1
    assert "'remember = false'" in refused.err


def test_where_no_ledger_can_be_made_the_run_stops_first(
    call: Call, own: Path, tmp_path: Path
) -> None:
    own.parent.parent.write_text("no folder")
    made = call("run")
    assert made.code == 1
    assert "remember = false" in made.err
    assert not (tmp_path / "stages" / "assess").exists()


def test_init_stops_where_nothing_can_be_remembered(call: Call, own: Path, tmp_path: Path) -> None:
    own.parent.parent.write_text("no folder")
    for named in ((), ("--ledger", "visits.csv", "--keys", "keys")):
        made = call("init", "visits.csv", "--g-balance", "0.5", "-o", "new.toml", *named)
        assert made.code == 1, made.err
        assert "ledger" in made.err
    assert not (tmp_path / "new.toml").exists()


INIT = ("init", "visits.csv", "--g-balance", "0.5", "-o")


def test_init_says_where_releases_are_remembered(call: Call, own: Path, tmp_path: Path) -> None:
    for name in ("one.toml", "two.toml"):  # the second finds the ledger there
        made = call(*INIT, name)
        assert made.code in RELEASED, made.err
        assert str(own) in made.err
        assert str(tmp_path / "config" / "sfumato" / "ledger-keys") in made.err
        assert "--no-remember" in made.err
    own.unlink()
    alone = call(*INIT, "three.toml", "--no-remember")
    assert alone.code in RELEASED, alone.err
    assert not own.exists()
    ledger = load_project(tmp_path / "three.toml").ledger
    assert ledger is not None
    assert not ledger.remember
    refused = call(*INIT, "four.toml", "--no-remember", *BOOK)
    assert refused.code == 1
    assert "--no-remember" in refused.err


def test_a_project_moves_with_its_ledger_or_finds_it_at_home(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "books").mkdir()
    (tmp_path / "project").mkdir()
    kept = ("--ledger", str(tmp_path / "books" / "l.sqlite"), "--keys", str(tmp_path / "keys"))
    assert call(*INIT, "project/one.toml", *kept).code == 0
    place = open_project(tmp_path / "project" / "one.toml")
    ledger = place.project.ledger
    assert ledger is not None
    assert (str(ledger.file), str(ledger.keys)) == ("~/books/l.sqlite", "~/keys")
    assert ledger_file(place) == tmp_path / "books" / "l.sqlite"
    inside = tmp_path / "project" / "book" / "l.sqlite"
    assert movable(inside, tmp_path / "project") == Path("book/l.sqlite")
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    lost = call("run", "project/one.toml")
    assert lost.code == 1
    assert str(tmp_path / "other" / "books" / "l.sqlite") in lost.err


def test_under_another_home_the_error_says_which_ledger(
    call: Call, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sfumato.toml").write_text(f"{UNNAMED}\n[ledger]\n")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    lost = call("run")
    assert lost.code == 1
    assert str(tmp_path / "elsewhere" / "sfumato" / "ledger.sqlite") in lost.err
    assert "remember = false" in lost.err


@pytest.mark.slow
def test_a_second_ledger_is_made_by_nothing_but_create(
    call: Call, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("run").code in RELEASED
    monkeypatch.setenv("XDG_DATA_HOME", "elsewhere")
    for words in (("run", "--force", "release"), ("init", "visits.csv", "-o", "new.toml")):
        refused = call(*words)
        assert refused.code == 1, refused.err
        assert "its keys know" in refused.err
    assert call("ledger", "create").code == 0
    assert call("run", "--force", "release").code in RELEASED


def test_a_release_that_is_repeated_is_noted(call: Call, tmp_path: Path) -> None:
    people().drop(columns=["income", "area"]).to_csv(tmp_path / "few.csv", index=False)
    (tmp_path / "schema.toml").write_text(
        f'person = "person"\nsensitive = ["code"]\n[quasi_identifiers]\n{FIRST["known"]}\n'
    )
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    words = ("anonymize", "few.csv", "--schema", "schema.toml", "--output")
    assert call(*words, "one/out.csv", "--pid-k", "20").code in RELEASED
    assert remembered(call) == []
    again = call(*words, "two/out.csv", "--repeat", "one/release.toml", *BOOK)
    assert again.code in RELEASED, again.err
    assert len(remembered(call)) == 1
