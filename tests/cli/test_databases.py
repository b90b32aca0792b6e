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
