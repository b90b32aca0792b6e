"""``sfumato anonymize --engine spark``: a folder of files, a manifest that repeats it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from cli.conftest import RELEASED

from sfumato.examples import generate_clinics
from sfumato.schema import dump_schema

pytestmark = pytest.mark.slow

ASKED = ("--schema", "schema.toml", "--g-balance", "0.5", "--cut", "median", "--seed", "3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file of visits and its schema."""
    clinics = generate_clinics(60, rng=2)
    pa_csv.write_csv(clinics.visits, tmp_path / "visits.csv")
    (tmp_path / "schema.toml").write_text(dump_schema(clinics.schema))
    return tmp_path


def rows(place: Path) -> list[str]:
    """The released records, in no order."""
    table = pq.read_table(place)
    return sorted(json.dumps(row, default=str) for row in table.to_pylist())


def test_a_release_and_its_repetition(spark: Any, run: Any, folder: Path) -> None:
    del spark
    done = run(
        "anonymize", "visits.csv", *ASKED, "--engine", "spark",
        "-o", "one.parquet", "--report", "one.html", "--json",
    )  # fmt: skip
    assert done.code in RELEASED, done.err
    found = json.loads(done.out)
    assert found["manifest"]["release"]["engine"] == "spark"
    assert found["ran"]["engine"] == "spark"
    assert "positions" not in found
    assert re.search(r"Release: +one.parquet\nManifest: release.toml", done.err)
    again = ("--schema", "schema.toml", "--repeat", "release.toml", "-o", "two.parquet")
    done = run("anonymize", "visits.csv", *again)
    assert done.code in RELEASED, done.err
    assert "on Spark" in done.out
    assert rows(folder / "one.parquet") == rows(folder / "two.parquet")
    names = {path.name for path in folder.iterdir()}
    assert names == {
        *("visits.csv", "schema.toml", "release.toml", "release.secret"),
        *("one.parquet", "two.parquet", "one.html", "one.json"),
        *("one.codebook.md", "two.codebook.md"),
    }
    done = run("anonymize", "visits.csv", *again, "--engine", "embedded")
    assert done.code == 1
    assert "option --engine" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "out.parquet", "--keep-order"), "option --keep-order must be left out on Spark"),
        (("-o", "out.parquet", "--marketer", "0.1"), "option --marketer must be a promise"),
        (("-o", "out.parquet", "--values", "bounds", "--suppress", "0.1"), "option --suppress"),
        (("-o", "out.xlsx"), "must have a suffix that says its format"),
        (("-o", "visits.csv"), "must be a new folder, or one that Spark wrote"),
        (("-o", "s3a://bucket/out"), "must have a suffix that says its format"),
    ],
)
def test_what_cannot_be_had_is_said_before_work(
    run: Any, folder: Path, words: tuple[str, ...], said: str
) -> None:
    done = run("anonymize", "visits.csv", *ASKED, "--engine", "spark", *words)
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize(
    ("data", "output"),
    [
        ("in.csv", "in.csv"),
        ("in.csv/part-00000.csv", "in.csv"),
        ("s3a://bucket/in.parquet", "s3a://bucket/in.parquet/"),
    ],
)
def test_what_is_read_is_not_replaced(run: Any, folder: Path, data: str, output: str) -> None:
    (folder / "in.csv").mkdir()
    (folder / "visits.csv").rename(folder / "in.csv" / "part-00000.csv")
    done = run("anonymize", data, *ASKED, "--engine", "spark", "-o", output)
    assert (done.code, done.out) == (1, "")
    assert "must not replace" in done.err


def test_a_release_on_spark_is_not_repeated_by_an_attack(run: Any, folder: Path) -> None:
    done = run("anonymize", "visits.csv", *ASKED, "-o", "out.csv")
    assert done.code in RELEASED
    manifest = folder / "release.toml"
    text = manifest.read_text()
    assert "engine" not in text
    manifest.write_text(text.replace("[options]", 'engine = "spark"\n\n[options]'))
    done = run("attack", "out.csv", "--schema", "schema.toml", "--original", "visits.csv")
    assert done.code == 1
    assert "engine spark" in done.err
