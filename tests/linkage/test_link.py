"""From tables to the folder of a linkage, decisions back, and further tables later."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.atomic import atomic_folder
from sfumato.core.errors import InputError
from sfumato.examples import generate_clinics, generate_registrations
from sfumato.linkage.earlier_linkage import apply_decisions
from sfumato.linkage.link import changed, link, of_before
from sfumato.linkage.link_spec import LinkSpec, SetThresholds, WantedRates
from sfumato.linkage.linkage_result import Links, between
from sfumato.linkage.match_thresholds import MATCH
from sfumato.linkage.review_pairs import most_doubtful_first

pytestmark = pytest.mark.usefixtures("few_random_pairs")

SPEC = LinkSpec(
    id="patient",
    columns={
        "given_name": "given name",
        "surname": "surname",
        "date_of_birth": "date",
        "sex": "category",
        "zip": "postcode",
    },
    blocking=["surname:2", "date_of_birth:year + sex", "zip"],
    thresholds=SetThresholds(lower=0.01, upper=0.99),
)


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    """Two clinics' patients."""
    made = generate_registrations(generate_clinics(250, rng=11))
    return {"hospital": made.hospital, "practice": made.practice}


@pytest.fixture(scope="module")
def links(tables: dict[str, pa.Table]) -> Links:
    """These, linked."""
    return link(tables, SPEC, seed=4)


@pytest.fixture
def folder(links: Links, tmp_path: Path) -> Path:
    """The folder of that linkage."""
    return links.write(tmp_path / "out")


AGREED = ("w1", "w2", "w3", "w4")
"""Workers enough for no score to stand against what they say."""


def write_answers(
    path: Path,
    rows: list[tuple[str, int, bool]],
    minute: int = 0,
    workers: tuple[str, ...] = ("w1",),
) -> Path:
    """Decisions of workers, who all say the same: pair, answer, withdrawn."""
    worker = [each for each in workers for _ in rows]
    rows = rows * len(workers)
    pair, answer, withdrawn = zip(*rows, strict=True)
    table = pa.table(
        {
            "pair": pa.array(pair),
            "worker": pa.array(worker),
            "answer": pa.array(answer, pa.int8()),
            "time": pa.array([datetime(2026, 3, 2, 9, minute, tzinfo=UTC)] * len(rows)),
            "withdrawn": pa.array(withdrawn),
        }
    )
    pq.write_table(table, path)
    return path


def persons_by_record(folder: Path) -> dict[tuple[str, str], str]:
    """Person of each record."""
    rows = pq.read_table(folder / "persons.parquet").to_pylist()
    return {(row["source"], row["id"]): row["person"] for row in rows}


def test_the_folder_holds_what_the_contract_says(links: Links, folder: Path) -> None:
    """Names and columns of every file that others script against."""
    pairs = pq.read_table(folder / "pairs.parquet")
    names = ["pair", "source_l", "id_l", "source_r", "id_r", "score", "outcome"]
    assert pairs.column_names == names
    assert pairs["pair"].to_pylist() == [f"p{n + 1}" for n in range(len(links.pairs))]
    assert set(pairs["outcome"].to_pylist()) == {"match", "possible match", "non-match"}
    persons = pq.read_table(folder / "persons.parquet")
    assert persons.column_names == ["source", "id", "person"]
    assert len(persons) == links.records.count
    assert len(pq.read_table(folder / "linked.parquet")) == links.records.count
    identifying = pq.read_table(folder / "identifying.parquet")
    assert identifying.column_names[:4] == ["source", "id", "given_name", "surname"]
    for name in ("source", "id"):
        assert identifying[name].to_pylist() == persons[name].to_pylist()
    assert (folder / "identifying.parquet").stat().st_mode & 0o077 == 0
    by_score = {row["pair"]: row for row in pairs.to_pylist()}
    ids = {(row["source_l"], row["id_l"]): 1 for row in by_score.values()}
    assert set(ids) <= {(r["source"], r["id"]) for r in persons.to_pylist()}


def test_the_review_file_is_neutral(links: Links, folder: Path) -> None:
    """Possible matches only: both records as given, the level of each comparison, score, block."""
    review = pq.read_table(folder / "review.parquet").to_pylist()
    possible = {
        row["pair"]: row
        for row in pq.read_table(folder / "pairs.parquet").to_pylist()
        if row["outcome"] == "possible match"
    }
    assert review
    assert {row["pair"] for row in review} == set(possible)
    compared = [f"{name}_{side}" for name in SPEC.columns for side in ("l", "r", "level")]
    assert {"score", "block", "source_l", "source_r", *compared} <= set(review[0])
    assert not {"id_l", "id_r", "person"} & set(review[0])
    assert {row["block"] for row in review} <= {" + ".join(rule) for rule in SPEC.blocking}
    assert all(row["sex_level"] in {"equal", "different", "missing"} for row in review)
    agreed = [row for row in review if row["sex_level"] == "equal"]
    assert all(row["sex_l"] == row["sex_r"] for row in agreed)
    assert agreed
    number = {row["pair"]: row["score"] for row in review}
    assert all(possible[pair]["score"] == score for pair, score in number.items())


