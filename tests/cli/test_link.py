"""``sfumato link``: its files, its options, its exit codes, and what it never says."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tomllib
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import Popen

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.conftest import done_in
from linkage.linked_tables import households
from patience import wait_until
from pyarrow import csv
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sfumato.cli.link_commands import _readable, named_places
from sfumato.examples import generate_clinics, generate_registrations, write_registrations
from sfumato.linkage.person_inspection import _bridges
from sfumato.table.table_files import open_source

pytestmark = pytest.mark.usefixtures("few_random_pairs")

Run = Callable[..., "object"]

A, B = "patients_hospital.csv", "patients_practice.csv"
FILES = {
    "analytic.parquet",
    "identifying.parquet",
    "levels.parquet",
    "link.secret",
    "link.toml",
    "linked.parquet",
    "linked.toml",
    "manifest.toml",
    "model.json",
    "pairs.parquet",
    "persons.parquet",
    "persons_draws.parquet",
    "report.html",
    "report.json",
    "review.parquet",
}
SPEC = """\
id = "patient"
blocking = ["surname:2", "date_of_birth"]

[columns]
given_name = "given name"
surname = "surname"
date_of_birth = "date"
"""
SMALL = ("--spec", "small.toml")
"""Fewer comparisons than sfumato proposes: most of a small linkage's time is their training."""


@pytest.fixture(scope="module")
def clinics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clinics' patients and visits as files, and a specification."""
    folder = tmp_path_factory.mktemp("clinics")
    write_registrations(generate_registrations(generate_clinics(150, rng=4)), folder)
    (folder / "small.toml").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def linked(clinics: Path) -> Path:
    """The folder of a linkage of them, as the command makes it; no test changes it."""
    folder = clinics.with_name("linked")
    done_in(clinics, "link", A, B, *SMALL, "--seed", "1", "-o", folder)
    return folder


@pytest.fixture
def here(clinics: Path, tmp_path: Path) -> Path:
    """The same files where the command runs."""
    for path in clinics.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture
def out(linked: Path, here: Path) -> Path:
    """The linkage as the folder ``out`` where the command runs."""
    return Path(shutil.copytree(linked, here / "out"))


def test_tables_that_say_nothing_about_people_end_with_not_measured(
    run: Run, tmp_path: Path
) -> None:
    """Nothing is written, and what would help is said."""
    for name in ("a", "b"):
        lines = [f"{20 + i % 7},{'red' if i % 2 else 'blue'}" for i in range(40)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["temperature,colour", *lines]) + "\n")
    done = run("link", "a.csv", "b.csv", "-o", "out")
    assert done.code == 4
    assert "rename" in done.err
    assert not (tmp_path / "out").exists()


def test_nobody_in_common_ends_with_not_measured(run: Run, here: Path) -> None:
    """A true empty linkage is written, and its exit code says that nothing was found."""
    surnames = ("Abt", "Zilk")
    for name, surname in zip("cd", surnames, strict=True):
        first = 10 if name == "c" else 50
        lines = [f"{surname}{chr(97 + i)},19{first + i}-05-{10 + i}" for i in range(16)]
        (here / f"{name}.csv").write_text("\n".join(["surname,date_of_birth", *lines]) + "\n")
    done = run("link", "c.csv", "d.csv", "--seed", "1", "-o", "out")
    assert done.code == 4, done.err
    assert "No two records" in done.err
    assert (here / "out" / "linked.parquet").is_file()


