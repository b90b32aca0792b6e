"""A database released together, and what a foreign program finds in its files."""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first
from made_databases import HEADERS, Made, made_database
from release.database_intruder import broken, found_by_two, read, remeasured_tables
from standard_databases import mimic, omop

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.ledger.release_ledger import ReleaseLedger
from sfumato.release import database_release
from sfumato.release.written_tables import measured_again
from sfumato.reports.release_report import draw_release
from sfumato.schema import Orphans
from sfumato.table.database_guess import guess_database
from sfumato.table.table_files import write_table

SEEDS = [
    {"seed": 41, "people": 120, "language": "de", "style": "uuid", "two_paths": True, "empty": 0.2},
    {"seed": 42, "people": 400, "language": "fr", "style": "counted", "empty": 0.3},
    {"seed": 43, "people": 400, "language": "es", "style": "prefixed", "wards": False},
    {"seed": 44, "people": 800, "language": "en", "style": "counted", "two_paths": True},
    {"seed": 45, "people": 300, "language": "de", "style": "prefixed", "empty": 0.4},
    {"seed": 46, "people": 600, "language": "fr", "style": "uuid", "two_paths": True},
]


def released(made: Made, folder: Path, *promises) -> sf.Release:
    schema = guess_database(made.frames).schema
    tables = sf.Tables(made.frames, schema)
    return sf.anonymize(tables, *promises, effort=0).write(
        folder, secret=folder.with_name("release.secret")
    )  # fmt: skip


