"""The two clinics: same seed same tables, and the distributions that the docstring states."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.errors import InputError
from sfumato.examples import Clinics, generate_clinics
from sfumato.examples.clinics import AGE_BANDS, DEPARTMENTS, EDUCATION
from sfumato.examples.demographics import DESCRIPTIONS, GROUPS

COLUMNS = [
    *("patient", "name", "phone", "visit_date", "age", "sex", "zip", "education", "icd9"),
    *("department", "charge"),
]


def as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


def by_person(visits: pa.Table, column: str) -> dict[str, list[Any]]:
    """The values of each person, in order of the visits."""
    values = defaultdict(list)
    for person, value in zip(
        visits["patient"].to_pylist(), visits[column].to_pylist(), strict=True
    ):
        values[person].append(value)
    return values


def codes_of(*groups: str) -> set[str]:
    found = {code for group in GROUPS if group.name in groups for code, _ in group.codes}
    assert found
    return found


# --------------------------------------------------------------------- same seed, same tables


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second = generate_clinics(300, rng=5), generate_clinics(300, rng=5)
    third = generate_clinics(300, rng=np.random.default_rng(5))
    for clinics in (second, third):
        assert as_bytes(clinics.hospital) == as_bytes(first.hospital)
        assert as_bytes(clinics.practice) == as_bytes(first.practice)
        assert as_bytes(clinics.visits) == as_bytes(first.visits)


@pytest.mark.slow
def test_another_process_gives_the_same_bytes() -> None:
    script = (
        "import hashlib, sys, pyarrow as pa\n"
        "from sfumato.examples import generate_clinics\n"
        "sink = pa.BufferOutputStream()\n"
        "table = generate_clinics(50, rng=5).visits\n"
        "with pa.ipc.new_stream(sink, table.schema) as writer:\n"
        "    writer.write_table(table.combine_chunks())\n"
        "print(hashlib.sha256(bytes(sink.getvalue())).hexdigest())\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stdout
    here = hashlib.sha256(as_bytes(generate_clinics(50, rng=5).visits)).hexdigest()
    assert printed.strip() == here


def test_another_seed_gives_other_tables() -> None:
    first, second = generate_clinics(300, rng=5), generate_clinics(300, rng=6)
    assert as_bytes(first.hospital) != as_bytes(second.hospital)


# ---------------------------------------------------------------------------------- structure


def test_columns_types_and_schema(clinics: Clinics, visits: pa.Table) -> None:
    assert clinics.hospital.column_names == COLUMNS
    assert clinics.practice.schema == clinics.hospital.schema
    assert sorted(visits.column_names) == sorted(clinics.schema.columns())
    assert set(visits.column_names) == {*COLUMNS, "clinic"}
    assert visits.schema.field("zip").type == pa.string()
    assert visits.schema.field("visit_date").type == pa.date32()
    assert clinics.schema.person == "patient"
    assert clinics.schema.quasi_identifiers["education"].order == EDUCATION
    assert {quasi.weight for quasi in clinics.schema.quasi_identifiers.values()} == {1.0}
    assert "visit_date" in clinics.schema.direct_identifiers


def test_visits_are_both_tables_ordered_by_date(clinics: Clinics, visits: pa.Table) -> None:
    days = visits["visit_date"].to_pylist()
    assert days == sorted(days)
    assert days[0].year == 2015
    assert days[-1].year == 2019
    for name, table in (("hospital", clinics.hospital), ("practice", clinics.practice)):
        chosen = visits.filter(pa.compute.equal(visits["clinic"], name)).drop_columns("clinic")
        assert chosen.combine_chunks().equals(table.combine_chunks())


@pytest.mark.parametrize("persons", [1, 2, 3])
def test_few_persons_keep_the_types(persons: int) -> None:
    clinics = generate_clinics(persons, rng=1)
    assert len(set(clinics.visits["patient"].to_pylist())) == persons
    assert clinics.hospital.schema == generate_clinics(500, rng=1).hospital.schema


@pytest.mark.parametrize("persons", [0, -3, 2.5, "many", None])
def test_a_wrong_number_of_persons_is_refused(persons: Any) -> None:
    with pytest.raises(InputError, match="parameter persons must be a whole number"):
        generate_clinics(persons)


@pytest.mark.parametrize("seed", [-1, 0.5, "seed", None])
def test_a_wrong_seed_is_refused(seed: Any) -> None:
    with pytest.raises(InputError, match="parameter rng"):
        generate_clinics(5, rng=seed)


# ------------------------------------------------------------------------------------ persons


def test_every_person_visits_and_keeps_name_phone_and_sex(visits: pa.Table) -> None:
    assert set(visits["patient"].to_pylist()) == {f"P{i:06d}" for i in range(1, 20_001)}
    for column in ("name", "phone", "sex"):
        assert all(len(set(values)) == 1 for values in by_person(visits, column).values())


def test_ages_grow_with_the_calendar(visits: pa.Table) -> None:
    days = by_person(visits, "visit_date")
    for person, ages in by_person(visits, "age").items():
        assert ages == sorted(ages)
        years = (days[person][-1] - days[person][0]).days / 365.2425
        assert abs(ages[-1] - ages[0] - years) < 1
    ages = visits["age"].to_numpy()
    assert ages.min() == 0
    assert 95 < ages.max() < 106


def test_number_of_visits_is_heavy_tailed(visits: pa.Table) -> None:
    counts = np.array(sorted(Counter(visits["patient"].to_pylist()).values()))
    assert np.median(counts) == 2
    assert 3.6 < counts.mean() < 4.2
    assert 60 < counts.max() < 600
    busiest = counts[-len(counts) // 10 :].sum() / counts.sum()
    assert 0.35 < busiest < 0.6


def test_the_old_go_more_often_than_the_young(visits: pa.Table) -> None:
    ages = {person: values[0] for person, values in by_person(visits, "age").items()}
    counts = Counter(visits["patient"].to_pylist())
    young = [counts[person] for person, age in ages.items() if 10 <= age < 30]
    old = [counts[person] for person, age in ages.items() if age >= 70]
    assert np.mean(old) > 1.3 * np.mean(young)


def test_most_persons_visit_both_clinics(visits: pa.Table) -> None:
    clinics_of = by_person(visits, "clinic")
    both = {person for person, seen in clinics_of.items() if len(set(seen)) == 2}
    repeated = {person for person, seen in clinics_of.items() if len(seen) > 1}
    assert len(both) > 0.5 * len(clinics_of)
    assert len(both) > 0.75 * len(repeated)


def test_names_repeat_realistically(visits: pa.Table) -> None:
    full = [values[0] for values in by_person(visits, "name").values()]
    given, family = zip(*(name.split(" ") for name in full), strict=True)
    assert len(set(given)) > 400
    assert len(set(family)) > 400
    assert 0.7 < len(set(full)) / len(full) < 0.95
    most = Counter(family).most_common(1)[0][1] / len(family)
    assert 0.01 < most < 0.04
    assert "" not in given


def test_names_follow_sex(visits: pa.Table) -> None:
    pairs = set(zip(visits["name"].to_pylist(), visits["sex"].to_pylist(), strict=True))
    assert {sex for name, sex in pairs if name.startswith("Mary ")} == {"Female"}
    assert {sex for name, sex in pairs if name.startswith("James ")} == {"Male"}


def test_names_follow_the_year_of_birth(visits: pa.Table) -> None:
    ages = {person: values[0] for person, values in by_person(visits, "age").items()}
    names = {person: values[0] for person, values in by_person(visits, "name").items()}
    assert max(age for person, age in ages.items() if names[person].startswith("Madison ")) < 40
    assert min(age for person, age in ages.items() if names[person].startswith("Mildred ")) > 60


def test_phones_are_the_fictitious_ones(visits: pa.Table) -> None:
    assert all(
        re.fullmatch(r"\d{3}-555-01\d\d", phone) for phone in set(visits["phone"].to_pylist())
    )


def test_zips_are_text_skewed_and_some_persons_move(visits: pa.Table) -> None:
    zips = visits["zip"].to_pylist()
    assert all(re.fullmatch(r"0[12]\d{3}", code) for code in set(zips))
    counts = np.array([count for _, count in Counter(zips).most_common()])
    assert len(counts) > 180
    assert counts[0] > 20 * counts[-1]
    seen = by_person(visits, "zip").values()
    assert 0.015 < np.mean([len(set(codes)) > 1 for codes in seen]) < 0.05
    for codes in seen:
        moves = sum(before != after for before, after in itertools.pairwise(codes))
        assert moves <= 1


def test_education_is_ordered_by_age_and_sometimes_missing(visits: pa.Table) -> None:
    assert set(visits["education"].to_pylist()) == {*EDUCATION, None}
    assert 0.025 < visits["education"].null_count / len(visits) < 0.035
    for levels in by_person(visits, "education").values():
        ranks = [EDUCATION.index(level) for level in levels if level is not None]
        assert ranks == sorted(ranks)
    youngest: dict[str, int] = {}
    for level, age in zip(visits["education"].to_pylist(), visits["age"].to_pylist(), strict=True):
        if level is not None:
            youngest[level] = min(age, youngest.get(level, 200))
    assert [youngest[level] for level in EDUCATION] == [0, 15, 18, 21, 24, 27]


# ----------------------------------------------------------------------------------- diagnoses


def test_diagnoses_fit_age_and_sex(visits: pa.Table) -> None:
    seen = list(
        zip(
            visits["icd9"].to_pylist(),
            visits["sex"].to_pylist(),
            visits["age"].to_pylist(),
            strict=True,
        )
    )
    pregnancy_codes = codes_of("pregnancy")
    pregnancy = [(sex, age) for code, sex, age in seen if code in pregnancy_codes]
    assert len(pregnancy) > 500
    assert {sex for sex, _ in pregnancy} == {"Female"}
    assert min(age for _, age in pregnancy) == 15
    assert max(age for _, age in pregnancy) == 50
    prostate_codes = codes_of("prostate, chronic", "prostate, acute and screening")
    prostate = [(sex, age) for code, sex, age in seen if code in prostate_codes]
    assert len(prostate) > 500
    assert {sex for sex, _ in prostate} == {"Male"}
    assert min(age for _, age in prostate) == 50
    childhood_codes = codes_of("childhood", "newborns")
    childhood = [age for code, _, age in seen if code in childhood_codes]
    assert len(childhood) > 500
    assert max(childhood) == 17


def test_diagnoses_are_skewed_as_zipf(visits: pa.Table) -> None:
    counts = Counter(visits["icd9"].to_pylist())
    assert set(counts) == set(DESCRIPTIONS)
    ordered = np.array([count for _, count in counts.most_common()])
    assert 0.03 < ordered[0] / ordered.sum() < 0.10
    assert 0.25 < ordered[:10].sum() / ordered.sum() < 0.45
    ranks = np.log(np.arange(1, len(ordered) + 1))
    slope = np.polyfit(ranks[:100], np.log(ordered[:100]), 1)[0]
    assert -1.3 < slope < -0.6


def test_chronic_conditions_recur(visits: pa.Table) -> None:
    chronic = {code for group in GROUPS if group.chronic for code, _ in group.codes}
    counts = Counter(visits["icd9"].to_pylist())
    again, expected, pairs = 0, 0.0, 0
    for codes in by_person(visits, "icd9").values():
        own = [code for code in codes if code in chronic]
        assert len(set(own)) <= 3
        for first, second in itertools.pairwise(own):
            pairs += 1
            again += first == second
            expected += counts[first] / sum(counts[code] for code in chronic)
    assert pairs > 1_000
    assert again > 4 * expected


# ------------------------------------------------------------------------------------- charges


def test_charges_are_lognormal_with_two_decimals(visits: pa.Table) -> None:
    charges = visits["charge"].to_numpy()
    assert (charges > 0).all()
    assert np.array_equal(charges, np.round(charges, 2))
    emergency = np.log(charges[np.array(visits["department"].to_pylist()) == "Emergency"])
    assert np.exp(np.median(emergency)) == pytest.approx(780, rel=0.05)
    assert emergency.std() == pytest.approx(0.6, rel=0.05)


def test_departments_do_not_depend_on_the_person(visits: pa.Table) -> None:
    sex, department, clinic = (
        np.array(visits[column].to_pylist()) for column in ("sex", "department", "clinic")
    )
    for name, share in (("Emergency", 0.24), ("Inpatient", 0.08)):
        for one in ("Female", "Male"):
            chosen = department[(clinic == "hospital") & (sex == one)]
            assert np.mean(chosen == name) == pytest.approx(share, abs=0.01)
    assert "Emergency" not in set(department[clinic == "practice"])


def test_shares_add_up() -> None:
    assert sum(share for *_, share in AGE_BANDS) == pytest.approx(1)
    for departments in DEPARTMENTS:
        assert sum(share for _, share, _ in departments) == pytest.approx(1)
