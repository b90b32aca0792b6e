"""``sfumato run --period``: a project whose releases are a series, a file for each period."""

from __future__ import annotations

import io
import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pipeline.clinics_project import Call, Result, caller

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
pid_k = 12
effort = 0

[release.series]
kind = "snapshot"
known = "exit"
admit_every = 1

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
    for old, new, name in (
        ("pid_k = 12", "pid_k = 11", "pid_k"),
        ("admit_every = 1", "admit_every = 2", "series.admit_every"),
        ('"exit"', '"entry"', "series.known"),
        ("\nsensitive = ", "\ninsensitive = ", "schema"),
    ):
        project.write_text(whole.replace(old, new))
        refused = call("run", "--period", "2026-03", "m3.csv")
        assert refused.code == 1
        assert name in refused.err
        assert call("run").code == 1
    assert not (tmp_path / "output/2026-03").exists()


def test_a_month_in_which_a_class_cannot_be_kept_is_refused_as_a_promise_is(
    call: Call, tmp_path: Path
) -> None:
    project = tmp_path / "sfumato.toml"
    project.write_text(project.read_text().replace("pid_k = 12", "pid_k = 12\nl = 2"))
    assert call("run", "--period", "2026-01").code == 0
    pd.read_csv(tmp_path / "m2.csv").assign(status="a").to_csv(tmp_path / "m2.csv", index=False)
    assert call("run", "--period", "2026-02", "m2.csv").code == 5
    assert not (tmp_path / "output/2026-02").exists()


def test_a_month_goes_out_although_newcomers_wait(call: Call, tmp_path: Path) -> None:
    project = tmp_path / "sfumato.toml"
    project.write_text(project.read_text().replace("admit_every = 1", "admit_every = 2"))
    assert call("run", "--period", "2026-01").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 0
    assert call("run", "--period", "2026-03", "m3.csv").code == 0
    found = json.loads(call("series", "status", "--json").out)
    assert [each["waiting"] for each in found] == [0, 16, 0]
    assert [each["people"] for each in found] == [80, 80, 112]


def test_by_entry_an_answer_for_the_recipient_covers_what_a_known_exit_finds(
    call: Call, tmp_path: Path
) -> None:
    project = tmp_path / "sfumato.toml"
    text = project.read_text().replace('"exit"', '"entry"').replace("person = 1", "person = 0.1")
    project.write_text(text)
    # All look alike, and all but four, who leave, have another status in each month.
    for month in (1, 2, 3):
        data = pd.read_csv(tmp_path / f"m{month}.csv")
        data.loc[data["id"] > 3, "status"] = "abc"[month - 1]
        data.assign(born=1950, sex="f").to_csv(tmp_path / f"m{month}.csv", index=False)
    assert call("run", "--period", "2026-01").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 2  # and nobody has it
    rows = json.loads(call("status", "--json").out)["verdict"]["rows"]
    states = {row["intruder"]: row["state"] for row in rows}
    assert states["acquaintance"] == "below"
    assert states["recipient"] == "above"
    by = ("--by", "me", "--because", "x", "--until", "2099-01-01")
    # As much as is found now, and a fifth more: it is no answer for another release.
    assert call("accept", "recipient", *by, "--at-most", "1").code == 1
    assert call("accept", "recipient", *by).code == 0
    assert call("run", "--period", "2026-02").code == 0
    # More have left since.
    assert call("run", "--period", "2026-03", "m3.csv").code == 2
    assert call("accept", "recipient", *by).code == 0
    assert call("run", "--period", "2026-03").code == 0


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


def test_who_withdraws_leaves_the_next_period_and_the_files_that_hold_them_are_named(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def withdraw(ids: str, *words: str) -> Result:
        monkeypatch.setattr("sys.stdin", io.StringIO(ids))
        return call("series", "withdraw", "--json", *words)

    assert withdraw("50\n").code == 1  # no file was released
    assert call("run", "--period", "2026-01").code == 0
    assert call("run", "--period", "2026-02", "m2.csv").code == 0
    before = (tmp_path / "sfumato.toml").read_text()
    assert withdraw("").code == withdraw("nobody\n50x\n50\n").code == 1
    assert withdraw("51\n050\n").code == 1  # somebody else by its letters, who would stay
    assert (tmp_path / "sfumato.toml").read_text() == before
    # One of the first file, one of the second file, one that none names.
    found = json.loads(withdraw("50\n101\nx\n").out)
    assert (found["period"], found["people"], found["unknown"]) == ("2026-03", 2, 1)
    held = {each["period"]: (each["people"], each["to"]) for each in found["holding"]}
    assert held == {"2026-01": (1, ["university"]), "2026-02": (2, ["university"])}
    for each in found["holding"]:
        assert len(each["files"]) == 2
        assert all((tmp_path / name).is_file() for name in each["files"])
    listed = tmp_path / "withdrawn/2026-03.parquet"
    assert listed.stat().st_mode & 0o077 == listed.parent.stat().st_mode & 0o077 == 0
    # What left stays as it is, and is looked at as before.
    assert json.loads(call("status", "--json").out)["done"]
    assert call("dossier", "university", "--output", "d.json").code == 0
    # More may withdraw until the next file is made.
    (tmp_path / "more.csv").write_text("id\n60\n")
    assert withdraw("", "--ids", "more.csv").code == 0
    assert call("run", "--period", "2026-03", "m3.csv").code == 0
    first, second, third = (shown(tmp_path, f"2026-0{month}") for month in (1, 2, 3))
    gone = second.index.difference(third.index)
    # Whole classes are gone: of those who came with them nobody looks like them.
    left, stays = (
        second.loc[first.index.intersection(who), ["born", "sex"]].apply(tuple, axis="columns")
        for who in (gone, third.index)
    )
    assert not set(left) & set(stays)
    assert left.value_counts().min() >= 12
    rows = json.loads(call("series", "status", "--json").out)
    assert [each["withdrawn"] for each in rows] == [0, 0, len(gone)]
    assert [each["people"] for each in rows] == [len(first), len(second), len(third)]
    assert rows[1]["left"] == 2
    lines = call("series", "status").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["2026-01", "2026-02", "2026-03"]
    assert found["beside"] + 2 <= len(gone)


def test_a_list_that_the_project_names_is_no_folder_to_add_to(call: Call, tmp_path: Path) -> None:
    project = tmp_path / "sfumato.toml"
    assert call("run", "--period", "2026-01").code == 0
    (tmp_path / "withdrawn.csv").write_text("id\n50\n")
    text = project.read_text().replace("effort = 0", 'effort = 0\nwithdrawn = "withdrawn.csv"')
    project.write_text(text)
    assert call("series", "withdraw", "--ids", "withdrawn.csv").code == 1
    assert (tmp_path / "withdrawn.csv").read_text() == "id\n50\n"


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
        ('[release.series]\nkind = "snapshot"\nknown = "exit"\nadmit_every = 1\n', ""),
        ('kind = "snapshot"\n', ""),
        ('known = "exit"\n', ""),  # it is asked
        ('kind = "snapshot"', 'kind = "snapshot"\nids = "new"'),
        ("effort = 0", "effort = 0\nadmit_every = 1"),
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
