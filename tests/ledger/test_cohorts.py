"""Cohorts that share nobody: one statement for all, which their sketches must agree with."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ledger.releases import ANY, FIRST, SECOND, draft, opened, people, released
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.core.errors import HandOverRefusedError, InputError
from sfumato.ledger.overlap import check_shared, shared_people
from sfumato.ledger.release_ledger import ReleaseLedger, Terms
from sfumato.ledger.sketches import Shown, Sketch, SketchColumn

WHY = {"note": "hospitals of other countries", "by": "carol"}


def cohort(number: int, persons: int = 240) -> pd.DataFrame:
    data = people(persons, seed=number)
    return data.assign(person=f"{number}-" + data["person"])


def made(data: pd.DataFrame, seed: int, **more: object) -> sf.Release:
    promises = {"promises": (sf.PidKAnonymity(12),)} | more
    return released(data, FIRST | SECOND, seed=seed, effort=0, **promises)


def anything_goes(folder: Path) -> ReleaseLedger:
    ledger = opened(folder)
    ledger.settle(Terms(tolerable=1.0, unkept=1.0), note="of a test", by="carol")
    return ledger


def test_one_statement_lets_all_files_of_other_people_out(tmp_path: Path) -> None:
    with anything_goes(tmp_path) as ledger:
        numbers = [
            draft(made(cohort(each), each), tmp_path, f"c{each}", ledger) for each in range(6)
        ]
        ledger.hand_over(numbers[0], "a")
        for each in numbers[1:]:
            with pytest.raises(InputError):
                ledger.hand_over(each, "a")
        names = [f"c{each}.csv" for each in range(5)] + [f"{numbers[5]}"]
        assert ledger.waive_cohorts(names, **WHY) == 15
        for each in numbers[1:]:
            found = ledger.hand_over(each, "a")
            assert found.found == {n: one.found for n, one in found.alone.items()}
            assert not found.in_several
        # A file that is no cohort is compared with all of them.
        other = draft(made(cohort(9), 9), tmp_path, "other", ledger)
        with pytest.raises(InputError):
            ledger.hand_over(other, "a")


def test_cohorts_with_an_id_in_common_are_refused_with_their_number(tmp_path: Path) -> None:
    one = cohort(1)
    two = pd.concat([cohort(2), one[one["person"].isin(one["person"].unique()[:3])]])
    with anything_goes(tmp_path) as ledger:
        draft(made(one, 1), tmp_path, "one", ledger)
        draft(made(two, 2), tmp_path, "two", ledger)
        draft(made(cohort(3), 3), tmp_path, "three", ledger)
        head = ledger.head()
        with pytest.raises(InputError, match="3 people") as refused:
            ledger.waive_cohorts(["one.csv", "three.csv", "two.csv"], **WHY)
        assert not any(name in str(refused.value) for name in one["person"])
        assert ledger.head() == head
        for names in (["one.csv"], ["one.csv", "one.csv"], ["one.csv", "none.csv"]):
            with pytest.raises(InputError):
                ledger.waive_cohorts(names, **WHY)
        assert ledger.head() == head


def test_a_later_file_that_makes_the_statement_false_is_refused(tmp_path: Path) -> None:
    with anything_goes(tmp_path) as ledger:
        one, two = (
            draft(made(cohort(each), each), tmp_path, f"c{each}", ledger) for each in (1, 2)
        )
        ledger.waive_cohorts(["c1.csv", "c2.csv"], **WHY)
        for each in (one, two):
            ledger.hand_over(each, "a")
        first = cohort(1)
        later = pd.concat([cohort(3), first[first["person"] == first["person"].iloc[0]]])
        (tmp_path / "later").mkdir()
        made(later, 4).judged("contract").write(tmp_path / "later/c2.csv", memory=ledger)
        with pytest.raises(InputError, match="1 person"):
            ledger.hand_over(ledger.remembered()[-1].number, "a")


@pytest.mark.parametrize("later", [SECOND, FIRST])
def test_the_same_people_under_other_ids_are_no_two_cohorts(
    tmp_path: Path, later: dict[str, str]
) -> None:
    data = people(3_000)
    with opened(tmp_path) as ledger:
        for name, known in (("a", FIRST), ("b", later)):
            renamed = data.assign(person=f"{name}-" + data["person"])
            made = released(renamed, known, promises=(sf.PidKAnonymity(12),), effort=0)
            draft(made, tmp_path, name, ledger)
        one, two = (each.number for each in ledger.remembered())
        ledger.hand_over(one, "a")
        with pytest.raises(InputError, match="people more look alike"):
            ledger.waive_cohorts(["a.csv", "b.csv"], **WHY)
        with pytest.raises(HandOverRefusedError):
            ledger.hand_over(two, "b")
        assert not ledger.waivers()


def test_nothing_is_certified_of_an_erased_sketch(tmp_path: Path) -> None:
    kept = sketch(population(1_000, np.random.default_rng(1)), 1)
    for other in ([], [None], [sketch(population(900, np.random.default_rng(2)), 5_000), None]):
        with pytest.raises(InputError, match="erased"):
            check_shared({"A": [kept], "B": other})
    with pytest.raises(InputError, match="erased"):
        check_shared({"A": [], "B": []})
    with anything_goes(tmp_path) as ledger:
        ledger.settle(Terms(keep="1 day"), note="of a test", by="carol")
        for each in (1, 2):
            draft(made(cohort(each), each), tmp_path, f"c{each}", ledger)
        ledger.expire(by="carol", now=datetime.now(UTC) + timedelta(days=2))
        with pytest.raises(InputError, match="erased"):
            ledger.waive_cohorts(["c1.csv", "c2.csv"], **WHY)


def test_what_tells_nobody_apart_or_is_said_in_other_words_certifies_nothing() -> None:
    rng = np.random.default_rng(3)
    dense = [population(5_000, rng) * np.uint32([1, 1, 0]) for _ in range(2)]
    told = [population(1_000, rng) for _ in range(2)]
    for one, two in (dense, (told[0], told[1] + np.uint32(1_000))):
        found = shared_people(sketch(one, 1), sketch(two, 9_000))
        assert not found
        assert not found.told
        with pytest.raises(InputError, match="--release"):
            check_shared({"A": [sketch(one, 1)], "B": [sketch(two, 9_000)]})
    assert check_shared({"A": [sketch(told[0], 1)], "B": [sketch(told[1], 9_000)]}) == 1


def test_a_file_that_cannot_be_told_is_handed_over_by_a_statement_of_its_own(
    tmp_path: Path,
) -> None:
    with anything_goes(tmp_path) as ledger:
        one, two = (
            draft(made(cohort(each), each), tmp_path, f"c{each}", ledger) for each in (1, 2)
        )
        ledger.waive_cohorts(["c1.csv", "c2.csv"], **WHY)
        for each in (one, two):
            ledger.hand_over(each, "a")
        same = cohort(1).assign(person=lambda data: "other-" + data["person"])
        for name, data, why in (
            ("same", same, "people more look alike"),
            ("few", cohort(3, 60), "--release N"),
        ):
            (tmp_path / name).mkdir()
            later = replace(made(data, 3), limits=ANY)
            later.write(tmp_path / name / "c2.csv", memory=ledger)
            last = ledger.remembered()[-1].number
            with pytest.raises(InputError, match=why):
                ledger.hand_over(last, "a")
        ledger.waive(last, note="a ward of another country", by="carol")
        assert not ledger.hand_over(last, "a").in_several


def sketch(rows: np.ndarray, ids: int) -> Sketch:
    names = np.array([each.to_bytes(16, "big") for each in range(ids, ids + len(rows))], "S16")
    columns = [
        SketchColumn(name, Shown.RECODED, "quasi-identifier", True, rows[:, place])
        for place, name in enumerate(["born", "sex", "area"])
    ]
    return Sketch(names, np.zeros(len(rows), np.int64), tuple(columns))


def population(people: int, rng: np.random.Generator) -> np.ndarray:
    born, sex, area = (
        rng.integers(0, 80, people),
        rng.integers(0, 2, people),
        rng.integers(0, 300, people),
    )
    return np.column_stack([born, sex, area]).astype(np.uint32)


@pytest.mark.parametrize("seed", range(20))
def test_who_looks_alike_in_two_files_is_told_from_strangers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    everybody = population(3_000, rng)
    one, two = everybody[:1_000], everybody[1_000:2_500]
    assert not shared_people(sketch(one, 1), sketch(two, 5_000))
    # 90 of the first file are in the second one under other ids.
    both = np.concatenate([two, one[:90]])
    found = shared_people(sketch(one, 1), sketch(both, 5_000))
    unlike = [each for each in one[:90].tolist() if (one == each).all(axis=1).sum() == 1]
    assert found.ids == 0
    assert 0.4 * len(unlike) < found.alike <= 110


def test_few_who_look_alike_are_chance() -> None:
    """Of 40 who are all told apart eight in both files may be strangers, nine are not."""
    rows = np.column_stack([np.arange(40)] * 3).astype(np.uint32)
    for shared, refused in ((8, False), (9, True)):
        other = np.concatenate([rows[:shared], rows[shared:] + 1_000])
        assert bool(shared_people(sketch(rows, 1), sketch(other, 500))) == refused


def test_several_people_are_forgotten_at_once(tmp_path: Path) -> None:
    data = people()
    with opened(tmp_path) as ledger:
        number = draft(released(data, FIRST), tmp_path, "first", ledger)
        assert ledger.forget(["P00001", "P00007", "nobody"], note="asked", by="c") == ((number,), 1)
        kept = ledger.remembered()[0]
        assert kept.persons == len(ledger.sketch(kept)) == data["person"].nunique() - 2
        with pytest.raises(InputError):
            ledger.forget(["P00001", "nobody"], note="asked", by="c")
        assert ledger.verify().whole


def test_statements_and_erasures_on_the_command_line(tmp_path: Path) -> None:
    book = ["--ledger", str(tmp_path / "book/l.sqlite"), "--keys", str(tmp_path / "keys")]
    book += ["--by", "carol", "--note", "of a test"]
    with opened(tmp_path) as ledger:
        for each in (1, 2):
            draft(made(cohort(each), each), tmp_path, f"c{each}", ledger)

    def call(*words: str, given: str = "") -> int:
        every = ["ledger", *words, *book]
        return CliRunner().invoke(app, every, input=given, env={"COLUMNS": "200"}).exit_code

    assert call("waive", "--cohorts", "c1.csv", "c2.csv") == 0
    for words in (["--cohorts"], ["c1.csv", "c2.csv"], ["--cohorts", "c1.csv"], []):
        assert call("waive", *words) == 1
    assert call("waive", "--cohorts", "c1.csv", "c2.csv", "--recipient", "x") == 1
    ids = tmp_path / "ids.txt"
    ids.write_text("1-P00001\n\n 1-P00002 \n2-P00003\n", encoding="utf-8")
    assert call("forget", "--ids", str(ids)) == 0
    assert call("forget") == 1
    # Others could read an id among the arguments.
    assert call("forget", "1-P00004") == 2
    assert call("forget", given="1-P00003\n\n 2-P00005 \n") == 0
    with opened(tmp_path) as ledger:
        assert [each.persons for each in ledger.remembered()] == [237, 238]
        assert [each["waived"] for each in ledger.waivers()] == ["c1.csv, c2.csv"]
