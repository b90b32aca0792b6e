"""Attacks by some of a person's events: who fits, who is found, and what was predicted."""

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.intruder.attack_subject import _values
from sfumato.intruder.guesses.event_matching import EventSearch, PersonEvents, _each_its_own
from sfumato.intruder.knowledge import KnownColumn, numbers_of
from sfumato.intruder.reading import ReleasedFile, TextColumn


def search(known, shown, event, unit=None):
    """One row of the original for each known text, one record of a release for each shown one."""
    column = KnownColumn("event", tuple(known), numbers_of(tuple(known)), np.arange(len(known)))
    events = PersonEvents(np.zeros(len(known), np.int64), (_values(column, event),))
    unit = np.arange(len(shown)) if unit is None else np.array(unit)
    file = ReleasedFile(
        records=len(shown),
        person=unit,
        persons=int(unit.max()) + 1,
        quasi_identifiers=(),
        class_of=np.zeros(len(shown), np.int64),
        classes=1,
        first_row=np.zeros(1, np.int64),
        sensitive=(TextColumn("event", tuple(shown), np.arange(len(shown))),),
        others=(),
    )
    return EventSearch(file, events)


def fits(known, shown, event):
    return search([known], shown, event).fits(0, np.arange(len(shown))).tolist()


def test_codes_fit_themselves_and_what_is_above_them():
    event = sf.Event(hierarchy={"lengths": [2]})
    assert fits("250", ["250", "251", "25", "*", None], event) == [True, False, True, True, False]


def test_a_code_known_to_two_digits_fits_its_siblings():
    event = sf.Event(known="level 1", hierarchy={"lengths": [2]})
    known = ["250", "251", "300"]
    own = search(known, ["250", "251", "25", "300", "*"], event)
    assert own.fits(0, np.arange(5)).tolist() == [True, True, True, False, True]


@pytest.mark.parametrize(("known", "wanted"), [("exact", [0, 1, 0, 0]), ("3 days", [1, 1, 1, 0])])
def test_dates_may_be_off(known, wanted):
    event = sf.Event(kind="date", known=known)
    shown = ["2005-01-02", "2005-01-03", "2005-01-06", "2005-01-07"]
    assert fits("2005-01-03", shown, event) == [bool(each) for each in wanted]


def test_a_known_date_touches_a_range():
    event = sf.Event(kind="date", known="3 days")
    shown = ["2005-01-06 to 2005-01-31", "2005-01-07 to 2005-01-31", "*"]
    assert fits("2005-01-03", shown, event) == [True, False, True]


def test_each_known_event_needs_a_record_of_its_own():
    event = sf.Event(hierarchy={"lengths": [2]})
    own = search(["250", "251"], ["25", "25", "25"], event, unit=[0, 1, 1])
    rows = np.arange(3)
    assert own.fitting(np.array([0]), rows).tolist() == [0, 1]
    assert own.fitting(np.array([0, 1]), rows).tolist() == [1]


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=4))
def test_each_its_own_agrees_with_every_assignment(table):
    from itertools import permutations

    rows = range(len(table))
    wanted = any(
        all(table[row][column] for row, column in zip(rows, chosen, strict=True))
        for chosen in permutations(range(3), len(table))
    )
    assert _each_its_own(np.array(table)) == wanted


SCHEMA = sf.Schema(
    person="id",
    quasi_identifiers={"age": "numeric", "sex": "categorical"},
    sensitive=["code"],
    insensitive=["day"],
    events={"code": "code", "day": {"kind": "date", "known": "3 days"}},
)


@pytest.fixture(scope="module")
def visits():
    rng = np.random.default_rng(0)
    persons, number = 400, rng.integers(1, 7, size=400)
    days = np.datetime64("2005-01-01") + rng.integers(300, size=number.sum())
    return pd.DataFrame(
        {
            "id": np.repeat(np.arange(persons), number),
            "age": np.repeat(rng.integers(20, 80, size=persons), number),
            "sex": np.repeat(rng.choice(["f", "m"], size=persons), number),
            "code": rng.choice([f"{code}" for code in range(100, 140)], size=number.sum()),
            "day": days.astype(str),
        }
    )


@pytest.fixture(scope="module")
def release(visits):
    return sf.anonymize(visits, SCHEMA, sf.PidKAnonymity(20), seed=1)


def by_name(attack):
    return {outcome.attack: outcome for outcome in attack.outcomes}


def test_what_is_found_stands_beside_what_was_predicted(release):
    found = by_name(sf.attack(release, attacks=["events"], seed=2))
    exact = [f"events_{m}" for m in (1, 2, 3)]
    moved = [f"events_moved_{m}" for m in (1, 2, 3)]
    assert list(found) == [*exact, "events_scored_2", "events_scored_3", *moved]
    told = release.risk.known_events
    for m in (1, 2, 3):
        outcome = found[f"events_{m}"]
        assert outcome.predicted.value == told.of(m).found.value
        assert outcome.success.low < outcome.success.value < outcome.allowed
        assert not outcome.broken
    # Few values of age are cut, so that hardly anybody fits several classes.
    assert found["events_2"].success.value == pytest.approx(told.of(2).found.value, abs=0.1)
    assert found["events_2"].success.value > 5 * found["events_2"].baseline.value


