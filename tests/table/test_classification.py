"""The gate before every release: whether each column is classified, and the persons are named."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from few_cases import fast_first

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.schema.roles import Unclassified
from sfumato.table.classification import open_classified
from sfumato.table.person_candidates import person_candidates, person_candidates_of
from sfumato.table.schema_guess import guess_schema
from sfumato.table.table_files import open_source

Make = Callable[[int], Any]

SEEDS = fast_first(1, range(20))


def _makers(rng: np.random.Generator) -> list[Make]:
    """Ages, sexes, postcodes, regions and years: what does not change about a person."""
    return [
        lambda n: rng.integers(18, 95, n),
        lambda n: rng.choice(["m", "f"], n),
        lambda n: rng.integers(1000, 9999, n),
        lambda n: rng.choice(list("ABCDEFG"), n),
        lambda n: rng.integers(1930, 2005, n),
    ]


def _of_events(rng: np.random.Generator) -> list[Make]:
    """Codes, amounts and months."""
    return [
        lambda n: rng.choice([f"{chapter}{code}" for chapter in "ABCDE" for code in range(40)], n),
        lambda n: np.round(rng.lognormal(4, 1, n), 2),
        lambda n: rng.integers(0, 12, n),
    ]


def _header(rng: np.random.Generator) -> str:
    return "".join(rng.choice(list(string.ascii_lowercase), 4)) + str(rng.integers(10))


def _shuffled(columns: dict[str, Any], rng: np.random.Generator) -> pa.Table:
    names = list(rng.permutation(list(columns)))
    rows = rng.permutation(len(columns[names[0]]))
    return pa.table({name: columns[name][rows] for name in names})


def events(seed: int) -> tuple[pa.Table, str, list[str]]:
    """Events of persons under random headers: the table, its person column, what is constant."""
    rng = np.random.default_rng(seed)
    persons = int(rng.integers(60, 2000))
    person = np.repeat(np.arange(persons), 1 + rng.poisson(rng.uniform(1, 8), persons))
    numbers = rng.permutation(10**6)[:persons]
    form = ("{}", "P{:06d}", "{:x}")[seed % 3]
    ids = numbers if form == "{}" else np.array([form.format(n) for n in numbers])
    named = _header(rng)
    columns: dict[str, Any] = {named: ids[person]}
    movers, constant = rng.uniform(0, 0.05), []
    for make in rng.permutation(np.array(_makers(rng), dtype=object))[: 1 + seed % 5]:
        moved = rng.random(len(person)) < movers
        constant.append(_header(rng))
        columns[constant[-1]] = np.where(moved, make(len(person)), make(persons)[person])
    for make in _of_events(rng):
        columns[_header(rng)] = make(len(person))
    return _shuffled(columns, rng), named, constant


def one_record_each(seed: int) -> pa.Table:
    """A table with one record a person under random headers."""
    rng = np.random.default_rng(1000 + seed)
    records = int(rng.integers(200, 5000))
    makers = [
        *_makers(rng),
        *_of_events(rng),
        lambda n: rng.permutation(10**6)[:n],
        lambda n: rng.integers(1000, 80_000, n),
        lambda n: rng.zipf(1.5, n) % 500,
    ]
    chosen = rng.permutation(np.array(makers, dtype=object))[: rng.integers(5, 12)]
    return _shuffled({_header(rng): make(records) for make in chosen}, rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_person_is_found_by_what_is_constant_within_it(seed: int, tmp_path: Path) -> None:
    table, person, constant = events(seed)
    guess = guess_schema(open_source(table))
    assert guess.schema.person == person
    assert "its values repeat" in guess.notes[person]
    assert not set(constant) & set(guess.schema.insensitive), "who knows them finds the person"
    kept = sf.PidKAnonymity(5)
    quasi = dict.fromkeys(constant, sf.QuasiIdentifier())
    others = [name for name in table.column_names if name not in {person, *constant}]
    with pytest.raises(InputError, match=f'person = "{person}"') as stopped:
        sf.anonymize(table, sf.Schema(quasi_identifiers=quasi, insensitive=others), kept)
    assert f'insensitive = ["{person}"' not in str(stopped.value), "a line that lets persons out"
    as_sensitive = sf.Schema(quasi_identifiers=quasi, insensitive=others, sensitive=[person])
    with pytest.raises(InputError, match=f"column '{person}' looks like one"):
        sf.anonymize(table, as_sensitive, kept)
    with pytest.raises(InputError, match=f"column '{person}' looks like one"):
        open_classified(
            table, sf.Schema(quasi_identifiers=quasi, insensitive=others), Unclassified.DROP
        )
    made_up = {"quasi_identifiers": quasi, "accepted": dict.fromkeys(others, "made up")}
    removed = sf.Schema(**made_up, insensitive=others, direct_identifiers=[person])
    assert open_classified(table, removed).records == len(table)
    insensitive = sf.Schema(**made_up, insensitive=[*others, person])
    with pytest.raises(InputError, match=f"column '{person}' must not give away"):
        open_classified(table, insensitive)
    reasons = {person: "a code of the ward", **dict.fromkeys(others, "made up")}
    for schema in (as_sensitive, insensitive):
        accepted = schema.model_copy(update={"accepted": reasons})
        assert open_classified(table, accepted).records == len(table)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_asked_where_each_record_is_a_person(seed: int) -> None:
    table = one_record_each(seed)
    assert person_candidates(table) == []
    first, *others = table.column_names
    schema = sf.Schema(quasi_identifiers=[first], sensitive=others)
    assert open_classified(table, schema).records == len(table)


@pytest.mark.slow
def test_a_file_in_the_order_of_its_years_is_looked_at_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    persons, years = 120_000, 3
    once = {
        "x7": rng.permutation(10**6)[:persons],
        "age": rng.integers(18, 90, persons),
        "zip": rng.integers(100, 999, persons),
    }
    panel = pa.table({name: np.tile(values, years) for name, values in once.items()})
    assert len(set(panel["x7"].to_pylist()[:100_000])) == 100_000
    file = tmp_path / "panel.csv"
    csv.write_csv(panel, file)
    found = person_candidates_of(open_source(file), ["x7"])
    assert [each.name for each in found] == ["x7"]
    assert (found[0].values, found[0].records) == (persons, persons * years)
    assert guess_schema(open_source(file)).schema.person == "x7"


@pytest.mark.parametrize(
    "columns",
    [
        # A postcode has a region, and a code a chapter: of the order of the codes themselves.
        {"a": lambda i: 10_000 + i % 500, "b": lambda i: f"region {i % 500 // 50}"},
        {"a": lambda i: f"{i % 200:03d}.{i % 3}", "b": lambda i: f"chapter {i % 200 // 20}"},
        # A code has a label, and the label a group.
        {
            "a": lambda i: (
                f"{'abcdefghij'[i % 400 % 10]}{'klmnopqrst'[i % 400 // 10 % 10]}"
                f"{'uvwx'[i % 400 // 100]}"
            ),
            "b": lambda i: i % 400,
        },
        # The day of an event has a month and a weekday.
        {
            "a": lambda i: f"{i * 7 % 28 + 1:02d}.{i * 5 % 12 + 1:02d}.2020",
            "b": lambda i: i * 5 % 12,
            "c": lambda i: i * 7 % 28 % 7,
        },
    ],
)
def test_what_follows_from_a_code_makes_no_person_of_it(
    columns: dict[str, Callable[[int], object]],
) -> None:
    rows = np.random.default_rng(3).permutation(4000).tolist()
    table = pa.table({name: [make(i) for i in rows] for name, make in columns.items()})
    assert [each.name for each in person_candidates(table, ["a"])] == []


def _visits() -> dict[str, Sequence[object]]:
    return {
        "patient": [i // 4 for i in range(400)],
        "age": [20 + i // 4 % 60 for i in range(400)],
        "house": list(range(400)),
        "charge": [i * 37 % 400 * 7.5 for i in range(400)],
    }


def test_columns_that_nobody_classified_stop_a_release(tmp_path: Path) -> None:
    schema = sf.Schema(person="patient", quasi_identifiers=["age"], insensitive=["charge"])
    with pytest.raises(InputError) as stopped:
        sf.anonymize(pa.table(_visits()), schema, sf.GBalance(0.5))
    assert "column 'house'" in str(stopped.value)
    assert 'insensitive = ["charge", "house"]' in str(stopped.value)
    assert any("'house'" in each for each in sf.assess(pa.table(_visits()), schema).warnings)
    release = sf.anonymize(pa.table(_visits()), schema, sf.GBalance(0.5), unclassified="drop")
    assert set(release.data.column_names) == {"patient", "age", "charge"}
    assert release.manifest.options.to_dict()["unclassified"] == "drop"
    assert "house" in release.schema.undecided
    with pytest.raises(InputError, match="parameter unclassified"):
        sf.anonymize(pa.table(_visits()), schema, sf.GBalance(0.5), unclassified="keep")


def test_a_question_stops_every_release() -> None:
    schema = sf.Schema(
        person="patient",
        quasi_identifiers=["age"],
        insensitive=["charge"],
        undecided={"house": "Does the buyer know it?"},
    )
    for unclassified in ("refuse", "drop"):
        with pytest.raises(InputError, match="must be decided about"):
            sf.anonymize(pa.table(_visits()), schema, sf.GBalance(0.5), unclassified=unclassified)
    assert any("[undecided]" in each for each in sf.assess(pa.table(_visits()), schema).warnings)


def test_what_is_accepted_must_be_a_column_and_needs_a_reason() -> None:
    schema = sf.Schema(quasi_identifiers=["age"], accepted={"hous": "known"})
    with pytest.raises(InputError, match="'hous', which the schema names as accepted"):
        sf.assess(pa.table(_visits()), schema)
    with pytest.raises(InputError, match="must say something"):
        sf.Schema(quasi_identifiers=["age"], accepted={"house": " "})


def test_what_is_accepted_is_not_warned_of() -> None:
    fields: dict[str, Any] = {"person": "patient", "quasi_identifiers": ["age"]}
    warned = sf.assess(pa.table(_visits()), sf.Schema(**fields, sensitive=["house"])).warnings
    assert any("as many values as records" in each for each in warned)
    accepted = sf.Schema(**fields, sensitive=["house"], accepted={"house": "drawn anew each time"})
    silent = sf.assess(pa.table(_visits()), accepted).warnings
    assert not any("as many values as records" in each for each in silent)
