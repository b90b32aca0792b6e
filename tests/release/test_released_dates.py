"""Dates of several tables: what is written, and what a foreign program finds by two of them."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest
from few_cases import fast_first
from made_databases import HEADERS, Made, made_database
from release.database_intruder import dated_histories, found_by_two_dated, read

import sfumato as sf
from sfumato.schema import TableSchema
from sfumato.table.database_guess import guess_database

SEEDS = [
    {"seed": 51, "people": 120, "language": "de", "style": "uuid", "two_paths": True, "empty": 0.2},
    {"seed": 52, "people": 400, "language": "fr", "style": "counted", "empty": 0.3},
    {"seed": 53, "people": 800, "language": "es", "style": "prefixed"},
    {"seed": 54, "people": 800, "language": "en", "style": "counted", "two_paths": True},
]


def released(made: Made, folder: Path, *promises, **options) -> sf.Release:
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    return sf.anonymize(tables, *promises, effort=0, **options).write(
        folder, secret=folder / "release.secret"
    )


def called(language: str):
    """Names of tables and keys, codes, dates and quasi-identifiers in a language."""
    said = HEADERS[language]

    def call(name: str) -> str:
        return said.get(name, name)

    names = {"people": "patients", "stays": "admissions", "person": "patient", "stay": "admission"}
    codes = {"admissions": "ward", "diagnoses": "icd", "labs": "test"}
    dates = {"admissions": "admitted", "labs": "taken"}
    return (
        {what: call(name) for what, name in names.items()},
        {call(t): call(c) for t, c in codes.items()},
        {call(t): call(c) for t, c in dates.items()},
        [call(each) for each in ("birth_year", "sex", "zip")],
    )


@pytest.mark.parametrize("given", fast_first(1, SEEDS))
def test_two_events_and_the_days_between_find_few(given, tmp_path):
    made = made_database(**{"wards": False, **given})
    release = released(made, tmp_path / "out", sf.KnownEvents(2, 0.12), sf.PidKAnonymity(5))
    made.write(tmp_path / "before")
    before, after = read(tmp_path / "before"), read(tmp_path / "out")
    names, codes, dates, quasi = called(given.get("language", "en"))
    told = next(
        each for each in release.risk.known_events.risks if each.m == 2 and each.drawn == "random"
    )
    chance, p95 = found_by_two_dated(
        before, after, names, codes, dates, quasi, seed=given["seed"], people=given["people"]
    )
    # It does not know how a date is written, and so finds no more than is counted; of each person
    # it draws two events.
    assert chance <= min(told.found.value + 0.02, 0.13)
    assert p95 <= 0.34
    cells = {row[column] for table, column in dates.items() for row in after[table]}
    assert len(cells) > 10
    manifest = tomllib.loads((tmp_path / "out" / "release.toml").read_text())
    for table, column in dates.items():
        shown = [row[column] for row in after[table]]
        said = manifest["tables"][table].get("dates", {}).get(column, {})
        assert sum(said.values()) == pytest.approx(1 - shown.count("*") / len(shown), abs=1e-5)
        exact = sum(len(each) == 10 for each in shown)
        assert said.get("days", 0) == pytest.approx(exact / len(shown), abs=1e-5)
    truth = dated_histories(before, names, codes, dates)
    ids = [row[names["person"]] for row in before[names["people"]]]
    _moved_alike(release, ids, truth, dated_histories(after, names, codes, dates))


def _moved_alike(release: sf.Release, ids: list[str], before, after) -> None:
    """Hold that one offset explains all days that are written of a person, and that they differ."""
    source = release.source_rows
    assert source is not None
    # The first rows of the original are the people, in the order of their table.
    people = [ids[place] for place in source.tolist() if place < len(ids)]
    moved = []
    for pseudonym, person in zip(after, people, strict=True):
        days = {date.fromisoformat(each[3][:10]).toordinal() for each in before[person] if each[3]}
        shown = {
            date.fromisoformat(each[3]).toordinal()
            for each in after[pseudonym]
            if len(each[3]) == 10
        }
        if shown:
            offsets = {one - other for one in shown for other in days}
            fitting = [each for each in offsets if shown <= {day + each for day in days}]
            assert fitting
            moved.append(fitting[0])
    assert len(set(moved)) > len(moved) / 2


def test_ages_hold_what_they_were(tmp_path):
    made = made_database(57, people=120, wards=False)
    frames = {name: made.frames[name] for name in ("patients", "admissions")}
    stays, people = frames["admissions"], frames["patients"].set_index("patient")
    born = people["birth_year"].loc[stays["patient"]].to_numpy()
    stays["age"] = stays["admitted"].dt.year.to_numpy() - born - (stays["ward"] == "W1")
    schema = guess_database(frames).schema
    fields = schema.tables["admissions"].model_dump(exclude_defaults=True)
    fields = {n: f for n, f in fields.items() if n not in ("sensitive", "insensitive", "undecided")}
    own = {**fields, "same": {"sex": "sex", "age": "birth_year at admitted"}}
    tables = {**schema.tables, "admissions": TableSchema(**own)}
    release = sf.anonymize(
        sf.Tables(frames, sf.Schema(tables=tables)),
        sf.KnownEvents(2, 0.3, p95=0.9),
        sf.PidKAnonymity(5),
        effort=0,
    )
    after = release.data["admissions"]
    rows = release.source_rows
    assert rows is not None
    place = rows[(rows >= len(people)) & (rows < len(people) + len(stays))] - len(people)
    shown = 0
    cells = zip(after["age"], after["admitted"], stays["age"].iloc[place], strict=True)
    for cell, day, truth in cells:
        assert (cell == "*") == (day == "*")
        if cell != "*":
            low, high = map(int, cell.split("-"))
            assert low <= truth <= high
            assert high - low < 80
            shown += 1
    assert shown > 10


def test_without_moving_dates_none_is_written(tmp_path):
    made = made_database(56, people=60, wards=False)
    release = released(
        made, tmp_path / "out", sf.KnownEvents(2, 0.3), techniques="widen,suppress-cells"
    )
    assert set(release.data["admissions"]["admitted"]) == {"*"}
    manifest = tomllib.loads((tmp_path / "out" / "release.toml").read_text())
    assert manifest["tables"]["admissions"]["undated"] == ["admitted"]
    assert any("'admitted'" in each for each in release.warnings)
