"""A messy file through the verbs: each reads it as the recipe of the schema says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.csv
import pytest
from cli.conftest import RELEASED

import sfumato as sf
from sfumato.linkage.spec_suggestion import suggest_links
from sfumato.schema import dump_schema, load_schema

pytestmark = pytest.mark.usefixtures("few_random_pairs")

Run = Callable[..., Any]
PEOPLE, CANARY = 60, "kanarienvogel"
SCHEMA = sf.Schema(
    person="pid",
    quasi_identifiers={"age": "numeric", "sex": "categorical", "weight": "numeric"},
    sensitive="dx",
    insensitive="ward",
    direct_identifiers="name",
    recipe={
        "pid": {"case": "upper", "strip": True},
        "sex": {"case": "lower", "rename": {CANARY: "f"}},
        "weight": {"decimal": ",", "unit": "kg", "missing": "-9"},
        "born": {"date": "%d.%m.%Y"},
        "age": {"from": "born", "at": "2025-12-31"},
        "dx": {"first": 1},
    },
)


def visits(records: int = 3 * PEOPLE) -> pd.DataFrame:
    """A file whose columns are written in several ways."""
    rng = np.random.default_rng(5)
    who = np.arange(records) % PEOPLE
    days = pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 25_000, PEOPLE), "D")
    letters = rng.integers(97, 123, (PEOPLE, 9)).astype(np.uint8)
    names = [bytes(each).decode().title() for each in letters]
    return pd.DataFrame(
        {
            "pid": [f"{'pP'[n % 2]}{n:03}{' ' * (place % 3)}" for place, n in enumerate(who)],
            "name": [names[n] for n in who],
            "born": [days[n].strftime("%d.%m.%Y") for n in who],
            "sex": np.array(["M", "m", CANARY, CANARY.upper()])[who % 4],
            "weight": [f"{50 + n % 40},5{' kg' * (n % 2)}" for n in who],
            "dx": [f"{'ABC'[n % 3]}{n % 10}" for n in who],
            "ward": np.array(["north", "south"])[who % 2],
        }
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The file and its schema."""
    visits().to_csv(tmp_path / "in.csv", index=False)
    (tmp_path / "schema.toml").write_text(dump_schema(SCHEMA), encoding="utf-8")
    return tmp_path


def test_a_release_is_made_repeated_and_attacked(files: Path, run: Run) -> None:
    assert load_schema(files / "schema.toml") == SCHEMA
    done = run("assess", "in.csv", "--schema", "schema.toml", "--json")
    assert done.code in RELEASED, done.err
    found = json.loads(done.out)
    assert found["persons"] == PEOPLE
    assert {each["name"] for each in found["recipe"]} == set(SCHEMA.recipe) - {"ward"}
    made = ("anonymize", "in.csv", "--schema", "schema.toml", "--pid-k", "5", "--output", "out.csv")
    done = run(*made)
    assert done.code in RELEASED, done.err
    released = pyarrow.csv.read_csv(files / "out.csv")
    assert released.column_names == ["pid", "sex", "weight", "dx", "ward", "age"]
    assert set(released["dx"].to_pylist()) == {"A", "B", "C"}
    done = run("anonymize", "in.csv", "--schema", "schema.toml", "--output", "out.csv", "--repeat",
               "release.toml")  # fmt: skip
    assert done.code in RELEASED, done.err
    done = run("attack", "out.csv", "--schema", "schema.toml", "--original", "in.csv",
               "--attack", "exact", "--attack", "inference", "--seed", "1", "--json")  # fmt: skip
    assert done.code in RELEASED, done.err
    assert json.loads(done.out)["persons"] == PEOPLE
    assert CANARY not in "".join(
        path.read_text(encoding="utf-8")
        for path in files.glob("*.toml")
        if path.name != "schema.toml"
    )


def test_a_register_is_read_as_the_file_is(files: Path) -> None:
    register = visits(PEOPLE).drop(columns=["dx", "ward"])
    risk = sf.assess(files / "in.csv", SCHEMA, register=register)
    assert risk.to_json()["presence_high"] == 1.0
    assert not any("counterpart" in each for each in risk.warnings)
    clean = register.drop(columns="born").assign(age=40)
    assert sf.assess(files / "in.csv", SCHEMA, register=clean).to_json()["strangers"] > 0


@pytest.mark.slow
def test_tables_are_cleaned_before_they_are_linked(files: Path) -> None:
    frame = visits(PEOPLE)
    other = frame.assign(
        sex=frame["sex"].str.lower().replace({CANARY: "f"}), born=frame["born"].str.strip()
    )
    schema = SCHEMA.model_copy(update={"person": None})
    spec = suggest_links({"a": frame, "b": other}, schema).spec
    assert set(spec.columns) == {"born", "name", "sex"}
    links = sf.link({"a": frame, "b": other}, spec, schema=schema, seed=1)
    table, declared = links.linked, links.linked_schema.schema
    assert not declared.recipe
    steps = {each["name"]: each["changed"] for each in links.manifest.sources["a"]["recipe"]}
    assert (steps["pid"], steps["age"]) == (30, PEOPLE)
    assert CANARY not in str(links.manifest.to_dict())
    assert not {"born", "name"} & set(table.column_names)
    assert set(table["sex"].to_pylist()) == {"m", "f"}
    assert sf.assess(table, declared).records == 2 * PEOPLE


PROJECT = """
[project]
name = "messy"
seed = 7

[sources.visits]
file = "in.csv"

[schema]
file = "schema.toml"

[release]
k = 3
"""


@pytest.mark.slow
def test_a_project_runs_from_the_file_as_it_came(files: Path, run: Run) -> None:
    (files / "sfumato.toml").write_text(PROJECT, encoding="utf-8")
    done = run("run")
    assert done.code in RELEASED, done.out + done.err
    written = [path for path in files.rglob("*") if path.is_file() and path.suffix != ".csv"]
    for path in written:
        if path.name != "schema.toml":
            assert CANARY not in path.read_bytes().decode("utf-8", "ignore"), path.name


def test_a_table_of_a_database_is_released_into_another(files: Path, run: Run) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    from sfumato.table.databases import open_database, write_database

    url = f"sqlite:///{files}/visits.db?table="
    write_database(pyarrow.csv.read_csv(files / "in.csv"), f"{url}visits")
    asked = ("anonymize", f"{url}visits", "--schema", "schema.toml", "--k", "4")
    done = run(*asked, "--output", f"{url}released")
    assert done.code in RELEASED, done.err
    assert "Release:  released\nManifest: release.toml" in done.err
    assert "Codebook: released.codebook.md beside it" in done.err
    assert str(files) not in done.err
    assert open_database(f"{url}released").names == ("pid", "sex", "weight", "dx", "ward", "age")
    assert (files / "release.toml").is_file()
    done = run("schema", "guess", f"{url}visits")
    assert done.code in RELEASED, done.err
    again = run(*asked, "--output", f"{url}released")
    assert again.code == 1
    assert "must be a new one; found a table of that name" in again.err
