"""δ-presence against a register: by hand, naively, and with values written differently."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf

SCHEMA = sf.Schema(person="id", quasi_identifiers={"age": "numeric", "sex": "categorical"})
FILE = pa.table({"id": [1, 1, 2, 3], "age": [30, 30, 30, 41], "sex": ["f", "f", "f", "m"]})


def test_by_hand():
    register = pa.table({"age": [30, 30, 30, 41, 41, 77], "sex": ["f", "f", "f", "m", "m", "f"]})
    found = sf.assess(FILE, SCHEMA, register=register)
    assert found.presence.population == 6
    assert found.presence.presence_low.value == 0  # nobody of the file is 77
    assert found.presence.presence_high.value == pytest.approx(2 / 3)
    assert found.presence.presence_high.where.row == 1
    assert found.presence.strangers == 0
    assert found.to_json()["presence_high"] == pytest.approx(2 / 3)
    assert "share of people of the register" in str(found)


def test_numbers_compare_by_value_and_persons_count_once():
    register = pa.table(
        {
            "id": [9, 9, 8, 7, 6],
            "age": ["30.0", "30.0", "30.0", "41.0", "41.5"],
            "sex": ["f", "f", "f", "m", "m"],
        }
    )
    found = sf.assess(FILE, SCHEMA, register=register).presence
    assert (found.population, found.strangers) == (4, 0)
    assert found.presence_high.value == 1
    assert found.presence_low.value == 0


def test_a_register_that_lacks_somebody_is_said():
    register = pa.table({"age": [30, 50], "sex": ["f", "m"]})
    risk = sf.assess(FILE, SCHEMA, register=register)
    assert risk.presence.strangers == 2
    assert risk.presence.presence_high.value == 1
    assert any("register" in warning for warning in risk.warnings)
    with pytest.raises(sf.InputError, match="sex"):
        sf.assess(FILE, SCHEMA, register=pa.table({"age": [30]}))


person = st.tuples(st.integers(0, 2), st.sampled_from(["f", "m", None]))


@given(st.lists(person, min_size=1, max_size=8), st.lists(person, max_size=8))
def test_is_the_naive_share(inside, others):
    inside = [*inside, (0, "f")]
    ages, sexes = zip(*inside, strict=True)
    everybody = [*inside, *others]
    schema = sf.Schema(quasi_identifiers={"age": "numeric", "sex": "categorical"})
    register = pa.table(
        {"age": [age for age, _ in everybody], "sex": [sex for _, sex in everybody]}
    )
    table = pa.table({"age": list(ages), "sex": list(sexes)})
    found = sf.assess(table, schema, register=register).presence
    counts = defaultdict(int)
    for one in everybody:
        counts[one] += 1
    shares = [Fraction(inside.count(one), count) for one, count in counts.items()]
    assert found.presence_low.value == pytest.approx(float(min(shares)))
    assert found.presence_high.value == pytest.approx(float(max(shares)))
    assert found.strangers == 0
