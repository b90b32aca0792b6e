"""t-closeness, households, special uniques and presence, from the command line to the report."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from cli.conftest import RELEASED
from few_cases import fast_first
from oracles.remeasure import read_rows

import sfumato as sf
from sfumato.schema import dump_schema

WORDS = ("visits.csv", "--schema", "schema.toml")


@pytest.fixture
def folder(tmp_path):
    count = 60
    table = pa.table(
        {
            "id": list(range(count)),
            "home": [i // 3 for i in range(count)],
            "age": [20 + i for i in range(count)],
            "sex": ["fm"[i % 2] for i in range(count)],
            "visits": [(i * i) % 7 for i in range(count)],
        }
    )
    schema = sf.Schema(
        person="id",
        household="home",
        quasi_identifiers={"age": "numeric", "sex": "categorical"},
        sensitive=["visits"],
    )
    pc.write_csv(table, tmp_path / "visits.csv")
    (tmp_path / "schema.toml").write_text(dump_schema(schema), encoding="utf-8")
    return tmp_path


def test_assess(run, folder):
    more = ("--special-uniques", "--register", "visits.csv", "--ordered-distance", "visits")
    more += ("--recursive-l", "5", "--recursive-l", "4")
    result = run("assess", *WORDS, *more, "--report", "report.html", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert (found["households"], found["max_household_risk"]) == (20, 1)
    assert found["special_uniques"]["minimal_uniques"] == {"1": 60, "2": 0}
    assert (found["presence_low"], found["presence_high"]) == (1, 1)
    assert 0 < found["t_closeness_ordered"] <= found["t_closeness"] < 1
    page = (folder / "report.html").read_text(encoding="utf-8")
    for name in ("max_household_risk", "highest_suda_score", "presence_high", "t_closeness"):
        assert name in page
    assert "recursive (c, 5)-diversity holds for every c above this" in page
    names = [name for name in found if name.startswith("recursive")]
    assert names == [f"recursive_{l}" for l in (2, 3, 4, 5)]
    plain = json.loads(run("assess", *WORDS, "--json").out)
    assert not {"special_uniques", "presence_low", "t_closeness_ordered"} & plain.keys()
    assert "recursive_4" not in plain
    assert "2 or more" in run("assess", *WORDS, "--recursive-l", "1").err


@pytest.mark.parametrize("distance", fast_first(1, ["ordered", "equal"]))
def test_anonymize_keeps_t_closeness_and_again(run, folder, distance):
    asked = ("--t-closeness", "0.3", "--distance", distance, "--report", "report.html", "--json")
    result = run("anonymize", *WORDS, *asked, "--output", "out.csv")
    assert result.code in RELEASED, result.err
    found = json.loads(result.out)
    name = "t_closeness" if distance == "equal" else "t_closeness_ordered"
    assert found[name] <= 0.3 + 1e-9
    assert found["classes"] > 1
    rows = read_rows(folder / "out.csv")
    assert "home" not in rows[0]
    assert naive(rows, distance) == pytest.approx(found[name])
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "are nearly those of the whole file" in page
    (folder / "out.csv").rename(folder / "first.csv")
    again = run("anonymize", *WORDS, "--repeat", "release.toml", "--output", "out.csv")
    assert again.code in RELEASED, again.err
    assert (folder / "out.csv").read_bytes() == (folder / "first.csv").read_bytes()


def naive(rows, distance):
    """The largest distance of a class, from the cells of the release."""
    classes = {(row["age"], row["sex"]) for row in rows}
    values = sorted({int(row["visits"]) for row in rows})

    def shares(chosen):
        held = [int(row["visits"]) for row in chosen]
        return [held.count(value) / len(held) for value in values]

    worst = 0
    for key in classes:
        own = shares([row for row in rows if (row["age"], row["sex"]) == key])
        apart = [a - b for a, b in zip(own, shares(rows), strict=True)]
        if distance == "equal":
            worst = max(worst, sum(map(abs, apart)) / 2)
        else:
            sums = (abs(sum(apart[: place + 1])) for place in range(len(values)))
            worst = max(worst, sum(sums) / (len(values) - 1))
    return worst


def test_options_that_do_not_fit(run, folder):
    result = run("anonymize", *WORDS, "--t-closeness", "2", "--output", "out.csv")
    assert (result.code, "option --t-closeness" in result.err) == (1, True)
    ordered = ("--k", "2", "--distance", "ordered", "--output", "out.csv")
    result = run("anonymize", *WORDS, *ordered)
    assert (result.code, "option --distance" in result.err) == (1, True)
    result = run("assess", *WORDS, "--special-uniques", "--msu-size", "0")
    assert (result.code, "option --msu-size" in result.err) == (1, True)
    result = run("assess", *WORDS, "--ordered-distance", "sex")
    assert (result.code, "option --ordered-distance" in result.err) == (1, True)


def test_ordered_distance_needs_numbers():
    table = pa.table({"age": [1, 2, 3, 4], "ill": ["a", "b", "1", "2"]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["ill"])
    with pytest.raises(sf.InputError, match="column 'ill' must hold numbers only"):
        sf.anonymize(table, schema, sf.TCloseness(0.5, distance="ordered"))
    with pytest.raises(sf.InputError, match="t_closeness"):
        sf.anonymize(table, sf.Schema(quasi_identifiers=["age"]), sf.TCloseness(0.5))
    with pytest.raises(sf.InputError, match="distance"):
        sf.TCloseness(0.5, distance="far")
