"""What three intruders find, against naive code and where it is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import intruders as oracle
from oracles.intruders import Record

from sfumato.risk import intruders, learned_values
from sfumato.risk.intruders import measured
from sfumato.risk.learned_values import Share
from sfumato.risk.shown_file import Dated, FurtherColumn, ShownFile
from sfumato.table.table import MISSING


def codes(values: Sequence[int]) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def file_of(records: Sequence[Record], dated: Dated | None = None) -> ShownFile:
    """The same records as an intruder's measures read them."""
    columns = {
        name: FurtherColumn(
            codes([each.cells[name] for each in records]), dated if name == "day" else None
        )
        for name in ("a", "b", "day")
    }
    return ShownFile(
        codes([each.person for each in records]),
        codes([each.class_of for each in records]),
        columns,
        sensitive=("a",),
        events=("a", "b"),
        pseudonym=codes([each.pseudonym for each in records]),
        part_of=codes([each.table for each in records]),
        parents=(codes([each.stay for each in records]),),
    )


@st.composite
def files(draw: st.DrawFn) -> list[Record]:
    """People of one or several records, some of them under two pseudonyms; at least two people."""
    records, pseudonyms = [], 0
    cell = st.integers(MISSING, 2)
    for person in range(draw(st.integers(2, 9))):
        class_of = draw(st.integers(0, 1))
        for _ in range(draw(st.integers(1, 2))):
            for _ in range(draw(st.integers(1, 4))):
                cells = {"a": draw(cell), "b": draw(cell), "day": draw(st.integers(MISSING, 5))}
                records.append(Record(person, pseudonyms, class_of, cells))
            pseudonyms += 1
    return records


def days_apart(one: Record, other: Record, mine: Record, yours: Record) -> bool:
    apart = other.cells["day"] - one.cells["day"]
    return yours.cells["day"] - mine.cells["day"] == apart


def in_order(one: Record, other: Record, mine: Record, yours: Record) -> bool:
    apart = other.cells["day"] - one.cells["day"]
    return np.sign(yours.cells["day"] - mine.cells["day"]) == np.sign(apart)


@st.composite
def tables(draw: st.DrawFn) -> list[Record]:
    """People with records of two tables, of which one has no column "a", under stays."""
    records = []
    cell = st.integers(MISSING, 2)
    for person in range(draw(st.integers(2, 9))):
        class_of = draw(st.integers(0, 1))
        for _ in range(draw(st.integers(1, 5))):
            table, stay = draw(st.integers(0, 1)), draw(st.integers(MISSING, 1))
            cells = {"a": MISSING if table else draw(cell), "b": draw(cell), "day": MISSING}
            stay = stay if stay == MISSING else 2 * person + stay
            records.append(Record(person, person, class_of, cells, table, stay))
    return records


@given(files() | tables())
@settings(max_examples=examples(200))
def test_who_is_found_and_what_is_learned(records: list[Record]) -> None:
    several = len({each.person for each in records}) < len(records)
    file = file_of(records)
    found = measured(file)
    # The stranger counts people, as marketer risk does; the acquaintance sees pseudonyms.
    people = [each._replace(pseudonym=each.person) for each in records]
    rows = ((found.stranger, people, False), (found.acquaintance, records, True))
    for intruder, seen, bands in rows if several else ((found.acquaintance, people, False),):
        expected = oracle.found(seen, bands=bands)
        assert (intruder.found.value, intruder.person.value) == pytest.approx(expected)
        right, certain = oracle.learned(seen, "a", bands=bands)
        for each in intruder.learned:
            beyond = max(0.0, (right - each.without) / max(1 - each.without, 1e-12))
            assert (each.beyond.value, each.certain.value) == pytest.approx((beyond, certain))
    for name, columns in {"a": ("a",), "a + b": ("a", "b")}.items():
        chances = oracle.by_two(records, columns)
        insider = found.insiders[name]
        assert insider.drawn is None
        assert insider.found.value == pytest.approx(float(np.mean([*chances.values()])))
        # People without rows of the columns' tables hide nobody who has some.
        tables = {e.table for e in records if any(e.cells[n] != MISSING for n in columns)}
        told = [chances[p] for p in {e.person for e in records if e.table in tables}]
        p95 = max(
            float(np.quantile(each, 0.95, method="inverted_cdf"))
            for each in ([*chances.values()], told)
            if each
        )
        assert insider.person.value == pytest.approx(p95)


