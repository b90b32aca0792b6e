"""Owners encode at home, a unit links what they encoded: the commands, and what they never say."""

from __future__ import annotations

import json
import shutil
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.conftest import done_in
from pyarrow import csv

from sfumato.examples import generate_clinics, generate_registrations, write_registrations

pytestmark = pytest.mark.usefixtures("few_random_pairs")

Run = Callable[..., Any]

A, B = "patients_hospital.csv", "patients_practice.csv"
FILES = {
    "link.secret",
    "linked.parquet",
    "linked.toml",
    "manifest.toml",
    "pairs.parquet",
    "persons.parquet",
    "report.html",
    "report.json",
}
HOSPITAL_SPEC = ("--spec", "hospital.encoded.toml")
"""What the first clinic got beside its encodings."""
CLEAR_SPEC = """\
id = "patient"
blocking = ["surname:2", "date_of_birth"]

[columns]
surname = "surname"
date_of_birth = "date"
"""


@pytest.fixture(scope="module")
def clinics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clinics' patients and visits as files."""
    folder = tmp_path_factory.mktemp("clinics")
    write_registrations(generate_registrations(generate_clinics(500, rng=2)), folder)
    return folder


@pytest.fixture
def here(clinics: Path, tmp_path: Path) -> Path:
    """The same files where the command runs."""
    return Path(shutil.copytree(clinics, tmp_path, dirs_exist_ok=True))


@pytest.fixture(scope="module")
def encoded_once(clinics: Path) -> Path:
    """Both clinics encoded, the second one by what the first one got; no test changes it."""
    folder = Path(shutil.copytree(clinics, clinics.with_name("encoded")))
    words = ["--id", "patient", "--key-file", "key"]
    done_in(folder, "link", "key", "key")
    done_in(folder, "link", "encode", A, *words, "-o", "hospital.encoded")
    done_in(folder, "link", "encode", B, *words, *HOSPITAL_SPEC, "-o", "practice.encoded")
    return folder


@pytest.fixture
def encoded(encoded_once: Path, tmp_path: Path) -> Path:
    """The same where the command runs."""
    return Path(shutil.copytree(encoded_once, tmp_path, dirs_exist_ok=True))


def _f1(folder: Path, here: Path) -> float:
    """F1 of the pairs across the clinics, from persons.parquet and the truth."""
    truth = csv.read_csv(here / "truth.csv").to_pylist()
    real = {(row["clinic"], str(row["patient"])): row["person"] for row in truth}
    rows = pq.read_table(folder / "persons.parquet").to_pylist()
    assert {(row["source"], row["id"]) for row in rows} == set(real)
    sides: dict[str, list[tuple[str, object]]] = {"hospital": [], "practice": []}
    for row in rows:
        sides[row["source"]].append((row["person"], real[row["source"], row["id"]]))
    found = true = both = 0
    for one in sides["hospital"]:
        for other in sides["practice"]:
            found += one[0] == other[0]
            true += one[1] == other[1]
            both += one == other
    return 2 * both / (found + true)


def test_from_home_to_persons(run: Run, encoded: Path) -> None:
    """The whole way: the files of the contract, their columns, and who is who."""
    words = ["hospital.encoded", "practice.encoded", "--one-per-source", "--seed", "1"]
    done = run("link", *words, "-o", "out", "--json")
    assert done.code == 0, done.err
    out = encoded / "out"
    assert {path.name for path in out.iterdir()} == FILES
    assert _f1(out, encoded) >= 0.9
    said = json.loads(done.out)
    assert set(said["records"]) == {"hospital", "practice"}
    assert said["specification"] == "encodings"
    assert said["expected"]["precision"] > 0.9
    pairs = pq.read_table(out / "pairs.parquet")
    assert pairs.column_names == [
        *("pair", "source_l", "id_l", "source_r", "id_r", "score", "outcome"),
    ]
    assert said["outcomes"]["match"] == pairs["outcome"].to_pylist().count("match")
    assert pq.read_schema(out / "linked.parquet").names == ["person", "source"]
    manifest = tomllib.loads((out / "manifest.toml").read_text())
    assert manifest["linkage"]["seed"] == 1
    assert set(manifest["files"]) == FILES - {"link.secret", "manifest.toml"}
    assert "encodings" in (out / "report.html").read_text()
    done = run("link", *words, "-o", "again")
    assert done.code == 0, done.err
    assert "People" in done.out
    for name in ("pairs", "persons", "linked"):
        tables = [pq.read_table(encoded / each / f"{name}.parquet") for each in ("out", "again")]
        assert tables[0].equals(tables[1])