@pytest.mark.slow
def test_review_can_begin_with_the_most_doubtful(tables: dict[str, pa.Table], links: Links) -> None:
    """Ordered by the distance of the score from 1/2."""
    spec = SPEC.model_copy(update={"thresholds": SetThresholds(lower=1e-5, upper=1.0)})
    review = most_doubtful_first(link(tables, spec, model=links.model, seed=4).review)
    away = np.abs(np.array(review["score"]) - 0.5)
    assert len(away) > 2
    assert np.all(np.diff(away) >= 0)


@pytest.mark.slow
def test_seed_repeats_everything(links: Links, tables: dict[str, pa.Table]) -> None:
    """Seed and secret give the same ids and order; without one they differ, the persons do not."""
    again = link(tables, SPEC, seed=4, secret=links.secret)
    assert again.linked.equals(links.linked)
    assert again.pairs_table.equals(links.pairs_table)
    other = link(tables, SPEC, model=links.model, secret=b"s" * 32)
    assert not set(other.persons["person"].to_pylist()) & set(links.persons["person"].to_pylist())
    assert np.array_equal(other.settled.persons.person, links.settled.persons.person)


def test_the_manifest_has_hashes_weights_and_no_value(
    tables: dict[str, pa.Table], tmp_path: Path
) -> None:
    """Hashes of tables and files, versions, seed, weights; no path and no value."""
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    links = link([tmp_path / f"{name}.parquet" for name in tables], SPEC, seed=4)
    folder = links.write(tmp_path / "out")
    text = (folder / "manifest.toml").read_text()
    manifest = tomllib.loads(text)
    assert manifest["linkage"] == {"seed": 4, "keyed_ids": False}
    assert len(manifest["sources"]["hospital"]["sha256"]) == 64
    assert {"pairs.parquet", "persons.parquet", "linked.parquet"} <= set(manifest["files"])
    assert {"python", "splink", "duckdb", "sfumato"} <= set(manifest["versions"])
    assert {each["comparison"] for each in manifest["model"]["weights"]} == {
        "given_name", "surname", "date_of_birth", "sex", "zip",
    }  # fmt: skip
    written = "".join(
        path.read_text() for path in folder.iterdir() if path.suffix in {".toml", ".json"}
    )
    assert str(tmp_path) not in written
    for name in ("surname", "patient", "phone"):
        for value in tables["hospital"][name].drop_null().to_pylist():
            assert value not in written


def test_decisions_change_persons_and_can_be_withdrawn(links: Links, folder: Path) -> None:
    """A decided pair joins or parts two records; taken back, all is as it was."""
    pairs = links.pairs_table.to_pylist()
    before = persons_by_record(folder)

    def ends(row: dict[str, Any]) -> tuple[tuple[str, str], tuple[str, str]]:
        return (row["source_l"], row["id_l"]), (row["source_r"], row["id_r"])

    apart = next(
        row
        for row in pairs
        if row["outcome"] == "possible match" and len({before[end] for end in ends(row)}) == 2
    )
    joined = next(row for row in pairs if row["outcome"] == "match")
    file = write_answers(
        folder / "decisions.parquet",
        [(apart["pair"], 3, False), (joined["pair"], -3, False)],
        workers=AGREED,
    )
    made = apply_decisions(folder, file)
    made.write(folder)
    after = persons_by_record(folder)
    assert len({after[end] for end in ends(apart)}) == 1
    assert len({after[end] for end in ends(joined)}) == 2
    touched = {before[end] for row in (apart, joined) for end in ends(row)}
    assert all(after[key] == before[key] for key in before if before[key] not in touched)
    outcome = {r["pair"]: r["outcome"] for r in pq.read_table(folder / "pairs.parquet").to_pylist()}
    assert outcome[apart["pair"]] == "match"
    assert outcome[joined["pair"]] == "non-match"
    linked = pq.read_table(folder / "linked.parquet")
    assert set(linked["person"].to_pylist()) == set(after.values())

    withdrawn = [(apart["pair"], 3, True), (joined["pair"], -3, True)]
    apply_decisions(folder, write_answers(file, withdrawn, 5, AGREED)).write(folder)
    again = persons_by_record(folder)
    groups = [
        {frozenset(k for k in each if each[k] == person) for person in set(each.values())}
        for each in (before, again)
    ]
    assert groups[0] == groups[1]


