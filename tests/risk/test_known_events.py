"""What known events give away: naive Python finds the same, and so did the first measurements."""

from collections import defaultdict
from datetime import date, timedelta
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.number_text import share_text
from sfumato.risk.known_events import KNOWN, drawn_sets

QUASI = {"age": "categorical"}


def test_a_release_tells_first_what_two_events_do():
    data = pd.DataFrame({"id": [1, 1, 2, 2] * 5, "age": 30, "code": list("abacadaeaf") * 2})
    one = sf.anonymize(data, schema(), sf.PidKAnonymity(2), seed=1)
    assert not one.risk.known_events.warning()  # the insider's row says it
    assert not any("together" in warning for warning in one.warnings)
    data["ward"] = [1, 2, 2, 3] * 5
    both = schema(insensitive=["ward"])
    release = sf.anonymize(data, both, sf.PidKAnonymity(2), seed=1)
    told = release.risk.known_events
    assert release.warnings[0] == told.warning()
    assert f"{share_text(told.of(2).found.value)} of people" in told.warning()
    events = schema(insensitive=["ward"], events=["code", "ward"])
    named = sf.anonymize(data, events, sf.PidKAnonymity(2), seed=1)
    assert not any("[events]" in each for each in named.warnings)
    assert named.to_json()["known_events"] == release.to_json()["known_events"]
    assert named.to_json()["before"]["known_events"]


def test_at_most_six_events_are_known() -> None:
    assert sf.KnownEvents(6, 0.1).m == 6
    with pytest.raises(sf.InputError):
        sf.KnownEvents(7, 0.1)


