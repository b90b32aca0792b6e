"""Dates of events: what is kept of them, and candidates by intervals, counted one by one."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import histories

import sfumato as sf
from sfumato.kernels.history_loops import DatedRows, dated_units
from sfumato.release import event_dates
from sfumato.reports.release_summary import release_summary
from sfumato.table.door import open_table

UNDATED = 2
"""The key of rows that show no date."""


def fits(rows, known, spread, low, high):
    """Whether rows of their own fit all known events, tried in every way."""
    for chosen in permutations(rows, len(known)):
        pairs = [*zip(chosen, known, strict=True)]
        if any(row[0] != event[0] for row, event in pairs):
            continue
        pairs = [each for each in pairs if each[0][0] != UNDATED]
        if len(pairs) == 0:
            return True
        if spread is None:
            order = [(row[1], event[1]) for row, event in pairs]
            if all(np.sign(a - c) == np.sign(b - d) for (a, b), (c, d) in permutations(order, 2)):
                return True
            continue
        apart = [row[1] - event[1] for row, event in pairs]
        if low <= min(apart) and max(apart) <= high and max(apart) - min(apart) <= spread:
            return True
    return False


@given(
    st.integers(0, 2**32 - 1),
    st.one_of(st.integers(0, 9), st.none()),
    st.sampled_from([0, 8, 1 << 40]),
)
@settings(max_examples=examples(100), deadline=None)
def test_candidates_are_those_of_trying(seed, spread, most):
    rng = np.random.default_rng(seed)
    most = 1 << 40 if spread is None else most
    units = [
        [(int(rng.integers(0, 3)), int(rng.integers(0, 15))) for _ in range(rng.integers(1, 6))]
        for _ in range(8)
    ]
    rows = [row for unit in units for row in unit]
    start = np.cumsum([0, *(len(unit) for unit in units)])
    reach = rng.integers(0, 3, len(units)) + most
    shown = DatedRows(start, np.array([row[1] for row in rows]), -reach, reach)
    key = np.array([row[0] for row in rows], dtype=np.int32)
    sets = rng.permuted(np.tile(np.arange(len(rows)), (12, 1)), axis=1)[:, :3]
    sets[::3, 1:], sets[1::3, 2] = -1, -1
    undated = key == UNDATED
    found = dated_units(shown, key, sets, key, shown.date, spread=spread, undated=undated)
    for each, got in zip(sets.tolist(), found.tolist(), strict=True):
        known = [rows[at] for at in each if at >= 0]
        of = zip(units, reach.tolist(), strict=True)
        assert got == sum(fits(unit, known, spread, -own, own) for unit, own in of)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(1_500), 3)
    day = rng.integers(0, 700, len(person))
    age = rng.integers(20, 80, 1_500)
    visit = (np.datetime64("2020-01-01") + day).astype(str)
    return pd.DataFrame({"person": person, "age": age[person], "visit": visit})


def released(data, risk=0.1, **options):
    event = {"kind": "date", "known": "1 day"}
    schema = sf.Schema(
        person="person", quasi_identifiers=["age"], insensitive=["visit"], events={"visit": event}
    )
    promises = sf.PidKAnonymity(20), sf.KnownEvents(2, risk, p95=1.0)
    release = sf.anonymize(data, schema, *promises, seed=1, **options)
    return release, data.iloc[release.source_rows].reset_index(drop=True)


def days(column):
    return (pd.to_datetime(column) - pd.Timestamp("2020-01-01")).dt.days


@pytest.mark.slow
def test_an_offset_a_person_keeps_the_days_between(data):
    release, old = released(data, techniques="widen,shift-dates")
    moved = days(release.data["visit"]) - days(old["visit"])
    assert (moved.groupby(old["person"]).nunique() == 1).all()
    assert moved.nunique() > 300
    assert release.risk.known_events.of(2).found.value <= 0.1
    left = release.utility.histories
    assert left.co_occurring == left.intervals_exact == 1
    assert left.columns == {"visit": pytest.approx(np.mean(moved == 0))}
    assert left.hidden == {"visit": 0}
    spans = days(old["visit"]).groupby(old["person"]).agg(np.ptp)
    for limit, (before, after) in left.survival.items():
        assert before == after == (spans > int(limit)).mean()


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
    release, old = released(data, 0.5, techniques="widen=0.01,relative-dates")
    shown = release.data["visit"].astype(int)
    assert (shown.groupby(release.data["person"]).min() == 0).all()
    true = days(old["visit"])
    since = true - true.groupby(old["person"]).transform("min")
    assert (since == shown).all()


def test_an_order_alone_is_what_is_left_in_narrow_classes(data):
    release, old = released(data, techniques="widen=9,relative-dates")
    assert release.utility.histories.done["visit"] == {"order": 1.0}
    assert release.utility.histories.in_order == 1
    assert release.utility.histories.intervals_exact is None
    true, shown = days(old["visit"]), release.data["visit"].astype(int)
    assert (shown == true.groupby(old["person"]).rank("dense")).all()


@pytest.mark.slow
def test_the_nearest_interval_finds_no_more_than_is_promised(data):
    release, old = released(data, techniques="widen,shift-dates")
    rows = [each.astype(str).to_dict("records") for each in (release.data, old)]
    for m in (1, 2):
        found = histories.found_by_dates(*rows, ["age"], "person", "visit", 1, m)
        predicted = release.risk.known_events.of(m).found.value
        assert np.mean(found[0]) <= predicted <= 0.1
        assert np.mean(found[1]) <= predicted + 0.02


@pytest.fixture(scope="module")
def stays():
    """Stays in hospital: some of the dates of admission, and of discharge, are missing."""
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(2_000), rng.integers(1, 6, 2_000))
    begun = rng.integers(0, 90, len(person))
    ended = begun + rng.geometric(0.3, len(person)) - 1
    dates = [
        np.where(
            rng.random(len(person)) < 0.05, "", (np.datetime64("2020-01-01") + day).astype(str)
        )
        for day in (begun, ended)
    ]
    return pd.DataFrame(
        {
            "person": person,
            "age": rng.integers(20, 80, 2_000)[person],
            "admitted": dates[0],
            "discharged": dates[1],
            "icd": np.where(rng.random(len(person)) < 0.1, "", rng.choice(["A", "B"], len(person))),
        }
    )


def released_stays(stays, risk, techniques):
    date = {"kind": "date", "known": "1 day"}
    schema = sf.Schema(
        person="person",
        quasi_identifiers=["age"],
        insensitive=["admitted", "discharged", "icd"],
        events={"admitted": date, "discharged": date, "icd": {}},
        missing=[""],
    )
    promises = sf.PidKAnonymity(20), sf.KnownEvents(2, risk, p95=1.0)
    return sf.anonymize(stays, schema, *promises, seed=1, techniques=techniques)


def test_a_second_date_is_written_as_days_after_the_first(stays):
    release = released_stays(stays, 0.7, "widen=0.01,shift-dates")
    old = stays.iloc[release.source_rows].reset_index(drop=True)
    missing = old["admitted"] == ""
    assert missing.any()
    assert (release.data["admitted"].isna() == missing).all()
    moved = (days(release.data["admitted"]) - days(old["admitted"]))[~missing]
    assert (moved.groupby(old["person"][~missing]).nunique() == 1).all()
    neither = missing | (old["discharged"] == "")
    length = days(old["discharged"]) - days(old["admitted"])
    assert (release.data["discharged"].isna() == neither).all()
    assert (release.data["discharged"][~neither].astype(int) == length[~neither]).all()
    assert release.utility.histories.done["discharged"] == {"days after admitted, days": 1.0}
    assert release.utility.histories.intervals_exact == 1
    assert "the days after ‘admitted’" in release.codebook()


@pytest.mark.slow
def test_days_after_a_date_may_be_written_as_weeks(stays):
    stays = stays[stays["person"] < 800]
    release = released_stays(stays, 0.1, "widen=0.1,shift-dates,coarsen-dates")
    old = stays.iloc[release.source_rows].reset_index(drop=True)
    shown = release.data["discharged"]
    length = days(old["discharged"]) - days(old["admitted"])
    assert "0-31" in set(shown)
    ends = shown.dropna().str.partition("-")
    low, high = ends[0].astype(int), ends[2].where(ends[2] != "", ends[0]).astype(int)
    assert ((low <= length[shown.notna()]) & (length[shown.notna()] <= high)).all()


@pytest.mark.slow
@pytest.mark.parametrize("techniques", ["widen=0.01,shift-dates", "widen=0.1,suppress-cells"])
def test_who_knows_stays_to_a_day_finds_no_more_than_is_predicted(stays, techniques):
    release = released_stays(stays, 0.7, techniques)
    found = {each.attack: each for each in sf.attack(release, attacks=["events"], seed=1).outcomes}
    for m in (1, 2):
        predicted = release.risk.known_events.of(m).found.value
        for way in ("events", "events_moved"):
            assert found[f"{way}_{m}"].success.low <= predicted <= 0.7


@pytest.fixture(scope="module")
def dateless(data):
    """A release that keeps most codes and no date."""
    codes = np.random.default_rng(5).choice(["a", "b"], len(data), p=[0.9, 0.1])
    known = {"visit": {"kind": "date", "known": "1 day"}, "code": {}}
    schema = sf.Schema(
        person="person",
        quasi_identifiers=["age"],
        sensitive=["code"],
        insensitive=["visit"],
        events=known,
    )
    some = data.assign(code=codes)[:900]
    promises = sf.PidKAnonymity(20), sf.KnownEvents(2, 0.1, p95=1.0)
    return sf.anonymize(some, schema, *promises, seed=1, techniques="suppress-cells")


def test_a_column_that_is_lost_in_all_records_comes_first(dateless):
    assert set(dateless.data["visit"]) == {"*"}
    assert [each.column for each in dateless.lost][:1] == ["visit"]
    assert "'visit'" in dateless.nothing_left
    assert "'code'" not in dateless.nothing_left
    plain = dateless.to_json()
    assert next(iter(plain)) == "lost"
    assert plain["lost"][0]["hidden"] == 1
    assert dateless._repr_html_().startswith("<p>Warning: Column &#x27;visit&#x27;")
    assert release_summary(dateless, []).headline.startswith("Column 'visit'")


def test_each_column_of_events_counts(dateless):
    left = dateless.utility.histories
    kept = np.mean(dateless.data["code"] != "*")
    assert left.columns == {"visit": 0.0, "code": pytest.approx(kept)}
    assert left.hidden == {"visit": 1.0, "code": pytest.approx(1 - kept)}
    assert left.exact == pytest.approx(kept / 2)
    assert left.kept <= left.exact


@pytest.mark.parametrize(
    ("weekend", "more", "tells"),
    [
        (1.0, 0.0, False),
        (0.0, 0.0, True),
        # On both sides of twice as likely: 0.5 and 0.9 where log 2 is 0.69.
        (0.42, 0.0, False),
        (0.3, 0.0, True),
        # Six more dates each of 4 and of 10 people in a hundred: whom 95 in a hundred are below.
        (0.42, 0.04, False),
        (0.42, 0.1, True),
    ],
)
def test_weekdays_that_tell_an_offset_are_seen(weekend: float, more: float, tells: bool) -> None:
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(800), np.where(np.arange(800) < 800 * more, 12, 6))
    every = np.arange(600)
    first = np.datetime64("2020-01-06")  # a Monday
    weight = np.where(every % 7 >= 5, weekend, 1.0)
    day = rng.choice(every, len(person), p=weight / weight.sum())
    frame = pd.DataFrame({"id": person, "sex": "f", "visit": (first + day).astype(str)})
    schema = sf.Schema(
        person="id",
        quasi_identifiers=["sex"],
        sensitive=["visit"],
        events={"visit": {"kind": "date"}},
    )
    table = open_table(frame, schema)
    assert event_dates.weekdays_tell(table.events[0], table.person) is tells


def test_dates_whose_weekdays_tell_the_offset_are_moved_by_whole_weeks_at_the_finest() -> None:
    rng = np.random.default_rng(6)
    person = np.repeat(np.arange(600), 5)
    day = rng.integers(0, 60, len(person)) * 7 + rng.integers(0, 5, len(person))
    data = pd.DataFrame({"id": person, "sex": rng.choice(["f", "m"], 600)[person]})
    data["visit"] = (np.datetime64("2020-01-06") + day).astype(str)
    schema = sf.Schema(
        person="id",
        quasi_identifiers=["sex"],
        sensitive=["visit"],
        events={"visit": {"kind": "date"}},
    )
    release = sf.anonymize(
        data,
        schema,
        sf.PidKAnonymity(5),
        sf.KnownEvents(1, 0.02),
        techniques="widen,shift-dates,coarsen-dates",
    )
    scheme = release.disclosed.dates.scheme
    assert scheme.has_days
    assert scheme.period % 7 == 0
