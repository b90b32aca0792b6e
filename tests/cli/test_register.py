"""``--register`` and ``--population`` of anonymize, from the command line to the manifest."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from cli.conftest import RELEASED
from oracles.population import count_population, marketer_risk
from oracles.remeasure import read_rows

import sfumato as sf
from sfumato.schema import dump_schema

WORDS = ("file.csv", "--schema", "schema.toml", "--output", "out.csv")
KINDS = {"age": "number", "city": "category"}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(5)
    register = pa.table({"age": rng.integers(20, 60, 300), "city": rng.choice(list("abc"), 300)})
    pc.write_csv(register, tmp_path / "register.csv")
    pc.write_csv(register.slice(0, 90), tmp_path / "file.csv")
    schema = sf.Schema(quasi_identifiers=list(KINDS))
    (tmp_path / "schema.toml").write_text(dump_schema(schema), encoding="utf-8")
    return tmp_path


def test_register_and_again(run, folder):
    asked = ("--marketer", "0.1", "--presence-high", "0.6", "--register", "register.csv")
    result = run("anonymize", *WORDS, *asked, "--seed", "1", "--json")
    assert result.code in RELEASED, result.err
    found = json.loads(result.out)
    classes = count_population(
        read_rows(folder / "out.csv"), read_rows(folder / "register.csv"), KINDS
    )
    assert found["population"]["persons"] == 300
    against = found["marketer"]
    assert against == found["population"]["marketer"]
    assert set(against) == {"value", "low", "high", "estimator", "why"}
    assert against["value"] == pytest.approx(float(marketer_risk(classes)))
    assert against["value"] <= 0.1
    assert against["estimator"] == "register"
    assert max(each.share for each in classes) <= 0.6
    assert [each["promised"] for each in found["constraints"]] == [True, True]
    assert "promised" not in (folder / "release.toml").read_text(encoding="utf-8")
    (folder / "out.csv").rename(folder / "first.csv")
    again = (*WORDS, "--repeat", "release.toml")
    assert "--register" in run("anonymize", *again).err
    assert "another content" in run("anonymize", *again, "--register", "first.csv").err
    counted = run("anonymize", *again, "--register", "register.csv")
    assert counted.code in RELEASED
    assert "marketer (tau = 0.1): kept" in counted.out
    assert (folder / "out.csv").read_bytes() == (folder / "first.csv").read_bytes()


@pytest.mark.slow
def test_population_and_again(run, folder):
    asked = ("--marketer", "0.1", "--k", "2", "--population", "300", "--seed", "1")
    result = run("anonymize", *WORDS, *asked, "--preset", "cancer-registry-research", "--json")
    assert result.code in RELEASED, result.err
    promised = {each["name"]: each["promised"] for each in json.loads(result.out)["constraints"]}
    assert promised["marketer"] is False
    assert promised["k"] is True
    manifest = tomllib.loads((folder / "release.toml").read_text(encoding="utf-8"))
    stated = {each["name"]: each.get("promised") for each in manifest["constraints"]}
    assert stated["marketer"] is False
    assert stated["k"] is None
    (folder / "out.csv").rename(folder / "first.csv")
    again = run("anonymize", *WORDS, "--repeat", "release.toml", "--json")
    found = json.loads(again.out)
    assert found["population"]["marketer"]["estimator"] == "cell model"
    assert {each["name"]: each["promised"] for each in found["constraints"]}["marketer"] is False
    assert (folder / "out.csv").read_bytes() == (folder / "first.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--presence-high", "0.5"), "needs a population register"),
        (("--presence-low", "0.6", "--presence-high", "0.5", "--register", "register.csv"), "low"),
        (("--k", "2", "--population", "9", "--register", "register.csv"), "same thing"),
        (("--marketer", "0.5", "--population", "8"), "90 or more"),
        (("--k", "2", "--register", "out.csv"), "out.csv"),
    ],
)
def test_refused(run, folder, words, said):
    result = run("anonymize", *WORDS, *words)
    assert result.code == 1
    assert said in result.err
    assert not (folder / "out.csv").exists()
