"""Populations on the command line: the contract, refusals, and the file of risks."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from cli.malformed.case import CANARY
from few_cases import fast_first

import sfumato as sf
from sfumato.schema import dump_schema

WORDS = ("sample.csv", "--schema", "schema.toml")
KINDS = {
    "weights": ("--weights", "weight"),
    "register": ("--register", "whole.csv"),
    "size": ("--population", "300"),
    "fraction": ("--fraction", "0.3333333"),
}
OBJECTS = ("marketer", "journalist", "expected_uniques")


@pytest.fixture
def folder(tmp_path):
    generator = np.random.default_rng(1)
    whole = pd.DataFrame({"age": generator.integers(20, 70, 300), "sex": list("fm") * 150})
    sample = whole.sample(100, random_state=1).assign(weight=3.0)
    sample["note"] = CANARY
    whole.to_csv(tmp_path / "whole.csv", index=False)
    sample.to_csv(tmp_path / "sample.csv", index=False)
    schema = sf.Schema(
        quasi_identifiers={"age": "numeric", "sex": "categorical"}, insensitive=["note"]
    )
    (tmp_path / "schema.toml").write_text(dump_schema(schema), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("kind", fast_first(1, KINDS))
def test_the_contract(run, folder, kind):
    result = run("assess", *WORDS, *KINDS[kind], "--seed", "1", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    for name in OBJECTS:
        assert set(found[name]) == {"value", "low", "high", "estimator", "why"}
        assert found[name]["low"] <= found[name]["value"] <= found[name]["high"]
        assert found[name]["estimator"] == ("register" if kind == "register" else "accumulation")
        assert found[name]["why"]
    assert found["population"] == 300
    assert 0 < found["marketer"]["value"] < 1
    plain = run("assess", *WORDS, *KINDS[kind], "--seed", "1", "--details")
    assert plain.code == 0
    for name in (*OBJECTS, "expected_matches", "sampling_fraction"):
        assert name in plain.out
    for said in (result, plain):
        assert CANARY.lower() not in (said.out + said.err).lower()


def test_without_a_population_they_are_numbers(run, folder):
    found = json.loads(run("assess", *WORDS, "--json").out)
    assert isinstance(found["marketer"], float)
    assert isinstance(found["journalist"], float)
    assert "expected_uniques" not in found


@pytest.mark.slow
def test_an_estimator_by_name_and_the_same_seed(run, folder):
    words = ("assess", *WORDS, "--population", "300", "--estimator", "accumulation", "--seed", "4")
    one, two = (run(*words, "--json") for _ in range(2))
    assert one.out == two.out
    found = json.loads(one.out)
    assert found["marketer"]["estimator"] == "accumulation"
    assert found["seed"] == 4


@pytest.mark.parametrize("one", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_two_populations_are_refused(run, folder, one, other):
    if one == other:
        return
    result = run("assess", *WORDS, *KINDS[one], *KINDS[other])
    assert result.code == 1
    assert result.out == ""
    found = re.match(r"Error: option (--\w+) must be the only one .*; found (\w+) bes", result.err)
    assert found
    assert {found[1], f"--{found[2]}"} == {KINDS[one][0], KINDS[other][0]}


@pytest.mark.parametrize(
    "words",
    [
        ("--population", "0"),
        ("--population", "-3"),
        ("--population", "99"),
        ("--population", "many"),
        ("--population", "1.5"),
        ("--population", "1" + "0" * 30),
        ("--fraction", "0"),
        ("--fraction", "1.01"),
        ("--fraction", "5"),
        ("--fraction", "nan"),
        ("--fraction", "-0.5"),
        ("--fraction", "1e-300"),
        ("--weights", "no_such_column"),
        ("--weights", "sex"),
        ("--weights", "note"),
        ("--register", "no_such_file.csv"),
        ("--register", "schema.toml"),
        ("--population", "300", "--estimator", "none"),
        ("--estimator", "none"),
        ("--record-risks", "risks.csv"),
        ("--population", "300", "--record-risks", "sample.csv"),
        ("--register", "whole.csv", "--record-risks", "whole.csv"),
        ("--population", "300", "--record-risks", "risks.txt"),
        ("--population", "300", "--record-risks", "no/such/folder/risks.csv"),
    ],
)
def test_refusals(run, folder, words):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = run("assess", *WORDS, *words)
    assert result.code == 1
    assert result.out == ""
    assert CANARY.lower() not in result.err.lower()
    assert "Traceback" not in result.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("suffix", fast_first(1, ["csv", "parquet"]))
@pytest.mark.parametrize("kind", fast_first(1, KINDS))
def test_the_risks_of_the_records(run, folder, kind, suffix):
    path = folder / f"risks.{suffix}"
    result = run("assess", *WORDS, *KINDS[kind], "--seed", "1", "--record-risks", path)
    assert result.code == 0, result.err
    risks = pd.read_csv(path) if suffix == "csv" else pq.read_table(path).to_pandas()
    ends = ["risk_low", "risk_high", "unique", "unique_low", "unique_high"]
    assert list(risks.columns) == ["row", "equivalence_class", "risk", *ends]
    assert (risks["risk_low"] <= risks["risk"] + 1e-12).all()
    assert (risks["risk"] <= risks["risk_high"] + 1e-12).all()
    assert (risks["unique_low"] <= risks["unique"] + 1e-12).all()
    assert risks["unique"].between(0, 1).all()
    assert risks["row"].tolist() == list(range(1, 101))
    sample = pd.read_csv(folder / "sample.csv").join(risks)
    by_class = sample.groupby("equivalence_class")
    assert len(by_class) == len(sample.groupby(["age", "sex"]))
    assert (by_class[["age", "sex", "risk"]].nunique() == 1).all().all()
    assert sample["risk"].between(0, 1).all()
    if kind == "register":
        whole = pd.read_csv(folder / "whole.csv").groupby(["age", "sex"]).size()
        real = 1 / whole.loc[list(zip(sample["age"], sample["sex"], strict=True))].to_numpy()
        assert sample["risk"].to_numpy() == pytest.approx(real)
        assert sample["unique"].tolist() == (real == 1).tolist()


@pytest.mark.slow
def test_the_report_shows_the_interval(run, folder):
    result = run("assess", *WORDS, "--population", "300", "--seed", "1", "--report", "r.html")
    assert result.code == 0, result.err
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "expected_uniques" in page
    assert CANARY not in page
