"""``--recoding`` and ``--suppress``, from the command line to the manifest and the report."""

from __future__ import annotations

import json

import pyarrow.csv as pc
import pytest
from cli.conftest import RELEASED
from few_cases import fast_first
from oracles.remeasure import read_rows, remeasure

from sfumato.examples import worked_example
from sfumato.schema import dump_schema

QUASI = ["age", "gender", "zip"]
WORDS = ("visits.csv", "--schema", "schema.toml", "--seed", "1")


@pytest.fixture
def folder(tmp_path):
    table, schema = worked_example()
    pc.write_csv(table, tmp_path / "visits.csv")
    (tmp_path / "schema.toml").write_text(dump_schema(schema), encoding="utf-8")
    return tmp_path


def test_full_domain_and_again(run, folder):
    asked = ("--g-balance", "0.5", "--recoding", "full-domain", "--output", "out.csv")
    result = run("anonymize", *WORDS, *asked, "--json", "--report", "report.html")
    assert result.code in RELEASED, result.err
    found = json.loads(result.out)
    assert found["manifest"]["options"]["recoding"] == "full-domain"
    assert found["levels"]["exact"]
    assert [each["name"] for each in found["levels"]["columns"]] == QUASI
    released = remeasure(read_rows(folder / "out.csv"), QUASI, "name", ("disease",))
    assert released.g >= 0.5
    assert released.classes == found["classes"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "all records show the same level of each hierarchy" in page
    (folder / "out.csv").rename(folder / "first.csv")
    words = (*WORDS[:3], "--repeat", "release.toml", "--output", "out.csv")
    again = run("anonymize", *words)
    assert again.code in RELEASED, again.err
    assert (folder / "out.csv").read_bytes() == (folder / "first.csv").read_bytes()


@pytest.mark.parametrize(
    ("asked", "cut"),
    fast_first(
        2,
        [
            ((), "search"),
            (("--cut", "median"), "median"),
            (("--split", "variance"), "median"),
            (("--recoding", "full-domain"), None),
        ],
        tuples=True,
    ),
    ids=["usual", "median", "split", "full-domain"],
)
def test_the_manifest_names_the_cut_and_repeats_it(run, folder, asked, cut):
    result = run("anonymize", *WORDS, "--pid-k", "2", *asked, "--output", "out.csv", "--json")
    assert result.code in RELEASED, result.err
    assert json.loads(result.out)["manifest"]["options"].get("cut") == cut
    first = [(folder / name).read_bytes() for name in ("out.csv", "release.toml")]
    words = (*WORDS[:3], "--repeat", "release.toml", "--output", "out.csv")
    again = run("anonymize", *words)
    assert again.code in RELEASED, again.err
    assert [(folder / name).read_bytes() for name in ("out.csv", "release.toml")] == first


def test_a_search_has_no_split(run, folder):
    asked = ("--k", "2", "--cut", "search", "--split", "variance", "--output", "out.csv")
    result = run("anonymize", *WORDS, *asked)
    assert result.code == 1
    assert "option --split" in result.err


def test_suppression_and_again(run, folder):
    asked = ("--pid-k", "2", "--suppress", "0.25", "--output", "out.csv", "--json")
    result = run("anonymize", *WORDS, *asked)
    assert result.code in RELEASED, result.err
    found = json.loads(result.out)
    assert found["utility"]["suppressed_persons"] <= 2
    without = run("anonymize", *WORDS, *asked[:2], *asked[4:])
    assert found["utility"]["ane"] <= json.loads(without.out)["utility"]["ane"]
    run("anonymize", *WORDS, *asked)
    (folder / "out.csv").rename(folder / "first.csv")
    words = (*WORDS[:3], "--repeat", "release.toml", "--output", "out.csv")
    assert run("anonymize", *words).code in RELEASED
    assert (folder / "out.csv").read_bytes() == (folder / "first.csv").read_bytes()


def test_what_does_not_fit_full_domain(run, folder):
    asked = ("--k", "2", "--recoding", "full-domain", "--values", "set", "--output", "out.csv")
    result = run("anonymize", *WORDS, *asked)
    assert result.code == 1
    assert "values" in result.err
