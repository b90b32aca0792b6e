"""The registrations: stated rates, what each error does, and a truth that fits."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter, defaultdict
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.examples import (
    Clinics,
    ErrorRates,
    Registrations,
    generate_clinics,
    generate_registrations,
    write_registrations,
)
from sfumato.examples.demographics import FAMILY_NAMES, GIVEN_NAMES, NICKNAMES
from sfumato.examples.registration_errors import (
    NEIGHBOURS,
    misread_dates,
    misspelt,
    mistyped,
    swapped_dates,
)
from sfumato.schema import load_schema

PERSON_RATES = ("twins", "juniors", "registered_twice")
NO_ERRORS = replace(
    ErrorRates(), **{each.name: 0.0 for each in fields(ErrorRates) if each.name not in PERSON_RATES}
)
COLUMNS = ["patient", "given_name", "surname", "date_of_birth", "sex", "zip", "phone"]
OF_COLUMN = {
    "given_name": {"nickname", "typo_given_name", "missing_given_name", "swapped_names"},
    "surname": {"changed_surname", "typo_surname", "swapped_names"},
    "date_of_birth": {"swapped_date", "misread_date", "missing_date"},
    "sex": {"wrong_sex"},
    "zip": {"moved", "typo_zip", "missing_zip"},
    "phone": {"changed_phone", "typo_phone", "missing_phone"},
}


@pytest.fixture(scope="module")
def made(clinics: Clinics) -> Registrations:
    return generate_registrations(clinics)


@pytest.fixture(scope="module")
def clean(clinics: Clinics) -> Registrations:
    return generate_registrations(clinics, NO_ERRORS)


def patients(made: Registrations) -> list[dict[str, Any]]:
    """All registrations in the order of the truth, with the truth."""
    rows = pa.concat_tables([made.hospital, made.practice]).to_pylist()
    both = [{**row, **known} for row, known in zip(rows, made.truth.to_pylist(), strict=True)]
    assert [row["patient"] for row in rows] == made.truth["patient"].to_pylist()
    return both


def errors_of(row: dict[str, Any]) -> set[str]:
    return set(row["errors"].split("; ")) - {""}


# ---------------------------------------------------------------------------------- structure


def test_the_same_seed_gives_the_same_tables() -> None:
    first, second = (generate_registrations(generate_clinics(300, rng=5)) for _ in range(2))
    third = generate_registrations(generate_clinics(300, rng=np.random.default_rng(5)))
    other = generate_registrations(generate_clinics(300, rng=6))
    for name in ("hospital", "practice", "hospital_visits", "practice_visits", "truth"):
        assert getattr(first, name).equals(getattr(second, name))
        assert getattr(first, name).equals(getattr(third, name))
    assert not first.hospital.equals(other.hospital)


def test_registering_changes_nothing_of_the_clinics() -> None:
    clinics, untouched = (generate_clinics(300, rng=5) for _ in range(2))
    generate_registrations(clinics)
    assert clinics.visits.equals(untouched.visits)
    assert clinics.people.birth.tolist() == untouched.people.birth.tolist()


@pytest.mark.parametrize("persons", [1, 2, 3])
def test_few_persons_keep_the_types(persons: int, made: Registrations) -> None:
    few = generate_registrations(generate_clinics(persons, rng=1))
    assert few.hospital.schema == made.hospital.schema
    assert few.truth.schema == made.truth.schema


def test_clinics_share_no_number(made: Registrations) -> None:
    assert made.hospital.column_names == made.practice.column_names == COLUMNS
    assert made.hospital.schema.field("date_of_birth").type == pa.date32()
    numbers = made.truth["patient"].to_pylist()
    assert len(set(numbers)) == len(numbers)
    for table in (made.hospital, made.practice):
        assert table["patient"].to_pylist() == sorted(table["patient"].to_pylist())
    persons = made.truth.filter(pa.compute.equal(made.truth["clinic"], "hospital"))["person"]
    ranks = np.argsort(np.argsort(persons.to_pylist()))
    assert abs(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]) < 0.05


def test_the_truth_leads_back_to_the_clinics(clinics: Clinics, clean: Registrations) -> None:
    person_of = dict(
        zip(clean.truth["patient"].to_pylist(), clean.truth["person"].to_pylist(), strict=True)
    )
    relation = dict(
        zip(clean.truth["person"].to_pylist(), clean.truth["relation"].to_pylist(), strict=True)
    )
    for own, visits, patients_ in (
        (clinics.hospital, clean.hospital_visits, clean.hospital),
        (clinics.practice, clean.practice_visits, clean.practice),
    ):
        assert "name" not in visits.column_names
        assert "phone" not in visits.column_names
        assert set(visits["patient"].to_pylist()) == set(patients_["patient"].to_pylist())
        persons = [person_of[number] for number in visits["patient"].to_pylist()]
        assert persons == own["patient"].to_pylist()
        for name in ("visit_date", "sex", "education", "icd9", "department", "charge"):
            assert visits[name].equals(own[name])
        plain = np.array([relation[person] == "" for person in persons])
        for name in ("age", "zip"):
            one, other = (np.array(table[name].to_pylist())[plain] for table in (visits, own))
            assert (one == other).all()


def test_ages_at_visits_fit_the_dates_of_birth(clean: Registrations) -> None:
    births = {row["patient"]: row["date_of_birth"] for row in clean.hospital.to_pylist()}
    for row in clean.hospital_visits.slice(0, 5_000).to_pylist():
        years = (row["visit_date"] - births[row["patient"]]).days / 365.2425
        assert years >= 0
        assert row["age"] <= years < row["age"] + 1


# --------------------------------------------------------------------------------------- rates


def test_errors_come_at_the_stated_rates(made: Registrations, clean: Registrations) -> None:
    able: dict[str, int] = Counter()
    seen: dict[str, int] = Counter()
    for row, true in zip(patients(made), patients(clean), strict=True):
        has = errors_of(row)
        seen.update(has)
        born = true["date_of_birth"]
        named, zipped, phoned, dated = (
            f"missing_{name}" not in has for name in ("given_name", "zip", "phone", "date")
        )
        adult = true["sex"] == "Female" and born.year < 1996
        able.update(
            nickname=true["given_name"] in NICKNAMES,
            changed_surname=adult,
            typo_given_name=named,
            swapped_names=named,
            misread_date=dated,
            swapped_date=dated and born.day <= 12 and born.day != born.month and born.year < 2015,
            moved=zipped,
            typo_zip=zipped,
            changed_phone=phoned,
            typo_phone=phoned,
            **dict.fromkeys(
                ("typo_surname", "wrong_sex", "missing_given_name", "missing_date"), True
            ),
            missing_zip=True,
            missing_phone=True,
        )
    rates = vars(made.rates)
    assert set(seen) == set(rates) - set(PERSON_RATES)
    for name, count in seen.items():
        expected = able[name] * rates[name]
        assert abs(count - expected) < 5 * expected**0.5 + 0.05 * expected, name


def test_relations_and_second_registrations_come_at_the_stated_rates(
    clinics: Clinics, made: Registrations
) -> None:
    relation = dict(
        zip(made.truth["person"].to_pylist(), made.truth["relation"].to_pylist(), strict=True)
    )
    assert len(relation) == 20_000
    counts = Counter(relation.values())
    assert counts["twin"] == 400
    assert counts["senior"] == counts["junior"] == 100
    for name in ("hospital", "practice"):
        table = made.truth.filter(pa.compute.equal(made.truth["clinic"], name))
        twice = sum(count == 2 for count in Counter(table["person"].to_pylist()).values())
        visits = Counter(getattr(clinics, name)["patient"].to_pylist())
        able = sum(count > 1 for count in visits.values())
        assert abs(twice - 0.03 * able) < 5 * (0.03 * able) ** 0.5


def test_no_rates_no_errors(clean: Registrations) -> None:
    assert set(clean.truth["errors"].to_pylist()) == {""}
    by_person = defaultdict(list)
    for row in patients(clean):
        by_person[row["person"]].append(row)
    for rows in by_person.values():
        for name in ("given_name", "surname", "date_of_birth", "sex", "phone"):
            assert len({row[name] for row in rows}) == 1
    nobody = generate_registrations(
        generate_clinics(2_000, rng=7), ErrorRates(twins=0, juniors=0, registered_twice=0)
    )
    assert set(nobody.truth["relation"].to_pylist()) == {""}
    pairs = list(
        zip(nobody.truth["clinic"].to_pylist(), nobody.truth["person"].to_pylist(), strict=True)
    )
    assert len(set(pairs)) == len(pairs)


# ------------------------------------------------------------------------- what the errors do


def test_columns_differ_from_the_truth_where_an_error_says_so(
    made: Registrations, clean: Registrations
) -> None:
    undone = 0
    for row, true in zip(patients(made), patients(clean), strict=True):
        assert row["person"] == true["person"]
        for column, kinds in OF_COLUMN.items():
            has = errors_of(row) & kinds
            if not has:
                assert row[column] == true[column]
            undone += bool(has) and row[column] == true[column]
            if any(name.startswith("missing") for name in has - {"swapped_names"}):
                assert row[column] is None
    assert undone < 5  # a typo may undo a nickname


def test_single_errors_are_what_they_say(made: Registrations, clean: Registrations) -> None:
    for row, true in zip(patients(made), patients(clean), strict=True):
        names = errors_of(row) & (OF_COLUMN["given_name"] | OF_COLUMN["surname"])
        if names == {"swapped_names"}:
            assert (row["given_name"], row["surname"]) == (true["surname"], true["given_name"])
        elif names == {"nickname"}:
            assert row["given_name"] in NICKNAMES[true["given_name"]]
        elif names == {"changed_surname"}:
            assert row["surname"].removeprefix(f"{true['surname']}-") in FAMILY_NAMES
        if "swapped_date" in errors_of(row):
            born, written = true["date_of_birth"], row["date_of_birth"]
            assert (written.day, written.month) == (born.month, born.day)
        if "misread_date" in errors_of(row):
            digits = [f"{day:%Y%m%d}" for day in (true["date_of_birth"], row["date_of_birth"])]
            assert sum(a != b for a, b in zip(*digits, strict=True)) == 1
        if row["phone"] is not None:
            assert re.fullmatch(r"\d{3}-555-01\d\d", row["phone"])
        if row["zip"] is not None:
            assert re.fullmatch(r"\d{5}", row["zip"])


def test_twins_and_juniors(clean: Registrations) -> None:
    persons = {row["person"]: row for row in patients(clean)}
    twins, named = defaultdict(list), defaultdict(list)
    for row in persons.values():
        if row["relation"] == "twin":
            twins[row["surname"], row["date_of_birth"], row["phone"]].append(row)
        elif row["relation"]:
            named[row["given_name"], row["surname"], row["phone"]].append(row)
    assert {len(rows) % 2 for rows in twins.values()} == {0}
    given = [tuple(row["given_name"] for row in rows) for rows in twins.values() if len(rows) == 2]
    assert all(one != other for one, other in given)
    pairs = [rows for rows in named.values() if len(rows) == 2]
    assert len(pairs) > 90
    for rows in pairs:
        senior, junior = sorted(rows, key=lambda row: row["date_of_birth"])
        assert (senior["relation"], junior["relation"]) == ("senior", "junior")
        assert senior["sex"] == junior["sex"]
        years = (junior["date_of_birth"] - senior["date_of_birth"]).days / 365.2425
        assert 20 <= years <= 40.01


# ------------------------------------------------------------------------------------ mistakes


def edits_away(word: str) -> set[str]:
    """All texts that one substitution, deletion, insertion or transposition makes of a word."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    halves = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    found = {a + b[1:] for a, b in halves if b}
    found |= {a + b[1] + b[0] + b[2:] for a, b in halves if len(b) > 1}
    found |= {a + c + b[1:] for a, b in halves if b for c in letters}
    found |= {a + c + b for a, b in halves for c in letters}
    return found - {word}


