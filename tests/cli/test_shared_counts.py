"""``--shared-counts`` and ``--coarsen-counts``, from the command line to the manifest."""

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


@pytest.fixture
def folder(tmp_path):
    table, schema = worked_example()
    pc.write_csv(table, tmp_path / "visits.csv")
    (tmp_path / "schema.toml").write_text(dump_schema(schema), encoding="utf-8")
    return tmp_path


WORDS = ("visits.csv", "--schema", "schema.toml")
ASKED = ("--g-balance", "0.5", "--shared-counts", "2")


def test_assess_says_who_is_exposed(run, folder):
    found = json.loads(run("assess", *WORDS, "--json").out)
    assert (found["count_k"], found["exposed_persons"]) == (1, 1.0)
    assert "share of people alone in their class" in run("assess", *WORDS).out


@pytest.mark.parametrize(
    ("way", "records", "ids"), fast_first(1, [("drop", 18, 8), ("split", 19, 9)], tuples=True)
)
def test_anonymize_in_both_ways_and_again(run, folder, way, records, ids):
    words = (*WORDS, *ASKED, "--coarsen-counts", way, "--json", "--output", "out.csv")
    result = run("anonymize", *words, "--report", "report.html")
    assert result.code in RELEASED, result.err
    found = json.loads(result.out)
    assert found["utility"]["counts"]["way"] == way
    assert (found["count_k"], found["persons"]) == (2, 8)
    released = remeasure(read_rows(folder / "out.csv"), QUASI, "name", ("disease",))
    assert (released.records, released.persons) == (records, ids)
    assert released.count_k >= 2
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "No person stands out by the number of records" in page
    assert "exposed_persons" in page
    (folder / "out.csv").rename(folder / "first.csv")
    again = run("anonymize", *WORDS, "--repeat", "release.toml", "--output", "out.csv")
    assert again.code in RELEASED, again.err
    assert (folder / "out.csv").read_bytes() == (folder / "first.csv").read_bytes()


def test_what_cannot_be_met_offers_both_ways(run, folder):
    result = run("anonymize", *WORDS, "--shared-counts", "3", "--output", "out.csv")
    assert result.code == 5
    assert "shared_counts asks that at least 3 people" in result.err
    assert "coarsen_counts='split'" in result.err
    assert not (folder / "out.csv").exists()


def test_options_that_do_not_fit(run, folder):
    result = run("anonymize", *WORDS, "--shared-counts", "0", "--output", "out.csv")
    assert (result.code, "option --shared-counts" in result.err) == (1, True)
    alone = ("--g-balance", "0.5", "--coarsen-counts", "drop")
    result = run("anonymize", *WORDS, *alone, "--output", "out.csv")
    assert (result.code, "--shared-counts" in result.err) == (1, True)
