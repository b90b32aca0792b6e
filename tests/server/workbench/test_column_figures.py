"""What is counted of columns, held against naive counts of the same files."""

from __future__ import annotations

import csv
import itertools
import os
import random
from collections import defaultdict
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from server.workbench.conftest import project

from sfumato.core.errors import InputError
from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.proposal import ProposalRequest, propose
from sfumato.schema import Cleaning, PrefixHierarchy
from sfumato.server.workbench import questions
from sfumato.server.workbench.bench import Bench
from sfumato.server.workbench.column_edits import set_role
from sfumato.server.workbench.column_figures import (
    BARS,
    FEWEST,
    TableFigures,
    hidden,
    tables_of,
)
from sfumato.server.workbench.project_edits import ProjectEdits
from sfumato.server.workbench.questions import answer, questions_of

KNOWN = ("birth_year", "sex", "zip")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of visits."""
    return project(tmp_path_factory.mktemp("project"))


def rows_of(file: Path) -> list[dict[str, str]]:
    """The records of the project's table."""
    with (file.parent / "visits.csv").open() as stream:
        return list(csv.DictReader(stream))


def alone(rows: list[dict[str, str]], columns: tuple[str, ...]) -> int:
    """People with a record whose values no other person has."""
    holders = defaultdict(set)
    for row in rows:
        holders[tuple(row[name] for name in columns)].add(row["patient"])
    return len({next(iter(people)) for people in holders.values() if len(people) == 1})


def test_people_alone_and_effects_are_those_of_a_naive_count(file: Path) -> None:
    table, rows = TableFigures(Bench(file), "visits"), rows_of(file)
    known = table.known
    assert set(known) >= {"birth_year", "sex", "zip"}
    found = table.alone.value
    assert (found.alone, found.people) == (alone(rows, known), len({r["patient"] for r in rows}))
    for name, more in table.effects.items():
        others = tuple(each for each in known if each != name)
        expected = alone(rows, (*others, name)) - alone(rows, others)
        assert more == expected, name


def test_levels_of_a_hierarchy_count_the_people_at_each(file: Path) -> None:
    table, rows = TableFigures(Bench(file), "visits"), rows_of(file)
    levels = table.levels("icd9", PrefixHierarchy(lengths=(2, 1)))
    assert [each.level for each in levels] == [0, 1, 2, 3]
    for level, length in zip(levels, (9, 2, 1, 0), strict=True):
        cut = [{**row, "icd9": row["icd9"][:length]} for row in rows]
        assert level.groups == len({row["icd9"] for row in cut})
        assert level.alone.alone == alone(cut, (*table.known, "icd9"))


@pytest.mark.parametrize("bars", [1, 6, 24])
def test_a_bracket_is_a_round_width_and_its_people_are_counted(file: Path, bars: int) -> None:
    table, rows = TableFigures(Bench(file), "visits"), rows_of(file)
    years = [int(row["birth_year"]) for row in rows]
    drawn = bars * (max(years) - min(years)) / BARS
    (width,) = table.bracket("birth_year", bars).widths
    others = [step * 10.0**power for step in (1, 2, 5) for power in range(-2, 4)]
    assert abs(width - drawn) == min(abs(each - drawn) for each in others)
    level = table.levels("birth_year", table.bracket("birth_year", bars))[1]
    cut = [{**row, "birth_year": f"{int(row['birth_year']) // width}"} for row in rows]
    assert level.alone.alone == alone(cut, (*table.known, "birth_year"))
    with pytest.raises(InputError):
        table.bracket("sex", bars)


