"""Answered pairs that are asked again, and a review by clerks who err."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.examples.clinics import generate_clinics
from sfumato.examples.registrations import generate_registrations
from sfumato.linkage.answer_evidence import Worlds, kinds_of_pairs, weigh
from sfumato.linkage.earlier_linkage import apply_decisions
from sfumato.linkage.link import link
from sfumato.linkage.link_options import NextPairs
from sfumato.linkage.match_decisions import Decisions, join_workers
from sfumato.linkage.match_thresholds import Pairs
from sfumato.linkage.next_batch import asked_again, next_batch


def settled_of(odds, given):
    """A linkage of pairs with log odds, and what clerks said: (pair, clerk, same)."""
    count = len(odds)
    number, sides = np.arange(count), np.abs(odds)
    pairs = Pairs(number, number + count, np.full(count, 0.5), {}, np.zeros(count, np.int16))
    pair, worker, same = (np.array(each) for each in zip(*given, strict=True))
    answers = Decisions(
        pair, pair + count, worker.astype(object), np.where(same, 3, -3).astype(np.int8),
        np.arange(len(pair)), np.zeros(len(pair), dtype=bool),
    )  # fmt: skip
    verdicts = join_workers(answers, pairs)
    own = verdicts.pair
    worlds = Worlds(np.array(odds)[None, own] > 0, sides[own], np.arange(len(own)))
    kinds = kinds_of_pairs(own, {})
    persons = SimpleNamespace(person=np.arange(2 * count))
    worth = weigh(verdicts, worlds, kinds, 200, np.random.default_rng(1))
    earlier = SimpleNamespace(answers=answers, records=SimpleNamespace(count=2 * count))
    return earlier, SimpleNamespace(verdicts=verdicts, weighed=worth, persons=persons)


def test_what_one_clerk_says_against_the_score_is_asked_again():
    """A sure pair denied and an unlikely one confirmed; not what a second clerk confirmed."""
    odds = np.where(np.arange(100) % 2 == 0, 5.0, -5.0)
    agreeing = [(n, clerk, n % 2 == 0) for n in range(10, 100) for clerk in ("one", "two")]
    doubtful = [(0, "one", False), (1, "one", True)]
    earlier, settled = settled_of(odds, agreeing + doubtful)
    assert set(asked_again(earlier, settled, 10)) == {0, 1}
    assert len(asked_again(earlier, settled, 1)) == 1
    same = [(0, clerk, False) for clerk in ("two", "three")]
    earlier, settled = settled_of(odds, agreeing + doubtful + same)
    assert set(asked_again(earlier, settled, 10)) == {1}


def test_a_clerk_who_is_asked_twice_is_not_asked_for_ever():
    """Three answers of one clerk are one reading, and the last of them."""
    odds = np.where(np.arange(40) % 2 == 0, 5.0, -5.0)
    agreeing = [(n, "one", n % 2 == 0) for n in range(10, 40)]
    earlier, settled = settled_of(odds, agreeing + [(0, "one", False)] * 2)
    assert set(asked_again(earlier, settled, 10)) == {0}
    earlier, settled = settled_of(odds, agreeing + [(0, "one", False)] * 3)
    assert not len(asked_again(earlier, settled, 10))


def answers_to(
    folder: Path, person: dict[tuple[str, str], str], rng: np.random.Generator, batch: int
) -> Path:
    """Answers of a clerk to a batch, a tenth of them wrong."""
    rows = pq.read_table(folder / "pairs.parquet").to_pylist()
    ends = ([person[row[f"source_{side}"], row[f"id_{side}"]] for row in rows] for side in "lr")
    same = np.equal(*(np.array(each) for each in ends))
    same ^= rng.random(len(rows)) < 0.1
    table = {
        "pair": [row["pair"] for row in rows],
        "worker": [f"clerk {batch}"] * len(rows),
        "answer": np.where(same, 3, -3).tolist(),
        "time": [datetime(2026, 3, batch, tzinfo=UTC)] * len(rows),
        "withdrawn": [False] * len(rows),
    }
    pq.write_table(pa.table(table), folder / "decisions.parquet")
    return folder / "decisions.parquet"


def f1(persons: pa.Table, person: dict[tuple[str, str], str]) -> float:
    """Over all pairs of records."""
    truth = [person[row["source"], row["id"]] for row in persons.to_pylist()]
    labels = [persons["person"].to_pylist(), truth]
    labels.append([f"{a} {b}" for a, b in zip(*labels, strict=True)])
    found, true, both = (
        (number * (number - 1)).sum()
        for number in (np.unique(e, return_counts=True)[1] for e in labels)
    )
    return float(2 * both / (found + true))


@pytest.mark.slow
def test_clerks_who_err_about_a_tenth_leave_persons_no_worse_than_none(tmp_path: Path) -> None:
    """Three batches, each by another clerk; the truth lies in both intervals."""
    made = generate_registrations(generate_clinics(300, rng=5))
    of = dict(zip(*(made.truth[name].to_pylist() for name in ("patient", "person")), strict=True))
    tables = {"hospital": made.hospital, "practice": made.practice}
    person = {
        (name, str(row)): of[patient]
        for name, table in tables.items()
        for row, patient in enumerate(table["patient"].to_pylist(), 1)
    }
    links = link(tables, seed=1)
    folder, alone = links.write(tmp_path / "linked"), f1(links.persons, person)
    rng = np.random.default_rng(2)
    for batch in range(1, 4):
        next_batch(folder, tmp_path / f"batch-{batch}", NextPairs(pairs=60, clusters=0, seed=3))
        file = answers_to(tmp_path / f"batch-{batch}", person, rng, batch)
        links = apply_decisions(folder, file)
        links.write(folder)
    assert f1(links.persons, person) > alone - 0.001
    assert links.reviewed is not None
    rates = links.reviewed.learned.clerks
    assert {rate.worker for rate in rates} == {"clerk 1", "clerk 2", "clerk 3"}
    assert all(rate.low <= rate.value <= rate.high for rate in rates)
    assert any(rate.twice for rate in rates)
