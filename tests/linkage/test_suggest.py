"""Suggestions: kinds by names and values, rules within the wanted number of pairs."""

import itertools
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from linkage.linked_tables import people, two_clinics, with_errors

from sfumato.core.errors import InputError
from sfumato.linkage.column_meanings import kind_by_header, take_sample
from sfumato.linkage.link_spec import ColumnKind, Mode, Part
from sfumato.linkage.spec_suggestion import Sampled, choose_rules, imagine, pairs_of, suggest_links
from sfumato.schema import Schema
from sfumato.table.table_files import open_source


@pytest.mark.parametrize(
    ("kind", "headers"),
    [
        (ColumnKind.GIVEN_NAME, " given_name|First Name|forename|fname|middle_name|firstName"),
        (ColumnKind.SURNAME, "surname|Last-Name|family name|lname|maiden_name|LASTNAME"),
        (ColumnKind.FULL_NAME, "name|full_name|Patient Name|first_and_surname"),
        (ColumnKind.DATE, " date_of_birth|dob|Birth Date|birthdate|DateOfBirth"),
        (ColumnKind.POSTCODE, " postcode|zip|ZIP code|postcode_fake|postal code|plz"),
        (ColumnKind.PHONE, "phone|Mobile Number|telephone_1|cell"),
        (ColumnKind.EMAIL, "email|E-mail address|mail"),
        (ColumnKind.IDENTIFIER, " soc_sec_id|SSN|nhs_number|mrn|social security number"),
        (ColumnKind.NUMBER, "street_number|house no|yob|birth_year"),
        (ColumnKind.ADDRESS, " address_1|street|city|Suburb|birth_place|town"),
        (ColumnKind.CATEGORY, "sex|Gender|state|county|occupation|ethnicity"),
        (None, "cluster|rec_id|diagnosis|visit_date|income|drug_name|hospital name|cost"),
    ],
)
def test_kinds_by_header(kind, headers):
    assert {header: kind_by_header(header) for header in headers.split("|")} == dict.fromkeys(
        headers.split("|"), kind
    )


def test_two_clinics():
    one, two = two_clinics()
    two = two.rename_columns(["id", "Forename", "SURNAME", " dob", "postcode", "mobile", "cost"])
    suggestion = suggest_links({"one": one, "two": two})
    spec = suggestion.spec
    assert spec.mode is Mode.LINK_ONLY
    assert spec.id == "id"
    assert {name: column.kind.value for name, column in spec.columns.items()} == {
        "given_name": "given name",
        "surname": "surname",
        "dob": "date",
        "postcode": "postcode",
        "phone": "phone",
    }
    assert spec.rename == {"two": {"given_name": "Forename", "phone": "mobile"}}
    assert len(spec.blocking) > 1
    assert len({rule[0].partition(":")[0] for rule in spec.blocking}) > 1
    assert set(suggestion.notes) == {
        *spec.columns,
        *(f"blocking {i}" for i in range(len(spec.blocking))),
    }


def test_a_schema_keeps_columns_out():
    one, two = two_clinics()
    schema = Schema(
        quasi_identifiers=["postcode"],
        sensitive=["phone"],
        direct_identifiers=["given_name"],
        insensitive=["surname"],
    )
    spec = suggest_links({"one": one, "two": two}, schema).spec
    assert set(spec.columns) == {"given_name", "postcode", "dob"}


def test_direct_identifiers_of_a_schema_are_seen_by_their_looks():
    columns = people(200)
    table = pa.table({"nom": columns["surname"], "ne_le": columns["dob"], "x": columns["phone"]})
    schema = Schema(quasi_identifiers=["y"], direct_identifiers=["nom", "ne_le", "x"])
    spec = suggest_links({"one": table}, schema).spec
    assert [column.kind.value for column in spec.columns.values()] == [
        "surname",
        "date",
        "identifier",
    ]
    assert spec.mode is Mode.DEDUPE_ONLY


def test_columns_that_say_nothing_are_left_out():
    columns = people(300)
    columns["full_name"] = [f"{g} {s}" for g, s in zip(*list(columns.values())[:2], strict=True)]
    columns["surname_again"] = columns["surname"]
    columns["email"] = ["unknown"] * 299 + ["?"]
    columns["birth_year"] = [day[:4] for day in columns["dob"]]
    columns["sex"] = ["f"] * 300
    columns["date_of_birth"] = ["soon"] * 299 + ["19900101"]
    columns["mobile"] = [None] * 300
    spec = suggest_links({"one": pa.table({k: list(v) for k, v in columns.items()})}).spec
    assert set(spec.columns) == {"given_name", "surname", "dob", "postcode", "phone"}


