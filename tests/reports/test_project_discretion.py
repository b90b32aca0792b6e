"""How exactly numbers are told: as they are inside, never as those of a few outside."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sfumato.reports.project.discretion import FEWEST, Internal, Public
from sfumato.reports.project.text import COUNT, SHARE, at_most, told

TELLERS = ("count", "share", "chance", "mean", "number")


def tell(name: str, value: Any, of: float | None = None) -> Any:
    return Public().share(value, of) if name == "share" else getattr(Public(), name)(value)


@given(st.integers(0, 10**7))
def test_no_count_below_ten_is_told(count: int) -> None:
    shown = Public().count(count)
    assert shown == ({"fewer_than": FEWEST} if count < FEWEST else count)


@given(st.integers(1, 10**6))
def test_no_share_tells_a_count_below_ten(of: int) -> None:
    few = range(min(of, FEWEST - 1) + 1)
    assert len({str(Public().share(each / of, of)) for each in few}) == 1
    assert len({str(Public().share(1 - each / of, of)) for each in few}) == 1


def test_a_largest_chance_does_not_tell_the_size_of_a_small_class() -> None:
    told_by_size = {size: str(Public().chance(1 / size)) for size in range(1, 30)}
    assert len({told_by_size[size] for size in range(4, 10)}) == 1
    assert told_by_size[2] == told_by_size[3]
    assert told_by_size[1] == "{'more_than': 0.5}"
    for size in range(1, 30):
        shown = Public().chance(1 / size)
        true = 1 / size <= shown.get("at_most", 1) + 1e-9 and 1 / size > shown.get("more_than", 0)
        assert true


@given(st.fractions(0, 1))
def test_what_is_told_of_a_chance_is_true(value: Fraction) -> None:
    shown = Public().chance(float(value))
    assert float(value) <= shown.get("at_most", 1) + 1e-9
    assert float(value) > shown.get("more_than", -1)


def test_inside_everything_is_told() -> None:
    inside = Internal()
    estimate = {"value": 3.0, "low": 1.0, "high": 9.0, "estimator": "e", "why": "w"}
    for name in TELLERS:
        args = (10,) if name == "share" else ()
        assert getattr(inside, name)(0.123456, *args) == 0.123456
        assert getattr(inside, name)(estimate, *args) == estimate
        assert getattr(inside, name)(None, *args) is None


def test_an_estimate_outside_has_no_reason_and_no_small_end() -> None:
    shown = Public().count({"value": 30.2, "low": 3.0, "high": 99.0, "estimator": "e", "why": "w"})
    assert shown == {"value": 30, "low": {"fewer_than": 10}, "high": 99, "estimator": "e"}
    assert told(shown, COUNT) == "30 (e)"


def test_words() -> None:
    assert told({"fewer_than": 10}, COUNT) == "fewer than 10"
    assert told({"about": 0.14}, SHARE) == "about 14\u202f%"
    assert told(1216.89, COUNT) == "1,217"
    assert told(None, SHARE) == "–"
    assert at_most(0.25) == "at most 25\u202f%"
    assert at_most({"at_most": 0.5}) == "at most 50\u202f%"
    assert at_most({"more_than": 0.5}) == "more than 50\u202f%"
    assert told({"value": 0.5, "low": 0.4, "high": 0.6, "estimator": "e"}, SHARE) == (
        "50\u202f% (40\u202f% to 60\u202f%, e)"
    )