@pytest.mark.parametrize("bars", [1, 2, 12, 24])
def test_a_bracket_of_dates_is_the_nearest_unit_and_begins_with_it(
    tmp_path: Path, bars: int
) -> None:
    days = [date(1999, 3, 20) + timedelta(days=67 * each) for each in range(180)]
    rows = [f"P{at},{day},{at % 2},{1950 + at % 9}" for at, day in enumerate(days)]
    _file, table = _of_rows(tmp_path, "patient,seen,sex,birth_year", rows)
    spec = table.bracket("seen", bars)
    whole = (days[-1] - days[0]).days
    sizes = {"month": 30.4369, "quarter": 91.3106, "year": 365.2425, "decade": 3652.425}
    (unit,) = spec.widths
    off = {each: abs(size - bars * whole / BARS) for each, size in sizes.items()}
    assert off[str(unit)] == min(off.values())
    # The first days of the unit, found by going through all days.
    starts = {
        "month": lambda day: day.day == 1,
        "quarter": lambda day: day.day == 1 and day.month % 3 == 1,
        "year": lambda day: (day.day, day.month) == (1, 1),
        "decade": lambda day: (day.day, day.month, day.year % 10) == (1, 1, 0),
    }
    every = [days[0] + timedelta(days=each) for each in range(whole + 1)]
    naive = [(day - days[0]).days / whole for day in every if starts[str(unit)](day)]
    assert table.brackets("seen", spec) == pytest.approx(naive[:400])
    assert table.levels("seen", spec)[1].groups == len({_unit_of(day, str(unit)) for day in days})


def _unit_of(day: date, unit: str) -> tuple[int, ...]:
    if unit in ("month", "quarter"):
        return day.year, (day.month - 1) // (1 if unit == "month" else 3)
    return (day.year // (1 if unit == "year" else 10),)


def _of_rows(folder: Path, head: str, rows: list[str]) -> tuple[Path, TableFigures]:
    (folder / "t.csv").write_text(f"{head}\n" + "\n".join(rows) + "\n")
    file = folder / "sfumato.toml"
    file.write_text(propose(ProposalRequest({"t": folder / "t.csv"}, folder, seed=7)).text)
    return file, TableFigures(Bench(file), "t")


def test_an_answer_is_for_the_columns_alike_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "_", str)
    rng, names = random.Random(2), [f"I am {each} easily" for each in ("angry", "glad", "tired")]
    rows = [
        f"{at},{rng.choice('mf')},{rng.randint(1930, 2005)}," + ",".join(rng.choices("123456", k=3))
        for at in range(400)
    ]
    file, table = _of_rows(tmp_path, "number,sex,birth_year," + ",".join(names), rows)
    question = next(each for each in questions_of(open_project(file), [table]) if each.together)
    assert {question.column, *question.together} == set(names)
    assert question.column in question.text
    edits = ProjectEdits(file)
    change = answer(open_project(file), question, "sensitive", {})
    edits.edit(change, expected=edits.sha(), words="answered")
    roles = open_project(file).given_schema().roles()  # type: ignore[union-attr]
    assert set(names) <= set(roles["sensitive"])
    assert not set(names) & set(roles["direct identifier"])


def test_a_column_of_two_readings_is_answered_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "_", str)
    rng = random.Random(1)
    rows = [
        f"P{at},{rng.choice('mf')},{rng.randint(1930, 2000)},"
        f"{rng.randint(1, 12):02d}/{rng.randint(1, 12):02d}/20{rng.randint(10, 20)}"
        for at in range(300)
    ]
    file, table = _of_rows(tmp_path, "patient,sex,birth_year,seen", rows)
    question = next(e for e in questions_of(open_project(file), [table]) if e.column == "seen")
    assert question.readings == ("day first", "month first")
    edits = ProjectEdits(file)
    change = answer(open_project(file), question, "month first", {})
    edits.edit(change, expected=edits.sha(), words="answered")
    schema = open_project(file).given_schema()
    assert schema is not None
    assert schema.recipe["seen"].date == ("%m/%d/%Y",)
    assert "seen" in schema.quasi_identifiers
    assert not schema.undecided


def test_a_recipe_says_how_many_cells_it_changes(file: Path) -> None:
    table, rows = TableFigures(Bench(file), "visits"), rows_of(file)
    (step,) = table.changes("given_name", Cleaning(case="upper"))
    assert step.changed == len(rows)
    (step,) = table.changes("icd9", Cleaning(missing=("250.1",)))
    assert step.made_missing == sum(row["icd9"] == "250.1" for row in rows)


def test_a_histogram_counts_every_record_that_it_shows(file: Path) -> None:
    table, rows = TableFigures(Bench(file), "visits"), rows_of(file)
    bars = table.histogram("birth_year")
    assert len(bars) == BARS
    assert bars[0].low == str(min(int(row["birth_year"]) for row in rows))
    assert sum(bar.count or 0 for bar in bars) <= len(rows)
    assert {bar.count for bar in table.histogram("sex")} == {
        sum(row["sex"] == sex for row in rows) for sex in "mf"
    }
    # One record a person would give each away.
    assert all(bar.count is None for bar in table.histogram("patient")[:-1])