@given(files(), st.sampled_from([(Dated.MOVED, days_apart), (Dated.ORDERED, in_order)]))
@settings(max_examples=examples(100))
def test_two_dates_that_are_not_as_they_were(
    records: list[Record], how: tuple[Dated, oracle.Fits]
) -> None:
    """Days between, or which came first; of one date alone nothing is known but that it is one."""
    dated, fits = how
    file = file_of(records, dated)
    chances = oracle.by_two(records, ("day",), fits)
    found = intruders.insider(file, ["day"])
    assert found.found.value == pytest.approx(float(np.mean([*chances.values()])))


def test_one_illness_in_each_class_is_learned_by_everybody() -> None:
    """Thirty people in three classes: guessed rightly by a third of them without the file."""
    class_of = np.repeat(codes([0, 1, 2]), 10)
    file = ShownFile(codes(range(30)), class_of, {"icd9": FurtherColumn(class_of)}, ("icd9",))
    (learned,) = measured(file).stranger.learned
    assert learned.beyond.value == pytest.approx(1.0)
    # The commonest value, one of three that are equally common, is certain and not counted.
    assert learned.certain.value == pytest.approx(2 / 3)
    assert 1 / 3 <= learned.without < 0.6


def test_what_exact_quasi_identifiers_foretell_is_not_learned() -> None:
    """Who knows the age knows the value without the file."""
    age = codes(range(400))
    value = codes(age // 100)
    file = ShownFile(age, value, {"grade": FurtherColumn(value)}, ("grade",), exact=(age,))
    assert learned_values.foretold(file.exact, age, value) > 0.9
    people = np.random.default_rng(0).permutation(400)
    unknown = learned_values.foretold([codes(people)], age, value)
    assert unknown < 0.4


def test_what_is_guessed_without_a_file_is_that_files_own() -> None:
    """It is kept for the next release of the same people, not for one of other values."""
    age = codes(range(400))
    for value in (age // 100, age // 100 * 0, age % 2, age // 100):
        column = {"grade": FurtherColumn(codes(value))}
        for exact in ((age,), (), (codes(age // 2),)):
            file = ShownFile(age, age // 200, column, ("grade",), exact=exact)
            afresh = learned_values.foretold(exact, age, codes(value))
            learned = measured(file).stranger.learned
            assert file.foretold == {"grade": afresh}
            assert all(each.without >= afresh for each in learned)


def test_what_is_drawn_agrees_with_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 3,000 people 1,500 are drawn: the interval holds what is found of all of them."""
    rng = np.random.default_rng(1)
    person = codes(np.repeat(np.arange(3000), 3))
    column = FurtherColumn(codes(rng.integers(0, 40, 9000)))
    file = ShownFile(person, person % 20, {"icd9": column})
    drawn = intruders.insider(file, ["icd9"])
    monkeypatch.setattr(intruders, "PEOPLE", 3000)
    every = intruders.insider(file, ["icd9"])
    assert (drawn.drawn, every.drawn) == (1500, None)
    assert drawn.found.low <= every.found.value <= drawn.found.high
    assert drawn.person.low <= every.person.value <= drawn.person.high


def test_few_who_have_rows_of_a_table_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 4,000 people sixteen are in a clinic: none is drawn, and all count as where all are."""
    person = codes([*range(4000), *range(8), *range(8, 16)])
    table = codes([0] * 4000 + [1] * 16)
    visit = FurtherColumn(codes([*(np.arange(4000) % 3), *[MISSING] * 16]))
    illness = FurtherColumn(codes([MISSING] * 4000 + [0] * 8 + [1] * 8))
    file = ShownFile(
        person, person % 2 * 0, {"visit": visit, "illness": illness}, ("illness",), part_of=table
    )
    monkeypatch.setattr(intruders, "WORK", 10**12)
    monkeypatch.setattr(intruders, "PEOPLE", 10)
    insider = intruders.insider(file, ["visit"])
    assert insider.drawn == 10
    monkeypatch.setattr(intruders, "PEOPLE", 4000)
    every = intruders.insider(file, ["visit"])
    assert every.drawn is None
    ((few,), (all_of_them,)) = insider.learned, every.learned
    assert few.column == all_of_them.column == "illness"
    assert few.certain.value == pytest.approx(all_of_them.certain.value)
    assert few.beyond.value == pytest.approx(all_of_them.beyond.value, abs=0.25)


def test_long_lists_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many who fit every so-manieth is looked at, and stands for several."""
    rng = np.random.default_rng(2)
    person = codes(np.repeat(np.arange(1000), 2))
    file = ShownFile(person, person * 0, {"a": FurtherColumn(codes(rng.integers(0, 4, 2000)))})
    every = intruders.insider(file, ["a"]).found.value
    monkeypatch.setattr(intruders, "MOST_LISTED", 100)
    assert intruders.insider(file, ["a"]).found.value == pytest.approx(every, rel=0.1)


CHANCES = {
    "alike": lambda rng: 1 / rng.integers(8, 14, 3_000),
    "a few certain": lambda rng: np.where(rng.random(3_000) < 0.02, 1.0, 1 / 40),
    "spread": lambda rng: rng.beta(0.3, 3, 3_000),
    "nearly all certain": lambda rng: np.where(rng.random(3_000) < 0.98, 1.0, 0.5),
}


@pytest.mark.parametrize("name", CHANCES)
def test_the_interval_of_a_mean_of_people_drawn_holds_the_mean_of_all(name: str) -> None:
    """In 95 % of draws, but for what 400 draws are off by chance (three standard errors)."""
    rng = np.random.default_rng(1)
    every = CHANCES[name](rng)
    inside = 0
    for _ in range(400):
        drawn = rng.choice(every, 1_500, replace=False)
        share = Share.of(float(drawn.mean()), intruders._answers(drawn, len(every)))
        inside += share.low <= every.mean() <= share.high
    assert inside / 400 >= 0.95 - 3 * (0.95 * 0.05 / 400) ** 0.5


def test_chances_that_are_alike_have_a_narrow_interval() -> None:
    """As answers that are yes or no where all are equal, which says little of others."""
    alike = CHANCES["alike"](np.random.default_rng(1))[:1_500]
    own, plain = (
        Share.of(float(alike.mean()), drawn) for drawn in (intruders._answers(alike, 3_000), 1_500)
    )
    assert own.high - own.low < 0.1 * (plain.high - plain.low)
    assert intruders._answers(np.ones(1_500), 3_000) == 1_500


def test_all_pairs_of_five_records_are_looked_at_and_as_many_of_more() -> None:
    person = codes([0] * 5 + [1] * 6)
    file = ShownFile(person, person * 0, {"icd9": FurtherColumn(codes(range(11)))})
    shows = intruders._Shows(file.by_class, [file.columns["icd9"]], file.by_class.crowd)
    known = shows.known(np.arange(2), np.random.default_rng(0))
    assert np.bincount(known.place).tolist() == [10, 10]


def test_of_more_than_two_thousand_candidates_each_stands_for_several() -> None:
    """2,500 people whose two records are alike: each of those looked at stands for 1.25."""
    person = codes(np.repeat(np.arange(2500), 2))
    file = ShownFile(person, person * 0, {"icd9": FurtherColumn(person * 0)})
    shows = intruders._Shows(file.by_class, [file.columns["icd9"]], file.by_class.crowd[:1])
    known = shows.known(np.arange(1), np.random.default_rng(0))
    _, fitting, weight = shows.fitting(known)
    assert shows.cost(known) == 2000
    assert len(fitting) == pytest.approx(2000, abs=1)
    assert weight == pytest.approx(1.25)


def test_of_moved_dates_fifty_of_a_pseudonym_are_looked_at() -> None:
    """Their differences grow by the square of their number."""
    days = FurtherColumn(codes(range(60)), Dated.MOVED)
    file = ShownFile(codes([0] * 60), codes([0] * 60), {"day": days})
    shows = intruders._Shows(file.by_class, [days], file.by_class.crowd)
    assert len(shows._unit) == 50