@pytest.mark.slow
def test_link_writes_all_files_and_says_what_it_proposes(run: Run, here: Path) -> None:
    """Without --spec it proposes one, says so, and writes it."""
    done = run("link", A, B, "--id", "patient", "--seed", "1", "--output", "out")
    assert done.code == 0, done.err
    assert {path.name for path in (here / "out").iterdir()} == FILES
    assert "No --spec: sfumato proposes one" in done.err
    assert "surname" in done.err
    assert "People" in done.out
    spec = tomllib.loads((here / "out" / "link.toml").read_text())
    assert spec["id"] == "patient"
    same = ("--seed", "1", "--secret", "out/link.secret")
    again = run("link", A, B, "--spec", "out/link.toml", *same, "-o", "again", "--json")
    assert again.code == 0, again.err
    assert "No --spec" not in again.err
    said = json.loads(again.out)
    assert said["specification"] == "given"
    assert said["persons"]["count"] > 0
    for name in ("pairs.parquet", "persons.parquet", "linked.parquet"):
        assert pq.read_table(here / "out" / name).equals(pq.read_table(here / "again" / name))
    assert not [path.name for path in here.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_dedupe_thresholds_and_one_per_source(run: Run, here: Path) -> None:
    """Options change the specification that is used and written."""
    done = run(
        "link", A, B, *SMALL, "--dedupe", "--id", "patient", "--match", "0.95",
        "--possible", "0.2", "--json", "-o", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert said["mode"] == "link-and-dedupe"
    assert said["thresholds"] == {"possible_match": 0.2, "match": 0.95}
    spec = tomllib.loads((here / "out" / "link.toml").read_text())
    assert spec["thresholds"] == {"lower": 0.2, "upper": 0.95}
    done = run(
        "link", A, B, "--spec", "out/link.toml", "--one-per-source", "--false-match-rate", "0.01",
        "--missed-match-rate", "0.02", "-o", "two", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    spec = tomllib.loads((here / "two" / "link.toml").read_text())
    assert spec["one_per_source"] == ["patients_hospital", "patients_practice"]
    assert spec["rates"] == {"false_match_rate": 0.01, "missed_match_rate": 0.02}
    assert json.loads(done.out)["expected"]["false_match_rate"] <= 0.01


@pytest.mark.slow
def test_one_table_is_deduplicated(run: Run, here: Path) -> None:
    """With and without --dedupe."""
    both = pa.concat_tables([csv.read_csv(here / A), _renumbered(here / B)])
    few = ["patient", "given_name", "surname", "date_of_birth"]
    csv.write_csv(both.select(few), here / "all.csv")
    for words in (["--dedupe"], []):
        done = run("link", "all.csv", "--id", "patient", *words, "-o", "out", "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["mode"] == "dedupe-only"


def _renumbered(path: Path) -> pa.Table:
    table = csv.read_csv(path)
    return table.set_column(0, "patient", pa.array([f"R{row}" for row in range(len(table))]))


@pytest.mark.slow
def test_visits_attached_go_into_assess(run: Run, here: Path) -> None:
    """The linked file of the visits, with its schema, is assessed as it is."""
    (here / "sex.toml").write_text(SPEC.replace('given_name = "given name"', 'sex = "category"'))
    done = run(
        "link", A, B, "--spec", "sex.toml", "--dedupe", "--quasi-identifier", "sex",
        "--attach", "patients_hospital=visits_hospital.csv",
        "--attach", "patients_practice=visits_practice.csv", "-o", "out", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    persons = json.loads(done.out)["persons"]["count"]
    done = run("assess", "out/linked.parquet", "--schema", "out/linked.toml", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["persons"] == persons


def test_files_that_cannot_be_read_by_themselves_take_what_is_said(tmp_path: Path) -> None:
    rows = "".join(f"P{i},Café {i}\n" for i in range(20_000))
    (tmp_path / "utf8.csv").write_text("id,ward\n" + rows, "utf-8")
    (tmp_path / "late.csv").write_bytes(
        b"id,ward\n" + b"P0,a\n" * 20_000 + "P1,é\n".encode("cp1252")
    )
    (tmp_path / "bare.csv").write_bytes(rows.encode("cp1252"))
    given = {"encoding": "windows-1252", "header": False, "names": ("id", "ward")}
    paths = {name: tmp_path / f"{name}.csv" for name in ("utf8", "late", "bare")}
    made = _readable(paths, given)
    assert made["utf8"] == paths["utf8"]
    late, bare = (open_source(made[name]) for name in ("late", "bare"))
    assert late.names == bare.names == ("id", "ward")
    assert sum(len(each) for each in late.batches(["id"])) == 20_001
    assert sum(len(each) for each in bare.batches(["id"])) == 20_000


@pytest.mark.slow
def test_suggest_prints_or_writes_a_specification(run: Run, here: Path) -> None:
    """TOML that --spec takes."""
    done = run("link", "suggest", A, B, "--id", "patient")
    assert done.code == 0
    assert "surname" in tomllib.loads(done.out)["columns"]
    for name in (A, B):
        few = csv.read_csv(here / name).drop_columns(["sex", "zip", "phone"])
        csv.write_csv(few, here / name)
    done = run("link", "suggest", A, B, "--dedupe", "-o", "my.toml")
    assert done.code == 0
    assert tomllib.loads((here / "my.toml").read_text())["mode"] == "link-and-dedupe"
    assert run("link", A, B, "--spec", "my.toml", "-o", "out").code == 0


@pytest.mark.slow
def test_tables_of_one_file_name_are_named(run: Run, here: Path) -> None:
    """name=FILE; without names the error says so."""
    (here / "b").mkdir()
    (here / "b" / A).write_bytes((here / B).read_bytes())
    done = run("link", A, f"b/{A}", "-o", "out")
    assert done.code == 1
    assert "hospital=FILE" in done.err
    words = [f"hospital={A}", f"practice=b/{A}"]
    done = run("link", *words, *SMALL, "-o", "out", "--json")
    assert done.code == 0, done.err
    assert set(json.loads(done.out)["records"]) == {"hospital", "practice"}


def _decide(path: Path, pair: str, answer: int, *, withdrawn: bool = False) -> None:
    table = pa.table(
        {
            "pair": [pair] * 4,
            "worker": ["w7", "w8", "w9", "w10"],
            "answer": pa.array([answer] * 4, pa.int8()),
            "time": pa.array(
                [datetime(2026, 3, 2, 9, int(withdrawn), tzinfo=UTC)] * 4, pa.timestamp("us", "UTC")
            ),
            "withdrawn": [withdrawn] * 4,
        }
    )
    pq.write_table(table, path)


def test_apply_takes_decisions_and_withdrawals(run: Run, out: Path) -> None:
    """What four workers say parts two records; the folder is rewritten, other files in it stay."""
    before = pq.read_table(out / "persons.parquet")
    pairs = pq.read_table(out / "pairs.parquet").to_pylist()
    match = next(row["pair"] for row in pairs if row["outcome"] == "match")
    _decide(out / "decisions.parquet", match, -3)
    done = run("link", "apply", "out", "--decisions", "out/decisions.parquet", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["decisions"]["decided_pairs"] == 1
    after = pq.read_table(out / "persons.parquet")
    assert after["person"].combine_chunks().unique().__len__() == 1 + len(
        before["person"].combine_chunks().unique()
    )
    assert not FILES - {path.name for path in out.iterdir()}
    _decide(out / "decisions.parquet", match, -3, withdrawn=True)
    done = run("link", "apply", "out", "--decisions", "out/decisions.parquet")
    assert done.code == 0, done.err
    again = pq.read_table(out / "persons.parquet")
    assert len(again["person"].unique()) == len(before["person"].unique())


@pytest.mark.slow
def test_a_later_table_is_linked_to_the_persons_of_before(run: Run, here: Path, out: Path) -> None:
    """--previous: ids stay, changes are told."""
    table = csv.read_csv(here / A).slice(0, 40)
    names = pa.array([f"T{n}" for n in range(40)])
    csv.write_csv(table.set_column(0, "patient", names), here / "third.csv")
    done = run("link", A, B, "third.csv", "--previous", "out", "-o", "new", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["changes"]["persons_with_new_records"] >= 30
    one = pq.read_table(out / "persons.parquet").to_pylist()
    two = pq.read_table(here / "new" / "persons.parquet").to_pylist()
    same = [old == new for old, new in zip(one, two, strict=False)]
    assert sum(same) > 0.95 * len(same)


@pytest.mark.slow
def test_keyed_ids_are_the_same_in_every_run(run: Run, here: Path) -> None:
    """And the key is nowhere in the folder."""
    (here / "key").write_bytes(b"0123456789abcdef0123456789abcdef\n")
    for name in ("one", "two"):
        done = run("link", A, B, *SMALL, "--key-file", "key", "-o", name)
        assert done.code == 0, done.err
    one, two = (pq.read_table(here / name / "persons.parquet") for name in ("one", "two"))
    assert one.equals(two)
    for path in (here / "one").iterdir():
        assert b"0123456789abcdef" not in path.read_bytes()
    (here / "short").write_bytes(b"secret")
    done = run("link", A, B, "--key-file", "short", "-o", "three")
    assert done.code == 1
    assert "16 bytes" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([A, "nowhere.csv", "-o", "out"], "nowhere.csv"),
        ([A, B], "--output"),
        ([A, B, "-o", "no/such/out"], "folder that exists"),
        ([A, B, "-o", A], "must be a folder"),
        ([A, B, "-o", "."], "new or empty folder"),
        ([A, B, "--match", "2", "-o", "out"], "option --match must be a share"),
        ([A, B, "--match", "0.1", "--possible", "0.5", "-o", "out"], "must not be above"),
        ([A, B, "--false-match-rate", "0.1", "-o", "out"], "must come together"),
        ([A, B, "--match", "0.9", "--false-match-rate", "0.1", "-o", "out"], "must come without"),
        ([A, B, "--attach", "visits_hospital.csv", "-o", "out"], "option --attach"),
        ([A, B, "--attach", "x=visits_hospital.csv", "-o", "out"], "given for sources"),
        ([A, B, "--id", "sex", "-o", "out"], "must name each record by another id"),
        ([A, B, "--spec", "nothing.toml", "-o", "out"], "nothing.toml"),
        ([A, B, "--model", "truth.csv", "-o", "out"], "model truth.csv"),
        ([A, B, "--previous", ".", "-o", "out"], "sfumato link wrote"),
        (["apply", ".", "--decisions", "x.parquet"], "sfumato link wrote"),
        (["suggest", "visits_hospital.csv", "nowhere.csv"], "nowhere.csv"),
        ([A, B, "--allow-pairs", "5", "-o", "out"], "pairs"),
        ([A, "practice=.", "-o", "out"], "found a folder; Spark reads it"),
        ([A, "s3a://bucket/year=2024/b.parquet", "-o", "out"], "found a URI; Spark reads it"),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(
    run: Run, here: Path, words: list[str], said: str
) -> None:
    """Exit code 1, a sentence, no folder."""
    before = {path.name for path in here.iterdir()}
    done = run("link", *words)
    assert done.code == 1
    assert said in done.err
    assert {path.name for path in here.iterdir()} == before


HOUSEHOLD = {
    "surname": "surname",
    "postcode": "postcode",
    "street": "address",
    "house_number": "number",
}


@pytest.mark.slow
def test_households_taken_for_persons_are_refused_and_leave_nothing(
    run: Run, tmp_path: Path
) -> None:
    """Without given names nothing tells them; with what to do, and no figure of precision."""
    tables, _ = households()
    for name, table in tables.items():
        csv.write_csv(table, tmp_path / f"{name}.csv")
    columns = "\n".join(f'{name} = {{ kind = "{kind}" }}' for name, kind in HOUSEHOLD.items())
    (tmp_path / "spec.toml").write_text(
        f'mode = "link-only"\nblocking = [["surname"], ["street", "house_number"]]\n\n'
        f"[columns]\n{columns}\n"
    )
    done = run("link", "census.csv", "register.csv", "--spec", "spec.toml", "-o", "out")
    assert done.code == 1
    assert "compare = false" in done.err
    assert "precision" not in done.out + done.err
    assert {each.name for each in tmp_path.iterdir()} == {"census.csv", "register.csv", "spec.toml"}


def test_uris_stay_as_they_are() -> None:
    """Two slashes are not taken for one, and an equals sign in a URI names no source."""
    words = ["a.csv", "b=s3a://bucket/x.parquet", "s3a://bucket/year=2024/y.parquet", "hdfs:///z"]
    assert named_places(words) == {
        "a": Path("a.csv"),
        "b": "s3a://bucket/x.parquet",
        "y": "s3a://bucket/year=2024/y.parquet",
        "z": "hdfs:///z",
    }


@pytest.mark.slow
def test_no_value_is_ever_said(run: Run, here: Path) -> None:
    """A canary in every column is in no message and in no text file of the folder."""
    table = csv.read_csv(here / A)
    columns = {}
    for name in table.column_names:
        texts = table[name].cast(pa.string()).to_pylist()
        columns[name] = [*texts, "CANARYzqx"] if name != "patient" else [*texts, "HCANARYzqx"]
    columns["diagnosis"] = ["CANARYzqx"] * len(columns["patient"])
    csv.write_csv(pa.table(columns), here / "canary.csv")
    said = []
    for words in (
        ["canary.csv", B, "--id", "patient", "-o", "out"],
        ["canary.csv", B, "--id", "diagnosis", "-o", "other"],
        ["canary.csv", "-o", "third", "--allow-pairs", "1"],
        ["suggest", "canary.csv", B],
    ):
        done = run("link", *words)
        said.append(done.out + done.err)
    assert "CANARY" not in "".join(said)
    for path in (here / "out").iterdir():
        if path.suffix != ".parquet":
            assert "CANARY" not in path.read_text(), path.name


def test_help_is_that_of_the_linkage(run: Run) -> None:
    """The command itself needs no name, and names the others."""
    for words in (["link"], ["link", "--help"]):
        done = run(*words)
        assert done.code == 0
        assert "--one-per-source" in done.out
        assert "sfumato link apply" in " ".join(done.out.split())
    assert "--decisions" in run("link", "apply", "--help").out


@pytest.mark.slow
def test_interrupted_it_leaves_nothing(start: Callable[..., Popen[str]], here: Path) -> None:
    """Ctrl-C while it works: exit code 130, no folder, no private folder."""
    temporary = here / "tmp"
    temporary.mkdir()
    before = {path.name for path in here.iterdir()}
    process = start("link", A, B, "--id", "patient", "-o", "out", TMPDIR=str(temporary))

    def is_reading() -> bool:
        # os.walk goes on where a folder is removed before it is looked into
        return any("identifying_" in name for _, _, files in os.walk(temporary) for name in files)

    wait_until(lambda: process.poll() is not None or is_reading())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert {path.name for path in here.iterdir()} == before
    assert not list(temporary.rglob("*.parquet"))


def _answer(batch: Path, here: Path) -> Path:
    """Answers to all pairs of a batch, as the truth has them."""
    table = csv.read_csv(here / "truth.csv").to_pydict()
    person = dict(zip(table["patient"], table["person"], strict=True))
    rows = pq.read_table(batch / "pairs.parquet").to_pylist()
    same = [person[row["id_l"]] == person[row["id_r"]] for row in rows]
    count = len(rows)
    answers = {
        "pair": [row["pair"] for row in rows],
        "worker": ["ann"] * count,
        "answer": [3 if each else -3 for each in same],
        "time": [datetime.now(UTC)] * count,
        "withdrawn": [False] * count,
    }
    pq.write_table(pa.table(answers), batch / "decisions.parquet")
    return batch / "decisions.parquet"


def test_next_pairs_are_drawn_answered_and_applied(run: Run, out: Path, here: Path) -> None:
    """Two batches: chances are kept, no pair is drawn twice, and the persons get intervals."""
    done = run(
        "link", "next", "out", "--pairs", "30", "--clusters", "0", "--seed", "3", "-o", "one"
    )
    assert done.code == 0, done.err
    assert "sfumato open one" in done.err
    shown = pq.read_table(here / "one" / "review.parquet")
    assert len(shown) == 30
    assert "score" not in shown.column_names
    before = len(pq.read_table(out / "persons.parquet"))
    done = run("link", "apply", "out", "--decisions", _answer(here / "one", here), "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert said["review"]["answered"] == said["review"]["asked"] == 30
    precision = said["persons"]["precision"]
    assert precision["low"] <= precision["value"] <= precision["high"]
    assert precision == {k: said["review"]["precision"][k] for k in precision}
    done = run("link", "next", "out", "--pairs", "20", "-o", "two", "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    clusters = json.loads((here / "two" / "clusters.json").read_text())["clusters"]
    assert 0 < len(clusters) == said["clusters"] <= 5
    shown = set(pq.read_table(here / "two" / "review.parquet")["pair"].to_pylist())
    assert set().union(*clusters) <= shown
    assert 20 <= len(shown) == said["pairs"] <= 20 + sum(map(len, clusters))
    pairs = {row["pair"]: row for row in pq.read_table(here / "two" / "pairs.parquet").to_pylist()}
    for own in clusters:
        records = {
            (pairs[each][f"source_{side}"], pairs[each][f"id_{side}"])
            for each in own
            for side in "lr"
        }
        assert 2 < len(records) <= len(own) + 1
    asked = pq.read_table(out / "asked.parquet")
    # What is asked again takes the place of new pairs.
    new = 20 - said["asked_again"]
    assert 20 > new >= 14
    assert asked["batch"].to_pylist() == [1] * 30 + [2] * new
    assert len(set(asked["pair"].to_pylist())) == 30 + new
    assert all(0 < chance <= 1 for chance in asked["probability"].to_pylist())
    assert len(pq.read_table(out / "persons.parquet")) == before
    done = run("link", "next", "out", "--pairs", "25", "-o", "three")
    one, two, three = (
        set(pq.read_table(here / name / "review.parquet")["pair"].to_pylist())
        for name in ("one", "two", "three")
    )
    assert two - one < three, "pairs that nobody has answered are asked again"
    assert len(two & one) == said["asked_again"]


def test_next_refuses_before_anything_is_written(run: Run, out: Path, here: Path) -> None:
    """A folder with files, and one that is no linkage; nothing is recorded."""
    (here / "full").mkdir()
    (here / "full" / "notes.txt").write_text("mine")
    for words, said in (
        (("out", "-o", "full"), "new or empty"),
        (("full", "-o", "new"), "sfumato link wrote"),
        (("out", "--pairs", "0", "-o", "new"), "--pairs"),
    ):
        done = run("link", "next", *words)
        assert done.code == 1
        assert said in done.err
    assert not (here / "new").exists()
    assert not (out / "asked.parquet").exists()


def test_an_interrupted_draw_leaves_nothing(
    run: Run, out: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a batch nor a record of it where writing stops halfway."""
    from sfumato.linkage import next_batch

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.setattr(next_batch, "_record", stopped)
    assert run("link", "next", "out", "-o", "one").code == 130
    assert not (here / "one").exists()
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert not [path.name for path in here.iterdir() if path.name.startswith(".")]


def test_persons_are_inspected_without_values(run: Run, out: Path) -> None:
    """Sizes are those of the persons written; values come only where they are asked for."""
    done = run("link", "inspect", "out", "--json", "--persons", "3")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    person = pq.read_table(out / "persons.parquet")["person"].to_pylist()
    sizes = Counter(Counter(person).values())
    assert said["by_records"] == {str(size): sizes[size] for size in sorted(sizes)}
    assert [each["records"] for each in said["largest"]] == sorted(
        Counter(person).values(), reverse=True
    )[:3]
    shown = run("link", "inspect", "out", "--persons", "3", "--show-values")
    plain = run("link", "inspect", "out", "--persons", "3")
    assert "surname" in shown.out
    assert "surname" not in plain.out
    assert shown.out.startswith(plain.out)


def test_bridges_are_those_that_part_the_graph_when_they_go() -> None:
    """Against every edge taken away in turn, on random graphs."""
    rng, nodes = np.random.default_rng(1), 9
    every = np.array([(a, b) for a in range(nodes) for b in range(a + 1, nodes)])

    def components(kept: np.ndarray) -> int:
        graph = coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), (nodes, nodes))
        return int(connected_components(graph, directed=False)[0])

    for _ in range(60):
        edges = every[rng.random(len(every)) < 0.2]
        whole = components(edges)
        wanted = {n for n in range(len(edges)) if components(np.delete(edges, n, axis=0)) > whole}
        assert {edge for edge, _ in _bridges(edges[:, 0], edges[:, 1])} == wanted