def test_counts_below_five_are_hidden_with_the_least_that_are_not() -> None:
    assert hidden([4, 9, 9, 30, 0]) == {0, 1, 2}
    assert hidden([5, 9, 0]) == set()


@example([5, 4, 4])
@given(counts=st.lists(st.integers(0, 9), max_size=5))
def test_no_small_count_follows_from_the_rest(counts: list[int]) -> None:
    gone = hidden(counts)
    assert gone >= {at for at, count in enumerate(counts) if 0 < count < FEWEST}
    if gone == {at for at, count in enumerate(counts) if count}:
        return  # nothing is shown
    # Who sees the others and the total, and knows how they are hidden, is left a choice.
    total = sum(counts[at] for at in gone)
    could: list[list[int]] = []
    for numbers in itertools.product(range(1, total + 1), repeat=len(gone)):
        if sum(numbers) == total:
            other = [*counts]
            for at, number in zip(sorted(gone), numbers, strict=True):
                other[at] = number
            could += [other] if hidden(other) == gone else []
    assert all(len({other[at] for other in could}) > 1 for at in gone)


def test_values_are_those_of_five_records_at_least(file: Path) -> None:
    table, rows = TableFigures(Bench(file), "visits"), rows_of(file)
    for value in table.values("birth_year"):
        assert sum(row["birth_year"] == value for row in rows) >= FEWEST
    assert table.values("patient") == []


def test_a_figure_is_computed_once_for_a_revision(file: Path) -> None:
    bench = Bench(file)
    calls: list[int] = []

    def make() -> int:
        calls.append(1)
        return len(calls)

    first = bench.figure("x", make)
    assert bench.figure("x", make) is first
    table = file.parent / "visits.csv"
    os.utime(table, ns=(1, 1))
    assert bench.figure("x", make).value == 2
    assert bench.revision != first.revision


def test_who_a_record_is_of_is_asked_where_each_is_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "_", str)  # texts need a server's settings
    file = project(tmp_path / "project")
    table = file.parent / "visits.csv"
    head, *lines = table.read_text().splitlines()
    table.write_text("\n".join([f"case,{head}", *(f"{n},{x}" for n, x in enumerate(lines))]) + "\n")
    bench, edits = Bench(file), ProjectEdits(file)
    edits.edit(set_role(bench.place, "case", "person"), expected=edits.sha(), words="")
    question = questions_of(bench.place, tables_of(bench))[0]
    people = len({line.split(",")[0] for line in lines})
    assert (question.kind, question.about) == ("person", "patient")
    assert f" {people} " in question.effect
    for said, person in (("no", "case"), ("yes", "patient")):
        edits.edit(answer(bench.place, question, said, {}), expected=edits.sha(), words="")
        assert bench.place.given_schema().person == person
        assert "patient" not in [each.about for each in questions_of(bench.place, tables_of(bench))]
    assert "case" in bench.place.given_schema().direct_identifiers


def test_a_person_is_asked_about_where_another_number_counts_more_people_or_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "_", str)
    file = project(tmp_path / "project")
    table = file.parent / "visits.csv"
    head, *lines = table.read_text().splitlines()
    numbered = [f"R{n:05d},C{n % 5},{line}" for n, line in enumerate(lines)]
    table.write_text("\n".join([f"case,clinic,{head}", *numbered]) + "\n")
    bench, edits = Bench(file), ProjectEdits(file)
    for column, role in (("case", "direct identifier"), ("clinic", "direct identifier")):
        edits.edit(set_role(bench.place, column, role), expected=edits.sha(), words="")

    def asked() -> dict[str, str]:
        every = questions_of(bench.place, tables_of(bench))
        return {each.about: each.effect for each in every if each.kind == "person"}

    people = len({line.split(",")[0] for line in lines})
    (effect,) = asked().values()
    assert asked().keys() == {"case"}
    assert f" {len(lines)} " in effect
    assert f" {people}." in effect
    edits.edit(
        set_role(bench.place, "patient", "direct identifier"), expected=edits.sha(), words=""
    )
    assert bench.place.given_schema().person is None
    assert f" {people} " in asked()["patient"]
    assert "case" not in asked()
