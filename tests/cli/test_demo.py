"""``sfumato demo``: its files, what it says, and its persons counted again from the truth."""

from __future__ import annotations

import csv
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli.conftest import PROGRAM, Run, command
from cli.malformed.case import make_folder

import sfumato as sf

Key = tuple[str, str]
Visit = tuple[object, ...]
CLINICS = ("hospital", "practice")
COLUMNS = ("age", "sex", "zip", "education", "department", "icd9", "charge")
NAMES = (
    *("report.html", "linked/report.html", "linked/review.parquet", "linked/linked.parquet"),
    *("linked/linked.toml", "release.csv", "release.toml", "truth.csv"),
)


@dataclass(frozen=True)
class Demo:
    """A demo that ran, read again from its files alone.

    Attributes
    ----------
    folder
        Its files.
    said
        What it printed, spaces and ends of lines alike.
    found, true
        By registration, the person found and the true one.
    linked
        By person found, the visits in the linked file.
    visits
        By registration, the visits as the clinics have them.
    """

    folder: Path
    said: str
    found: dict[Key, str]
    true: dict[Key, str]
    linked: dict[str, Counter[Visit]]
    visits: dict[Key, Counter[Visit]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo of 400 persons."""
    folder = tmp_path_factory.mktemp("demo")
    line = command("demo", "--persons", "400", "--output", "clinics")
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    place = folder / "clinics"
    persons = pq.read_table(place / "linked" / "persons.parquet").to_pylist()
    linked: dict[str, Counter[Visit]] = defaultdict(Counter)
    for row in pq.read_table(place / "linked" / "linked.parquet").to_pylist():
        linked[row["person"]][visit(row["source"], row)] += 1
    visits: dict[Key, Counter[Visit]] = defaultdict(Counter)
    for clinic in CLINICS:
        for row in rows(place / f"visits_{clinic}.csv"):
            visits[clinic, row["patient"]][visit(clinic, row)] += 1
    return Demo(
        place,
        " ".join(done.stdout.split()),
        {(row["source"], row["id"]): row["person"] for row in persons},
        {(row["clinic"], row["patient"]): row["person"] for row in rows(place / "truth.csv")},
        dict(linked),
        dict(visits),
    )


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def visit(clinic: str, row: Mapping[str, object]) -> Visit:
    """A visit as it can be told from others: its values as text, charges as numbers."""
    values = {**row, "charge": float(str(row["charge"]))}
    texts = ("" if values[name] is None else values[name] for name in COLUMNS)
    return (clinic, *(each if isinstance(each, float) else str(each) for each in texts))


def groups(person: Mapping[Key, str]) -> dict[str, frozenset[Key]]:
    """The registrations of each person."""
    made: dict[str, set[Key]] = defaultdict(set)
    for key, each in person.items():
        made[each].add(key)
    return {each: frozenset(keys) for each, keys in made.items()}


def beyond_one(parts: Iterable[frozenset[Key]], whose: Mapping[Key, Hashable]) -> int:
    """Persons beyond the first that each group's registrations belong to, summed."""
    return sum(len({whose[key] for key in keys}) - 1 for keys in parts)


def all_visits(demo: Demo, keys: Iterable[Key]) -> Counter[Visit]:
    """The visits of some registrations."""
    return sum((demo.visits[key] for key in keys), Counter())


def test_persons_are_those_of_the_truth_but_for_the_errors_told(demo: Demo) -> None:
    """Assessed, the linked file has the true persons, plus splits, minus merges."""
    assert set(demo.found) == set(demo.true)
    found, true = groups(demo.found), groups(demo.true)
    splits = beyond_one(true.values(), demo.found)
    merges = beyond_one(found.values(), demo.true)
    assert splits + merges > 0
    folder = demo.folder / "linked"
    risk = sf.assess(folder / "linked.parquet", sf.load_schema(folder / "linked.toml"))
    assert risk.persons == len(found) == len(true) + splits - merges
    assert risk.records == sum(map(Counter.total, demo.visits.values()))
    assert f"{len(demo.found):,} patients of two clinics are {len(found):,} persons" in demo.said
    errors = f"two taken for one {merges} times, one for two {splits} times."
    assert f"Truly {len(true):,} persons: {errors}" in demo.said


def test_records_per_person_are_those_of_the_truth_but_for_the_errors_told(demo: Demo) -> None:
    """Visits move between persons only among those that a split or a merge has touched."""
    found, true = groups(demo.found), groups(demo.true)
    right = set(found.values()) & set(true.values())
    assert len(right) > 0.9 * len(true)
    for person, keys in found.items():
        assert demo.linked[person] == all_visits(demo, keys)
    sizes = Counter(demo.linked[person].total() for person in found)
    truly = Counter(all_visits(demo, keys).total() for keys in true.values())
    wrongly = Counter(
        demo.linked[person].total() for person, keys in found.items() if keys not in right
    )
    missed = Counter(all_visits(demo, keys).total() for keys in true.values() if keys not in right)
    assert sizes - wrongly == truly - missed


def test_the_quality_that_it_tells(demo: Demo) -> None:
    """Precision and recall of the matches, pair by pair."""
    pairs = pq.read_table(demo.folder / "linked" / "pairs.parquet").to_pylist()
    outcomes = Counter(pair["outcome"] for pair in pairs)
    matches = {
        ((pair["source_l"], pair["id_l"]), (pair["source_r"], pair["id_r"]))
        for pair in pairs
        if pair["outcome"] == "match"
    }
    right = sum(demo.true[one] == demo.true[other] for one, other in matches)
    same = sum(len(list(combinations(keys, 2))) for keys in groups(demo.true).values())
    possible = outcomes["possible match"]
    said = f"Matches: {len(matches)}; possible matches, which wait for clerical review: {possible}."
    assert said in demo.said
    precision, recall = re.findall(r"\((?:precision|recall)\) \S+% (\S+)%", demo.said)
    assert (precision, recall) == (
        f"{100 * right / len(matches):.2f}",
        f"{100 * right / same:.2f}",
    )
    relation = {
        (row["clinic"], row["patient"]): row["relation"] for row in rows(demo.folder / "truth.csv")
    }
    wrong = Counter(
        frozenset((relation[one], relation[other]))
        for one, other in matches
        if demo.true[one] != demo.true[other]
    )
    twins, namesakes = wrong[frozenset({"twin"})], wrong[frozenset({"senior", "junior"})]
    assert f"Wrong matches: {wrong.total()}; twins are {twins} of them" in demo.said
    assert f"a senior and a junior {namesakes}." in demo.said


def test_the_linked_file_has_no_identities(demo: Demo) -> None:
    """No number of a clinic, no name, no date, no telephone."""
    table = pq.read_table(demo.folder / "linked" / "linked.parquet")
    assert set(table.column_names) == {"person", "source", *COLUMNS}
    kept = {str(value) for name in table.column_names for value in table[name].to_pylist()}
    for clinic in CLINICS:
        for row in rows(demo.folder / f"patients_{clinic}.csv"):
            names = ("patient", "given_name", "surname", "date_of_birth", "phone")
            assert not {row[name] for name in names if row[name]} & kept


def test_its_command_releases_again(demo: Demo) -> None:
    """The command it prints, run as it stands, writes the same release."""
    words = shlex.split(demo.said[demo.said.index(" anonymize ") :].replace("\\ ", ""))
    release = demo.folder / "release.csv"
    before = release.read_bytes()
    release.unlink()
    done = subprocess.run(
        command(*words), capture_output=True, text=True, check=False, cwd=demo.folder.parent
    )
    assert done.returncode == 0, done.stderr
    assert release.read_bytes() == before


def test_a_second_demo_writes_the_same(demo: Demo, tmp_path: Path, run: Run) -> None:
    """Into the folder of the first one."""
    shutil.copytree(demo.folder, tmp_path / "clinics")
    result = run("demo", "--persons", "400", "--output", "clinics")
    assert result.code == 0, result.err
    assert " ".join(result.out.split()) == demo.said
    for name in NAMES:
        assert name in result.out
        assert (tmp_path / "clinics" / name).is_file()
    for name in ("release.csv", "linked/linked.parquet", "linked/persons.parquet"):
        again = (tmp_path / "clinics" / name).read_bytes()
        assert again == (demo.folder / name).read_bytes()
    assert all(len(line) <= 100 for line in result.out.splitlines() if "anonymize" not in line)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--persons", "0"), "persons"),
        (("--persons", "-5"), "persons"),
        (("--persons", "1"), "must have at least one record"),
        (("--seed", "-1"), "seed"),
        (("--output", "visits.csv"), "must be a folder that exists or can be made"),
        (("--output", "visits.csv/demo"), "must be a folder that exists or can be made"),
    ],
)
def test_a_wrong_demo(words: tuple[str, ...], said: str, tmp_path: Path, run: Run) -> None:
    make_folder(tmp_path, {})
    result = run("demo", *words)
    assert (result.code, result.out) == (1, "")
    assert said in result.err


def test_a_linkage_with_answers_is_left_alone(tmp_path: Path, run: Run) -> None:
    """Refused before anything is generated."""
    folder = tmp_path / "clinics" / "linked"
    folder.mkdir(parents=True)
    for name in ("manifest.toml", "answers.parquet"):
        (folder / name).touch()
    result = run("demo", "--output", "clinics")
    assert (result.code, result.out) == (1, "")
    assert "must not hold answers of people" in result.err
    assert [path.name for path in (tmp_path / "clinics").iterdir()] == ["linked"]


WITHOUT = """
import sys
sys.modules["splink"] = None
{program}
"""


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    """Before anything is generated."""
    line = [sys.executable, "-c", WITHOUT.format(program=PROGRAM), "demo", "--output", "clinics"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert 'pip install "sfumato[link]"' in done.stderr
    assert list((tmp_path / "clinics").iterdir()) == []
