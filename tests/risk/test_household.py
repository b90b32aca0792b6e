"""Household risk: an example by hand, a naive count, and the household column on its way."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.risk.household import household_risk
from sfumato.risk.summary import summarize

FILE = {
    "age": [30, 30, 41, 41, 41, 52],
    "home": ["a", "b", "a", "b", None, "c"],
}
SCHEMA = sf.Schema(household="home", quasi_identifiers=["age"])


def test_by_hand():
    """Risks 1/2, 1/2, 1/3, 1/3, 1/3, 1; households a and b: 1 - 1/2 · 2/3 = 2/3."""
    risk = sf.assess(pa.table(FILE), SCHEMA, threshold=0.5)
    found = risk.to_json()
    assert found["households"] == 4
    assert found["max_household_risk"] == 1
    assert found["avg_household_risk"] == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)
    assert found["households_at_risk"] == 0.75
    assert found["positions"]["max_household_risk"] == {"row": 6, "equivalence_class": 3}
    assert "find at least one person of a household" in str(risk)


def test_a_release_measures_households_and_hands_none_on():
    made = sf.anonymize(pa.table(FILE), SCHEMA, sf.PidKAnonymity(3), seed=1)
    assert made.data.column_names == ["age"]
    assert made.risk.household.max_household_risk.value < 1
    assert made.risk_before.household.max_household_risk.value == 1
    assert made.risk.household.households == 4


def test_without_a_household_there_is_no_such_measure():
    risk = sf.assess(pa.table(FILE), sf.Schema(quasi_identifiers=["age"]))
    assert risk.household is None
    assert "households" not in risk.to_json()


def test_one_role_each():
    with pytest.raises(InputError, match="household"):
        sf.Schema(household="age", quasi_identifiers=["age"])


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 6), st.none() | st.integers(0, 3)),
        min_size=1,
        max_size=30,
    )
)
def test_is_the_naive_risk(code, rows):
    classes, persons, homes = zip(*rows, strict=True)
    class_of, person = code(classes), code(persons)
    summary = summarize(class_of, int(class_of.max()) + 1, person, {})
    found = household_risk(class_of, person, code(homes), summary, 0.5)
    members = defaultdict(set)
    for t, who, _ in rows:
        members[t].add(who)
    risk, living, housed = defaultdict(Fraction), defaultdict(set), set()
    for t, who, home in rows:
        risk[who] = max(risk[who], Fraction(1, len(members[t])))
        if home is not None:
            living[home].add(who)
            housed.add(who)
    for who in set(persons) - housed:
        living["alone", who] = {who}
    risks = [1 - prod(1 - risk[who] for who in own) for own in living.values()]
    assert found.households == len(risks)
    assert found.max_household_risk.value == pytest.approx(float(max(risks)))
    assert found.avg_household_risk.value == pytest.approx(float(sum(risks) / len(risks)))


def test_a_risk_that_is_the_threshold_is_not_above_it(measure):
    """A household of one person among five is found with a chance of 1/5, rounded up or not."""
    risk = measure([1] * 5, range(5))
    for each in (0.2, 0.1999):
        person = np.arange(5, dtype=np.int32)
        found = household_risk(np.zeros(5, np.int32), person, person, risk.own_classes(), each)
        assert found.households_at_risk.value == float(each < 0.2)
