"""``sfumato init``: a project file for tables that nobody has described."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pipeline.clinics_project import Call, caller

from sfumato.examples import generate_clinics, generate_registrations, write_registrations
from sfumato.pipeline.project_model import Reviewers
from sfumato.pipeline.project_text import load_project
from sfumato.schema import Schema
from sfumato.table.schema_guess import Guess, Proposed

CANARY = "Canary7f3a"


@pytest.fixture(scope="module")
def clinics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clinics")
    write_registrations(generate_registrations(generate_clinics(60, rng=4)), folder)
    file = folder / "patients_hospital.csv"
    lines = file.read_text().splitlines()
    lines[1] = lines[1].split(",")[0] + f",{CANARY},{CANARY},1950-01-01,Female,02139,"
    file.write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    return caller(tmp_path, monkeypatch, capfd)


def test_two_tables_with_visits(call: Call, clinics: Path, tmp_path: Path) -> None:
    made = call(
        "init",
        f"hospital={clinics / 'patients_hospital.csv'}",
        f"practice={clinics / 'patients_practice.csv'}",
        "--dedupe",
        "--attach", f"hospital={clinics / 'visits_hospital.csv'}",
        "--attach", f"practice={clinics / 'visits_practice.csv'}",
        "--review", "desk", "--budget", "0.4", "--seed", "3", "--name", "Two clinics",
    )  # fmt: skip
    assert made.code == 0, made.err
    assert "Next: sfumato run" in made.err
    text = (tmp_path / "sfumato.toml").read_text()
    assert CANARY not in text + made.out + made.err
    project = load_project(tmp_path / "sfumato.toml")
    assert {name: source.id for name, source in project.sources.items()} == {
        "hospital": "patient", "practice": "patient",
    }  # fmt: skip
    assert isinstance(project.columns, Schema)
    assert "icd9" in project.columns.sensitive
    assert "surname" in project.columns.direct_identifiers
    assert "patient" not in project.columns.columns()
    assert project.review.by is Reviewers.DESK
    assert project.review.budget == 0.4
    assert project.about.seed == 3
    assert project.attack is not None
    assert (tmp_path / "sfumato.schema.json").is_file()
    for line in ("[release]", "promise_limits = true", "#:schema ./sfumato.schema.json"):
        assert line in text


def test_one_table_is_not_linked(call: Call, clinics: Path, tmp_path: Path) -> None:
    made = call("init", clinics / "visits_hospital.csv", "--pid-k", "7", "--format", "parquet")
    assert made.code == 0, made.err
    project = load_project(tmp_path / "sfumato.toml")
    assert not project.is_linked
    assert project.release.pid_k == 7
    assert project.release.g_balance is None
    assert project.outputs.formats == ("parquet",)
    assert project.sources["visits_hospital"].file.parts[0] == ".."


def test_nothing_is_overwritten(call: Call, clinics: Path, tmp_path: Path) -> None:
    (tmp_path / "sfumato.toml").write_text("mine")
    made = call("init", clinics / "visits_hospital.csv")
    assert made.code == 1
    assert "must not be there yet" in made.err
    assert (tmp_path / "sfumato.toml").read_text() == "mine"


@pytest.mark.slow
def test_what_is_not_said_is_asked(
    call: Call, clinics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = f"{clinics / 'patients_hospital.csv'}, {clinics / 'patients_practice.csv'}"
    visits = clinics / "visits_practice.csv"
    answers = [files, "y", "patient", "", str(visits), "application"]
    monkeypatch.setattr(sys, "stdin", StringIO("".join(f"{each}\n" for each in answers)))
    made = call("init")
    assert made.code == 0, made.err
    project = load_project(tmp_path / "sfumato.toml")
    assert project.review.by is Reviewers.APPLICATION
    assert project.sources["patients_hospital"].attach is None
    assert project.sources["patients_practice"].attach is not None


ASKED = [
    ([], {}),
    (["y", "y", "y"], {}),
    (["n", "", "y", "n", ""], {}),  # no reason, no answer
    (
        ["n", "a lost frame", "y", "y", "officer (A)", "2031-01-31"],
        {"acquaintance": "a lost frame"},
    ),
    (["y", "n", "told to nobody", "y", "officer (A)", ""], {"icd": "told to nobody"}),
    (
        ["n", "a lost frame", "y", "n", "kept inside", "officer (A)", ""],
        {"acquaintance": "a lost frame", "score_1": "kept inside", "score_2": "kept inside"},
    ),
    (["n", "a lost frame"], {}),  # nobody answers for it
]


@pytest.mark.parametrize(("answers", "because"), ASKED)
def test_what_cannot_be_known_is_asked_and_accepted_by_name(
    answers: list[str],
    because: dict[str, str],
    call: Call,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [f"{20 + i % 50},{'fm'[i % 2]},{i % 7},{i % 9},{i % 5}" for i in range(300)]
    (tmp_path / "a.csv").write_text("\n".join(["age,sex,icd,score_1,score_2", *lines]) + "\n")
    own = 'quasi_identifiers = ["age", "sex"]\nsensitive = ["icd", "score_1", "score_2"]\n'
    (tmp_path / "own.toml").write_text(own)
    said = ["a.csv", "n", *answers]
    monkeypatch.setattr(sys, "stdin", StringIO("".join(f"{each}\n" for each in said)))
    made = call("init", "--no-remember", "--schema", "own.toml", "--pid-k", "5")
    assert made.code == 0, made.err
    project = load_project(tmp_path / "sfumato.toml")
    given = project.accept.by_row
    assert {column or name: each.because for (name, column), each in given.items()} == because
    assert all(each.by == "officer (A)" for each in given.values())
    assert "[accept.insider]" not in (tmp_path / "sfumato.toml").read_text()
    # Nothing is covered before it was measured.
    assert project.acceptances == ()


def test_nothing_is_asked_or_accepted_where_tables_are_named(
    call: Call, clinics: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("n\na reason\n" * 9))
    assert call("init", clinics / "visits_hospital.csv", "--no-remember").code == 0
    assert not load_project(tmp_path / "sfumato.toml").accept.by_row
    assert "[accept]" in (tmp_path / "sfumato.toml").read_text()


def test_a_schema_of_ones_own_is_named(call: Call, clinics: Path, tmp_path: Path) -> None:
    visits, own = clinics / "visits_hospital.csv", tmp_path / "own.toml"
    assert call("schema", "guess", visits, "--output", own).code == 0
    guessed = own.read_text(encoding="utf-8")
    own.write_text(guessed.replace('person = "patient"\n', ""), encoding="utf-8")
    refused = call("init", visits, "--schema", own, "--preset", "cms")
    assert refused.code == 1
    assert 'person = "patient"' in refused.err
    assert not (tmp_path / "sfumato.toml").exists()
    own.write_text(guessed, encoding="utf-8")
    made = call("init", visits, "--schema", own, "--preset", "cms")
    assert made.code == 0, made.err
    project = load_project(tmp_path / "sfumato.toml")
    assert project.columns_are_in_file
    assert project.release.presets == ("cms",)


def test_the_json_schema_is_printed(call: Call, tmp_path: Path) -> None:
    made = call("init", "--json-schema")
    assert made.code == 0
    assert made.json["title"] == "sfumato.toml"
    assert list(tmp_path.iterdir()) == []


def test_an_attached_table_must_fit(call: Call, clinics: Path) -> None:
    made = call(
        "init", clinics / "patients_hospital.csv", clinics / "patients_practice.csv",
        "--attach", f"nobody={clinics / 'visits_hospital.csv'}",
    )  # fmt: skip
    assert made.code == 1
    assert "must be of a source" in made.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pid-k", "0"), "release"),
        (("--name", "../x"), "project.name"),
        (("--delimiter", ";;"), "delimiter"),
        (("--preset", "nonesuch"), "presets"),
        (("--schema", "nonesuch.toml"), "nonesuch.toml"),
        (("--id", "no"), "--id is for tables that are linked"),
        (("--spec", "link.toml"), "--spec is for tables that are linked"),
        (("--one-per-source",), "--one-per-source is for"),
        (("--review", "desk"), "--review is for"),
        (("--budget", "0.5"), "--budget needs reviewers"),
        (("--dedupe", "--review-k", "3"), "--review-k needs reviewers"),
    ],
)
def test_what_cannot_be_is_refused(
    call: Call, clinics: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    made = call("init", clinics / "visits_hospital.csv", *words)
    assert made.code == 1
    assert said in made.err
    assert list(tmp_path.iterdir()) == []


def test_a_table_with_a_name_of_its_own(call: Call, clinics: Path, tmp_path: Path) -> None:
    odd = tmp_path / "visits (2) of ä.csv"
    odd.write_bytes((clinics / "visits_hospital.csv").read_bytes())
    assert call("init", odd).code == 0
    project = load_project(tmp_path / "sfumato.toml")
    assert list(project.sources) == ["visits-2-of"]
    assert project.sources["visits-2-of"].file.name == odd.name


def test_nobody_answers(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO(""))
    made = call("init")
    assert made.code == 1
    assert "argument TABLE" in made.err


VISITS = "visits.csv"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Two hundred people of about five visits each; a smoker says so twice."""
    rows = ["patient,sex,age,smoker,icd10"]
    for person in range(200):
        for visit in range(5 if person > 2 else 12):
            yes = visit < 2 and person % 10
            sex, age = "mf"[person % 2], 20 + person % 60
            code = f"{'IEJ'[visit % 3]}1{(person + visit) % 9}"
            rows.append(f"p{person:04d},{sex},{age},{'yes' if yes else f'no{visit}'},{code}")
    table = tmp_path / VISITS
    table.write_text("\n".join(rows) + "\n")
    return table


