"""``sfumato tune``: the command that it prints gives a release that meets the thresholds."""

from __future__ import annotations

import json
import shlex
import sys

import numpy as np
import pyarrow as pa
import pytest
from cli.conftest import RELEASED
from oracles.remeasure import read_rows, remeasure

from sfumato.cli.app import main
from sfumato.cli.output import NOT_KEPT
from sfumato.cli.tune_command import thresholds_of, write_schema
from sfumato.examples import generate_clinics
from sfumato.pipeline.tune import tune
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.tuned import anonymize_command
from sfumato.pipeline.tune_options import seconds_of
from sfumato.risk.verdict import INTRUDERS, Limits, limits_of
from sfumato.schema import Schema, dump_schema, load_schema
from sfumato.table.table_files import write_table

DATA = "the clinic's visits.csv"
WORDS = ("tune", DATA, "--schema", "schema.toml", "--seed", "5", "--suppress", "0")


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Run a command line in this process, in ``tmp_path``: its exit code and what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["sfumato", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return call


@pytest.fixture
def clinics(tmp_path):
    made = generate_clinics(80, rng=7)
    write_table(made.visits, tmp_path / DATA)
    (tmp_path / "schema.toml").write_text(dump_schema(made.schema), encoding="utf-8")
    return made


@pytest.mark.slow
def test_the_printed_command_meets_the_thresholds(run, clinics, tmp_path):
    code, out, err = run(
        *WORDS, "--threshold", "max_gidr=0.4", "--threshold", "marketer=0.2", "--trials", "7",
        "--output", "out put.csv", "--report", "tune.html", "--json",
    )  # fmt: skip
    assert code in RELEASED, err
    found = json.loads(out)
    assert found["met"]
    words = shlex.split(found["command"])
    assert words[:3] == ["sfumato", "anonymize", DATA]
    code, _, err = run(*words[1:])
    assert code in RELEASED, err
    names = list(clinics.schema.quasi_identifiers)
    again = remeasure(read_rows(tmp_path / "out put.csv"), names, clinics.schema.person)
    assert again.max_gidr <= 0.4 + 1e-9
    assert again.marketer <= 0.2 + 1e-9
    assert again.max_gidr == pytest.approx(found["best"]["measures"]["max_gidr"])
    page = (tmp_path / "tune.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 2
    assert "max_gidr" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    twin = json.loads((tmp_path / "tune.json").read_text(encoding="utf-8"))
    assert twin["best"] == found["best"]


def test_a_preset_is_met_and_the_command_printed_last(run, clinics):
    code, out, err = run(*WORDS, "--preset", "cell-size-3", "--trials", "3", "--loss", "ncp")
    assert code in RELEASED, err
    assert clinics.visits.num_rows
    assert "Meets every threshold" in out
    assert "--pid-k 3" in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ((), Limits()),
        (("--limits", "room"), Limits("room")),
        (("--threshold", "pid_k=14", "--limits", "contract"), Limits("contract")),
    ],
)
def test_a_search_by_limits_ends_with_every_row_below(run, clinics, words, limits):
    code, out, err = run(*WORDS, *words, "--trials", "1", "--json")
    assert code in RELEASED, err
    assert clinics.visits.num_rows
    found = json.loads(out)
    assert found["met"]
    assert limits_of(found["verdict"]) == limits
    rows = {each["intruder"]: each["state"] for each in found["verdict"]["rows"]}
    assert rows.keys() == set(INTRUDERS)
    assert set(rows.values()) <= {"below", "does not apply"}
    assert found["best"]["plan"]
    if words:
        return
    # The release that the command makes is judged alike.
    words = shlex.split(found["command"])
    assert "--promise-limits" in words
    code, out, err = run(*words[1:], "--json")
    assert code == 0, err
    assert json.loads(out)["verdict"]["rows"] == found["verdict"]["rows"]