def test_what_leaves_home(run: Run, encoded: Path) -> None:
    """Encodings and a specification, for their owner's eyes, and no key, value or order."""
    key = (encoded / "key").read_bytes().strip()
    for name in ("key", "hospital.encoded", "hospital.encoded.toml"):
        assert stat.S_IMODE((encoded / name).stat().st_mode) == 0o600
    assert not (encoded / "practice.encoded.toml").exists()
    spec = tomllib.loads((encoded / "hospital.encoded.toml").read_text())
    assert spec["columns"]["surname"]["kind"] == "surname"
    raw = (encoded / "hospital.encoded").read_bytes()
    for hidden in (key, bytes.fromhex(key.decode()), b"surname", spec["salt"].encode()):
        assert hidden not in raw
    assert key not in (encoded / "hospital.encoded.toml").read_bytes()
    patients = csv.read_csv(encoded / A)["patient"].cast(pa.string()).to_pylist()
    ids = pq.read_table(encoded / "hospital.encoded")["id"].to_pylist()
    assert sorted(ids) == sorted(patients)
    assert ids != patients


@pytest.mark.slow
def test_encode_says_what_it_did(run: Run, encoded: Path) -> None:
    """As text and as JSON; a specification from link.toml, other headers, missing texts."""
    done = run("link", "suggest", A, B, "--id", "patient", "-o", "link.toml")
    assert done.code == 0
    words = ["--key-file", "key", "--spec", "link.toml", "-o", "one.encoded"]
    done = run("link", "encode", A, *words, "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert said["specification"] == "made"
    assert "surname" in said["columns"]
    assert said["id"] == "patient"
    assert said["records"] == csv.read_csv(encoded / A).num_rows
    assert 0.3 * said["length"] < said["mean_bits"] < 0.6 * said["length"]
    table = csv.read_csv(encoded / B)
    names = ["Family name" if name == "surname" else name for name in table.column_names]
    csv.write_csv(table.rename_columns(names), encoded / "other.csv")
    words = ["--key-file", "key", "--spec", "one.encoded.toml", "--id", "patient"]
    done = run("link", "encode", "other.csv", *words, "-o", "two.encoded")
    assert done.code == 1
    assert "column 'surname' must" in done.err
    words += ["--column", "surname=Family name", "--missing", "none"]
    done = run("link", "encode", "other.csv", *words, "-o", "two.encoded", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["fingerprint"] == said["fingerprint"]
    done = run("link", "h=one.encoded", "p=two.encoded", "-o", "out")
    assert done.code == 0, done.err
    assert "Records" in done.out


@pytest.mark.slow
def test_visits_attached_go_into_assess(run: Run, encoded: Path) -> None:
    """By the ids that went along; the linked file is assessed as it is."""
    done = run(
        "link", "hospital.encoded", "practice.encoded", "--id", "patient", "--one-per-source",
        "--attach", "hospital=visits_hospital.csv", "--attach", "practice=visits_practice.csv",
        "-o", "out", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    persons = json.loads(done.out)["persons"]["count"]
    done = run("assess", "out/linked.parquet", "--schema", "out/linked.toml", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["persons"] == persons


def test_thresholds_and_a_given_similarity(run: Run, encoded: Path) -> None:
    """Options about outcomes change them."""
    both = ["hospital.encoded", "practice.encoded", "--json", "-o", "out"]
    said = json.loads(run("link", *both, "--match", "0.99", "--possible", "0.2").out)
    assert said["thresholds"] == {"possible_match": 0.2, "match": 0.99}
    assert said["outcomes"]["possible_match"] > 0
    said = json.loads(run("link", *both, "--similarity", "0.85", "--dedupe").out)
    assert said["mode"] == "link-and-dedupe"
    assert said["score"] == "similarity"
    assert "expected" not in said
    done = run("link", *both, "--false-match-rate", "0.01", "--missed-match-rate", "0.05")
    assert json.loads(done.out)["expected"]["false_match_rate"] <= 0.01
    done = run("link", "hospital.encoded", "--similarity", "0.85", "-o", "one", "--json")
    assert json.loads(done.out)["mode"] == "dedupe-only"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["hospital.encoded", B], "a clear table in patients_practice"),
        (["hospital.encoded", "other_key.encoded"], "under the same key"),
        (["hospital.encoded", "other_spec.encoded"], "with the same specification"),
        (["hospital.encoded", "hospital.encoded"], "must have names that differ"),
        (["hospital.encoded"], "must have a Dice similarity"),
        (["hospital.encoded", "practice.encoded", "--dedupe"], "must have a Dice similarity"),
        (
            ["hospital.encoded", "practice.encoded", "--similarity", "2"],
            "option --similarity must be a share",
        ),
        (
            ["hospital.encoded", "practice.encoded", "--similarity", "0.8", "--match", "0.9"],
            "found several",
        ),
        (["hospital.encoded", "practice.encoded", "--spec", "x.toml"], "option --spec"),
        (["hospital.encoded", "practice.encoded", "--check", "0.1"], "option --check"),
        (["hospital.encoded", "practice.encoded", "--by-uncertainty"], "option --by-uncertainty"),
        (["hospital.encoded", "practice.encoded", "--decisions", "x"], "option --decisions"),
        (["hospital.encoded", "practice.encoded", "--previous", "x"], "option --previous"),
        (["hospital.encoded", "practice.encoded", "--model", "x"], "option --model"),
        (["hospital.encoded", "practice.encoded", "--engine", "spark"], "option --engine"),
        (["hospital.encoded", "practice.encoded", "--attach", "x=y.csv"], "given for sources"),
        ([A, B, "--similarity", "0.8"], "is for encodings only"),
    ],
)
def test_what_cannot_be_linked_is_refused(
    run: Run, encoded: Path, words: list[str], said: str
) -> None:
    """Exit code 1, a sentence, no folder."""
    run("link", "key", "key2")
    others = {
        "other_key.encoded": ["--key-file", "key2", *HOSPITAL_SPEC],
        "other_spec.encoded": ["--key-file", "key"],
    }
    for name in others.keys() & set(words):
        done = run("link", "encode", B, *others[name], "-o", name)
        assert done.code == 0, done.err
    before = {path.name for path in encoded.iterdir()}
    done = run("link", *words, "-o", "out")
    assert done.code == 1
    assert said in done.err
    assert {path.name for path in encoded.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([A, "-o", "a.encoded"], "--key-file"),
        ([A, "--key-file", "key"], "--output"),
        ([A, "--key-file", "nowhere", "-o", "a.encoded"], "'sfumato link key FILE' makes one"),
        ([A, "--key-file", "open", "-o", "a.encoded"], "found mode 0644"),
        ([A, "--key-file", "short", "-o", "a.encoded"], "at least 16 bytes"),
        (["nowhere.csv", "--key-file", "key", "-o", "a.encoded"], "nowhere.csv"),
        ([A, "--key-file", "key", "-o", A], "must not replace a file"),
        ([A, "--key-file", "key", "-o", "key"], "must not replace a file"),
        ([A, "--key-file", "key", "-o", "no/such/a.encoded"], "folder that exists"),
        ([A, "--key-file", "key", "-o", "x", "--spec", "truth.csv"], "must be TOML"),
        ([A, "--key-file", "key", "-o", "x", "--spec", "no.toml"], "no.toml"),
        ([A, "--key-file", "key", "-o", "x", "--id", "sex"], "must name each record"),
        ([A, "--key-file", "key", "-o", "x", "--column", "surname"], "option --column"),
        ([A, "--key-file", "key", "-o", "x", "--column", "colour=a"], "given for columns"),
    ],
)
def test_what_cannot_be_encoded_is_refused(
    run: Run, here: Path, words: list[str], said: str
) -> None:
    """Exit code 1, a sentence, no file."""
    for name, text, mode in (
        ("key", "0123456789abcdef", 0o600),
        ("open", "0123456789abcdef", 0o644),
        ("short", "0123", 0o600),
    ):
        (here / name).write_text(text)
        (here / name).chmod(mode)
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    done = run("link", "encode", *words)
    assert done.code == 1
    assert said in done.err
    assert "0123" not in done.out + done.err
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


