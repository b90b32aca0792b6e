"""The tables of a schema: what is refused, and what is kept."""

from __future__ import annotations

import pytest

from sfumato.core.errors import InputError
from sfumato.schema import Schema, check_schema, dump_schema, load_schema

PEOPLE = {"persons": True, "key": "patient", "quasi_identifiers": {"sex": "categorical"}}
TOWNS = {"lookup": True, "key": "town", "insensitive": ["name"]}
STAYS = {"key": "stay", "of": {"patient": "patients"}, "events": {"ward": "code", "day": "date"}}


def test_tables_are_written_and_read_again(tmp_path):
    schema = Schema(
        tables={
            "patients": PEOPLE,
            "stays": {**STAYS, "same": {"age": "sex at day"}, "orphans": "drop"},
            "codes": {"of": {"stay": "stays"}, "events": {"icd": {"hierarchy": {"lengths": [3]}}}},
        }
    )
    path = tmp_path / "schema.toml"
    path.write_text(dump_schema(schema))
    assert load_schema(path) == schema


@pytest.mark.parametrize(
    ("tables", "match"),
    [
        ({"stays": STAYS}, "persons = true"),
        ({"patients": PEOPLE, "others": PEOPLE}, "persons = true"),
        ({"patients": PEOPLE, "stays": {**STAYS, "of": {}}}, "leads to patients"),
        ({"patients": PEOPLE, "stays": {**STAYS, "of": {"patient": "people"}}}, "name a table"),
        ({"patients": {"persons": True, "key": "patient"}}, "quasi_identifiers"),
        ({"patients": PEOPLE, "stays": {**STAYS, "insensitive": ["patient"]}}, "one role"),
        ({"patients": PEOPLE, "stays": {**STAYS, "same": {"age": "age"}}}, "quasi-identifier"),
        ({"patients": PEOPLE, "stays": {**STAYS, "accepted": {"no": "why"}}}, "'no'.*'accepted'"),
        ({"patients": {**PEOPLE, "of": {"town": "towns"}}, "towns": TOWNS}, "quasi_identifiers"),
        ({"patients": PEOPLE, "a": {**TOWNS, "of": {"b": "b"}}, "b": TOWNS}, "no 'of'"),
        (
            {
                "patients": PEOPLE,
                "stays": {**STAYS, "of": {"stay": "towns", "patient": "patients"}},
                "towns": TOWNS,
            },
            "lookup table",
        ),
        (
            {
                "patients": PEOPLE,
                "a": {"key": "a", "of": {"b": "b", "p": "patients"}},
                "b": {"key": "b", "of": {"a": "a"}},
            },
            "lead back",
        ),
    ],
)
def test_tables_that_are_no_database_are_refused(tables, match):
    with pytest.raises(InputError, match=match):
        Schema(tables=tables)


def test_a_schema_of_tables_is_not_that_of_a_file():
    with pytest.raises(InputError, match=r"2 tables.*sfumato\.Tables"):
        check_schema(Schema(tables={"patients": PEOPLE, "stays": STAYS}))


def test_roles_beside_tables_are_refused():
    with pytest.raises(InputError, match="under"):
        Schema(tables={"patients": PEOPLE}, sensitive=["icd"])


def test_what_may_go_out_is_named_by_its_table():
    wards = {"lookup": True, "key": "ward", "insensitive": ["floor"]}
    stays = {**STAYS, "of": {"patient": "patients", "bed": "wards"}, "insensitive": ["day"]}
    people = {**PEOPLE, "sensitive": ["income"]}
    schema = Schema(tables={"patients": people, "stays": stays, "wards": wards})
    assert {*schema.further} == {"patients.income", "stays.ward", "stays.day", "stays.bed"}
