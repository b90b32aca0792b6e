"""Commands over the tables of one database."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from made_databases import made_database

from sfumato.pipeline.project_text import load_project
from sfumato.schema import Schema, load_schema


def test_profile_and_guess_of_a_folder(run, tmp_path: Path) -> None:
    made = made_database(5, people=80, language="de", orphans=2)
    made.write(tmp_path / "db")
    shown = run("profile", "db")
    assert shown.code == 0, shown.err
    assert "patienten by patnr" in shown.out
    plain = json.loads(run("profile", "db", "--json").out)["map"]
    assert plain["persons"] == "patienten"
    counts = {each["table"]: each for each in plain["counts"]}
    assert counts["aufenthalte"]["orphans"] == 2
    assert plain["without_events"] > 0
    assert run("schema", "guess", "db", "--output", "schema.toml").code == 0
    assert {*load_schema(tmp_path / "schema.toml").tables} == {*made.frames}


def test_init_makes_no_strangers_of_one_database(run, tmp_path: Path) -> None:
    made = made_database(6, people=80)
    made.write(tmp_path)
    made_so = run("init", *(f"{name}.csv" for name in made.frames))
    assert made_so.code == 0, made_so.err
    project = load_project(tmp_path / "sfumato.toml")
    assert project.is_database
    assert not project.is_linked
    assert isinstance(project.columns, Schema)
    assert {name: each.file for name, each in project.columns.tables.items()} == {
        name: f"{name}.csv" for name in made.frames
    }


@pytest.mark.slow
def test_a_project_of_a_database_runs_to_its_report(run, tmp_path: Path) -> None:
    made = made_database(6, people=60, language="de")
    made.write(tmp_path / "db")
    assert run("init", "db").code == 0
    done = run("run")
    assert done.code in (2, 4), done.err
    out = tmp_path / "output" / "release" / "tables"
    assert {each.stem for each in out.glob("*.csv")} == {*made.frames}
    assert run("run").code == done.code  # nothing is made again
    report = json.loads((tmp_path / "output" / "reports" / "report.json").read_text())
    assert report
    told = run("dossier", "us", "--output", "d.json", "--public")
    assert told.code == 0, told.err
    assert json.loads((tmp_path / "d.json").read_text())["counted"]["measured"]


@pytest.mark.slow
def test_what_was_released_is_attacked_from_its_folder(run, tmp_path: Path) -> None:
    made = made_database(5, people=60, language="fr")
    made.write(tmp_path / "db")
    assert run("schema", "guess", "db", "--output", "schema.toml").code == 0
    given = ("--schema", "schema.toml")
    asked = ("--pid-k", "3", "--known-events", "2:0.2", "--effort", "0", "--no-cures")
    assert run("anonymize", "db", *given, *asked, "--output", "out").code in (2, 4)
    found = run("attack", "out", *given, "--original", "db", "--attack", "events", "--json")
    assert found.code in (0, 2, 4), found.err
    assert json.loads(found.out)["persons"] == 60
    file = tmp_path / "out" / "sejours.csv"
    file.write_text(file.read_text().replace("*", "x", 1))
    assert run("attack", "out", *given, "--original", "db").code == 1


def test_a_folder_is_measured_released_and_repeated(run, tmp_path: Path) -> None:
    made = made_database(5, people=60, language="fr")
    made.write(tmp_path / "db")
    assert run("schema", "guess", "db", "--output", "schema.toml").code == 0
    measured = run("assess", "db", "--schema", "schema.toml", "--json")
    assert measured.code == 0, measured.err
    assert json.loads(measured.out)["persons"] == 60
    given = ("db", "--schema", "schema.toml", "--pid-k", "3", "--effort", "0", "--no-cures")
    shown = run("anonymize", *given, "--output", "out")
    assert shown.code in (2, 4), shown.err
    assert "sejours" in shown.out
    assert {each.name for each in (tmp_path / "out").iterdir()} == {
        *(f"{name}.csv" for name in made.frames), "out.codebook.md",
    }  # fmt: skip
    again = run("anonymize", *given[:3], "--repeat", "release.toml", "--output", "again")
    assert again.code == shown.code, again.err
    for name in made.frames:
        same = [(tmp_path / folder / f"{name}.csv").read_bytes() for folder in ("out", "again")]
        assert same[0] == same[1]
    anew = run("anonymize", *given, "--output", "again")  # it is as its manifest says
    assert anew.code == shown.code, anew.err
    (tmp_path / "db2" / "out").mkdir(parents=True)
    (tmp_path / "db2" / "out" / "notes.txt").write_text("mine")
    secret = (tmp_path / "release.secret").read_bytes()
    for output, said in (
        ("db2/out", "new folder"),  # something else is in it
        ("out", "new folder"),  # the manifest beside it speaks of another folder now
        ("third", "release.toml"),  # whose manifest would take that one's place
        ("sqlite:///third.db?table=all", "folder"),
        (".", "name"),
    ):
        refused = run("anonymize", *given, "--output", output)
        assert refused.code == 1, output
        assert said in refused.err
    assert (tmp_path / "release.secret").read_bytes() == secret
    assert not (tmp_path / "third").exists()


def test_what_a_killed_writer_left_is_taken_away(run, tmp_path: Path) -> None:
    made = made_database(5, people=60)
    made.write(tmp_path / "db")
    assert run("schema", "guess", "db", "--output", "schema.toml").code == 0
    (tmp_path / "out").mkdir()
    left = tmp_path / "out" / ".patients.csv.0123abcd.part.csv"
    left.write_text("half")
    given = ("--schema", "schema.toml", "--pid-k", "3", "--effort", "0", "--no-cures")
    assert run("anonymize", "db", *given, "--output", "out").code in (2, 4)
    assert not left.exists()
    assert len([*(tmp_path / "out").iterdir()]) == len(made.frames) + 1


def test_a_folder_that_an_earlier_version_wrote_is_read(run, tmp_path: Path) -> None:
    """With its manifest and secret in it, which is told; nothing is written over these."""
    made_database(6, people=60).write(tmp_path / "db")
    assert run("schema", "guess", "db", "-o", "schema.toml").code == 0
    given = ("--schema", "schema.toml")
    asked = ("--pid-k", "4", "--effort", "0", "--no-cures", "-o")
    assert run("anonymize", "db", *given, *asked, "out").code in (0, 2, 4)
    for name in ("release.toml", "release.secret"):
        (tmp_path / name).rename(tmp_path / "out" / name)
    told = run("verify", "out", *given, "--json")
    assert told.code == 2
    assert json.loads(told.out)["foreign"] == ["release.secret", "release.toml"]
    repeat = ("--repeat", "out/release.toml", "-o", "again")
    assert run("anonymize", "db", *given, *repeat).code in (0, 2, 4)
    assert run("anonymize", "db", *given, *asked, "out").code == 1
    found = run("attack", "out", *given, "--original", "db", "--attack", "exact")
    assert found.code in (0, 2, 4), found.err


def test_what_is_not_made_of_several_tables_is_refused_with_the_reason(run, tmp_path: Path) -> None:
    made_database(6, people=40).write(tmp_path / "db")
    assert run("init", "db").code == 0
    assert run("schema", "guess", "db", "-o", "schema.toml").code == 0
    schema = ("--schema", "schema.toml")
    one = ("anonymize", "db", *schema, "-o", "out", "--pid-k", "3")
    for words in (
        ("tune", "db", *schema, "--threshold", "pid_k=2"),
        ("tune", "."),
        (*one, "--promise-limits"),
        (*one, "--series", "snapshot"),
        (*one, "--keep-order"),
        (*one, "--household-k", "2"),
    ):
        refused = run(*words)
        assert refused.code == 1, words
        assert "table" in refused.err
        assert "project, found" not in refused.err
    assert not (tmp_path / "out").exists()


def test_a_released_set_is_measured_again_from_its_files(run, tmp_path: Path) -> None:
    made_database(6, people=60, language="fr").write(tmp_path / "db")
    assert run("schema", "guess", "db", "-o", "schema.toml").code == 0
    options = ("--schema", "schema.toml", "--pid-k", "4", "--effort", "0", "-o", "out")
    assert run("anonymize", "db", *options).code in (0, 2, 4)
    checking = ("verify", "out", "--schema", "schema.toml", "--json")
    found = run(*checking)
    plain = json.loads(found.out)
    assert (found.code, plain["kept"], plain["broken"], plain["twice"]) == (0, True, 0, 0)
    assert [(each["name"], each["kept"]) for each in plain["promises"]] == [("pid_k", True)]
    people = pd.read_csv(tmp_path / "out" / "patients.csv", dtype=str, keep_default_na=False)
    classes = people.groupby(["annee_naissance", "sexe", "code_postal"]).size()
    assert plain["fewest"] == classes.min() >= plain["promised"] == 4
    stays = pd.read_csv(tmp_path / "out" / "sejours.csv", dtype=str)
    people.loc[0, "sexe"] = "x"
    # Of a person with a stay: which rows they are goes by the secret.
    people.loc[people["id_patient"] == stays["id_patient"][0], "id_patient"] = "nobody"
    people.to_csv(tmp_path / "out" / "patients.csv", index=False)
    found = run(*checking)
    plain = json.loads(found.out)
    assert (found.code, plain["changed"], plain["fewest"]) == (2, ["patients"], 1)
    assert plain["broken"] >= (~stays["id_patient"].isin(people["id_patient"])).sum() > 0