@pytest.mark.parametrize(("records", "exact"), [(50, True), (51, False)])
def test_every_two_of_fifty_events_are_looked_at(records, exact):
    """What is found by two of them is the mean over all choices; of more, over twenty."""
    event = [*range(records), *range(records // 2)]
    data = pd.DataFrame({"id": [1] * records + [2] * (records // 2), "age": 30, "code": event})
    own = sf.Schema(person="id", quasi_identifiers=QUASI, events=["code"], sensitive=["code"])
    found = sf.assess(data, own).known_events.of(2).found.value
    # Each choice finds one person, or leaves two where both have both.
    alone = 1 - (records // 2) * (records // 2 - 1) / (records * (records - 1))
    assert (abs(found - (alone + (1 - alone) / 2 + 0.5) / 2) < 1e-9) is exact


@pytest.mark.parametrize(("columns", "named"), [(5, True), (6, False)])
def test_columns_of_a_warning_are_named_up_to_five(columns, named):
    names = [f"item_{place}" for place in range(columns)]
    data = pd.DataFrame({"id": [1, 1, 2, 2] * 5, "age": 30})
    for place, name in enumerate(names):
        data[name] = [(row * (place + 2)) % 11 for row in range(20)]
    own = sf.Schema(person="id", quasi_identifiers=QUASI, insensitive=names)
    warning = sf.assess(data, own).known_events.warning()
    assert (names[0] in warning, f"{columns} columns" in warning) == (named, not named)


def schema(**fields):
    return sf.Schema(
        **{"person": "id", "quasi_identifiers": QUASI, "sensitive": ["code"], **fields}
    )


def naive(rows, same=lambda one, other: one == other):
    """Share of persons found, learned from and alone, at random and at worst, by m.

    ``rows`` are (person, class, event); ``same`` says whether an intruder takes one event for
    another.
    """
    shown = defaultdict(list)
    for person, of, event in rows:
        shown[of, person].append(event)
    found = {}
    for m in KNOWN:
        random, worst = [], []
        for (of, person), own in shown.items():
            distinct = list(dict.fromkeys(own))
            sets = list(combinations(distinct, m)) if len(distinct) >= m else [tuple(distinct)]
            values = []
            for known in sets:
                fit = [
                    who
                    for (other, who), events in shown.items()
                    if other == of and _fits(known, events, same)
                ]
                assert person in fit
                more = any(not any(same(e, each) for e in known) for each in own)
                values.append((1 / len(fit), more / len(fit), float(len(fit) == 1)))
            random.append((*np.mean(values, axis=0), len(distinct) >= m))
            worst.append((*np.max(values, axis=0), len(distinct) >= m))
        for drawn, values in (("random", random), ("worst", worst)):
            several = [value for value in values if value[3]]
            p95 = [
                chances[-(-95 * len(chances) // 100) - 1] if chances else 0.0
                for at in (0, 1)
                for some in (values, several)
                for chances in [sorted(value[at] for value in some)]
            ]
            upper = p95[0], p95[1], max(p95[2:]), max(value[0] for value in values)
            found[m, drawn] = (*np.mean(values, axis=0)[:3], upper)
    return found


def _fits(known, events, same):
    return any(
        all(same(one, other) for one, other in zip(known, chosen, strict=True))
        for chosen in permutations(events, len(known))
    )


def agrees(risk, wanted):
    for (m, drawn), (found, learned, alone, upper) in wanted.items():
        own = risk.known_events.of(m, drawn)
        assert own.exact
        assert own.found.value == pytest.approx(found)
        assert own.learned.value == pytest.approx(learned)
        assert own.alone.value == pytest.approx(alone)
        measured = (own.p95, own.p95_with_m, own.p95_learned, own.highest)
        assert [each.value for each in measured] == pytest.approx(upper)


files = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(files)
def test_agrees_with_naive_python(rng):
    rows = rng.integers([6, 2, 5], size=(rng.integers(2, 20), 3))
    data = pd.DataFrame({"id": rows[:, 0], "age": rows[:, 1], "code": rows[:, 2].astype(str)})
    agrees(sf.assess(data, schema(events=["code"])), naive(rows.tolist()))


@given(files)
def test_dates_may_be_known_nearly(rng):
    rows = rng.integers([5, 2, 2, 12], size=(rng.integers(2, 14), 4)).tolist()
    first = date(2005, 1, 1)
    data = pd.DataFrame(
        {
            "id": [row[0] for row in rows],
            "age": [row[1] for row in rows],
            "code": [str(row[2]) for row in rows],
            "day": [str(first + timedelta(days=row[3])) for row in rows],
        }
    )
    events = {"code": "code", "day": {"kind": "date", "known": "3 days"}}
    risk = sf.assess(data, schema(events=events, insensitive=["day"]))
    near = naive(
        [(who, of, (code, day)) for who, of, code, day in rows],
        lambda one, other: one[0] == other[0] and abs(one[1] - other[1]) <= 3,
    )
    agrees(risk, near)


def test_amounts_may_be_known_nearly():
    data = pd.DataFrame(
        {"id": [1, 2, 3, 4], "age": 30, "code": "x", "cost": [100.0, 104.0, 110.0, -100.0]}
    )
    events = {"cost": {"kind": "amount", "known": "5 %"}}
    risk = sf.assess(data, schema(events=events, insensitive=["cost"]))
    # 104 lies within 5 % of 100 and the other way round; 104 does within 5 % of 110 downwards only.
    assert risk.known_events.of(1).found.value == pytest.approx((1 / 2 + 1 / 2 + 1 + 1) / 4)


def test_a_level_of_a_hierarchy_may_be_known():
    data = pd.DataFrame({"id": [1, 2, 3], "age": 30, "code": ["250", "251", "300"]})
    event = {"known": "level 1", "hierarchy": {"lengths": [2]}}
    exact = sf.assess(data, schema(events=["code"])).known_events
    above = sf.assess(data, schema(events={"code": event})).known_events
    assert exact.of(1).found.value == 1
    assert above.of(1).found.value == pytest.approx(2 / 3)
    event["known"] = "level 2"
    assert sf.assess(data, schema(events={"code": event})).known_events.of(1).alone.value == 0


def test_a_missing_level_is_refused(tmp_path):
    (tmp_path / "codes.csv").write_text("250;25;*\n", encoding="utf-8")
    event = {"known": "level 3", "hierarchy": tmp_path / "codes.csv"}
    data = pd.DataFrame({"id": [1, 2], "age": 30, "code": ["250", "250"]})
    with pytest.raises(sf.InputError, match="event 'code' must be known at a level that") as said:
        sf.assess(data, schema(events={"code": event}))
    assert "level 3 of 2" in str(said.value)


def test_a_column_of_events_must_be_in_the_file():
    data = pd.DataFrame({"id": [1, 2], "age": 30, "code": ["250", "250"]})
    with pytest.raises(sf.InputError, match="'day', which the schema names as event"):
        sf.assess(data, schema(events={"day": "date"}))


@pytest.mark.parametrize(("kind", "said"), [("date", "must hold dates"), ("amount", "numbers")])
def test_dates_are_dates_and_amounts_numbers(kind, said):
    data = pd.DataFrame({"id": [1, 2], "age": 30, "code": ["canary", "250"]})
    with pytest.raises(sf.InputError, match=said) as found:
        sf.assess(data, schema(events={"code": kind}))
    assert "canary" not in str(found.value)


def test_without_events_it_is_what_changes_within_a_person():
    data = pd.DataFrame(
        {"id": [1, 1, 2], "age": 30, "code": ["a", "b", "a"], "ward": [1, 1, 2], "day": [1, 2, 3]}
    )
    own = schema(insensitive=["ward", "day"])
    told = sf.assess(data, own).known_events
    assert (told.columns, told.named) == (("code", "day"), False)
    assert "by code and day together" in told.warning()
    assert sf.assess(data.iloc[[0, 2]], own).known_events is None
    assert sf.assess(data, schema(person=None, direct_identifiers=["id"])).known_events is None


def test_columns_that_hold_no_single_values_tell_no_event():
    data = pa.table({"id": [1, 1], "age": [3, 3], "code": ["a", "b"], "scan": [b"a", b"b"]})
    assert sf.assess(data, schema(insensitive=["scan"])).known_events.columns == ("code",)


def test_the_number_of_records_may_be_known():
    data = pd.DataFrame({"id": [1, 1, 2, 3], "age": 30, "code": ["a", "b", "a", "a"]})
    own = schema(events=["code"])
    assert sf.assess(data, own).known_events.of(1).found.value == pytest.approx(
        ((1 / 3 + 1) / 2 + 1 / 3 + 1 / 3) / 3
    )
    risk = sf.assess(data, own, counts=True)
    assert risk.known_events.of(1).found.value == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert risk.to_json()["events"]["counts"]


def many(persons=250):
    """Persons with many events, so that not every choice is looked at."""
    rng = np.random.default_rng(0)
    number = rng.integers(1, 80, size=persons)
    return pd.DataFrame(
        {
            "id": np.repeat(np.arange(persons), number),
            "age": np.repeat(rng.integers(3, size=persons), number),
            "code": rng.integers(500, size=number.sum()),
        }
    )


def test_what_is_drawn_has_an_interval_that_covers_the_whole():
    data = many()
    told = sf.assess(data, schema(events=["code"]), seed=3).known_events
    again = sf.assess(data, schema(events=["code"]), seed=3).known_events
    assert told == again
    for m, drawn in [(m, drawn) for m in KNOWN for drawn in ("random", "worst")]:
        each = told.of(m, drawn)
        plain = each.to_json()
        assert plain["low"] <= plain["found"] <= plain["high"]
        assert each.exact == (plain["low"] == plain["high"])
        if m > 1:
            assert told.of(m - 1, drawn).found.value <= plain["high"]
        assert told.of(m, "random").found.value <= told.of(m, "worst").found.value
    assert told.of(1).exact
    assert not told.of(2).exact
    assert sum(each.persons for each in told.by_number) == told.persons


def test_every_choice_of_events_is_drawn_as_often():
    drawn = drawn_sets(np.random.default_rng(0), 6, 3, (1000, 20)).reshape(-1, 3)
    chosen, times = np.unique(drawn, axis=0, return_counts=True)
    assert len(chosen) == 20
    assert (np.diff(chosen, axis=1) > 0).all()
    wanted = 1000
    assert abs(times - wanted).max() < 5 * np.sqrt(wanted)


def test_on_spark_events_are_refused():
    named = schema(events=["code"])
    with pytest.raises(sf.InputError, match="schema: its events must be left out on Spark"):
        sf.assess("nowhere.parquet", named, engine="spark")
    with pytest.raises(sf.InputError, match="parameter counts must be left out on Spark"):
        sf.assess("nowhere.parquet", schema(), engine="spark", counts=True)
    with pytest.raises(sf.InputError, match="schema: its events must be left out on Spark"):
        sf.anonymize("nowhere.parquet", named, sf.PidKAnonymity(2), engine="spark")


@pytest.fixture(scope="module")
def informs(shared_data):
    conditions = pq.read_table(shared_data / "informs" / "conditions_2005.parquet").to_pandas()
    people = pq.read_table(shared_data / "informs" / "demographics_2005.parquet").to_pandas()
    joined = conditions.merge(people, on="DUPERSID", suffixes=("", "_d"))
    coded = ~joined["ICD9CODX"].astype(str).str.startswith("-") & (joined["EDUCYEAR"] >= 0)
    return joined[coded]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("quasi", "promises", "wanted"),
    [
        (
            {"DOBYY": "numeric", "EDUCYEAR": "numeric", "SEX": "categorical"},
            (sf.GBalance(0.9), sf.HAffiliation(0.5)),
            (0.41, 0.70, 0.84),
        ),
        (
            dict.fromkeys(("DOBYY", "SEX", "EDUCYEAR", "income", "poverty"), "numeric"),
            (sf.PidKAnonymity(500),),
            (0.12, 0.58, 0.84),
        ),
    ],
)
def test_informs(informs, quasi, promises, wanted):
    columns = ["DUPERSID", *quasi, "ICD9CODX"]
    own = sf.Schema(person="DUPERSID", quasi_identifiers=quasi, sensitive=["ICD9CODX"])
    release = sf.anonymize(informs[columns], own, *promises, seed=1, cut="median")
    told = release.risk.known_events
    for m, share in enumerate(wanted, start=1):
        assert told.of(m).with_m.value == pytest.approx(share, abs=0.01 if m <= 2 else 0.03)
    assert told.of(2).found.value < told.of(2).with_m.value