def rows_of(call: Call) -> dict[str, dict[str, Any]]:
    verdict = json.loads(call("status", "--json").out)["verdict"]
    return {each["intruder"]: each for each in verdict["rows"]}


def test_what_is_proposed_can_be_handed_over(call: Call, visits: Path, tmp_path: Path) -> None:
    """The limits themselves are promised, and what is left out comes back by an answer."""
    assert call("init", visits, "--seed", "1").code == 0
    path = tmp_path / "sfumato.toml"
    project = load_project(path)
    assert isinstance(project.columns, Schema)
    assert project.release.promise_limits
    assert not project.release.promises
    made = call("run", "--until", "release")
    assert made.code == 0, made.err
    assert {each["state"] for each in rows_of(call).values()} <= {"below", "does not apply"}
    released = tmp_path / "stages" / "release" / "release.csv"
    out = {"smoker", "icd10"} - {*released.read_text().partition("\n")[0].split(",")}
    assert out
    # Nothing was measured of what is left out: the next run says how much is answered for.
    column = min(out)
    said = ("--by", "officer", "--because", "a reason", "--until", "2999-01-01")
    assert call("accept", f"insider.{column}", *said, "--at-most", "0.5").code == 1
    assert call("accept", f"insider.{column}", *said).code == 4
    assert load_project(path).acceptances == ()
    assert call("run", "--until", "release").code == 0
    assert column in released.read_text().partition("\n")[0].split(",")
    (covered,) = load_project(path).acceptances
    assert 0 < covered.at_most["found"] <= 1
    insider = rows_of(call)["insider"]
    assert (insider["state"], insider["column"]) == ("above, accepted", column)
    # That it is written there changes nothing of the release.
    again = call("run", "--until", "release")
    assert again.code == 0
    assert again.err.count("unchanged") == 2


