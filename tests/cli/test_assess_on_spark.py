"""``sfumato assess --engine spark``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from oracles.both_engines import check_values

SCHEMA = """
person = "patient"
sensitive = ["icd9"]

[quasi_identifiers]
age = "numeric"
sex = "categorical"
"""
DATA = """patient,age,sex,icd9
p1,30,f,250
p1,30,f,401
p2,30,f,250
p3,41,m,401
p3,41,m,
p4,,m,401
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The file and its schema."""
    data, schema = tmp_path / "visits.csv", tmp_path / "schema.toml"
    data.write_text(DATA)
    schema.write_text(SCHEMA)
    return data, schema


def test_spark_prints_what_this_process_does(
    spark: Any, run: Any, files: tuple[Path, Path]
) -> None:
    data, schema = files
    words = ("assess", data, "--schema", schema, "--preset", "cms", "--json")
    here, there = run(*words), run(*words, "--engine", "spark")
    assert (here.code, there.code) == (0, 0), there.err
    own, other = json.loads(here.out), json.loads(there.out)
    assert other.pop("ran")["master"] == "local[2]"
    del own["positions"]
    check_values(own, other)
    assert here.err == there.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "hadoop"), "parameter engine"),
        (("--engine", "spark", "--special-uniques"), "parameter special_uniques"),
        (("--engine", "spark", "--weights", "age"), "parameter population"),
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
