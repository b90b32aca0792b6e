"""``sfumato sign`` and ``verify`` on a project: handed over once, or refused, and always signed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from ledger.releases import people
from pipeline.clinics_project import Call, caller
from pipeline.test_run_ledger import BOOK, FIRST, PROJECT, remembered

from sfumato.core.errors import HandOverRefusedError, InputError
from sfumato.core.signatures import Decision, load_key
from sfumato.ledger.release_ledger import ReleaseLedger
from sfumato.pipeline import signing
from sfumato.pipeline.project_folder import ATTACK, REPORT, open_project
from sfumato.pipeline.project_model import Attack
from sfumato.pipeline.run import StageState, State, status_of
from sfumato.pipeline.signing import records_sha, requirements
from sfumato.pipeline.stage import read_record
from sfumato.release.release_manifest import file_sha256
from sfumato.risk.evidence import Evidence
from sfumato.risk.learned_values import Share
from sfumato.risk.verdict import SHARES, Acceptance, Row
from sfumato.risk.verdict import State as RowState

READY = PROJECT.format(more="", **FIRST)
SIGN = ("sign", "--key", "anna", "--by", "officer (Anna)", "--because", "contract 17")


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    people().to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "sfumato.toml").write_text(READY)
    called = caller(tmp_path, monkeypatch, capfd)
    assert called("ledger", "create", *BOOK).code == 0
    assert called("key", "new", "anna").code == 0
    return called


def test_a_signed_release_is_handed_over_and_checked_elsewhere(call: Call, tmp_path: Path) -> None:
    assert call(*SIGN, "--to", "university").code == 1  # nothing is made yet
    assert call("run").code == 0
    assert call(*SIGN).code == 1  # it is said to nobody
    signed = call(*SIGN, "--to", "university")
    assert signed.code == 0, signed.err
    assert [each["to"] for each in remembered(call)] == [["university"]]
    assert call(*SIGN, "--to", "university").code == 1  # a decision stays
    with ReleaseLedger.open(tmp_path / "book" / "ledger.sqlite", tmp_path / "keys") as book:
        noted = book.signatures()
    sha256 = file_sha256(tmp_path / "output" / "signature.json")
    assert [each["sha256"] for each in noted.values()] == [sha256]

    mail = tmp_path / "mail"
    shutil.copytree(tmp_path / "output" / "release", mail / "release")
    shutil.copy(tmp_path / "output" / "signature.json", mail)
    assert call("verify", "mail").code == 4
    known = call("verify", "mail", "--signer", "anna.pub", "--json")
    assert known.code == 0
    statement = known.json["statement"]
    assert statement["to"] == "university"
    assert statement["about"]["verdict"]["ready"]
    assert known.json["files"]["reports/project.json"] == "not here"
    with (mail / "release" / "release.csv").open("a") as stream:
        stream.write("\n")
    assert call("verify", "mail", "--signer", "anna.pub").code == 2
    assert call("run", "--json").ran() == []  # the signature is no change of the project
    assert call("verify", "output", "--signer", "anna.pub").code == 0


def test_a_dossier_says_for_whom_its_release_is_signed(call: Call, tmp_path: Path) -> None:
    assert call("run").code == 0
    assert call(*SIGN, "--to", "university").code == 0
    project = tmp_path / "sfumato.toml"
    stated = '\n[dossier.university]\nby = "officer"\non = {}\ncontract = "clause 7"\n'
    project.write_text(READY + stated.format("2026-11-01"))
    assert call("verify", "output", "--signer", "anna.pub").code == 0
    assert call("run", "--json").ran() == []
    with ReleaseLedger.open(tmp_path / "book" / "ledger.sqlite", tmp_path / "keys") as book:
        ((number, noted),) = book.signatures().items()
        assert list(book.handed_to(number)) == ["university"]
    today = noted["time"][:10]
    for to in ("university", "clinic"):
        made = call("dossier", to, "--output", "d.json")
        assert made.code == 0, made.err
        plain = json.loads((tmp_path / "d.json").read_text())
        by_title = {each["title"]: each for every in plain["headings"].values() for each in every}
        own = to == "university"
        assert by_title["Signature"]["kind"] == "assumed"
        assert today in by_title["Signature"]["how"]
        assert ("Signature for the recipient" in by_title) is not own
        assert (today in by_title["Hand-over"]["says"]) is own
        others = [each for each in plain["verdict"]["sentences"] if "1 other recipient" in each]
        assert len(others) == (not own)
        assert all("university" in each for each in others)
    project.write_text(READY + stated.format("9999-11-01"))
    refused = call("dossier", "university")
    assert refused.code == 1
    assert "dossier.university.on" in refused.err


def test_what_is_above_is_refused_or_not_signed(call: Call, tmp_path: Path) -> None:
    (tmp_path / "sfumato.toml").write_text(READY.replace("found = 1", "found = 0.001"))
    assert call("run").code == 2
    refused = call(*SIGN, "--to", "university")
    assert refused.code == 2
    assert "not ready" in refused.err
    assert not (tmp_path / "output" / "signature.json").exists()
    assert call(*SIGN, "--refuse").code == 0
    assert call("verify", "output").code == 2
    checked = call("verify", "output", "--signer", "anna.pub", "--json")
    assert checked.code == 2
    assert checked.json["unchanged"]
    assert checked.json["statement"]["decision"] == "refused"
    assert [each["to"] for each in remembered(call)] == [[]]


def test_nothing_is_signed_that_the_run_did_not_make(call: Call, tmp_path: Path) -> None:
    assert call("run").code == 0
    (tmp_path / "output" / "release" / "raw.csv").symlink_to(tmp_path / "visits.csv")
    assert call(*SIGN, "--to", "university").code == 1
    assert not (tmp_path / "output" / "signature.json").exists()


def test_what_changed_since_the_run_is_not_signed(call: Call, tmp_path: Path) -> None:
    assert call("run").code == 0
    (tmp_path / "sfumato.toml").write_text(READY.replace("0.93", "0.9"))
    found = call(*SIGN, "--to", "university")
    assert found.code == 1
    assert "made of what is there now" in found.err


def test_nothing_is_signed_that_the_ledger_refuses(call: Call, tmp_path: Path) -> None:
    assert call("run").code == 0
    assert call(*SIGN, "--to", "us").code == 0
    (tmp_path / "sfumato.toml").write_text(
        PROJECT.format(
            more="",
            known='income = "numeric"\narea = "categorical"',
            direct='["birth_year", "sex"]',
        )
    )
    assert call("run").code in (0, 2)
    found = call(*SIGN, "--to", "them")
    assert found.code == 2
    assert [each["to"] for each in remembered(call)] == [["us"], []]
    # That of the first release is not one of this one.
    assert call("verify", "output", "--signer", "anna.pub").code == 2
    assert call(*SIGN, "--refuse").code == 0
    refused = call("verify", "output", "--signer", "anna.pub", "--json").json
    assert (refused["unchanged"], refused["statement"]["decision"]) == (True, "refused")


def test_what_is_signed_is_what_was_shown(call: Call, tmp_path: Path) -> None:
    assert call("run").code == 0
    place = open_project(tmp_path / "sfumato.toml")
    shown, key = records_sha(place), load_key(tmp_path / "anna")
    (tmp_path / "sfumato.toml").write_text(READY.replace("0.93", "0.9"))
    assert call("run").code == 0
    place = open_project(tmp_path / "sfumato.toml")
    said = {"by": "officer (Anna)", "because": "contract 17"}
    for expected in (shown, ""):
        with pytest.raises(InputError, match="changed since the page was shown"):
            signing.sign(place, Decision.REFUSED, key, **said, expected=expected)
    assert signing.sign(place, Decision.REFUSED, key, **said, expected=records_sha(place)).is_file()


def test_an_attack_that_was_asked_for_must_be_made(call: Call, tmp_path: Path) -> None:
    assert call("run").code == 0
    status = status_of(open_project(tmp_path / "sfumato.toml"))
    assert all(each.met for each in requirements(status))
    assert requirements(status)[-1].words == "No attack was made."
    project = status.place.project.model_copy(update={"attack": Attack()})
    asked = requirements(replace(status, place=replace(status.place, project=project)))
    assert [each.words for each in asked if not each.met] == ["No attack was made."]
    # One that ran, and had nothing to try, is made.
    for state, met in ((State.DONE, True), (State.OUTDATED, False)):
        ran = (*status.stages, StageState(ATTACK, state))
        last = requirements(
            replace(status, stages=ran, place=replace(status.place, project=project))
        )[-1]
        assert last.met is met
        assert (last.words == "No attack had anything to guess.") is met


def test_what_is_signed_is_what_the_run_made(call: Call, tmp_path: Path) -> None:
    assert call("run").code == 0
    place = open_project(tmp_path / "sfumato.toml")
    record = read_record(place.of_stage(REPORT))
    assert record is not None
    (tmp_path / "output" / "release" / "release.csv").write_text("another\n")
    statement = signing.statement_of(place, Decision.RELEASED, "Anna", "why", "one\ntwo")
    signed = {**statement.leaving, **statement.inside}
    assert signed == {name: each.sha256 for name, each in record.outputs.items() if name in signed}
    assert "release/release.csv" in statement.leaving
    assert statement.to == "one two"


def test_the_column_that_is_offered_is_not_accepted_yet() -> None:
    accepted = tuple(
        Acceptance("insider", "Anna", "why", date(2100, 1, 1), dict.fromkeys(SHARES, 0.0), column)
        for column in ("b", "a")
    )
    row = Row("insider", RowState.NOT_MEASURED, accepted=accepted, unmeasured=("a", "b", "c", "d"))
    verdict = SimpleNamespace(rows=[row], linkage=None, evidence=())
    place = SimpleNamespace(project=SimpleNamespace(attack=None))
    status = SimpleNamespace(is_done=True, verdict=verdict, place=place, stages=())
    offered = requirements(status)[1]  # type: ignore[arg-type]
    assert (offered.row, offered.covers) == ("insider.c", False)


def test_a_release_that_an_attack_beat_is_not_handed_over(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("run").code == 0
    place = open_project(tmp_path / "sfumato.toml")
    status, share = status_of(place), Share(0.5, 0.4, 0.6)
    beaten = Evidence("nearest", "stranger", share, share, beaten=True, own=True)
    assert status.verdict is not None
    status.__dict__["verdict"] = replace(status.verdict, evidence=(beaten,))
    monkeypatch.setattr(signing, "status_of", lambda _place: status)
    key, said = load_key(tmp_path / "anna"), {"by": "officer (Anna)", "because": "contract 17"}
    with pytest.raises(HandOverRefusedError, match="attack found more"):
        signing.sign(place, Decision.RELEASED, key, **said, to="university")
    assert signing.sign(place, Decision.REFUSED, key, **said).is_file()