@pytest.mark.slow
def test_a_linkage_of_encodings_is_not_continued(run: Run, encoded: Path) -> None:
    """Nobody can review it, and it does not replace one of clear tables."""
    assert run("link", "hospital.encoded", "practice.encoded", "-o", "out").code == 0
    done = run("link", "apply", "out", "--decisions", "truth.csv")
    assert done.code == 1
    assert "clear tables" in done.err
    (encoded / "clear.toml").write_text(CLEAR_SPEC)
    assert run("link", A, B, "--spec", "clear.toml", "-o", "clear").code == 0
    done = run("link", "hospital.encoded", "practice.encoded", "-o", "clear")
    assert done.code == 1
    assert "clear tables" in done.err


def test_no_value_and_no_key_is_ever_said(run: Run, here: Path) -> None:
    """A canary in every column is in no message and no file that leaves the house, but for ids."""
    table = csv.read_csv(here / A)
    columns = {}
    for name in table.column_names:
        texts = table[name].cast(pa.string()).to_pylist()
        columns[name] = [*texts, "CANARYzqx"] if name != "patient" else [*texts, "H1"]
    columns["diagnosis"] = ["CANARYzqx"] * len(columns["patient"])
    csv.write_csv(pa.table(columns), here / "canary.csv")
    run("link", "key", "key")
    key = (here / "key").read_text().strip()
    said = []
    for words in (
        ["encode", "canary.csv", "--id", "patient", "--key-file", "key", "-o", "canary.encoded"],
        ["encode", "canary.csv", "--id", "diagnosis", "--key-file", "key", "-o", "other.encoded"],
        ["encode", B, "--id", "patient", "--key-file", "key", "-o", "b.encoded"],
        [
            *("encode", B, "--id", "patient", "--key-file", "key", "-o", "b.encoded"),
            *("--spec", "canary.encoded.toml"),
        ],
        ["canary.encoded", "b.encoded", "-o", "out"],
        ["canary.encoded", B, "-o", "out2"],
        ["key", "key"],
    ):
        done = run("link", *words)
        said.append(done.out + done.err)
    assert (here / "out").is_dir()
    for hidden in ("CANARY", key):
        assert hidden not in "".join(said)
        for path in (
            here / "canary.encoded",
            here / "canary.encoded.toml",
            *(here / "out").iterdir(),
        ):
            assert hidden.encode() not in path.read_bytes(), path.name


def test_help_names_the_commands(run: Run) -> None:
    """And says what encodings are not."""
    done = run("link", "--help")
    assert "sfumato link encode" in " ".join(done.out.replace("│", " ").split())
    assert "--similarity" in done.out
    assert "not an anonymous record" in " ".join(run("link", "encode", "--help").out.split())
    assert run("link", "key", "--help").code == 0
