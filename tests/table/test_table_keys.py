"""Which tables are one database: keys, references and people, found without a wrong one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first
from made_databases import TWELVE, made_database
from standard_databases import mimic, omop

from sfumato.core.errors import InputError
from sfumato.schema import Schema, dump_schema
from sfumato.table.database_guess import guess_database
from sfumato.table.table_keys import key_map


@pytest.mark.parametrize("given", fast_first(4, TWELVE))
def test_keys_are_found_without_a_wrong_one(given):
    made = made_database(**given)
    found = key_map(made.frames)
    assert found.persons == made.persons
    assert dict(found.keys) == made.keys
    assert {(e.table, e.column): e.to for e in found.references} == made.references
    assert not found.questions


def test_a_key_of_two_columns_is_never_guessed():
    """Stays are numbered anew for each patient: neither column names a stay alone."""
    made = made_database(4, people=80, style="uuid", wards=False)
    stays = made.frames["admissions"].drop(columns="admission")
    stays["number"] = stays.groupby("patient").cumcount() + 1
    frames = {"patients": made.frames["patients"], "admissions": stays}
    frames["diagnoses"] = stays[["patient", "number"]].assign(
        icd=[*"ABCDE"] * (len(stays) // 5) + [*"ABCDE"][: len(stays) % 5]
    )
    found = key_map(frames)
    assert not found.questions
    assert dict(found.keys) == {"patients": "patient"}
    assert {(e.table, e.column, e.to) for e in found.references} == {
        ("admissions", "patient", "patients"), ("diagnoses", "patient", "patients"),
    }  # fmt: skip


def test_registers_that_count_their_people_are_strangers():
    """Each has numbers from 0 on, so that all those of one are in the other."""
    people = pd.DataFrame({
        "patient_id": range(300), "sex": ["f", "m"] * 150, "birth_year": [*range(1900, 2000)] * 3,
    })  # fmt: skip
    assert not key_map({"hospital": people, "pharmacy": people[:200]}).references


def test_records_of_one_of_two_registers_are_asked_about():
    people = pd.DataFrame({"patient_id": range(300), "sex": ["f", "m"] * 150, "birth_year": 1950})
    visits = pd.DataFrame({"patient_id": np.arange(900) % 200, "icd": ["E10", "E11", "I10"] * 300})
    found = key_map({"hospital": people, "pharmacy": people[:200], "visits": visits})
    assert len(found.questions) == 1
    assert "[tables.visits]" in found.questions[0]
    with pytest.raises(InputError, match="patient_id"):
        guess_database({"hospital": people, "pharmacy": people[:200], "visits": visits})


def test_a_key_of_which_a_part_is_there_is_asked_about():
    """Most of the visits belong to people of another file: no stranger may be made of them."""
    people = pd.DataFrame({"patient": range(200), "sex": ["f", "m"] * 100, "birth_year": 1950})
    visits = pd.DataFrame({"patient": np.arange(900) % 400, "icd": ["E10", "E11", "I10"] * 300})
    found = key_map({"patients": people, "visits": visits})
    assert len(found.questions) == 1
    assert "50 %" in found.questions[0]


def test_numbers_that_lie_in_a_key_by_chance_are_no_reference():
    people = pd.DataFrame({"patient": range(500), "sex": ["f", "m"] * 250, "birth_year": 1950})
    stays = pd.DataFrame({
        "patient": np.arange(900) % 500, "days": np.arange(900) % 40, "nurse": np.arange(900) % 499,
    })  # fmt: skip
    found = key_map({"patients": people, "stays": stays})
    assert [(e.column, e.to) for e in found.references] == [("patient", "patients")]


@pytest.mark.parametrize(
    ("frames", "persons", "of"),
    [
        (omop(1), "person", {"person_id", "visit_occurrence_id"}),
        (mimic(1), "patients", {"subject_id", "hadm_id", "stay_id"}),
    ],
    ids=["omop", "mimic"],
)
def test_published_headers_ask_nothing(frames, persons, of):
    found = key_map(frames)
    assert not found.questions
    assert found.persons == persons
    assert {each.column for each in found.references} == of
    assert not any(each.orphans for each in found.references)
    # Every such column of every table that goes out refers, but a key to its own table.
    assert {(each.table, each.column) for each in found.references} == {
        (name, column)
        for name in found.tables
        for column in frames[name].columns
        if column in of and (name, column) != ({**found.published.refers}[column], column)
    }
    assert {*found.tables} | {*found.left_out} == {*frames}
    tables = guess_database(frames).schema.tables
    assert {*tables} == {*found.tables}
    for name, own in tables.items():
        assert {*own.columns()} == {*frames[name].columns}
        assert not own.undecided


def test_other_tables_beside_published_ones_are_looked_at():
    frames = {**omop(2), "wards": pd.DataFrame({"ward": [*"ABCD"], "floor": [1, 2, 3, 4]})}
    assert key_map(frames).published is None
    assert key_map({name: frames[name] for name in ("person", "concept")}).published is None


def test_what_a_person_refers_to_is_a_quasi_identifier():
    made = made_database(4, people=80)
    towns = pd.DataFrame({"town": [f"T{n}" for n in range(30)], "land": [*"ABC"] * 10})
    of = pd.DataFrame({"land": [*"ABC"], "size": [1, 2, 3]})
    made.frames["patients"]["town"] = np.random.default_rng(1).choice(towns["town"], 80)
    proposed = guess_database({**made.frames, "towns": towns, "land": of}).schema.tables
    assert proposed["patients"].quasi_identifiers["town"].kind == "categorical"
    assert not proposed["patients"].of
    assert proposed["towns"].lookup
    assert not proposed["towns"].of


def test_a_proposed_schema_is_read_again():
    proposed = guess_database(made_database(**TWELVE[1]).frames)
    text = dump_schema(proposed.schema, proposed.notes)
    import tomllib

    assert Schema(**tomllib.loads(text)) == proposed.schema
    tables = proposed.schema.tables
    assert [name for name, each in tables.items() if each.persons] == ["patienten"]
    assert tables["aufenthalte"].same == {"geschlecht": "geschlecht"}
    assert tables["aufenthalte"].dates == ("aufnahmedatum",)
    assert tables["patienten"].direct_identifiers == ("nachname",)
