"""The proposed schema: roles and kinds by names and by values."""

from __future__ import annotations

import datetime as dt
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from few_cases import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.schema import Kind, Schema, dump_schema
from sfumato.table.classification import open_classified
from sfumato.table.contents import Content
from sfumato.table.file_profile import profile
from sfumato.table.header_words import words_of
from sfumato.table.person_candidates import scale_of
from sfumato.table.schema_guess import Guess, guess_schema
from sfumato.table.table_files import open_source

CANARY = "kanarienvogel"
N = 400


def guess(columns: dict[str, list[Any]]) -> Guess:
    return guess_schema(open_source(pa.table(columns)))


@cache
def guess_of_visits() -> Guess:
    return guess(VISITS)


def role_of(schema: Schema, column: str) -> str:
    return next(role for role, names in schema.roles().items() if column in names)


def cycle(*values: Any) -> list[Any]:
    return [values[i % len(values)] for i in range(N)]


VISITS: dict[str, list[Any]] = {
    "visit_id": list(range(N)),
    "patient": [f"{CANARY}{i // 3}" for i in range(N)],
    "last_name": [f"{CANARY}{i // 3}" for i in range(N)],
    "birthYear": [1930 + i // 3 % 80 for i in range(N)],
    "SEX": cycle(1, 2),
    "zip": [f"{i % 90:05d}" for i in range(N)],
    "education": cycle("Bachelors", "Masters", "HS-grad", None),
    "admitted": [dt.date(2020, 1, 1) + dt.timedelta(i) for i in range(N)],
    "icd9": [f"{i * i % 61}.{i * i % 7}" for i in range(N)],
    "amount": (np.random.default_rng(1).permutation(N) * 1.37).tolist(),
    "clinic": cycle(CANARY),
    "remark2": [f"she said that {CANARY} came with her to visit {i}" for i in range(N)],
    "severity": cycle("mild", "Severe", "moderate"),
}

ROLES = {
    "visit_id": "direct identifier",
    "patient": "person",
    "last_name": "direct identifier",
    "birthYear": "quasi-identifier",
    "SEX": "quasi-identifier",
    "zip": "quasi-identifier",
    "education": "quasi-identifier",
    "admitted": "quasi-identifier",
    "icd9": "sensitive",
    "amount": "sensitive",
    "clinic": "insensitive",
    "remark2": "direct identifier",
    "severity": "quasi-identifier",
}


def test_roles() -> None:
    schema = guess_of_visits().schema
    assert {name: role_of(schema, name) for name in VISITS} == ROLES


def test_kinds() -> None:
    quasi = guess_of_visits().schema.quasi_identifiers
    assert {name: spec.kind for name, spec in quasi.items()} == {
        "birthYear": Kind.NUMERIC,
        "SEX": Kind.CATEGORICAL,
        "zip": Kind.NUMERIC,
        "education": Kind.ORDERED,
        "admitted": Kind.NUMERIC,
        "severity": Kind.ORDERED,
    }
    assert quasi["education"].order == ("HS-grad", "Bachelors", "Masters")
    assert quasi["severity"].order == ("mild", "moderate", "Severe")


@pytest.mark.slow
def test_a_file_of_text_gives_the_same(tmp_path: Path) -> None:
    from sfumato.table.table_files import write_table

    write_table(pa.table(VISITS), tmp_path / "t.csv")
    assert guess_schema(open_source(tmp_path / "t.csv")).schema == guess_of_visits().schema


def test_every_column_has_a_note_without_values() -> None:
    notes = guess_of_visits().notes
    assert notes.keys() == VISITS.keys()
    assert CANARY not in "".join(notes.values()).lower()
    assert "check it" in notes["amount"]
    assert "missing in 25 %" in notes["education"]
    assert "free text" in notes["remark2"]


def test_no_value_reaches_the_schema() -> None:
    found = guess_of_visits()
    assert CANARY not in dump_schema(found.schema, found.notes)


def test_texts_that_mean_missing() -> None:
    schema = guess({"age": cycle("30", "41", "?"), "sex": cycle("f", "m", "NA")}).schema
    assert schema.missing == ("?", "NA")
    assert schema.quasi_identifiers["age"].kind is Kind.NUMERIC


@pytest.mark.parametrize(
    "columns",
    [
        {"x": list(range(N))},
        {"x": cycle(1)},
        {"x": [None] * N},
        {"patient": [str(i) for i in range(N)], "name": [str(i) for i in range(N)]},
        {"patient": [str(i // 2) for i in range(N)], "icd9": cycle("a", "b", "c")},
        {"patient_id": [str(i // 2) for i in range(N)], "clinic": cycle("a")},
        {"raw": cycle(b"\xff", b"\xfe")},
    ],
)
def test_there_is_always_a_quasi_identifier(columns: dict[str, list[Any]]) -> None:
    found = guess(columns)
    (name,) = found.schema.quasi_identifiers
    assert "nothing looks like a quasi-identifier" in found.notes[name]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("PersonID", "person"), ("DUPERSID", "person"), ("subject_no", "person"),
        ("pid", "person"), ("client id", "person"), ("hospital_id", "person"),
        ("mrn", "person"), ("paid", "sensitive"), ("patient_count", "sensitive"),
    ],
)  # fmt: skip
def test_person_columns(name: str, role: str) -> None:
    columns = {name: [i % 133 + 5 for i in range(N)], "sex": ["fm"[i % 133 % 2] for i in range(N)]}
    if role == "sensitive":
        columns[name] = [i * 7 % 399 * 0.5 for i in range(N)]
    assert role_of(guess(columns).schema, name) == role


def test_the_number_of_a_visit_is_not_a_person() -> None:
    columns = {"patient_name": [f"n{i // 2}" for i in range(N)], "age": cycle(1, 2, 3)}
    schema = guess(columns).schema
    assert schema.person is None
    assert schema.direct_identifiers == ("patient_name",)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("birthYear", ("birth", "year")), ("date_of_birth", ("date", "of", "birth")),
        ("ZIPCode", ("zip", "code")), ("marital-status", ("marital", "status")),
        ("ICD9CODX", ("icd", "9", "codx")), (" given_name", ("given", "name")),
        ("DOBYY", ("dobyy",)), ("prénom", ("prenom",)), ("ETÀ", ("eta",)), ("", ()), ("__", ()),
    ],
)  # fmt: skip
def test_words(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


def test_scales() -> None:
    assert scale_of(["High", "low"]) == ("low", "High")
    assert scale_of(["low", "Low"]) is None
    assert scale_of(["low", "blue"]) is None
    assert scale_of(["low"]) is None


ADULT = {"sex", "age", "race", "marital-status", "education", "native-country", "workclass",
         "occupation"}  # fmt: skip


@pytest.mark.slow
def test_shared_data(shared_data: Path) -> None:
    def found(name: str) -> Schema:
        return guess_schema(open_source(shared_data / name)).schema

    adult = found("adult/adult.csv")
    assert set(adult.quasi_identifiers) == ADULT
    assert adult.sensitive == ("salary-class",)
    assert adult.quasi_identifiers["age"].kind is Kind.NUMERIC
    order = adult.quasi_identifiers["education"].order
    assert order is not None
    assert (order[0], order[-1], len(order)) == ("Preschool", "Doctorate", 16)
    conditions = found("informs/conditions_2005.parquet")
    assert conditions.person == "DUPERSID"
    demographics = found("informs/demographics_2005.parquet")
    assert demographics.person == "DUPERSID"
    assert {"DOBYY", "SEX", "RACEX", "EDUCYEAR", "marry", "income"} <= set(
        demographics.quasi_identifiers
    )
    febrl = found("febrl/dataset1.csv")
    assert {" given_name", " surname", " address_1"} <= set(febrl.direct_identifiers)
    assert {" postcode", " state", " date_of_birth"} <= set(febrl.quasi_identifiers)


values = st.one_of(
    st.lists(st.none() | st.text(max_size=5), min_size=5, max_size=5),
    st.lists(st.none() | st.integers(0, 9), min_size=5, max_size=5),
    st.lists(st.none() | st.floats(), min_size=5, max_size=5),
    st.lists(st.none() | st.booleans(), min_size=5, max_size=5),
    st.lists(st.none() | st.dates(), min_size=5, max_size=5),
)


@settings(max_examples=examples(100))
@example({"visit_id": [None] * 5, "patient": [None, None, None, 1.7976931348623157e308, -1e292]})
@given(st.dictionaries(st.sampled_from(list(VISITS)) | st.text("abid_", min_size=1), values,
                       min_size=1, max_size=4))  # fmt: skip
def test_any_table_gives_a_schema_of_its_columns(columns: dict[str, list[Any]]) -> None:
    found = guess(columns)
    assert sorted(found.schema.columns()) == sorted(columns)
    assert found.notes.keys() == columns.keys()


def test_only_the_first_records_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.table.file_profile.ROWS", 10)
    found = guess({"age": [7] * 10 + [8] * 10, "sex": cycle("f", "m")[:20]})
    assert "one value throughout" in found.notes["age"]


STRANGE = [f"{a}{b}u" for a in ("Qua", "Bre", "Zli", "Tro", "Hna") for b in ("mpi", "rtu", "ske")]
STRANGE += [f"{each}ra" for each in STRANGE]


def test_words_of_no_known_kind_are_not_released_unasked() -> None:
    names = [STRANGE[(i * 7) % 30] for i in range(N)]
    found = guess(
        {"pid": [f"K{i // 2:05d}" for i in range(N)], "v2": names, "v3": cycle(1, 2, 2, 1, 1, 2, 1)}
    )
    assert "v2" in found.questions
    assert role_of(found.answered(), "v2") == "direct identifier"


def test_a_file_of_households_and_persons_alone_is_proposed() -> None:
    found = guess(
        {"PERSON_ID": [f"P{i:05d}" for i in range(N)], "hhid": [i // 3 for i in range(N)]}
    )
    assert set(found.roles) == {"PERSON_ID", "hhid"}


def test_a_postcode_within_which_persons_differ_is_not_the_person() -> None:
    found = guess({
        "v1": [f"{10_000 + i % 60 * 11}" for i in range(N)],
        "v2": [f"place{i % 60 // 2}" for i in range(N)],
        "v3": [("m", "f")[(i * i) % 7 % 2] for i in range(N)],
        "v4": [f"{1930 + i * 37 % 80}-0{1 + i % 9}-11" for i in range(N)],
    })  # fmt: skip
    assert found.schema.person is None


def households() -> dict[str, list[Any]]:
    """Records of households of three, whose town and rent are one."""
    return {
        "v1": [i // 3 % 110 + 1 for i in range(N)],
        "v2": [("m", "f")[(i * i) % 7 % 2] for i in range(N)],
        "v3": [f"{1930 + i * 37 % 80}-0{1 + i % 9}-11" for i in range(N)],
        "v4": [f"place{(i // 3 % 110) ** 2 % 17}" for i in range(N)],
        "v5": [500 + (i // 3 % 110) ** 2 % 13 for i in range(N)],
    }


def test_numbers_of_households_are_neither_ages_nor_persons() -> None:
    found = guess(households())
    assert "v1" in found.questions
    assert found.answered().household == "v1"
    named = {"household_id" if name == "v1" else name: each for name, each in households().items()}
    assert guess(named).schema.household == "household_id"
    line = {"PersonNr": [1 + i % 3 for i in range(N)], **named}
    assert guess(line).schema.person is None
    twice = {**named, "hhid": [9000 + each for each in named["household_id"]]}
    assert guess(twice).schema.direct_identifiers == ("hhid",)


def test_the_number_of_a_person_is_no_postcode_that_tells_names() -> None:
    person = [i // 4 for i in range(N)]
    found = guess({
        "v1": [f"{10_078 + 3 * each}" for each in person],
        "v2": [STRANGE[each * 7 % 30] for each in person],
        "v3": [each * 29 % 80 for each in person],
        "v4": [i * 7919 % N for i in range(N)],
    })  # fmt: skip
    assert role_of(found.answered(), "v2") == "direct identifier"


def test_letters_that_number_persons_are_no_given_names() -> None:
    letters = [f"{'KQZVX'[i % 5]}{'QKXZV'[i // 5 % 5]}{'BDGHJ'[i // 25]}WQ" for i in range(100)]
    person = [i // 4 for i in range(N)]
    found = guess({
        "id_personne": [letters[each] for each in person],
        "sexe": ["fm"[each * each % 7 % 2] for each in person],
        "age": [each * 29 % 80 for each in person],
    })  # fmt: skip
    assert found.schema.person == "id_personne"


def test_a_column_that_gives_away_another_is_a_quasi_identifier() -> None:
    ages = [18 + i * 7919 % 70 for i in range(N)]
    columns = {"age": ages, "sex": cycle("f", "m"), "due": [each * 12.5 + 0.25 for each in ages]}
    found = guess(columns)
    assert role_of(found.schema, "due") == "quasi-identifier"
    assert "tells 'age'" in found.notes["due"]
    open_classified(open_source(pa.table(columns)), found.schema)


@pytest.mark.parametrize("header", ["surname", "caseworker", "Nachname", "doktor"])
def test_few_names_under_a_header_that_says_so_are_not_released(header: str) -> None:
    found = guess({header: [STRANGE[i % 12] for i in range(N)], "age": [i % 80 for i in range(N)]})
    assert role_of(found.schema, header) == "direct identifier"


def few_people(people: int, header: int) -> dict[str, list[Any]]:
    """Records of few people: what names, numbers and reaches them, in three kinds of headers."""
    named = {
        ("patient_name", "name", "v1"): [f"{each} Kwabetsi" for each in STRANGE],
        ("nhs_number", "number_2", "v2"): [f"{9434765919 + 31 * i}" for i in range(9)],
        ("mobile", "telefon", "v3"): [f"+49 171 55{i} 23{i}" for i in range(9)],
        ("email", "contact", "v4"): [f"k{i}@mail.example" for i in range(9)],
        ("address", "adresse", "v5"): [f"Kvartzweg {i}3, 8010 Graz" for i in range(9)],
        ("surname", "nachname", "v6"): ["Meier", "Weber", "Huber", *STRANGE],
    }
    return {heads[header]: [each[i % people] for i in range(N)] for heads, each in named.items()}


@pytest.mark.parametrize("header", [0, 1, 2])
@pytest.mark.parametrize("people", [1, 2, 5, 9])
def test_what_names_few_people_is_hidden_however_often_it_is_there(
    people: int, header: int
) -> None:
    columns = {**few_people(people, header), "visit": list(VISITS["admitted"])}
    found = guess({**columns, "ward": ["abcd"[i * i % 7 % 4] for i in range(N)]})
    for name in few_people(people, header):
        assert role_of(found.answered(), name) in {"direct identifier", "person"}
    assert role_of(found.answered(), "ward") == "quasi-identifier"


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("v1", "Alex Example"), ("kunde", "Anna Weber"), ("patient", "Q. Zlimpi"),
        ("v1", "943 476 5919"), ("national_id", "H-31"), ("v1", "BRCMRL69E42H802W"),
        ("v1", "850730-1234"), ("v1", "0171 1234567"), ("v1", "a.b@mail.example"),
        ("v1", "12 High Street, Leeds"), ("v1", "1961-05-03"), ("dob", "2019-05-03"),
        ("v1", "c595db47-e982-485f-8ee9-803244813893"), ("hiv", "positive"),
        ("betrifft", "Thrymskvida Oddleifsson"), ("wer", "Xqorbanu"), ("v1", "D02 X285"),
        ("v1", "Dr. Weber has seen her and said that she may go home with her son"),
    ],
)  # fmt: skip
def test_one_value_throughout_is_looked_at_before_it_is_counted(header: str, value: str) -> None:
    found = guess({"ward": cycle("a", "b", "c"), "day": VISITS["admitted"], header: [value] * N})
    assert role_of(found.answered(), header) == "direct identifier"
    assert not found.questions


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("country", "AT"), ("year", 2020), ("unit", "mg/dl"), ("v1", "ICD-10-GM-2020"),
        ("hospital", "Royal Free"), ("wave", 1), ("v1", "registry"), ("population", 1_900_000),
        ("fiscal_year", "2019/2020"), ("v1", "10000-19999"), ("price", 9.99), ("site_id", 7),
        ("abteilung", "inneres"), ("klinik", "Nord"), ("coding", "ICD"),
    ],
)  # fmt: skip
def test_one_harmless_value_throughout_stays_quiet(header: str, value: object) -> None:
    found = guess({"ward": cycle("a", "b", "c"), "day": VISITS["admitted"], header: [value] * N})
    assert role_of(found.schema, header) == "insensitive"


@pytest.mark.parametrize("value", ["Framingham", "Royal Free"])
def test_one_value_of_several_people_names_none_of_them(value: str) -> None:
    people = {"age": [20 + i * i % 61 for i in range(N)], "sex": cycle("f", "m")}
    assert role_of(guess({**people, "study": [value] * N}).schema, "study") == "insensitive"


@pytest.mark.parametrize("form", ["{} {}", "{}{}"])
@pytest.mark.parametrize("houses", [3, 40, N])
def test_postal_codes_of_one_house_are_left_out(houses: int, form: str) -> None:
    signs = "ACDEFHKNPRTVWXY"
    codes = [
        form.format(
            ("D02", "A96", "T12", "D6W")[i % 4], f"{signs[i % 15]}{i % 7}{i // 15 % 8}{i % 9}"
        )
        for i in range(houses)
    ]
    found = guess(
        {"age": [20 + i * i % 61 for i in range(N)], "v1": [codes[i % houses] for i in range(N)]}
    )
    assert role_of(found.answered(), "v1") == "direct identifier"


def test_of_one_person_nothing_that_others_know_is_released() -> None:
    one = {"patient_name": ["Alex Example"] * N, "sex": ["f"] * N, "birth_year": [1961] * N}
    schema = guess({**one, "ward": cycle("a", "b", "c")}).schema
    assert set(schema.direct_identifiers) == set(one)


@pytest.mark.parametrize("header", ["hiv", "v7", "date_of_death"])
@pytest.mark.parametrize(
    "value", ["HIV", "X", "yes", "1", "deceased", "2020-03-01", "unknown", "?", "NA", 1, True]
)
def test_a_value_or_none_is_sensitive(header: str, value: object) -> None:
    columns = {"age": [20 + i * i % 61 for i in range(N)], "sex": cycle("f", "m")}
    flags = [value if i % 11 == 0 else None for i in range(N)]
    assert role_of(guess({**columns, header: flags}).schema, header) == "sensitive"


@pytest.mark.parametrize("people", [3, 7])
def test_few_people_are_the_persons_of_their_records(people: int) -> None:
    own = few_people(people, 2)
    found = guess({
        **{name: own[name] for name in ("v1", "v2", "v5")},
        "v7": [f"{1930 + i % people * 9}-04-0{1 + i % people}" for i in range(N)],
        "v8": ["fm"[i % people % 2] for i in range(N)],
        "v9": VISITS["admitted"],
    })  # fmt: skip
    assert found.schema.person == "v2"


LONE_NAMES = (
    "Anna Piet Wytze Sjoukje Terzis Quilp Aoife Noor Tijs", "HOEKSTRA HADDAD JANSEN ZLIMPI BAKKER",
    "wytze sanne piet aoife quilp", "de Vries|O'Brien|van Dijk|Kvist-Berg|Terzis",
)  # fmt: skip


@pytest.mark.parametrize("header", ["x1", "col_b"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("people", [2, 5, 9])
def test_lone_names_of_few_people_are_asked_about_or_hidden(
    people: int, known: bool, header: str
) -> None:
    for names in LONE_NAMES:
        words = (names.split("|") if "|" in names else names.split())[:people]
        who = [i % len(words) for i in range(40 * len(words))]
        columns = {header: [words[i] for i in who], "born": [1931 + 9 * i for i in who]}
        if known:
            columns["pid"] = [f"P{i}" for i in who]
        visits = {"visit": VISITS["admitted"][: len(who)], "sys": [90 + i % 83 for i in who]}
        found = guess({**columns, **visits})
        assert role_of(found.answered(), header) in {"direct identifier", "person"}, words


CATEGORIES = (
    "Internal Medicine|General Surgery|Emergency Room", "Brown|Green|Blue|Hazel",
    "Vienna|Graz|Linz|Salzburg", "Austin|Jackson|Houston|Madison", "April|May|June|July",
    "0-9999|10000-19999|20000-49999", "10,000 - 20,000|20,001 - 50,000", "2020-Q1|2020-Q2",
    "Stage II|Stage III", "Never Smoker|Current Smoker", "1990000|2490000|12500000",
    "ICD-10-GM-2019|ICD-10-GM-2020", "Metformin 500 mg|Insulin glargine", "North East|South West",
)  # fmt: skip


@pytest.mark.parametrize("words", CATEGORIES)
def test_few_categories_are_no_names(words: str) -> None:
    columns = {"age": [20 + i * i % 61 for i in range(N)], "sex": cycle("f", "m")}
    values = words.split("|")
    found = guess({**columns, "v1": [values[i * i % 11 % len(values)] for i in range(N)]})
    assert role_of(found.schema, "v1") != "direct identifier"


def survey(cells: tuple[int, ...], header: str, seed: int) -> dict[str, list[Any]]:
    """Answers of 3,000 people, with the weight of their stratum in whole numbers."""
    rng = np.random.default_rng(seed)
    strata = [rng.integers(0, each, 3000) for each in cells]
    cell = np.ravel_multi_index(strata, cells)
    weights = rng.integers(80, 2500, int(np.prod(cells)))
    found = {f"stratum{i}": each.tolist() for i, each in enumerate(strata)}
    answers = [("yes", "no")[each] for each in rng.integers(0, 2, 3000)]
    return {**found, "smoker": answers, header: weights[cell].tolist()}


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("weight", (8, 4)), ("fnlwgt", (4, 2, 5)), ("pondération", (9, 2, 5)), ("x7", (9, 2, 7, 5)),
        ("gewicht", (20, 2)), ("w", (16, 2, 6, 3)), ("factor_expansion", (300,)),
    ],
)  # fmt: skip
def test_weights_of_a_survey_are_not_the_persons(header: str, cells: tuple[int, ...]) -> None:
    found = guess(survey(cells, header, len(header)))
    assert found.schema.person is None
    if not found.questions:
        assert role_of(found.schema, header) == "quasi-identifier"
        assert "weight" in found.notes[header]


@pytest.mark.parametrize("persons", [32, 200, 628])
@pytest.mark.parametrize("form", ["from one", "with gaps", "of one length"])
def test_numbers_of_persons_are_not_taken_for_weights(persons: int, form: str) -> None:
    rng = np.random.default_rng(persons)
    drawn = rng.choice(900_000, persons, replace=False)
    ids = {"from one": np.arange(persons) + 1, "with gaps": drawn, "of one length": drawn + 100_000}
    person = rng.integers(0, persons, 6 * persons)
    of_one = {name: rng.integers(0, most, persons) for name, most in (("a", 2), ("b", 9), ("c", 6))}
    columns = {name: each[person].tolist() for name, each in of_one.items()}
    columns["icd"] = rng.choice(["E11.9", "I10", "J45.0", "C50", "F32"], 6 * persons).tolist()
    assert guess({"x7": ids[form][person].tolist(), **columns}).schema.person == "x7"


def test_a_doubtful_person_is_the_first_question() -> None:
    rng = np.random.default_rng(3)
    weights, born = np.exp(rng.normal(12, 0.6, 1500)).astype(int), rng.integers(0, 6, 1500)
    person = rng.integers(0, 1500, 3000)
    columns = {"x7": weights[person].tolist(), "race": born[person].tolist()}
    for name in "abcd":
        columns[name] = [STRANGE[i * 7 % 30] for i in rng.integers(0, 30, 3000)]
    found = guess({**columns, "sex": ["fm"[each % 2] for each in born[person]]})
    assert next(iter(found.questions)) == "x7"


def test_lists_are_left_out_and_all_else_is_judged(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = pa.table(
        {
            "codes": [[1, 2]] * 300,
            "person": rng.integers(1000, 1150, 300),
            "seen": pa.array([5] * 300, pa.duration("s")),
            "age": rng.integers(20, 90, 300),
            "info": [{"a": 1}] * 300,
        }
    )
    pq.write_table(table, tmp_path / "lists.parquet")
    for data in (table, tmp_path / "lists.parquet"):
        found = guess_schema(data)
        assert list(found.roles) == table.column_names
        assert set(found.schema.direct_identifiers) == {"codes", "seen", "info"}
        assert found.schema.person == "person"
        assert profile(data).columns["codes"].content is Content.BYTES
    with pytest.raises(InputError, match="single values"):
        guess_schema(table.select(["codes", "info"]))


@pytest.mark.parametrize("words", [("?", "NA"), ("unbekannt", "-"), ("none", ""), ("n/a", None)])
def test_two_words_for_nothing_say_something(words: tuple[str, str | None]) -> None:
    rng = np.random.default_rng(5)
    z = pa.array([words[each] for each in rng.integers(0, 2, 200)], pa.string())
    table = pa.table({"age": rng.integers(20, 90, 200), "sex": rng.choice(["m", "f"], 200), "z": z})
    assert guess_schema(table).roles["z"].role == "sensitive"
