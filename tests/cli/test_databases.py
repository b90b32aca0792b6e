"""Commands over the tables of one database."""

from __future__ import annotations

import json
from pathlib import Path

from made_databases import made_database

from sfumato.schema import load_schema


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
    files = [f"{name}.csv" for name in made.frames]
    stopped = run("init", *files)
    assert stopped.code == 1
    assert "schema guess" in stopped.err
    assert not (tmp_path / "sfumato.toml").exists()


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
        *(f"{name}.csv" for name in made.frames),
        "out.codebook.md", "release.toml", "release.secret",
    }  # fmt: skip
    again = run("anonymize", *given[:3], "--repeat", "out/release.toml", "--output", "again")
    assert again.code == shown.code, again.err
    for name in made.frames:
        same = [(tmp_path / folder / f"{name}.csv").read_bytes() for folder in ("out", "again")]
        assert same[0] == same[1]
    (tmp_path / "db2").mkdir()
    (tmp_path / "db2" / "notes.txt").write_text("mine")
    refused = run("anonymize", *given, "--output", "db2")
    assert refused.code == 1
    assert "new folder" in refused.err
