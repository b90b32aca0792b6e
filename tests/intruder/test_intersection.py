"""Two releases: by pseudonyms, by values, against a count over all pairs of units."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.intruder.candidates import find_candidates
from sfumato.intruder.guesses.identity_attacks import exact_targeted
from sfumato.intruder.guesses.intersection_attack import intersect
from sfumato.intruder.knowledge import Knowledge, hold
from sfumato.intruder.reading import ReleasedFile, read_release
from sfumato.schema import Schema

SCHEMA = Schema(person="id", quasi_identifiers=["age", "town"], sensitive=["illness"])


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _release(ids: list[str], ages: list[int], width: int, towns: list[str], ill: list[str]):
    """Ages in ranges of a width; towns as they are."""
    return pa.table(
        {
            "id": ids,
            "age": [_range(a // width * width, a // width * width + width - 1) for a in ages],
            "town": towns,
            "illness": ill,
        }
    )


def _world(seed: int, persons: int, offset: int):
    rng = np.random.default_rng(seed)
    ages = rng.integers(0, 12, persons).tolist()
    towns = rng.choice(["a", "b"], persons).tolist()
    ill = rng.choice(["flu", "gout", "cold"], persons).tolist()
    ids = [f"p{n}q" for n in rng.permutation(persons)]
    register = pa.table({"person": list(map(str, range(persons))), "age": ages, "town": towns})
    one = _release(ids, ages, 4, ["*"] * persons, ill)
    moved = [a + offset for a in ages]
    two = _release(ids, moved, 3, towns, ill)
    order = rng.permutation(persons)
    return ages, towns, ill, register, one, two.take(pa.array(order)), order


def _held(register: pa.Table):
    return hold(register, Schema(person="person", quasi_identifiers=["age", "town"]))


def _fits(person: int, ages: list[int], towns: list[str], width: int, other: int, *, town: bool):
    low = ages[other] // width * width
    return low <= ages[person] < low + width and (not town or towns[person] == towns[other])


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), persons=st.integers(3, 14))
def test_a_shared_pseudonym_leaves_the_units_that_fit_in_both(seed: int, persons: int) -> None:
    ages, towns, _, register, one, two, _ = _world(seed, persons, 0)
    found = intersect(
        read_release(one, SCHEMA),
        read_release(two, SCHEMA),
        _held(register),
        np.random.default_rng(0),
    )
    assert found.linked
    for person in range(persons):
        first = {u for u in range(persons) if _fits(person, ages, towns, 4, u, town=False)}
        both = {u for u in first if _fits(person, ages, towns, 3, u, town=True)}
        assert found.identification.unit[person] in both
        assert found.identification.chance[person] == pytest.approx(1 / len(both))


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), persons=st.integers(3, 14))
def test_values_that_stay_the_same_weigh_the_units(seed: int, persons: int) -> None:
    ages, towns, ill, register, one, two, _ = _world(seed, persons, 0)
    two = two.set_column(0, "id", pa.array([f"z{n}" for n in range(persons)]))
    first, second = read_release(one, SCHEMA), read_release(two, SCHEMA)
    found = intersect(first, second, _held(register), np.random.default_rng(1))
    assert not found.linked
    texts = first.sensitive[0].texts
    everybody = range(persons)
    for person in everybody:
        here = {u for u in everybody if _fits(person, ages, towns, 4, u, town=False)}
        there = {u for u in everybody if _fits(person, ages, towns, 3, u, town=True)}
        both = (len(here & there) - 1) / (len(here) - 1) if len(here) > 1 else 0.0
        strangers = max(len(there) - 1 - both * (len(here) - 1), 0.0)
        odds: defaultdict[int, float] = defaultdict(float)
        for unit in here:
            seen = sum(ill[other] == ill[unit] for other in there)
            alike = sum(ill[other] == ill[unit] for other in here) - 1
            by_chance = both * alike + strangers * ill.count(ill[unit]) / persons
            if seen:
                odds[unit] = seen / max(both * seen + (1 - both) * by_chance, 1e-9)
        whole = sum(odds.values())
        guess = int(found.identification.unit[person])
        assert odds[guess] == pytest.approx(max(odds.values()))
        assert found.identification.chance[person] == pytest.approx(odds[guess] / whole)
        by_value: defaultdict[str, float] = defaultdict(float)
        for unit, each in odds.items():
            by_value[ill[unit]] += each / whole
        inferred = found.inferences[0]
        value = texts[inferred.value[person]]
        assert by_value[str(value)] == pytest.approx(max(by_value.values()))
        assert inferred.chance[person] == pytest.approx(max(by_value.values()))


def test_who_fits_only_the_first_release_is_guessed_from_it() -> None:
    one = pa.table({"id": ["x1", "x2", "x3", "x4"], "age": ["0-9", "0-9", "50", "50"],
                    "town": ["*"] * 4, "illness": ["flu"] * 4})  # fmt: skip
    two = pa.table({"id": ["x1", "x2", "x3", "x4"], "age": ["50"] * 4,
                    "town": ["a", "b", "b", "b"], "illness": ["flu"] * 4})  # fmt: skip
    register = pa.table({"person": ["1", "2"], "age": ["5", "50"], "town": ["a", "b"]})
    found = intersect(
        read_release(one, SCHEMA), read_release(two, SCHEMA), _held(register),
        np.random.default_rng(0),
    )  # fmt: skip
    assert found.linked
    assert found.identification.unit[0] in {0, 1}
    assert found.identification.unit[1] in {2, 3}
    assert found.identification.chance.tolist() == pytest.approx([0.5, 0.5])


def test_numbers_counted_up_are_no_pseudonyms() -> None:
    *_, register, one, two, _ = _world(3, 12, 0)
    one = one.set_column(0, "id", pa.array([str(n) for n in range(12)]))
    two = two.set_column(0, "id", pa.array([str(n) for n in range(12)]))
    found = intersect(
        read_release(one, SCHEMA), read_release(two, SCHEMA), _held(register),
        np.random.default_rng(0),
    )  # fmt: skip
    assert not found.linked


@pytest.mark.parametrize("linked", [True, False])
def test_two_releases_say_more_than_one_and_how_much(linked: bool) -> None:
    """Two releases whose ranges cut across each other, about the same 600 persons."""
    *_, register, one, two, order = _world(9, 600, 0)
    if not linked:
        two = two.set_column(0, "id", pa.array([f"z{n}" for n in order]))
    rng = np.random.default_rng(5)
    first = read_release(one, SCHEMA)
    known = _held(register)
    found = intersect(first, read_release(two, SCHEMA), known, rng)
    assert found.linked is linked
    alone = _alone(first, known)
    right = float(np.mean(found.identification.unit == np.arange(600)))
    assert right == pytest.approx(found.identification.chance.mean(), abs=0.03)
    assert found.identification.chance.mean() > (2 if linked else 1) * alone.mean()
    value = found.inferences[0]
    guessed = float(np.mean(value.value == first.sensitive[0].codes))
    assert guessed == pytest.approx(value.chance.mean(), abs=0.06)


def _alone(file: ReleasedFile, known: Knowledge) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The chance of each person by one release alone."""
    candidates = find_candidates(file, known)
    return exact_targeted(file, known, candidates, np.random.default_rng(0)).chance


def test_without_anything_in_common_the_first_release_counts_alone() -> None:
    *_, register, one, two, _ = _world(4, 30, 0)
    fresh = two.set_column(0, "id", pa.array([f"z{n}" for n in range(30)]))
    first, known = read_release(one, SCHEMA), _held(register)
    second = read_release(fresh.drop_columns(["illness"]), SCHEMA)
    found = intersect(first, second, known, np.random.default_rng(0))
    assert not found.linked
    assert not found.inferences
    assert found.identification.chance == pytest.approx(_alone(first, known))


def test_what_cannot_be_intersected_is_refused() -> None:
    *_, register, one, two, _ = _world(3, 5, 0)
    first = read_release(one, SCHEMA)
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="targets"):
        intersect(first, read_release(two, SCHEMA), _held(register), rng, targets=[7])