def test_questions_of_several_tables_are_answered() -> None:
    asked = Guess(Schema(quasi_identifiers=["sex"], undecided={"v2": "what?", "v3": "what?"}), {})
    schema = replace(asked, roles={"v2": Proposed("sensitive", 0.5, "")}).answered()
    assert schema.sensitive == ("v2",)
    assert schema.direct_identifiers == ("v3",)
    assert not schema.undecided


def test_what_says_who_a_person_is_in_two_tables_is_not_sensitive_in_one(
    call: Call, tmp_path: Path
) -> None:
    codes = [1009 + 37 * (i * i % 211) for i in range(600)]
    tables = (("one", "x1,x2,x3,hhid", range(500)), ("two", "y9,y8,y7,household", range(600)))
    for name, headers, rows in tables:
        lines = [f"{codes[i]},Q{i * 7919 % 10**6:06d},{1930 + i % 70}-03-{1 + i % 28:02d},"
                 f"H{i // 3:04d}"
                 for i in rows]  # fmt: skip
        (tmp_path / f"{name}.csv").write_text("\n".join([headers, *lines]) + "\n")
    assert call("init", "one.csv", "two.csv").code == 0
    project = load_project(tmp_path / "sfumato.toml")
    assert isinstance(project.columns, Schema)
    assert {"x1", "y9"} <= set(project.columns.quasi_identifiers)
    assert {"hhid", "household"} <= set(project.columns.direct_identifiers)
    assert project.link is not None
    assert project.link.specification.rename["two"]["x1"] == "y9"