def called(made: Made, language: str) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Names of tables, columns of codes and quasi-identifiers in a language."""
    said = HEADERS[language]
    names = {"people": "patients", "stays": "admissions", "person": "patient", "stay": "admission"}
    codes = {"admissions": "ward", "diagnoses": "icd", "labs": "test"}
    return (
        {what: said.get(name, name) for what, name in names.items()},
        {said.get(t, t): said.get(c, c) for t, c in codes.items()},
        [said.get(each, each) for each in ("birth_year", "sex", "zip")],
    )


@pytest.mark.parametrize("given", fast_first(1, SEEDS))
def test_two_events_of_any_tables_find_few(given, tmp_path):
    made = made_database(**given)
    release = released(made, tmp_path / "out", sf.KnownEvents(2, 0.09), sf.PidKAnonymity(5))
    made.write(tmp_path / "before")
    before, after = read(tmp_path / "before"), read(tmp_path / "out")
    assert broken(after, made.references, made.keys) == 0
    names, codes, quasi = called(made, given.get("language", "en"))
    _with_wards(before, after, names["stays"], codes[names["stays"]], made)
    chance = found_by_two(before, after, names, codes, quasi, seed=given["seed"])
    assert chance <= 0.10
    _no_original_key(made, after)
    assert {name: len(rows) for name, rows in after.items() if name in before} == {
        name: each["rows_after"] for name, each in release.manifest.tables.items()
    }
    for name in (names["people"], *codes):
        assert len(after[name]) == len(before[name])
    classes = [tuple(row[q] for q in quasi) for row in after[names["people"]]]
    assert min(classes.count(each) for each in classes) >= 5


def _with_wards(before, after, stays: str, ward: str, made: Made) -> None:
    """Write wards by what their table says of them, which a reader joins as anybody does."""
    table = made.references.get((stays, ward))
    for tables in (before, after) if table else ():
        areas = {row[ward]: row["area"] for row in tables[table]}
        assert len({*areas.values()}) == len(areas)
        for row in tables[stays]:
            row[ward] = areas.get(row[ward], "*")


def _no_original_key(made: Made, after) -> None:
    for table, key in made.keys.items():
        ours = {str(each) for each in made.frames[table][key]}
        assert not ours & {row[key] for row in after[table]}
    for (table, column), to in made.references.items():
        ours = {str(each) for each in made.frames[to][made.keys[to]]}
        assert not ours & {row.get(column, "") for row in after[table]}


def test_orphans_are_left_out_and_declared(tmp_path):
    made = made_database(7, people=100, orphans=3, wards=False)
    schema = guess_database(made.frames).schema
    with pytest.raises(InputError, match="3 of"):
        sf.assess(sf.Tables(made.frames, schema))
    dropping = sf.Schema(
        tables={
            name: each.model_copy(update={"orphans": Orphans.DROP})
            for name, each in schema.tables.items()
        }
    )
    release = sf.anonymize(sf.Tables(made.frames, dropping), sf.PidKAnonymity(3), effort=0)
    rows = release.manifest.tables["admissions"]
    assert rows["rows_before"] - rows["rows_after"] == 3
    assert any("admissions" in each and "3 of" in each for each in release.warnings)


def test_a_secret_repeats_the_files(tmp_path):
    made = made_database(8, people=40)
    schema = guess_database(made.frames).schema
    tables = sf.Tables(made.frames, schema)
    first = sf.anonymize(tables, sf.PidKAnonymity(3), effort=0, seed=1)
    again = sf.anonymize(tables, sf.PidKAnonymity(3), effort=0, seed=1, secret=first.secret)
    other = sf.anonymize(tables, sf.PidKAnonymity(3), effort=0, seed=1, secret=b"another" * 5)
    for name, frame in first.data.items():
        assert frame.equals(again.data[name])
    key = first.data["admissions"]["admission"]
    assert not set(key) & set(other.data["admissions"]["admission"])


def test_dates_that_are_not_released_are_said(tmp_path):
    made = made_database(9, people=50, wards=False)
    made.frames["admissions"].loc[:4, "admitted"] = None
    release = released(made, tmp_path / "out", sf.KnownEvents(2, 0.2))
    assert set(release.data["admissions"]["admitted"]) == {"*"}
    manifest = tomllib.loads((tmp_path / "release.toml").read_text())
    stays = manifest["tables"]["admissions"]
    assert stays["undated"] == ["admitted"]
    assert stays["shown"]["admitted"] == {"exact": 0.0, "coarser": 0.0, "*": 1.0}
    hidden = np.mean(release.data["admissions"]["ward"] == "*")
    assert stays["shown"]["ward"]["*"] == pytest.approx(hidden, abs=1e-6)
    assert sum(stays["shown"]["ward"].values()) == pytest.approx(1)
    page = draw_release(release, "", date(2026, 1, 1))
    (line,) = re.findall(r"<tr>(?:(?!<tr>).)*>ward<.*?</tr>", page)
    assert line.count(f">{len(made.frames['admissions'])}<") == 2
    assert any("'admitted'" in each for each in release.warnings)


@pytest.mark.parametrize(
    ("promises", "options"),
    [
        ((sf.PidKAnonymity(3),), {"keep_order": True}),
        ((sf.PidKAnonymity(3),), {"recoding": "full-domain"}),
        ((sf.PidKAnonymity(3),), {"engine": "spark"}),
        ((sf.KnownEvents(2, 0.09),), {"techniques": ["split-pseudonyms"]}),
        ((sf.KAnonymity(3),), {}),
        ((sf.KnownEvents(3, 0.09),), {}),
    ],
)
def test_what_is_not_made_of_tables_is_refused_at_once(promises, options):
    made = made_database(9, people=40)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    with pytest.raises(InputError, match="not made of several tables"):
        sf.anonymize(tables, *promises, **options)


def test_a_table_without_rows_is_refused_by_its_name():
    made = made_database(9, people=40, wards=False)
    schema = guess_database(made.frames).schema
    frames = {**made.frames, "labs": made.frames["labs"][:0]}
    with pytest.raises(InputError, match="table labs: "):
        sf.assess(sf.Tables(frames, schema))
    with pytest.raises(InputError, match="table labs: "):
        guess_database(frames)


def test_nothing_is_told_of_the_population_of_several_tables():
    made = made_database(9, people=40, wards=False)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    register = {"register": made.frames["patients"]}
    for told in (register, {"population": 1000}, {"engine": "spark"}):
        with pytest.raises(InputError, match="not for several tables"):
            sf.assess(tables, **told)


def test_a_key_that_is_that_of_people_leads_to_them():
    """Deaths are named by the patient; causes refer to a death."""
    made = made_database(9, people=60, wards=False)
    died = made.frames["patients"]["patient"].tolist()[::2]
    frames = {
        "patients": made.frames["patients"],
        "deaths": pd.DataFrame({"patient": died, "place": ["home", "ward"] * 15}),
        "causes": pd.DataFrame({"death": died[:20] * 2, "cause": [*"ABCD"] * 10}),
    }
    schema = sf.Schema(
        tables={
            "patients": guess_database(made.frames).schema.tables["patients"],
            "deaths": {"key": "patient", "of": {"patient": "patients"}, "events": ["place"]},
            "causes": {"of": {"death": "deaths"}, "events": ["cause"]},
        }
    )
    data = sf.anonymize(sf.Tables(frames, schema), sf.PidKAnonymity(3), effort=0).data
    people = set(data["patients"]["patient"])
    assert set(data["deaths"]["patient"]) <= people
    assert len(set(data["deaths"]["patient"])) == len(died)
    assert data["causes"]["death"].value_counts().tolist() == [2] * 20
    assert set(data["causes"]["death"]) <= set(data["deaths"]["patient"])


def test_a_key_that_is_a_code_is_proposed_as_it_can_be_released():
    """An implant is named by its device, which a lookup table describes; checks name it."""
    made, rng = made_database(5, people=80), np.random.default_rng(1)
    device = [f"D{number:03d}" for number in range(60)]
    owner = made.frames["patients"]["patient"].to_numpy()[:50]
    implants = pd.DataFrame({"device": device[:50], "patient": owner, "side": ["l", "r"] * 25})
    devices = pd.DataFrame({"device": device, "maker": rng.choice([*"ABC"], 60)})
    checks = pd.DataFrame({"implant": rng.choice(device[:50], 150), "result": ["ok", "bad"] * 75})
    frames = {**made.frames, "devices": devices, "implants": implants, "checks": checks}
    proposed = guess_database(frames)
    own = proposed.schema.tables["implants"]
    assert (own.key, own.of) == ("device", {"patient": "patients"})
    assert "implants.device" in proposed.notes
    tables = sf.Tables(frames, proposed.schema)
    release = sf.anonymize(tables, sf.PidKAnonymity(3), effort=0)
    out = release.data
    assert len(out["devices"]) == 0
    assert not {*device} & {*out["implants"]["device"]}
    assert {*out["checks"]["implant"]} <= {*out["implants"]["device"]}
    # Nobody is told in silence that the table is empty.
    assert any("devices" in each for each in release.warnings)


def test_a_code_that_its_table_lacks_refers_to_nothing_and_is_declared():
    made = made_database(9, people=60)
    schema = guess_database(made.frames).schema
    made.frames["wards"] = made.frames["wards"][made.frames["wards"]["ward"] != "W1"]
    lost = int((made.frames["admissions"]["ward"] == "W1").sum())
    release = sf.anonymize(sf.Tables(made.frames, schema), sf.PidKAnonymity(3), effort=0)
    rows = release.manifest.tables["admissions"]
    assert rows["rows_before"] == rows["rows_after"]
    assert rows["unknown_codes"] == lost
    assert release.data["admissions"]["ward"].isna().sum() == lost


def test_files_are_written_all_or_none_and_each_has_its_hash(tmp_path, monkeypatch):
    made = made_database(9, people=40, wards=False)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    release = sf.anonymize(tables, sf.PidKAnonymity(3), effort=0)
    with ReleaseLedger.open(tmp_path / "book" / "l.sqlite", tmp_path / "keys", make=True) as memory:
        assert release.write(tmp_path / "out", memory=memory).manifest.tables.keys() == {
            *tables.frames
        }
        number = memory.remembered()[-1].number
        assert memory.compared(number, "anybody")[number].of_tables
    manifest = tomllib.loads((tmp_path / "release.toml").read_text())
    for name, own in manifest["tables"].items():
        bytes_of = (tmp_path / "out" / f"{name}.csv").read_bytes()
        assert own["sha256"] == hashlib.sha256(bytes_of).hexdigest()
    written = []

    def third_fails(table, path, **options):
        written.append(path)
        if len(written) == 3:
            raise OSError("full")
        write_table(table, path, **options)

    monkeypatch.setattr(database_release, "write_table", third_fails)
    with pytest.raises(OSError, match="full"):
        release.content.write(tmp_path / "other")
    assert not (tmp_path / "other").exists()


ABOUT = (
    sf.HAffiliation(0.65, attribute="diagnoses.icd"),
    sf.LDiversity(4, attribute="labs.test"),
    sf.TCloseness(0.55, attribute="admissions.ward"),
)


@pytest.mark.parametrize(
    ("promise", "effort"),
    [
        (None, 0),
        *(
            pytest.param(each, effort, marks=pytest.mark.slow)
            for each in ABOUT
            for effort in (0, 1)
        ),
        pytest.param(None, 1, marks=pytest.mark.slow),
    ],
)
def test_promises_about_a_column_count_people_who_have_rows_of_its_table(promise, effort, tmp_path):
    """Measured again from the written files, by who has rows there and what these show."""
    made = made_database(12, people=300, wards=False)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    promises = ABOUT if promise is None else (promise,)
    release = sf.anonymize(tables, sf.PidKAnonymity(4), *promises, effort=effort, seed=3)
    release.write(tmp_path / "out")
    h, l, t = remeasured_tables(read(tmp_path / "out"))
    assert h["diagnoses.icd"] <= 0.65 or ABOUT[0] not in promises
    assert l["labs.test"] >= 4 or ABOUT[1] not in promises
    assert t["admissions.ward"] <= 0.55 + 1e-9 or ABOUT[2] not in promises
    assert release.risk.classes > 5
    for each in promises:
        found = release.risk.sensitive[each.attribute]
        assert found.h_affiliation.value == pytest.approx(h[each.attribute])
        assert found.l_distinct == l[each.attribute]
        assert found.t_closeness.value == pytest.approx(t[each.attribute])
    free = sf.anonymize(tables, sf.PidKAnonymity(4), effort=effort, seed=3).risk
    assert not all(each.kept(free) for each in promises)


def test_every_promise_is_measured_again_or_said_not_to_be(tmp_path):
    """From the files alone, of which one column is changed in the largest class."""
    made = made_database(12, people=300, wards=False)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    kept = (sf.PidKAnonymity(4), sf.GBalance(0.3), *ABOUT)
    sf.anonymize(tables, *kept, effort=0, seed=3).write(tmp_path / "out")
    found = measured_again(tmp_path / "out", tables.schema)
    assert found.is_kept
    assert found.is_measured
    assert len(found.promises) == len(kept)
    stays = pd.read_csv(tmp_path / "out" / "admissions.csv", dtype=str)
    people = pd.read_csv(tmp_path / "out" / "patients.csv", dtype=str)
    owner = stays.set_index("admission")["patient"]
    classes = [group for _, group in people.groupby(["birth_year", "sex", "zip"])["patient"]]
    largest = max(classes, key=len)
    for table, column, name in (
        ("diagnoses", "icd", "h_affiliation"),
        ("labs", "test", "l"),
        ("admissions", "ward", "t_closeness"),
    ):
        file = tmp_path / "out" / f"{table}.csv"
        before = file.read_text()
        cells = pd.read_csv(file, dtype=str, keep_default_na=False)
        whose = cells["patient"] if "patient" in cells else cells["admission"].map(owner)
        cells.loc[whose.isin(largest), column] = "all alike"
        cells.to_csv(file, index=False)
        again = measured_again(tmp_path / "out", tables.schema)
        assert again.changed == (table,)
        assert [each.name for each in again.promises if each.kept is False] == [name]
        file.write_text(before)


def test_what_is_not_of_a_release_is_told_of_its_folder(tmp_path):
    made = made_database(12, people=60, wards=False)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    sf.anonymize(tables, sf.PidKAnonymity(4), effort=0, seed=3).write(tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / "sent")
    again = measured_again(tmp_path / "sent", tables.schema)
    assert again.is_kept
    assert again.foreign == ()
    (book,) = (tmp_path / "sent").glob("*.codebook.md")
    text = book.read_bytes()
    book.unlink()
    made.write(book)  # tables under the codebook's name
    assert measured_again(tmp_path / "sent", tables.schema).foreign == (book.name,)
    shutil.rmtree(book)
    book.symlink_to(tmp_path / "release.secret")
    assert measured_again(tmp_path / "sent", tables.schema).foreign == (book.name,)
    book.unlink()
    book.write_bytes(text)
    made.write(tmp_path / "sent" / "before")
    (tmp_path / "sent" / "notes.txt").touch()
    again = measured_again(tmp_path / "sent", tables.schema)
    assert again.foreign == ("before", "notes.txt")
    assert not again.is_kept
    assert again.changed == ()


def test_what_files_do_not_tell_is_not_certified(tmp_path):
    made = made_database(12, people=300, wards=False)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    promises = (sf.PidKAnonymity(4), sf.KnownEvents(2, 0.12), sf.HAffiliation(0.95))
    release = sf.anonymize(tables, *promises, effort=0, seed=3)
    release.write(tmp_path / "out")
    found = measured_again(tmp_path / "out", tables.schema)
    assert found.is_kept
    assert not found.is_measured
    states = {each.name: each.kept for each in found.promises}
    assert states == {"pid_k": True, "known_events": None, "h_affiliation": None}


def test_a_promise_about_a_column_that_nobody_could_keep_is_refused():
    made = made_database(12, people=60, wards=False)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    with pytest.raises(ConstraintsNotMetError, match=r"diagnoses\.icd"):
        sf.anonymize(tables, sf.HAffiliation(0.05, attribute="diagnoses.icd"), effort=0)


@pytest.mark.slow
@pytest.mark.parametrize("made", [omop, mimic])
def test_a_published_database_is_released_as_proposed(made, tmp_path):
    frames = made(3)
    proposed = guess_database(frames)
    tables = sf.Tables({name: frames[name] for name in proposed.keys.tables}, proposed.schema)
    release = sf.anonymize(tables, sf.PidKAnonymity(5), sf.KnownEvents(2, 0.2), effort=0)
    release.write(tmp_path / "out")
    after = read(tmp_path / "out")
    references = {(each.table, each.column): each.to for each in proposed.keys.references}
    assert broken(after, references, proposed.keys.keys) == 0
    truth = Made(dict(tables.frames), dict(proposed.keys.keys), references, "")
    _no_original_key(truth, after)
    assert all(len(after[name]) == len(frame) for name, frame in tables.frames.items())