def test_answers_of_several_files_hold_together(links: Links, folder: Path, tmp_path: Path) -> None:
    """A second file adds to the first; afresh it stands alone."""
    matches = [f"p{n + 1}" for n in np.flatnonzero(links.outcomes == MATCH)[:2]]
    first = write_answers(tmp_path / "one.parquet", [(matches[0], -3, False)])
    second = write_answers(tmp_path / "two.parquet", [(matches[1], -3, False)])
    apply_decisions(folder, first).write(folder)
    both = apply_decisions(folder, second)
    assert both.decisions is not None
    assert len(both.decisions) == 2
    alone = apply_decisions(folder, second, afresh=True)
    assert alone.decisions is not None
    assert len(alone.decisions) == 1
    again = apply_decisions(folder, first)
    assert again.decisions is not None
    assert len(again.decisions) == 1


def test_contradictions_are_listed_by_pairs(tmp_path: Path) -> None:
    """A = B, B = C, A is not C: the three pairs are named."""
    rows = [("ann", "miller", "1980-01-02")] * 3 + [
        (f"name{n}", f"other{n * 7}", f"19{50 + n}-0{1 + n % 9}-11") for n in range(30)
    ]
    given, surname, birth = zip(*rows, strict=True)
    table = pa.table({"given_name": given, "surname": surname, "dob": birth})
    spec = LinkSpec(
        mode="dedupe-only",
        columns={"given_name": "given name", "surname": "surname", "dob": "date"},
        blocking=["surname", "dob:year", "given_name:1"],
    )
    links = link({"people": table}, spec, seed=1)
    folder = links.write(tmp_path / "out")
    number = {
        (int(row["id_l"]), int(row["id_r"])): row["pair"] for row in links.pairs_table.to_pylist()
    }
    answers = [(number[1, 2], 3, False), (number[2, 3], 2, False), (number[1, 3], -1, False)]
    made = apply_decisions(folder, write_answers(tmp_path / "d.parquet", answers))
    said = made.to_json()["decisions"]
    assert said["contradictions"] == [
        {"different": number[1, 3], "same": [number[1, 2], number[2, 3]]}
    ]
    assert said["gave_way"] == 1
    assert "Contradiction" in str(made)
    json.dumps(made.to_json(), allow_nan=False)


def test_a_later_table_finds_the_persons_of_before(
    tables: dict[str, pa.Table], links: Links, folder: Path, tmp_path: Path
) -> None:
    """Person ids stay, decisions hold, new records join persons of before or get new ids."""
    match = int(np.flatnonzero(links.outcomes == MATCH)[0])
    answers = [(f"p{match + 1}", -3, False)]
    apply_decisions(folder, write_answers(tmp_path / "d.parquet", answers, workers=AGREED)).write(
        folder
    )
    before = persons_by_record(folder)
    old = tables["hospital"].slice(0, 60)
    other = pa.array([f"N{n}" for n in range(60)])
    third = old.set_column(0, "patient", other)
    later = link({**tables, "third": third}, previous=folder, seed=9)
    after = {(r["source"], r["id"]): r["person"] for r in later.persons.to_pylist()}
    same = [after[key] == before[key] for key in before]
    assert np.mean(same) > 0.95
    row = links.pairs_table.slice(match, 1).to_pylist()[0]
    ends = (row["source_l"], row["id_l"]), (row["source_r"], row["id_r"])
    assert after[ends[0]] != after[ends[1]]
    joined = [
        after["third", f"N{n}"] == after["hospital", patient]
        for n, patient in enumerate(old["patient"].to_pylist())
    ]
    assert np.mean(joined) > 0.9
    changes = later.to_json()["changes"]
    assert changes["persons_with_new_records"] >= 50
    new = later.write(tmp_path / "new")
    merged = pq.read_table(new / "changes.parquet")
    assert merged.column_names == ["change", "person", "other"]
    assert pc.sum(pc.equal(merged["change"], "merge")).as_py() or not changes["merges"]
    assert not later.suggested


