"""Presets on the command line: listed, held against, and turned into promises."""

from __future__ import annotations

import json
import re

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from cli.conftest import RELEASED
from oracles.remeasure import read_rows

import sfumato as sf
from sfumato.schema import dump_schema

WORDS = ("visits.csv", "--schema", "schema.toml")


@pytest.fixture
def folder(tmp_path):
    count = 600
    table = pa.table(
        {
            "id": [i // 2 for i in range(count)],
            "age": [i // 2 % 100 for i in range(count)],
            "ill": [str(i * 37 % 101 % 8) for i in range(count)],
        }
    )
    schema = sf.Schema(person="id", quasi_identifiers={"age": "numeric"}, sensitive=["ill"])
    pc.write_csv(table, tmp_path / "visits.csv")
    (tmp_path / "schema.toml").write_text(dump_schema(schema), encoding="utf-8")
    own = '[[preset]]\nname = "ours"\nthresholds = [{ measure = "h_affiliation", limit = 0.45 }]\n'
    (tmp_path / "own.toml").write_text(own, encoding="utf-8")
    return tmp_path


def test_presets_are_listed_with_source_and_evidence(run, folder):
    lines = run("presets").out.splitlines()
    assert len(lines) <= 40
    # What is long goes on in a further line, below its column.
    table = [line for line in lines if not line.startswith(" ")]
    assert len(table) == 2 + len(sf.thresholds()) <= 40
    assert max(map(len, table)) <= 100
    assert [line.split()[0] for line in table[1:-1]] == [each.name for each in sf.thresholds()]
    listed = run("presets", "--details")
    assert listed.code == 0
    for preset in sf.thresholds():
        assert f"{preset.name}: " in listed.out
        assert preset.source in listed.out
        assert f"evidence: {preset.evidence}" in listed.out
    found = json.loads(run("presets", "--json").out)["presets"]
    assert [each["name"] for each in found] == [each.name for each in sf.thresholds()]
    assert found[5]["thresholds"] == [{"measure": "pid_k", "limit": 11, "above": None}]
    own = run("presets", "--thresholds", "own.toml", "--details")
    assert re.match(r"ours: h_affiliation .* 45 %", own.out)
    assert "cms" not in own.out


def test_assess_holds_the_file_against_them(run, folder):
    asked = ("--preset", "cms", "--preset", "arx", "--thresholds", "own.toml")
    result = run("assess", *WORDS, *asked, "--json")
    assert result.code in RELEASED, result.err
    lines = json.loads(result.out)["thresholds"]
    assert [(each["preset"], each["measure"], each["met"]) for each in lines] == [
        ("cms", "pid_k", False),
        ("arx", "prosecutor", False),
        ("arx", "records_at_risk", False),
        ("arx", "marketer", False),
        ("ours", "h_affiliation", False),
    ]
    assert lines[-1]["attribute"] == "ill"
    text = run("assess", *WORDS, *asked).out
    assert re.search(r"broken +pid_k: 3, at least 11", text)
    estimated = run("assess", *WORDS, *asked, "--population", "400", "--seed", "1", "--json")
    by_name = {each["measure"]: each for each in json.loads(estimated.out)["thresholds"]}
    assert by_name["marketer"]["low"] <= by_name["marketer"]["value"] <= by_name["marketer"]["high"]
    assert by_name["marketer"]["met_over_interval"] is False


def test_anonymize_keeps_them(run, folder):
    more = ("--pid-k", "3", "--seed", "1", "--report", "r.html")
    asked = ("--preset", "cell-size-5", "--thresholds", "own.toml")
    result = run("anonymize", *WORDS, *asked, *more, "--output", "out.csv", "--json")
    assert result.code in RELEASED, result.err
    found = json.loads(result.out)
    assert [each["met"] for each in found["thresholds"]] == [True, True]
    assert [each["met"] for each in found["before"]["thresholds"]] == [False, False]
    names = [(each["name"], each.get("k", each.get("h"))) for each in found["constraints"]]
    assert names == [("pid_k", 5), ("h_affiliation", 0.45)]
    rows = read_rows(folder / "out.csv")
    people = {}
    for row in rows:
        people.setdefault(row["age"], set()).add(row["id"])
    assert min(map(len, people.values())) >= 5
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "Limits that were asked for" in page
    (folder / "out.csv").rename(folder / "first.csv")
    again = run("anonymize", *WORDS, "--repeat", "release.toml", "--output", "out.csv")
    assert again.code in RELEASED, again.err
    assert (folder / "out.csv").read_bytes() == (folder / "first.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--preset", "cmss"), "are built in; accepted: cms;"),
        (("--preset", "hipaa-expert"), "must state a number"),
        (("--thresholds", "none.toml"), "none.toml is not there"),
    ],
)
@pytest.mark.parametrize("command", ["assess", "anonymize"])
def test_bad_input_is_refused_before_work_starts(run, folder, command, words, said):
    output = ("--output", "out.csv") if command == "anonymize" else ()
    result = run(command, "no such file.csv", "--schema", "schema.toml", *words, *output)
    assert result.code == 1
    assert said in result.err


def test_a_preset_beside_repeat_is_refused(run, folder):
    assert (
        run("anonymize", *WORDS, "--preset", "cell-size-3", "--output", "out.csv").code in RELEASED
    )
    again = ("--repeat", "release.toml", "--preset", "cms", "--output", "b.csv")
    result = run("anonymize", *WORDS, *again)
    assert result.code == 1
    assert "option --preset" in result.err