@pytest.mark.slow
@pytest.mark.parametrize("technique", ["shift-dates", "relative-dates"])
def test_dates_that_are_all_moved_by_one_offset_are_found_by_the_days_between_them(technique):
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(1000), 5)
    age, sex = rng.integers(18, 90, 1000), rng.choice(["f", "m"], 1000)
    day = np.datetime64("2016-01-01") + rng.integers(0, 1461, len(person))
    visits = pd.DataFrame({"id": person, "age": age[person], "sex": sex[person], "day": day})
    schema = sf.Schema(
        person="id",
        quasi_identifiers=["age", "sex"],
        insensitive=["day"],
        events={"day": {"kind": "date", "known": "3 days"}},
    )
    promises = sf.GBalance(0.9), sf.KnownEvents(2, 0.25)
    release = sf.anonymize(visits, schema, *promises, seed=1, techniques=f"widen,{technique}")
    (way,) = release.utility.histories.done["day"]
    assert way in ("shifted, days", "relative, days")
    found = by_name(sf.attack(release, attacks=["events"], seed=2))
    two, predicted = found["events_moved_2"], release.risk.known_events.of(2).found.value
    assert found["events_2"].success.value < predicted / 8
    assert predicted / 3 < two.success.value < two.allowed
    assert found["events_moved_3"].success.value > 2 * two.success.value
    assert not any(each.broken for each in found.values())


@pytest.mark.parametrize(("many", "wanted"), [(1, [0, 1, 2, 3]), (2, [0, 1]), (3, [0])])
def test_the_unit_of_most_offsets_is_taken(many, wanted):
    event = sf.Event(kind="date", known="1 days")
    known = ["2005-01-01", "2005-01-11", "2005-01-31"]
    moved = ["2005-03-01", "2005-03-11", "2005-03-31"]
    other = ["2005-05-01", "2005-05-11", "2005-05-30"]  # as far apart, but for the last
    third = ["2005-03-05", "2005-03-16", "2005-03-31"]
    shown, unit = [*moved, *other, *third, "2005-04-04"], [*3 * [0], *3 * [1], *3 * [2], 3]
    own = search([*known, "2004-01-01", "2006-12-31"], shown, event, unit=unit)
    days = {row: own.moved.days(row) for row in range(3)}
    found = own.fitting_moved(days, np.arange(many), np.arange(len(shown)))
    assert found.tolist() == wanted


@pytest.mark.slow
def test_a_score_forgives_mistakes(release):
    told = {"age": 0.3, "code": 0.3}
    found = by_name(sf.attack(release, attacks=["events"], noise=told, seed=2))
    assert "30 % of them wrong" in found["events_2"].what
    right = {name: outcome.right / 400 for name, outcome in found.items()}
    right |= {f"events_scored_{m}": found[f"events_scored_{m}"].right / 300 for m in (2, 3)}
    assert right["events_scored_3"] > right["events_3"]
    sure = by_name(sf.attack(release, attacks=["events"], seed=2))
    assert found["events_3"].right < sure["events_3"].right


def test_a_file_of_another_tool_is_measured_as_it_is(visits):
    shown, exact = visits.assign(age="*"), SCHEMA.model_copy(update={"events": {}})
    attack = sf.attack(
        shown, schema=exact, original=visits, truth="same-order", attacks=["events"], seed=2
    )
    for m in (1, 2, 3):
        outcome = by_name(attack)[f"events_{m}"]
        assert outcome.success.low < outcome.predicted.value < outcome.success.high


def test_an_original_without_events_is_refused(release, visits):
    register = visits.drop(columns=["code", "day"]).drop_duplicates()
    with pytest.raises(sf.InputError, match="attack 'events' needs an original that has"):
        sf.attack(release, register=register, attacks=["events"])


@pytest.mark.parametrize("techniques", fast_first(1, ["widen=9,suppress-cells", "widen=9,roll-up"]))
def test_a_code_that_is_hidden_is_no_value_that_is_guessed(visits, techniques):
    schema = SCHEMA.model_copy(
        update={"events": {"code": sf.Event(hierarchy={"lengths": [2, 1]})}, "insensitive": ()}
    )
    release = sf.anonymize(
        visits.drop(columns="day"),
        schema,
        sf.HAffiliation(0.6),
        sf.KnownEvents(2, 0.09),
        seed=1,
        techniques=techniques,
    )
    assert release.utility.histories.exact < 0.5
    attack = sf.attack(release, attacks=["inference"], seed=1)
    assert attack.outcomes
    assert not attack.broken
