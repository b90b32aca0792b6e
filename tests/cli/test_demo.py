"""``sfumato demo``: its files, what it says, and its persons counted again from the truth."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import combinations
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli.conftest import PROGRAM, Run, done_in, lines_on_a_screen
from cli.malformed.case import make_folder

import sfumato as sf
from sfumato.core.number_text import counted
from sfumato.core.optional_packages import install_command

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_random_pairs")]

Key = tuple[str, str]
Visit = tuple[object, ...]
CLINICS = ("hospital", "practice")
COLUMNS = ("age", "sex", "zip", "education", "department", "icd9", "charge")
ASKED = ("demo", "--persons", "400", "--seed", "1", "--output", "clinics", "--details")
STAGES = ("link", "review", "linked", "assess", "release", "attack", "report")
NAMES = (
    *("output/reports/report.html", "output/public/report.html", "output/reports/linked.html"),
    *("output/reports/release.html", "output/reports/attack.html", "output/release/release.csv"),
    *("stages/linked/linked.parquet", "stages/linked/linked.toml", "sfumato.toml", "truth.csv"),
)


@dataclass(frozen=True)
class Demo:
    """A demo that ran, read again from its files alone.

    Attributes
    ----------
    folder
        Its files.
    said, lines
        What it printed, spaces and ends of lines alike; and on standard error, in lines.
    found, true
        By registration, the person found and the true one.
    linked
        By person found, the visits in the linked file.
    visits
        By registration, the visits as the clinics have them.
    """

    folder: Path
    said: str
    lines: list[str]
    found: dict[Key, str]
    true: dict[Key, str]
    linked: dict[str, Counter[Visit]]
    visits: dict[Key, Counter[Visit]]


@pytest.fixture(scope="module")
def demo(few_random_pairs: None, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo of 400 persons."""
    folder = tmp_path_factory.mktemp("demo")
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        done_in(folder, *ASKED)
    place = folder / "clinics"
    made = place / "stages" / "linked"
    persons = pq.read_table(made / "persons.parquet").to_pylist()
    linked: dict[str, Counter[Visit]] = defaultdict(Counter)
    for row in pq.read_table(made / "linked.parquet").to_pylist():
        linked[row["person"]][visit(row["source"], row)] += 1
    visits: dict[Key, Counter[Visit]] = defaultdict(Counter)
    for clinic in CLINICS:
        for row in rows(place / f"visits_{clinic}.csv"):
            visits[clinic, row["patient"]][visit(clinic, row)] += 1
    return Demo(
        place,
        " ".join(out.getvalue().split()),
        err.getvalue().splitlines(),
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
    folder = demo.folder / "stages" / "linked"
    risk = sf.assess(folder / "linked.parquet", sf.load_schema(folder / "linked.toml"))
    assert risk.persons == len(found) == len(true) + splits - merges
    assert risk.records == sum(map(Counter.total, demo.visits.values()))
    assert re.search(f"{len(demo.found):,} patients.* {len(found):,} people", demo.said)
    merged, split = counted(merges, "time"), counted(splits, "time")
    errors = f"two taken for one {merged}, one for two {split}."
    assert f"Truly {len(true):,} people: {errors}" in demo.said


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


def outcomes(demo: Demo, stage: str) -> tuple[Counter[str], set[tuple[Key, Key]]]:
    """Numbers of the outcomes of the pairs that a stage wrote, and its matches."""
    pairs = pq.read_table(demo.folder / "stages" / stage / "pairs.parquet").to_pylist()
    return Counter(pair["outcome"] for pair in pairs), {
        ((pair["source_l"], pair["id_l"]), (pair["source_r"], pair["id_r"]))
        for pair in pairs
        if pair["outcome"] == "match"
    }


def test_the_quality_that_it_tells(demo: Demo) -> None:
    """Precision and recall of the persons, pair by pair, as expected, linked and reviewed."""
    same = sum(len(list(combinations(keys, 2))) for keys in groups(demo.true).values())
    share = r" (\S+) %" * 5
    rates = re.findall(rf"\((?:precision|recall)\){share}", demo.said)
    for low, _, high, true, _ in rates:
        assert float(low) <= float(true) <= float(high)
    for stage, told in zip(("link", "linked"), list(zip(*rates, strict=True))[3:], strict=True):
        counts, matches = outcomes(demo, stage)
        table = pq.read_table(demo.folder / "stages" / stage / "persons.parquet").to_pylist()
        made = groups({(row["source"], row["id"]): row["person"] for row in table})
        together = [pair for keys in made.values() for pair in combinations(keys, 2)]
        right = sum(demo.true[one] == demo.true[other] for one, other in together)
        true = 100 * right / len(together), 100 * right / same
        assert [float(each) for each in told] == pytest.approx(true, abs=0.0051)
        if stage == "link":
            possible = counts["possible match"]
            said = f"Matches: {len(matches)}; possible matches, which were reviewed: {possible}."
            assert said in demo.said
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


def test_the_review_that_it_tells(demo: Demo) -> None:
    """Each answer held against the truth."""
    stages = demo.folder / "stages"
    of_pair = {
        pair["pair"]: demo.true[pair["source_l"], pair["id_l"]]
        == demo.true[pair["source_r"], pair["id_r"]]
        for pair in pq.read_table(stages / "link" / "pairs.parquet").to_pylist()
    }
    answers = pq.read_table(stages / "review" / "decisions.parquet").to_pylist()
    right = sum(of_pair[each["pair"]] == (each["answer"] > 0) for each in answers)
    assert 0 < right < len(answers)
    assert f"answered {len(answers)} of them, {right} rightly" in demo.said
    (kapr,) = re.findall(r"at a KAPR of (\S+) from a budget of 0\.2\.", demo.said)
    assert 0 <= float(kapr) <= 0.2


def test_the_attack_stands_beside_what_the_release_predicts(demo: Demo) -> None:
    """The predictions measured again on the released file, by persons counted from it."""
    released = rows(demo.folder / "output" / "release" / "release.csv")
    classes: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in released:
        classes[tuple(row[name] for name in COLUMNS[:4])].add(row["person"])
    sizes = [len(persons) for persons in classes.values()]
    everybody = len({row["person"] for row in released})
    assert f"{len(released):,} visits of these {everybody} people" in demo.said
    assert f"fewest people in a class (pid_k) 1 {min(sizes)}" in demo.said
    name = "Exact matching, each record on its own"
    shares = re.findall(rf"{name} (\S+) % (\S+) % (\S+) % (\S+) %", demo.said)
    (found, predicted, most, without), *_ = shares
    (marketer,) = re.findall(r"\(marketer\) \S+ % (\S+) %", demo.said)
    assert float(predicted) == pytest.approx(100 * len(sizes) / everybody, abs=0.051)
    assert float(marketer) == pytest.approx(100 * len(sizes) / everybody, abs=0.051)
    # The intruder knows who is in the file, and not who was left out of the release.
    assert float(without) == pytest.approx(100 / len(demo.linked), abs=0.0051)
    assert 0 < float(found) <= float(most)
    assert re.search(r"Of \d+ attacks \d+ had a prediction; none beat it\.", demo.said)


def test_a_line_for_each_stage(demo: Demo) -> None:
    """With its time."""
    lines = [line for line in demo.lines if not line.startswith(("Warning: ", " "))]
    assert lines[0].startswith("Generating two clinics")
    for number, (stage, line) in enumerate(zip(STAGES, lines[1:-1], strict=True), 1):
        assert re.match(rf"{number}/7  {stage} +\d+\.\d s ", line)
    assert re.fullmatch(r"Done in \d+ seconds\.", lines[-1])


def test_the_linked_file_has_no_identities(demo: Demo) -> None:
    """No number of a clinic, no name, no date of birth, no telephone."""
    table = pq.read_table(demo.folder / "stages" / "linked" / "linked.parquet")
    assert set(table.column_names) == {"person", "source", "visit_date", *COLUMNS}
    table = table.drop(["visit_date"])  # somebody may have been born on it
    kept = {str(value) for name in table.column_names for value in table[name].to_pylist()}
    for clinic in CLINICS:
        for row in rows(demo.folder / f"patients_{clinic}.csv"):
            names = ("patient", "given_name", "surname", "date_of_birth", "phone")
            assert not {row[name] for name in names if row[name]} & kept


def test_a_second_demo_makes_what_is_missing(demo: Demo, tmp_path: Path, run: Run) -> None:
    """Into the folder of the first one, and the same."""
    place = shutil.copytree(demo.folder, tmp_path / "clinics")
    shutil.rmtree(place / "stages" / "release")
    result = run(*ASKED)
    assert result.code == 0, result.err
    assert " ".join(result.out.split()) == demo.said
    unchanged = [line.split()[1] for line in result.err.splitlines() if " unchanged " in line]
    # The report prints the head of the ledger, which noted the release once more.
    assert unchanged == [stage for stage in STAGES if stage not in ("release", "report")]
    for name in NAMES:
        assert f"  {name} " in result.out
        if not name.endswith(("/report.html", "/release.html")):
            assert (place / name).read_bytes() == (demo.folder / name).read_bytes()
    assert all(len(line) <= 100 for line in result.out.splitlines())
    brief = run(*ASKED[:-1])
    assert brief.code == 0
    assert 20 < lines_on_a_screen(brief) <= 40
    assert "fewest people in a class" in brief.out


def test_its_project_goes_on(demo: Demo, tmp_path: Path, run: Run) -> None:
    """With the command that it prints; a changed project file is not replaced."""
    place = shutil.copytree(demo.folder, tmp_path / "clinics")
    words = demo.said.rpartition("then type: ")[2].split()[:3]
    assert words == ["sfumato", "run", "clinics"]
    file = place / "sfumato.toml"
    file.write_text(file.read_text().replace('by = "simulated"', 'by = "desk"'))
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    refused = run(*ASKED)
    assert (refused.code, refused.out) == (1, "")
    assert "must not hold" in refused.err
    assert before == {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    waits = run(*words[1:])
    assert waits.code == 3
    assert "sfumato open clinics/sfumato.toml" in waits.err


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


WITHOUT = """
import sys
sys.modules["{module}"] = None
{program}
"""


@pytest.mark.parametrize(
    ("module", "said"),
    [("splink", install_command("link")), ("pyroaring", install_command("review"))],
)
def test_without_an_extra_it_says_what_to_install(module: str, said: str, tmp_path: Path) -> None:
    """Before anything is generated."""
    code = WITHOUT.format(module=module, program=PROGRAM)
    line = [sys.executable, "-c", code, "demo", "--output", "clinics"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert list((tmp_path / "clinics").iterdir()) == []
