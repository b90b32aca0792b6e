"""Dates of several tables: what is written, and what a foreign program finds by two of them."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first
from made_databases import HEADERS, Made, made_database
from release.database_intruder import dated_histories, found_by_two_dated, read

import sfumato as sf
from sfumato.release import release_result
from sfumato.release.written_events import events_again
from sfumato.release.written_tables import measured_again
from sfumato.risk.intruders import measured
from sfumato.schema import Schema
from sfumato.schema.roles import STAY_DAY
from sfumato.table.database_guess import guess_database
from sfumato.table.joined_tables import read_columns
from sfumato.table.table_files import open_source

SEEDS: list[dict[str, Any]] = [
    {"seed": 51, "people": 250, "language": "de", "style": "uuid", "two_paths": True, "empty": 0.2},
    {"seed": 52, "people": 300, "language": "fr", "style": "counted", "empty": 0.3},
    {"seed": 53, "people": 300, "language": "es", "style": "prefixed"},
    {"seed": 54, "people": 300, "language": "en", "style": "counted", "two_paths": True},
]
PROMISE = sf.KnownEvents(2, 0.15)


def dated_database(seed: int, **given: Any) -> Made:
    """A database whose stays end, too; some dates are empty."""
    made = made_database(seed, wards=False, **given)
    call = HEADERS[given.get("language", "en")].get
    stays = made.frames[call("admissions", "admissions")]
    rng = np.random.default_rng(seed)
    admitted = call("admitted", "admitted")
    days = pd.to_timedelta(rng.integers(0, 3, len(stays)), "D")
    stays["discharged"] = stays[admitted] + days
    stays.loc[rng.random(len(stays)) < 0.1, "discharged"] = None
    stays.loc[rng.random(len(stays)) < 0.03, admitted] = None
    return made


def released(made: Made, folder: Path | None, *promises: Any, **options: Any) -> sf.Release:
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    release = sf.anonymize(tables, *promises, effort=0, **options)
    return (
        release
        if folder is None
        else release.write(folder, secret=folder.with_name("release.secret"))
    )


def called(language: str) -> tuple[dict[str, str], dict[str, str], dict[str, list[str]], list[str]]:
    """Names of tables and keys, codes, dates and quasi-identifiers in a language."""
    said = HEADERS[language]

    def call(name: str) -> str:
        return said.get(name, name)

    names = {"people": "patients", "stays": "admissions", "person": "patient", "stay": "admission"}
    codes = {"admissions": "ward", "diagnoses": "icd", "labs": "test"}
    dates = {"admissions": ["admitted", "discharged"], "labs": ["taken"]}
    return (
        {what: call(name) for what, name in names.items()},
        {call(t): call(c) for t, c in codes.items()},
        {call(t): [call(each) for each in own] for t, own in dates.items()},
        [call(each) for each in ("birth_year", "sex", "zip")],
    )


def reached(release: sf.Release) -> list[tuple[float, float]]:
    """The mean and the 95th percentile of people, or of those with as many events, if higher."""
    risk = release.risk.known_events
    assert risk is not None
    return [
        (max(own.found.value, own.with_m.value), max(own.p95.value, own.p95_with_m.value))
        for own in (risk.of(1), risk.of(2))
    ]


def files_of(release: sf.Release, folder: Path) -> dict[str, Any]:
    """The files of a release, read again."""
    names = release.content.tables
    sources = {name: open_source(folder / f"{name}.csv") for name in names}
    return {name: read_columns(source, source.names) for name, source in sources.items()}


@pytest.mark.parametrize("given", fast_first(1, SEEDS))
def test_two_events_and_the_days_between_find_few(given, tmp_path):
    made = dated_database(**given)
    release = released(made, tmp_path / "out", PROMISE, sf.PidKAnonymity(5))
    made.write(tmp_path / "before")
    before, after = read(tmp_path / "before"), read(tmp_path / "out")
    names, codes, dates, quasi = called(given.get("language", "en"))
    chance, p95 = found_by_two_dated(
        before, after, names, codes, dates, quasi, seed=given["seed"], people=given["people"]
    )
    own = reached(release)[1]
    # It does not know how a code is written, and so finds no more than is counted; of each person
    # it draws two events.
    assert chance <= min(own[0] + 0.02, 0.16)
    assert p95 <= 0.34
    assert own[0] <= 0.15 + 1e-9
    for table, columns in dates.items():
        for column in columns:
            shown = [row[column] for row in after[table]]
            said = release.manifest.tables[table].get("dates", {}).get(column, 0)
            assert said == pytest.approx(
                sum(len(each) == 10 for each in shown) / len(shown), abs=1e-5
            )
    assert any(own.get("dates") for own in release.manifest.tables.values())
    _moved_alike(release, before, dated_histories(after, names, codes, dates), names, codes, dates)
    _found_again(release, made, tmp_path / "out", quasi)


def _moved_alike(release, before, after, names, codes, dates) -> None:
    """Hold that one offset explains all days that are written of a person, and that they differ."""
    truth = dated_histories(before, names, codes, dates)
    ids = [row[names["person"]] for row in before[names["people"]]]
    # The first rows of the original are the people, in the order of their table.
    people = [ids[place] for place in release.source_rows.tolist() if place < len(ids)]
    moved = []
    for pseudonym, person in zip(after, people, strict=True):
        days = {(t, n, d) for t, _, _, own, _ in truth[person] for n, d in enumerate(own) if d}
        shown = {(t, n, d) for t, _, _, own, _ in after[pseudonym] for n, d in enumerate(own)
                 if d not in ("", "*")}  # fmt: skip
        if shown:
            told = {(t, n, date.fromisoformat(d[:10]).toordinal()) for t, n, d in days}
            seen = {(t, n, date.fromisoformat(d).toordinal()) for t, n, d in shown}
            offsets = {s[2] - d[2] for s in seen for d in told if s[:2] == d[:2]}
            fitting = [o for o in offsets if seen <= {(t, n, d + o) for t, n, d in told}]
            assert fitting
            moved.append(fitting[0])
    assert len({*moved}) > len(moved) / 2


def _found_again(release, made, folder: Path, quasi: list[str]) -> None:
    """Hold that the files alone tell about as much as was promised."""
    schema = guess_database(made.frames).schema
    tables = files_of(release, folder)
    people = tables[made.persons].column_names
    shown = [
        c for c in people if c in quasi or c.removesuffix("_low").removesuffix("_high") in quasi
    ]
    for (mean, p95), (own, highest) in zip(
        events_again(schema, tables, shown), reached(release), strict=True
    ):
        assert mean == pytest.approx(own, abs=0.03)
        assert p95 == pytest.approx(highest, abs=0.1)


@pytest.fixture(scope="module")
def dated() -> sf.Release:
    """A release with dates."""
    return released(dated_database(61, people=200), None, PROMISE, sf.PidKAnonymity(5))


def test_the_verdict_counts_dates(dated, monkeypatch):
    assert dated.disclosed is not None
    kept: list[Any] = []
    monkeypatch.setattr(
        release_result, "measured", lambda file: kept.append(file) or measured(file)
    )
    found = replace(dated.disclosed).found
    (file,) = kept
    together = next(name for name in found.insiders if name.endswith(f" + {STAY_DAY}"))
    without = measured(replace(file, when=None, events=file.events[:-1], columns={
        name: column for name, column in file.columns.items() if column.dated is None
    }))  # fmt: skip
    codes = together.removesuffix(f" + {STAY_DAY}")
    assert found.insiders[together].found.value > without.insiders[codes].found.value
    dates = [n for n, own in dated.manifest.tables.items() for n in own.get("dates", ())]
    assert dates
    assert STAY_DAY in found.insiders
    assert any(name.endswith(f".{dates[0]}") for name in found.insiders)


def test_an_attack_knows_dates(dated):
    outcomes = {each.attack: each for each in sf.attack(dated, seed=1).outcomes}
    moved = outcomes["events_moved_2"]
    assert moved.predicted is not None
    assert moved.predicted.value == dated.risk.known_events.of(2).found.value
    assert not moved.broken
    # Half of what is told of a person is of stays that show no date.
    assert moved.right > 0


def test_a_secret_repeats_the_dates():
    made = dated_database(62, people=200)
    promises = PROMISE, sf.PidKAnonymity(5)
    first = released(made, None, *promises, seed=1)
    again = released(made, None, *promises, seed=1, secret=first.secret)
    assert {*first.data["labs"]["taken"], *first.data["admissions"]["admitted"]} - {"*"}
    for name, frame in first.data.items():
        assert frame.equals(again.data[name])


def table_with(schema: Schema, table: str, **fields: Any) -> Schema:
    """A schema with other fields of one table."""
    own = schema.tables[table].model_copy(update=fields)
    return schema.model_copy(update={"tables": {**schema.tables, table: own}})


def test_no_absolute_date_goes_out_with_moved_ones():
    made = dated_database(63, people=120)
    stays, people = made.frames["admissions"], made.frames["patients"]
    schema = guess_database(made.frames).schema
    stays["changed"] = stays["admitted"].fillna(pd.Timestamp("2020-01-01")) + pd.Timedelta(days=3)
    stays["year"] = stays["changed"].dt.year
    stays["quarter"] = stays["changed"].dt.to_period("Q").astype(str)
    people["since"] = pd.Timestamp("2019-02-01") + pd.to_timedelta(np.arange(120), "D")
    own = schema.tables["admissions"]
    quasi = {**schema.tables["patients"].quasi_identifiers, "since": sf.QuasiIdentifier()}
    ways: dict[str, tuple[str, dict[str, Any]]] = {
        "changed": ("admissions", {"insensitive": ("changed",), "accepted": {"changed": "a test"}}),
        "year": ("admissions", {"events": {**own.events, "year": sf.Event()}}),
        "quarter": ("admissions", {"sensitive": (*own.sensitive, "quarter")}),
        "since": ("patients", {"quasi_identifiers": quasi}),
    }
    for column, (table, fields) in ways.items():
        others = {*ways} - {column}
        frames = {n: f.drop(columns=[c for c in f if c in others]) for n, f in made.frames.items()}
        tables = sf.Tables(frames, table_with(schema, table, **fields))
        release = sf.anonymize(tables, sf.KnownEvents(2, 0.3), sf.PidKAnonymity(3), effort=0)
        assert {*release.data["admissions"]["admitted"], *release.data["labs"]["taken"]} == {"*"}
        assert any(f"{table}.{column}" in each for each in release.warnings)


def test_classes_of_people_born_within_the_file_show_no_dates():
    made = dated_database(64, people=300)
    people = made.frames["patients"]
    late = np.arange(300) % 4 == 0
    people["birth_year"] = np.where(late, 2020, people["birth_year"])
    release = released(made, None, PROMISE, sf.PidKAnonymity(5))
    after = release.data
    ends = [c for c in after["patients"] if c.startswith("birth_year")]
    cells = after["patients"].set_index("patient")[ends].astype(str).agg(" ".join, axis=1)
    dated = defaultdict(int)
    for table, column in (("admissions", "admitted"), ("labs", "taken")):
        for person, cell in zip(after[table]["patient"], after[table][column], strict=True):
            dated["2020" in cells[person]] += str(cell) != "*"
    assert dated[False] > 10
    assert not dated[True]


@pytest.mark.parametrize(
    ("promises", "options"),
    [
        ((sf.KnownEvents(2, 0.3),), {"techniques": "widen,suppress-cells"}),
        ((sf.PidKAnonymity(5),), {}),
    ],
)
def test_without_a_promise_or_moving_no_date_is_written(promises, options):
    release = released(dated_database(65, people=60), None, *promises, **options)
    assert set(release.data["admissions"]["admitted"]) == {"*"}
    assert "admitted" in release.manifest.tables["admissions"]["undated"]
    assert any("'admitted'" in each for each in release.warnings)


def test_files_that_tell_more_are_not_certified(dated, tmp_path):
    """A code of its own in each row of one table finds almost everybody who has two."""
    dated.write(tmp_path / "out", secret=tmp_path / "release.secret")
    schema = guess_database(dated_database(61, people=200).frames).schema
    states = {each.name: each.kept for each in measured_again(tmp_path / "out", schema).promises}
    assert states["known_events"] in (True, None)
    file = tmp_path / "out" / "labs.csv"
    rows = pd.read_csv(file, dtype=str, keep_default_na=False)
    rows["test"] = [f"T{n}" for n in range(len(rows))]
    rows.to_csv(file, index=False)
    states = {each.name: each.kept for each in measured_again(tmp_path / "out", schema).promises}
    assert states["known_events"] is False


def test_a_stay_and_its_rows_are_dated_together(dated, tmp_path):
    """No row is dated of a stay that is not, however its children are."""
    dated.write(tmp_path / "out", secret=tmp_path / "release.secret")
    with (tmp_path / "out" / "admissions.csv").open(newline="") as file:
        stays = {row["admission"]: row["admitted"] for row in csv.DictReader(file)}
    with (tmp_path / "out" / "labs.csv").open(newline="") as file:
        under = [(stays[row["admission"]], row["taken"]) for row in csv.DictReader(file)
                 if row["admission"]]  # fmt: skip
    assert {day == "*" for day, _ in under} == {True, False}
    hidden = [taken for day, taken in under if day == "*"]
    # A stay without a date of its own has that of its first test.
    assert sum(taken != "*" for taken in hidden) <= 0.1 * len(hidden)