def test_thresholds_alone_are_searched_without_limits(run, clinics):
    code, out, err = run(*WORDS, "--threshold", "pid_k=2", "--trials", "2", "--json")
    assert code in RELEASED, err
    assert clinics.visits.num_rows
    found = json.loads(out)
    assert [each["measure"] for each in found["thresholds"]] == ["pid_k"]
    assert "promise_limits" not in found["release"]
    # Judged by the limits of a public release all the same, which nothing was done for.
    assert limits_of(found["verdict"]) == Limits()
    assert not found["verdict"]["ready"]


@pytest.mark.parametrize("accepted", [False, True])
def test_a_project_is_tuned_to_its_limits_and_acceptances(run, clinics, tmp_path, accepted):
    """What is accepted needs no change: the column stays as it is."""
    lines = [
        "[project]",
        'name = "Tuned"',
        "seed = 5",
        "[sources.visits]",
        f'file = "{DATA}"',
        "[schema]",
        'file = "schema.toml"',
        "[limits]",
        "found = 0.15",
        "person = 0.4",
        "learned = 1.0",
        "[release]",
        "promise_limits = true",
    ]
    columns = [*clinics.schema.sensitive, *clinics.schema.insensitive]
    covered = "at_most = { found = 1.0, person = 1.0, learned = 1.0 }"
    for name in columns if accepted else ():
        lines += [f"[accept.insider.{name}]", 'by = "officer"', 'because = "unknown"']
        lines += ["until = 2099-01-01", covered]
    (tmp_path / "sfumato.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, err = run("tune", "sfumato.toml", "--trials", "1", "--suppress", "0", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert limits_of(found["verdict"]) == Limits("public", found=0.15, person=0.4, learned=1.0)
    states = {each["intruder"]: each["state"] for each in found["verdict"]["rows"]}
    assert states["insider"] == ("above, accepted" if accepted else "below")
    assert states["stranger"] == states["acquaintance"] == "below"
    changed = " ".join(found["best"]["plan"])
    assert ("withhold" in changed or "known_events" in changed) is not accepted
    # No command line has such limits: the keys of the project file do.
    assert not found["command"]
    assert found["release"] == {"promise_limits": True, "loss": "ane"}
    code, out, _ = run("tune", ".", "--trials", "1", "--suppress", "0", "--report", "tune.html")
    assert code == 0
    assert out.rstrip().splitlines()[-3:] == ["[release]", "promise_limits = true", 'loss = "ane"']
    page = (tmp_path / "tune.html").read_text(encoding="utf-8")
    assert page.count('<th scope="row">') > len(INTRUDERS)
    assert all(f'<th scope="row">{name}' in page for name in ("stranger", "acquaintance"))
    code, _, _ = run("tune", "sfumato.toml", "--schema", "schema.toml")
    assert code == 1


def test_limits_that_nothing_keeps_are_said(run, clinics):
    """A third of 80 people in every class, and nobody to answer for what is learned."""
    code, out, _ = run(*WORDS, "--threshold", "pid_k=90", "--limits", "room", "--trials", "1")
    assert code == NOT_KEPT
    assert clinics.visits.num_rows
    assert "stands in the way" in out


@pytest.mark.parametrize("loss", ["queries", "tables", "models"])
def test_every_loss_has_a_page(run, clinics, tmp_path, loss):
    code, _, err = run(
        *WORDS, "--threshold", "pid_k=3", "--trials", "1", "--loss", loss, "--report", "tune.html"
    )
    assert code in RELEASED, err
    assert clinics.visits.num_rows
    assert (tmp_path / "tune.json").exists()


def test_what_cannot_be_met_has_a_code_of_its_own(run, clinics):
    code, out, _ = run(*WORDS, "--threshold", "max_gsar=0.01", "--trials", "4")
    assert code == NOT_KEPT
    assert clinics.visits.num_rows
    assert "max_gsar" in out
    assert "What would help" in out


@pytest.mark.parametrize(
    "words",
    [
        ("--threshold", "max_gidr"),
        ("--threshold", "max_gidr=much"),
        ("--threshold", "nonsense=0.2"),
        ("--threshold", "max_gidr=0.2", "--threshold", "max_gidr=0.3"),
        ("--threshold", "max_gidr=0.2", "--time-limit", "soon"),
        ("--threshold", "max_gidr=0.2", "--write-schema", "schema.toml"),
        ("--threshold", "max_gidr=0.2", "--write-schema", "schema.json"),
        ("--limits", "nonsense"),
    ],
)
def test_bad_options_are_refused(run, clinics, words):
    code, out, err = run(*WORDS, *words)
    assert code == 1
    assert clinics.visits.num_rows
    assert not out
    assert err.startswith("Error: ")


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("2m", 120), ("1.5h", 5400)]
)
def test_times(text, seconds):
    assert seconds_of("--time-limit", [text]) == seconds