def test_texts_that_mean_missing():
    columns = with_errors(people(300))
    columns["surname"][:20] = "N/A"
    spec = suggest_links({"one": pa.table({k: list(v) for k, v in columns.items()})}).spec
    assert spec.missing == ("N/A",)


@pytest.mark.parametrize(
    "table",
    [
        {"cost": [1.5, 2.5], "diagnosis": ["a", "b"]},
        {"surname": ["smith", "smith"]},
        {"surname": [None, None]},
    ],
)
def test_nothing_to_compare(table):
    with pytest.raises(InputError, match="who people are"):
        suggest_links({"one": pa.table(table)})


def test_no_rule_with_few_enough_pairs():
    one, two = two_clinics()
    tables = {"one": one.select(["surname"]), "two": two.select(["surname"])}
    with pytest.raises(InputError, match="no blocking rule with at most 50 pairs"):
        suggest_links(tables, max_pairs=50)


def test_rules_stay_within_the_wanted_pairs():
    columns = [("surname", ColumnKind.SURNAME, 0.9), ("dob", ColumnKind.DATE, 1.0)]
    atoms = imagine(columns, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    codes = rng.integers(1, 200, (len(atoms), 500)).astype(np.uint64)
    rules = choose_rules(atoms, [Sampled(5000, codes)], Mode.DEDUPE_ONLY, 20_000)
    assert rules
    assert sum(rule.pairs for rule in rules) <= 20_000


def test_a_rule_that_catches_as_much_with_fewer_pairs_is_taken():
    """Two parts that catch the same matches, of 10 and 1,000 values; the third catches no more."""
    columns = [(name, ColumnKind.CATEGORY, 1.0) for name in "abc"]
    [atom, *_] = imagine(columns, np.random.default_rng(0))
    atoms = [replace(atom, part=Part(name, "")) for name in "abc"]
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(1, n, 2000) for n in (10, 1000, 100)]).astype(np.uint64)
    [rule] = choose_rules(atoms, [Sampled(2000, codes)], Mode.DEDUPE_ONLY, 3_000_000)
    assert rule.parts == (1,)


@pytest.mark.parametrize("mode", list(Mode))
def test_pairs_of_a_rule_are_counted(mode):
    rng = np.random.default_rng(7)
    sizes = (30,) if mode is Mode.DEDUPE_ONLY else (20, 15, 10)
    codes = [rng.integers(0, 4, (2, size)).astype(np.uint64) for size in sizes]
    records = [(s, tuple(c)) for s, code in enumerate(codes) for c in code.T.tolist()]
    expected = 0
    for (source, one), (other_source, other) in itertools.combinations(records, 2):
        allowed = {
            Mode.LINK_ONLY: source != other_source,
            Mode.DEDUPE_ONLY: source == other_source,
            Mode.LINK_AND_DEDUPE: True,
        }[mode]
        expected += allowed and one == other and 0 not in one
    sources = [Sampled(code.shape[1], code) for code in codes]
    assert pairs_of((0, 1), sources, mode) == expected


def test_samples_are_spread_over_all_records():
    table = pa.table({"a": [str(i) for i in range(5000)], "b": range(5000)})
    source = open_source(table)
    sample = take_sample(source, ["a"], 300)
    assert sample.rows == 5000
    assert sample.columns.column("a").to_pylist() == [str(i) for i in range(0, 5000, 32)]


def test_a_schema_hides_names_and_says_nothing_of_what_they_mean():
    one, two = two_clinics()
    one = one.select(["given_name", "surname", "dob"])
    two = two.select(one.column_names).rename_columns(["PERNAME1", "PERNAME2", "dob"])
    schema = Schema(
        quasi_identifiers={"dob": {}},
        direct_identifiers=["given_name", "surname", "PERNAME1", "PERNAME2"],
    )
    spec = suggest_links({"census": one, "register": two}, schema).spec
    kinds = {name: column.kind for name, column in spec.columns.items()}
    assert kinds == {
        "given_name": ColumnKind.GIVEN_NAME,
        "surname": ColumnKind.SURNAME,
        "dob": ColumnKind.DATE,
    }
    assert spec.rename["register"] == {"given_name": "PERNAME1", "surname": "PERNAME2"}
