"""``sfumato run --period``: a project whose releases are a series, a file for each period."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pipeline.clinics_project import Call, caller

from sfumato.core.errors import InputError
from sfumato.pipeline.project_text import load_project, parse_project

PROJECT = """\
[project]
name = "registry"
seed = 5

[sources.registry]
file = "m1.csv"  # of the first month

[schema]
person = "id"
sensitive = ["status"]
quasi_identifiers = { born = "numeric", sex = "categorical" }

[release]
series = "snapshot"
admit_every = 1
pid_k = 12
effort = 0

[limits]
found = 1
person = 1
learned = 1

[ledger]
file = "book/ledger.sqlite"
keys = "keys"
to = "university"

[outputs]
report = "json"
"""
RELEASED = Path("release/release.csv")


def people(first: int, count: int) -> pd.DataFrame:
    rng = np.random.default_rng(first)
    data = pd.DataFrame({"id": range(first, first + count)})
    return data.assign(
        born=rng.integers(1940, 2000, count),
        sex=rng.choice(["f", "m"], count),
        status=rng.choice(list("abc"), count),
    )


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    now = people(0, 80)
    for month in range(1, 4):
        now.to_csv(tmp_path / f"m{month}.csv", index=False)
        now = pd.concat([now[2:], people(100 * month, 16)])
    (tmp_path / "sfumato.toml").write_text(PROJECT)
    called = caller(tmp_path, monkeypatch, capfd)
    book = ("--ledger", "book/ledger.sqlite", "--keys", "keys")
    assert called("ledger", "create", *book).code == 0
    return called


def shown(folder: Path, period: str) -> pd.DataFrame:
    return pd.read_csv(folder / "output" / period / RELEASED).set_index("id")


def test_a_project_goes_on_from_month_to_month(call: Call, tmp_path: Path) -> None:
    assert call("run", "--period", "2026-01").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 0
    assert call("run", "sfumato.toml", "m3.csv", "--period", "2026-03").code == 0
    text = (tmp_path / "sfumato.toml").read_text()
    assert "# of the first month" in text
    assert dict(load_project(tmp_path / "sfumato.toml").periods) == {
        f"2026-0{month}": Path(f"m{month}.csv") for month in (1, 2, 3)
    }
    months = [shown(tmp_path, f"2026-0{month}") for month in (1, 2, 3)]
    for before, after in pairwise(months):
        # Nobody moves, and nobody who left is taken out.
        assert set(before.index) <= set(after.index)
        same = after.loc[before.index, ["born", "sex"]]
        assert same.equals(before[["born", "sex"]])
    found = json.loads(call("status", "--json").out)
    assert [each["people"] for each in found["periods"]] == [len(each) for each in months]
    assert len(months[2]) > len(months[0])
    assert found["done"]
    # What is there is not made again.
    again = call("run", "--json")
    assert not any(stage["ran"] for stage in json.loads(again.out)["stages"])
    for inside in ("stages", "stages/2026-02"):
        assert (tmp_path / inside).stat().st_mode & 0o077 == 0
    assert not list((tmp_path / "output").rglob("*.series"))


@pytest.mark.parametrize(
    "words",
    [
        (),  # no period
        ("--period", "2026-03", "m3.csv"),  # one is left out
        ("--period", "2026-02"),  # no file
        ("--period", "2026-02", "m9.csv"),  # none is there
        ("--period", "2026-13", "m2.csv"),
        ("--period", "2026-02", "sqlite:///m.db?table=t"),
        ("sfumato.toml", "m2.csv"),
    ],
)
def test_another_period_is_refused(call: Call, tmp_path: Path, words: tuple[str, ...]) -> None:
    if words:
        assert call("run", "--period", "2026-01", "--until", "assess").code == 0
    before = (tmp_path / "sfumato.toml").read_text()
    assert call("run", *words).code == 1
    assert (tmp_path / "sfumato.toml").read_text() == before


def test_a_period_that_nobody_has_is_made_again_from_the_same_or_another_file(
    call: Call, tmp_path: Path
) -> None:
    project = tmp_path / "sfumato.toml"
    project.write_text(project.read_text().replace('to = "university"', ""))
    assert call("run", "--period", "2026-01").code == 0
    before = (tmp_path / "output/2026-01" / RELEASED).read_bytes()
    assert call("run", "--period", "2026-01", "--force", "release").code == 0
    assert (tmp_path / "output/2026-01" / RELEASED).read_bytes() == before
    project.write_text(project.read_text().replace('keys = "keys"', 'keys = "keys"\nto = "u"'))
    assert call("run").code == 0
    # Now somebody has it, and what is corrected belongs to the next period.
    people(0, 81).to_csv(tmp_path / "m1.csv", index=False)
    assert call("run").code == 1
    assert (tmp_path / "output/2026-01" / RELEASED).read_bytes() == before
    (tmp_path / "bad.csv").write_text("name\nx\n")
    assert call("run", "--period", "2026-02", "bad.csv").code == 1
    assert call("run", "--period", "2026-02", "m2.csv").code == 0


def test_a_ledger_that_lacks_the_file_before_judges_no_later_one(
    call: Call, tmp_path: Path
) -> None:
    project = tmp_path / "sfumato.toml"
    text = project.read_text()
    section = text[text.index("[ledger]") : text.index("[outputs]")]
    project.write_text(text.replace(section, "[ledger]\nremember = false\n\n"))
    assert call("run", "--period", "2026-01").code == 4
    periods = '\n[periods]\n2026-01 = "m1.csv"\n'
    project.write_text(f"{text}{periods}")
    assert call("run", "--period", "2026-02", "m2.csv").code == 1
    project.write_text(f'{text}{periods}2026-02 = "m2.csv"\n')
    assert call("run").code == 1
    assert not (tmp_path / "output/2026-02").exists()


def test_what_a_later_period_rests_on_stays(call: Call, tmp_path: Path) -> None:
    project = tmp_path / "sfumato.toml"
    assert call("run", "--period", "2026-01", "--until", "assess").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 1  # nothing to continue
    project.write_text(project.read_text().replace('to = "university"', ""))
    assert call("run", "--period", "2026-01").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 1  # nobody got the first one
    project.write_text(project.read_text().replace('keys = "keys"', 'keys = "keys"\nto = "u"'))
    assert call("run", "--period", "2026-01").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 0
    assert call("run", "--period", "2026-01", "--force", "release").code == 1
    whole = project.read_text()
    project.write_text(whole.replace("pid_k = 12", "pid_k = 11"))
    assert call("run", "--period", "2026-03", "m3.csv").code == 1
    assert call("run").code == 1


def test_who_withdraws_is_named_in_the_project(call: Call, tmp_path: Path) -> None:
    project = tmp_path / "sfumato.toml"
    assert call("run", "--period", "2026-01").code == 0
    (tmp_path / "withdrawn.csv").write_text("id\n50\n101\n")  # the second one is new
    text = project.read_text().replace("effort = 0", 'effort = 0\nwithdrawn = "withdrawn.csv"')
    project.write_text(text)
    assert call("run", "--period", "2026-02", "m2.csv").code == 0
    assert call("run", "--period", "2026-03", "m3.csv").code == 0
    found = json.loads(call("status", "--json").out)
    withdrawn = [each["withdrawn"] for each in found["periods"]]
    assert withdrawn[0] == withdrawn[2] == 0
    assert withdrawn[1] >= 12
    first, second = (shown(tmp_path, f"2026-0{month}") for month in (1, 2))
    assert len(first.index.difference(second.index)) == withdrawn[1] - 1


def test_an_attack_looks_for_who_has_left_as_well(call: Call, tmp_path: Path) -> None:
    project = tmp_path / "sfumato.toml"
    project.write_text(f"{project.read_text()}\n[attack]\n")
    assert call("run", "--period", "2026-01").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 0
    attacked = json.loads((tmp_path / "output/2026-02/reports/attack.json").read_text())
    assert json.dumps(attacked).count("exact_free") > 0


@pytest.mark.parametrize("gone", ["stages/2026-02", "stages"])
@pytest.mark.parametrize("corrected", [False, True])
def test_a_file_that_left_and_is_gone_leaves_the_insider_unmeasured(
    call: Call, tmp_path: Path, gone: str, corrected: bool
) -> None:
    def insider() -> tuple[str, bool]:
        verdict = json.loads(call("status", "--json", "sfumato.toml").out)["verdict"]
        (row,) = (row for row in verdict["rows"] if row["intruder"] == "insider")
        return row["state"], verdict["ready"]

    assert call("run", "--period", "2026-01").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 0
    shutil.rmtree(tmp_path / gone)
    if corrected:  # the same values, of other people
        data = pd.read_csv(tmp_path / "m2.csv")
        data.assign(status=data["status"].to_numpy()[::-1]).to_csv(tmp_path / "m2.csv", index=False)
    by = ("--by", "me", "--because", "x", "--until", "2099-01-01")
    if gone == "stages":
        # The first file that is made anew neither continues nor repeats the second one that left.
        assert call("run", "--period", "2026-01").code == 2
        assert call("accept", "insider.status", *by, "--period", "2026-01").code == 0
        assert call("run", "--period", "2026-01").code == 0
        project = tmp_path / "sfumato.toml"
        project.write_text(project.read_text().split("[accept")[0])
    assert call("run").code == (2 if corrected else 0)
    assert insider() == (("not measured", False) if corrected else ("below", True))
    assert call("accept", "insider.status", *by).code == (0 if corrected else 1)


SCHEMA = """\
person = "id"
sensitive = ["status"]
quasi_identifiers = { born = "numeric", sex = "categorical" }
"""


def test_each_month_is_repeated_from_its_manifest(call: Call, tmp_path: Path) -> None:
    (tmp_path / "withdrawn.csv").write_text("id\n50\n")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    project = tmp_path / "sfumato.toml"
    text = project.read_text().replace("effort = 0", 'effort = 0\nwithdrawn = "withdrawn.csv"')
    project.write_text(text)
    for month in (1, 2):
        (tmp_path / f"again{month}").mkdir()
        assert call("run", "--period", f"2026-0{month}", f"m{month}.csv").code == 0

    def again(month: int, *words: str) -> int:
        manifest = f"stages/2026-0{month}/release/release.toml"
        given = ("anonymize", f"m{month}.csv", "--schema", "schema.toml", "--repeat", manifest)
        return call(*given, "--output", f"again{month}/release.csv", *words).code

    before = ("--continue", "stages/2026-01/release/release.toml")
    assert again(2) == 1  # nothing to continue
    assert again(1, *before) == 1  # the first file continues nothing
    assert again(2, *before) == 1  # who withdrew is in it
    assert again(2, *before, "--seed", "5", "--withdrawn", "withdrawn.csv") == 1
    assert again(1, "--withdrawn", "withdrawn.csv") == 1  # nobody would leave a first file
    assert not list(tmp_path.glob("again*/*"))
    assert again(1) in (0, 2, 4)
    assert again(2, *before, "--withdrawn", "withdrawn.csv") in (0, 2, 4)
    for month in (1, 2):
        made = tmp_path / "output" / f"2026-0{month}"
        repeated, manifest = (
            (tmp_path / f"again{month}" / name) for name in ("release.csv", "release.toml")
        )
        assert repeated.read_bytes() == (made / RELEASED).read_bytes()
        assert f'period = "2026-0{month}"' in manifest.read_text()


def test_a_list_of_nobody_withdraws_nobody(call: Call, tmp_path: Path) -> None:
    project, listed = tmp_path / "sfumato.toml", tmp_path / "withdrawn.csv"
    text = project.read_text().replace("effort = 0", 'effort = 0\nwithdrawn = "withdrawn.csv"')
    project.write_text(text)
    assert call("run", "--period", "2026-01").code == 0
    for wrong in ("", "name\n"):
        listed.write_text(wrong)
        assert call("run", "--period", "2026-02", "m2.csv").code == 1
    listed.write_text("id\n")
    assert call("run").code == 0
    assert json.loads(call("status", "--json").out)["periods"][1]["withdrawn"] == 0


def test_an_earlier_period_is_answered_for_and_told_of(call: Call, tmp_path: Path) -> None:
    project = tmp_path / "sfumato.toml"
    assert call("run", "--period", "2026-01").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 0
    for month, people_there in (("2026-01", 80), ("2026-02", 96)):
        made = call("dossier", "university", "--period", month, "--output", f"{month}.json")
        assert made.code == 0
        told = json.loads((tmp_path / f"{month}.json").read_text())
        assert told["verdict"]["people"] == f"{people_there} people"
        # A month's dossier never takes the place of another's.
        assert call("dossier", "university", "--period", month).code == 0
        (page,) = tmp_path.glob(f"dossier*{month}.json")
        assert json.loads(page.read_text())["verdict"]["people"] == f"{people_there} people"
    assert not (tmp_path / "dossier.html").exists()
    assert call("dossier", "university", "--period", "2026-03").code == 1
    project.write_text(project.read_text().replace("found = 1", "found = 0.001"))
    by = ("--by", "me", "--because", "x", "--until", "2099-01-01")
    found = []
    for month in ("2026-01", "2026-02"):
        call("accept", "stranger", *by, "--period", month)
        found.append(load_project(project).accept.by_row["stranger", ""].at_most)
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('series = "snapshot"\nadmit_every = 1\n', ""),
        ('report = "json"', 'report = "json"\ndatabase = "sqlite:///a.db::t"'),
        (
            '[sources.registry]\nfile = "m1.csv"',
            '[sources.b]\nfile = "m2.csv"\n\n[sources.r]\nfile = "m1.csv"',
        ),
        ("2026-02", "2026-03"),
        ("2026-02", "February"),
    ],
)
def test_what_no_series_can_be_made_of_is_refused(old: str, new: str) -> None:
    text = f'{PROJECT}\n[periods]\n2026-01 = "m1.csv"\n2026-02 = "m2.csv"\n'
    assert list(parse_project(text).periods) == ["2026-01", "2026-02"]
    assert old in text
    with pytest.raises(InputError):
        parse_project(text.replace(old, new))
