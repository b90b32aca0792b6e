"""Whose each record of a database is, beside a naive join."""

from __future__ import annotations

import pytest
from made_databases import STYLES, made_database

from sfumato.core.errors import InputError
from sfumato.table.joined_tables import Layout, counted, joined, read_columns
from sfumato.table.table_files import open_source
from sfumato.table.table_keys import key_map


def _opened(made):
    sources = {name: open_source(frame) for name, frame in made.frames.items()}
    return sources, key_map(sources)


@pytest.mark.parametrize("style", STYLES)
def test_each_record_has_the_person_of_a_naive_join(style):
    made = made_database(3, style=style, people=120, orphans=4, empty=0.3, two_paths=True)
    sources, keys = _opened(made)
    found = counted(sources, keys)
    people = made.frames["patients"]["patient"].tolist()
    stays = made.frames["admissions"].set_index("admission")["patient"].to_dict()
    for name in ("admissions", "diagnoses", "labs"):
        lost, owners = 0, []
        for row in made.frames[name].to_dict("records"):
            patient = row.get("patient", stays.get(row.get("admission")))
            there = patient in people
            lost += not there
            owners += [people.index(patient)] if there else []
        count = next(each for each in found.counts if each.table == name)
        assert (count.orphans, found.person[name].tolist()) == (lost, owners)
        assert count.without == len(people) - len({*owners})


def test_orphans_are_refused_unless_they_are_to_be_dropped():
    sources, keys = _opened(made_database(3, people=120, orphans=4))
    layout = Layout.found(keys)
    columns = {name: read_columns(each, each.names) for name, each in sources.items()}
    with pytest.raises(InputError, match=r'4 of [\d,]+ records .*orphans = "drop"'):
        joined(columns, Layout(layout.keys, layout.of, layout.persons))


def test_two_paths_to_two_people_are_refused_with_their_number():
    made = made_database(3, people=120, two_paths=True)
    people = made.frames["patients"]["patient"].tolist()
    diagnoses = made.frames["diagnoses"]
    first = diagnoses.index[:3]
    diagnoses.loc[first, "patient"] = [people[(people.index(p) + 1) % 120] for p in
                                       diagnoses.loc[first, "patient"]]  # fmt: skip
    sources, keys = _opened(made)
    with pytest.raises(InputError, match="two people in 3 of"):
        counted(sources, keys)


def test_a_code_that_its_table_lacks_leaves_no_orphan():
    made = made_database(3, people=80)
    made.frames["wards"] = made.frames["wards"][made.frames["wards"]["ward"] != "W1"]
    lost = int((made.frames["admissions"]["ward"] == "W1").sum())
    _, keys = _opened(made_database(3, people=80))
    sources = {name: open_source(frame) for name, frame in made.frames.items()}
    found = counted(sources, keys)
    count = next(each for each in found.counts if each.table == "admissions")
    assert (count.orphans, count.unknown) == (0, lost)
    assert lost > 0