def test_thresholds_are_read():
    assert thresholds_of(["k=5", "max_gidr = 0.2"]) == {"k": 5.0, "max_gidr": 0.2}


def test_a_written_schema_names_hierarchies_from_its_folder(tmp_path):
    (tmp_path / "codes").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "codes" / "zip.csv").write_text("1,*\n2,*\n", encoding="utf-8")
    text = '[quasi_identifiers.zip]\nhierarchy = "codes/zip.csv"\n'
    (tmp_path / "schema.toml").write_text(text, encoding="utf-8")
    declared = load_schema(tmp_path / "schema.toml")
    write_schema(declared, tmp_path / "new" / "schema.toml")
    again = load_schema(tmp_path / "new" / "schema.toml").quasi_identifiers["zip"].hierarchy
    assert again.resolve() == (tmp_path / "codes" / "zip.csv").resolve()


@pytest.mark.slow
def test_a_changed_column_is_written_and_named_by_the_command(run, tmp_path):
    """Columns that weigh little and tell everybody apart: other weights lose less."""
    rng = np.random.default_rng(2)
    rows = 90
    visits = pa.table(
        {
            "who": np.arange(rows) // 2,
            "age": rng.integers(20, 80, rows),
            "code": rng.integers(1, 10**6, rows),
            "zip": rng.integers(1, 10**6, rows),
        }
    )
    little = {"kind": "numeric", "weight": 0.2}
    declared = Schema(
        person="who", quasi_identifiers={"age": "numeric", "code": little, "zip": little}
    )
    write_table(visits, tmp_path / DATA)
    (tmp_path / "schema.toml").write_text(dump_schema(declared), encoding="utf-8")
    asked = ("--threshold", "pid_k=5", "--no-cap-records", "--no-full-domain")
    code, out, err = run(
        *WORDS, *asked, "--trials", "10", "--write-schema", "new.toml", "--output", "out.csv",
        "--json",
    )  # fmt: skip
    assert code in RELEASED, err
    found = json.loads(out)
    changed = found["best"]["columns"]
    assert changed["weights"] or changed["left_out"]
    assert "Schema: new.toml" in err
    written = load_schema(tmp_path / "new.toml")
    for name, factor in changed["weights"].items():
        weight = declared.quasi_identifiers[name].weight
        assert written.quasi_identifiers[name].weight == pytest.approx(factor * weight)
    words = shlex.split(found["command"])
    assert words[words.index("--schema") + 1] == "new.toml"
    code, _, err = run(*words[1:])
    assert code in RELEASED, err
    again = remeasure(read_rows(tmp_path / "out.csv"), list(written.quasi_identifiers), "who")
    assert again.pid_k >= 5
    assert found["best"]["loss"] < found["trials"][0]["loss"]


def test_every_constraint_has_its_option(run, clinics):
    """A point that asks for everything is a command that is understood."""
    asked = {
        "g_balance": 0.3, "h_affiliation": 0.9, "k": 3, "pid_k": 2, "l": 2, "marketer": 0.9,
        "shared_counts": 2, "t_closeness": 0.9, "cap_records": 4,
    }  # fmt: skip
    found = tune(clinics.visits, clinics.schema, {"k": 2}, trials=1, seed=3)
    point = Point.of(asked)
    files = {"data": DATA, "schema": "schema.toml", "output": "-release.csv"}
    line = anonymize_command(found.setting, point, files)
    words = shlex.split(line)
    assert "./-release.csv" in words
    code, out, err = run(*words[1:], "--details")
    assert code in RELEASED, err
    assert all(name == "cap_records" or f"{name} (" in out for name in asked)