NAMES = sorted({*FAMILY_NAMES, *itertools.chain(*itertools.chain(*GIVEN_NAMES.values()))})


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=40), st.integers(0, 2**32 - 1))
def test_a_typo_is_one_edit(words: list[str], seed: int) -> None:
    typed = misspelt(words, np.random.default_rng(seed))
    for word, other in zip(words, typed, strict=True):
        assert other.lower() in edits_away(word.lower())
        assert other == other.title()


DIGITS = st.text("0123456789", min_size=5, max_size=5)


@given(st.lists(DIGITS, max_size=20), st.integers(0, 2**32 - 1))
def test_a_slip_in_digits_is_a_neighbour_or_a_transposition(numbers: list[str], seed: int) -> None:
    typed = mistyped(numbers, 5, np.random.default_rng(seed))
    for number, other in zip(numbers, typed, strict=True):
        places = [i for i in range(5) if number[i] != other[i]]
        if len(places) == 1:
            assert other[places[0]] in NEIGHBOURS[number[places[0]]]
        else:
            assert places == [places[0], places[0] + 1]
            assert sorted(number) == sorted(other)


@given(
    st.lists(st.dates(date(1890, 1, 1), date(2030, 1, 1)), min_size=1, max_size=20),
    st.integers(0, 2**32 - 1),
)
def test_wrong_dates_are_dates(dates: list[Any], seed: int) -> None:
    days = np.array(dates, "datetime64[D]").astype(np.int64)
    for day, swapped in zip(dates, swapped_dates(days).tolist(), strict=True):
        expected = day.replace(month=day.day, day=day.month) if day.day <= 12 else day
        assert np.datetime64(swapped, "D") == np.datetime64(expected)
    recent = days[np.array([1910 <= day.year < 2020 for day in dates])]
    last = np.maximum(recent, np.datetime64("2015-01-01").astype(np.int64))
    misread = misread_dates(recent, last, np.random.default_rng(seed))
    assert (misread <= last).all()
    for one, other in zip(
        recent.astype("datetime64[D]").astype(str),
        misread.astype("datetime64[D]").astype(str),
        strict=True,
    ):
        assert sum(a != b for a, b in zip(one, other, strict=True)) == 1


# --------------------------------------------------------------------------------------- files


def test_the_files_hold_the_tables(tmp_path: Path) -> None:
    made = generate_registrations(generate_clinics(300, rng=5))
    paths = write_registrations(made, tmp_path / "new")
    assert [path.name for path in paths] == [
        *("patients_hospital.csv", "patients_practice.csv"),
        *("visits_hospital.csv", "visits_practice.csv", "truth.csv", "schema.toml", "icd9.csv"),
    ]
    tables = (made.hospital, made.practice, made.hospital_visits, made.practice_visits, made.truth)
    for path, table in zip(paths, tables, strict=False):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(table)
        first = {
            name: "" if value is None else str(value)
            for name, value in table.slice(0, 1).to_pylist()[0].items()
        }
        assert rows[0] == first
    assert load_schema(paths[-2]) == made.schema
    named = {"patient", *made.schema.columns()}
    assert named == {*made.hospital.column_names, *made.hospital_visits.column_names}
    with paths[-1].open(encoding="utf-8", newline="") as file:
        codes = {row["icd9"] for row in csv.DictReader(file)}
    assert set(made.practice_visits["icd9"].to_pylist()) <= codes