@pytest.mark.parametrize("gone", [{"practice"}, {"hospital"}, {"hospital", "practice"}, set()])
def test_what_was_said_of_a_source_that_is_gone_goes_with_it(links: Links, gone: set[str]) -> None:
    said = {
        "rename": {name: {"id": f"id of {name}"} for name in ("hospital", "practice")},
        "one_per_source": ("hospital", "practice"),
    }
    before = SimpleNamespace(spec=changed(links.spec, {**said, "id": "id"}))
    kept = {"hospital", "practice"} - gone
    spec = of_before(before, [*kept, "register"]).spec
    assert set(spec.rename) == set(spec.one_per_source) == kept
    assert spec.columns == links.spec.columns


@pytest.mark.slow
def test_a_trained_model_is_used_again(
    tables: dict[str, pa.Table], links: Links, folder: Path
) -> None:
    """With model.json nothing is trained: m and u are those of the model."""
    again = link(tables, SPEC, model=folder / "model.json", seed=4)
    one = {(w.comparison, w.level): (w.m, w.u) for w in links.model.weights}
    other = {(w.comparison, w.level): (w.m, w.u) for w in again.model.weights}
    assert one == other
    called, also = (
        set(zip(each.pairs.left[match].tolist(), each.pairs.right[match].tolist(), strict=True))
        for each in (links, again)
        for match in [each.outcomes == MATCH]
    )
    assert len(called & also) > 0.99 * len(called | also)


@pytest.mark.slow
def test_thresholds_from_rates(tables: dict[str, pa.Table], links: Links) -> None:
    """The thresholds keep to the rates as the model expects them."""
    rates = WantedRates(false_match_rate=0.01, missed_match_rate=0.01)
    spec = SPEC.model_copy(update={"thresholds": None, "rates": rates})
    work = link(tables, spec, model=links.model, seed=1).settled.workload
    assert work.false_match_rate <= 0.01
    assert work.missed_match_rate <= 0.01


@pytest.mark.slow
def test_one_record_per_source(tables: dict[str, pa.Table], links: Links) -> None:
    """No person has two records of a source that has at most one each."""
    spec = SPEC.model_copy(update={"one_per_source": ("hospital", "practice")})
    found = link(tables, spec, model=links.model, seed=1)
    source = found.records.source_of(np.arange(found.records.count))
    together = np.unique(np.column_stack([found.settled.persons.person, source]), axis=0)
    assert len(together) == found.records.count


def test_too_many_pairs_are_refused_with_their_number(tables: dict[str, pa.Table]) -> None:
    """Before anything is scored."""
    with pytest.raises(InputError, match=r"at most 10 candidate pairs; found .*\d+ pairs"):
        link(tables, SPEC, allow_pairs=10)


def test_a_sensitive_column_is_not_compared(tables: dict[str, pa.Table]) -> None:
    """Whatever the specification says."""
    schema = sf.Schema(quasi_identifiers=["sex"], sensitive=["zip"])
    with pytest.raises(InputError, match="must not be compared"):
        link(tables, SPEC, schema=schema)


@pytest.mark.parametrize(
    ("tables", "match"),
    [
        (["a/x.csv", "b/x.parquet"], "file names that differ"),
        ([1, 2], "tables by their names"),
        ("x.csv", "tables by their names"),
        ({"": "x.csv"}, "must have a name"),
    ],
)
def test_tables_must_have_names(tables: Any, match: str) -> None:
    """Names are given or those of files."""
    with pytest.raises(InputError, match=match):
        link(tables)


