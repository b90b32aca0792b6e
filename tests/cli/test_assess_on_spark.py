"""``sfumato assess --engine spark``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from oracles.both_engines import check_values

from sfumato.risk.on_spark.spark_measures import NO_EVENTS

pytestmark = pytest.mark.slow

SCHEMA = """
person = "patient"
sensitive = ["icd9"]

[quasi_identifiers]
age = "numeric"
sex = "categorical"
"""
DATA = """patient,age,sex,icd9,weight
p1,30,f,250,2
p1,30,f,401,3.5
p2,30,f,250,3
p3,41,m,401,8
p3,41,m,,8
p4,,m,401,9
"""
PEOPLE = """sex,age
f,30
f,30.0
m,
m,77
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The file and its schema."""
    data, schema = tmp_path / "visits.csv", tmp_path / "schema.toml"
    data.write_text(DATA)
    data.with_name("people.csv").write_text(PEOPLE)
    schema.write_text(SCHEMA)
    return data, schema


@pytest.mark.parametrize(
    "population",
    [
        ("--ordered-distance", "icd9", "--weights", "weight", "--seed", "1"),
        ("--register", "people.csv", "--preset", "cms"),
    ],
    ids=["weights", "register"],
)
def test_spark_prints_what_this_process_does(
    spark: Any, run: Any, files: tuple[Path, Path], population: tuple[str, ...]
) -> None:
    data, schema = files
    asked = [data.with_name(each) if each.endswith(".csv") else each for each in population]
    words = ("assess", data, "--schema", schema, *asked, "--json")
    here, there = run(*words), run(*words, "--engine", "spark")
    assert (here.code, there.code) == (0, 0), there.err
    own, other = json.loads(here.out), json.loads(there.out)
    assert other.pop("ran")["master"] == "local[2]"
    del own["positions"]
    # Classes alone are measured on Spark; of who knows more nothing is certified.
    verdicts = own.pop("verdict"), other.pop("verdict")
    strangers = [
        {name: row[name] for name in ("found", "person")}
        for each in verdicts
        for row in each["rows"]
        if row["intruder"] == "stranger"
    ]
    check_values(*strangers)
    assert not verdicts[1]["ready"]
    check_values(own, other)
    assert f"Warning: {NO_EVENTS}\n{here.err}" == there.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "hadoop"), "option --engine"),
        (("--engine", "spark", "--special-uniques"), "option --special-uniques"),
        (
            ("--engine", "spark", "--population", "9", "--record-risks", "r.csv"),
            "option --record-risks",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    run: Any, files: tuple[Path, Path], words: tuple[str, ...], said: str
) -> None:
    data, schema = files
    result = run("assess", data, "--schema", schema, *words)
    assert result.code == 1
    assert said in result.err
    assert "hadoop" not in result.err


def test_a_path_that_spark_cannot_read(spark: Any, run: Any, files: tuple[Path, Path]) -> None:
    _, schema = files
    result = run("assess", "nowhere.csv", "--schema", schema, "--engine", "spark")
    assert result.code == 1
    assert "nowhere.csv" in result.err
