"""Dates of events: what is kept of them, and candidates by intervals, counted one by one."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.kernels.history_loops import DatedRows, dated_units


def fits(rows, known, spread, low, high):
    """Whether rows of their own fit all known events, tried in every way."""
    for chosen in permutations(rows, len(known)):
        apart = [row[1] - event[1] for row, event in zip(chosen, known, strict=True)]
        if any(row[0] != event[0] for row, event in zip(chosen, known, strict=True)):
            continue
        if low <= min(apart) and max(apart) <= high and max(apart) - min(apart) <= spread:
            return True
    return False


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.sampled_from([0, 8, 1 << 40]))
@settings(max_examples=60, deadline=None)
def test_candidates_for_two_events_are_those_of_trying(seed, spread, most):
    rng = np.random.default_rng(seed)
    units = [
        [(int(rng.integers(0, 2)), int(rng.integers(0, 15))) for _ in range(rng.integers(1, 5))]
        for _ in range(8)
    ]
    group = np.sort(rng.integers(0, 2, 8)).astype(np.int32)
    rows = [row for unit in units for row in unit]
    start = np.cumsum([0, *(len(unit) for unit in units)])
    shown = DatedRows(
        start,
        group,
        np.array([row[0] for row in rows], dtype=np.int32),
        np.array([row[1] for row in rows]),
    )
    sets = np.array([[0, 1], [1, 2], [0, -1]]) % len(rows) * [[1, 1], [1, 1], [1, 0]]
    sets[2, 1] = -1
    of = np.zeros(3, dtype=np.int32)
    found = dated_units(
        shown, sets, of, shown.label, shown.date, spread=spread, low=-most, high=most
    )
    for each, got in zip(sets.tolist(), found.tolist(), strict=True):
        known = [rows[at] for at in each if at >= 0]
        own = [unit for unit, in_class in zip(units, group, strict=True) if in_class == 0]
        assert got == sum(fits(unit, known, spread, -most, most) for unit in own)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(600), 3)
    day = rng.integers(0, 700, len(person))
    age = rng.integers(20, 80, 600)
    visit = (np.datetime64("2020-01-01") + day).astype(str)
    return pd.DataFrame({"person": person, "age": age[person], "visit": visit})


def released(data, **options):
    event = {"kind": "date", "known": "1 day"}
    schema = sf.Schema(
        person="person", quasi_identifiers=["age"], insensitive=["visit"], events={"visit": event}
    )
    promises = sf.PidKAnonymity(20), sf.KnownEvents(2, 0.1)
    release = sf.anonymize(data, schema, *promises, seed=1, **options)
    return release, data.iloc[release.source_rows].reset_index(drop=True)


def days(column):
    return (pd.to_datetime(column) - pd.Timestamp("2020-01-01")).dt.days


def test_an_offset_a_person_keeps_the_days_between(data):
    release, old = released(data, techniques="widen,shift-dates")
    moved = days(release.data["visit"]) - days(old["visit"])
    assert (moved.groupby(old["person"]).nunique() == 1).all()
    assert moved.nunique() > 300
    assert release.risk.known_events.of(2).found.value <= 0.1


def test_a_key_moves_a_persons_dates_alike_in_every_release(data):
    offsets = []
    for seed in (1, 2):
        event = {"kind": "date", "known": "1 day"}
        schema = sf.Schema(
            person="person",
            quasi_identifiers=["age"],
            insensitive=["visit"],
            events={"visit": event},
        )
        release = sf.anonymize(
            data,
            schema,
            sf.PidKAnonymity(20),
            sf.KnownEvents(2, 0.1),
            seed=seed,
            techniques="widen,shift-dates",
            pseudonym_key=b"a key of thirty-two bytes, or so",
        )
        old = data.iloc[release.source_rows].reset_index(drop=True)
        moved = days(release.data["visit"]) - days(old["visit"])
        offsets.append(moved.groupby(old["person"]).first())
    assert (offsets[0] == offsets[1]).all()


def test_days_since_the_first_hide_the_day(data):
    release, old = released(data, techniques="widen,relative-dates")
    shown = release.data["visit"].astype(int)
    assert (shown.groupby(release.data["person"]).min() == 0).all()
    true = days(old["visit"])
    since = true - true.groupby(old["person"]).transform("min")
    assert (since == shown).all()