def test_a_folder_with_other_files_or_answers_is_left_alone(
    links: Links, folder: Path, tmp_path: Path
) -> None:
    """Only a linkage is replaced, its answers never, and foreign files in it stay."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="new or empty folder"):
        links.write(other)
    (folder / "notes.txt").write_text("mine")
    links.write(folder)
    assert (folder / "notes.txt").read_text() == "mine"
    match = int(np.flatnonzero(links.outcomes == MATCH)[0])
    answers = write_answers(tmp_path / "d.parquet", [(f"p{match + 1}", -3, False)])
    apply_decisions(folder, answers).write(folder)
    with pytest.raises(InputError, match="answers of people"):
        links.write(folder)


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """An interruption leaves the old folder as it was, and nothing beside it."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "old.txt").write_text("old")

    def interrupted() -> None:
        with atomic_folder(folder) as place:
            (place / "new.txt").write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in folder.iterdir()] == ["old.txt"]
    with atomic_folder(folder) as place:
        (place / "new.txt").write_text("new")
    assert sorted(path.name for path in folder.iterdir()) == ["new.txt", "old.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_report_has_its_parts_and_no_value(
    links: Links, tables: dict[str, pa.Table], tmp_path: Path
) -> None:
    """Weights, waterfalls, thresholds, what blocking lost; no name of anybody."""
    sf.report(links, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for words in ("Times as frequent", "How a match adds up", "Lost to blocking"):
        assert words in page
    assert "Records per person" in page
    assert not re.search(
        r"\bbits?\b", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    )
    plain = json.loads((tmp_path / "report.json").read_text())
    assert plain["report"]["about"] == "linkage"
    assert plain["threshold_table"]
    largest = Counter(links.person_ids.ids.to_pylist()).most_common(1)[0][1]
    [row] = re.findall(r"The people with most records.*?</tr>.*?(<tr>.*?</tr>)", page, re.DOTALL)
    assert f'data-label="Records" class="number">{largest}</td>' in row
    for name in ("surname", "patient", "phone"):
        for value in tables["hospital"][name].drop_null().to_pylist():
            assert value not in page
            assert value not in json.dumps(plain)


def test_checks_by_hand_give_precision_and_recall_with_intervals(
    links: Links, tmp_path: Path
) -> None:
    """Pairs of all scores are drawn; once they are answered by the truth, the intervals hold it."""
    made = generate_registrations(generate_clinics(250, rng=11))
    tables = {"hospital": made.hospital, "practice": made.practice}
    links = link(tables, SPEC, model=links.model, seed=4, check_half_width=0.05)
    assert links.checks is not None
    assert links.checked is not None
    assert links.checked.quality is None
    links.write(tmp_path / "out")
    person = {(row["clinic"], row["patient"]): row["person"] for row in made.truth.to_pylist()}
    rows = links.pairs_table.to_pylist()
    same = np.array(
        [person[r["source_l"], r["id_l"]] == person[r["source_r"], r["id_r"]] for r in rows]
    )
    drawn = pq.read_table(tmp_path / "out" / "checks.parquet")["pair"].to_pylist()
    assert 0 < len(drawn) <= len(rows)
    answers = [(pair, 3 if same[int(pair[1:]) - 1] else -3, False) for pair in drawn]
    made_again = apply_decisions(tmp_path / "out", write_answers(tmp_path / "d.parquet", answers))
    checked = made_again.checked
    assert checked is not None
    assert checked.answered == checked.drawn == len(drawn)
    assert checked.quality is not None
    precision, recall = checked.quality
    match = links.settled.by_score == MATCH
    assert precision.low <= np.mean(same[match]) <= precision.high
    truth = np.sum(same & match) / (np.sum(same) + links.lost)
    assert recall.low <= truth <= recall.high + 1e-9
    assert recall.low < recall.value
    assert made_again.to_json()["checks"]["precision"]["low"] == precision.low
    assert "By checks" in str(made_again)


def test_what_the_checks_contradict_is_not_said_beside_them(
    links: Links, tables: dict[str, pa.Table], tmp_path: Path
) -> None:
    """People call every checked pair different: no figure of the model's precision is left."""
    links = link(tables, SPEC, model=links.model, seed=4, check_half_width=0.05)
    assert links.checks is not None
    links.write(tmp_path / "out")
    drawn = links.checks.table["pair"].to_pylist()
    answers = write_answers(tmp_path / "d.parquet", [(pair, -3, False) for pair in drawn])
    told = apply_decisions(tmp_path / "out", answers)
    assert told.contradicted == ("precision",)
    [said] = [each for each in told.warnings if "contradict" in each]
    assert "precision lies outside" in said
    assert "Expected " not in str(told)
    assert "of them true" not in str(told)
    assert "By checks         precision 0 %" in str(told)
    assert "Contradicted      the model's precision" in str(told)
    plain = told.to_json()
    assert plain["expected"]["precision"] is None
    assert plain["expected"]["pairs_to_review"] == told.settled.workload.possible_matches
    assert plain["checks"]["precision"]["value"] == 0
    sf.report(told, tmp_path / "report.html")
    page, twin = ((tmp_path / f"report.{end}").read_text() for end in ("html", "json"))
    assert "Expected precision" not in page
    assert "Expected recall" not in page
    assert "Checked precision" in page
    assert "They contradict what the model expects (precision" in page
    assert json.loads(twin)["threshold_table"] == []
    expected = links.quality[0].value
    assert 0.9 < expected < 1
    for form in (f"{100 * expected:.2f}", f"{expected:.6f}"):
        assert form not in page + twin + str(told)


def test_what_is_expected_is_100_percent_only_where_it_is_all() -> None:
    nearly = sf.Measure("precision", 0.999_99, low=0.999, high=0.999_996)
    assert between(nearly) == "99.90 % to 99.9996 %"
    assert between(sf.Measure("recall", 1.0)) == "100 %"
