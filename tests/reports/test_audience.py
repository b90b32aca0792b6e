"""How exactly numbers are printed: as they are inside, never as those of a few outside."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sfumato.reports.audience import (
    FEWEST,
    Audience,
    Discretion,
    disclosed_measure,
    fewest_persons,
    largest_chance,
)
from sfumato.reports.printed_numbers import COUNT, SHARE, at_most, printed

INSIDE, OUTSIDE = Discretion(Audience.INTERNAL), Discretion(Audience.PUBLIC)
TELLERS = ("count", "share", "chance", "mean", "number")


def tell(name: str, value: Any, of: float | None = None) -> Any:
    return OUTSIDE.share(value, of) if name == "share" else getattr(OUTSIDE, name)(value)


@given(st.integers(0, 10**7))
def test_no_count_below_ten_is_told(count: int) -> None:
    shown = OUTSIDE.count(count)
    assert shown == ({"fewer_than": FEWEST} if count < FEWEST else count)


@given(st.integers(1, 10**6))
def test_no_share_tells_a_count_below_ten(of: int) -> None:
    few = range(min(of, FEWEST - 1) + 1)
    assert len({str(OUTSIDE.share(each / of, of)) for each in few}) == 1
    assert len({str(OUTSIDE.share(1 - each / of, of)) for each in few}) == 1


def test_a_largest_chance_does_not_tell_the_size_of_a_small_class() -> None:
    told_by_size = {size: str(OUTSIDE.chance(1 / size)) for size in range(1, 30)}
    assert len({told_by_size[size] for size in range(4, 10)}) == 1
    assert told_by_size[2] == told_by_size[3]
    assert told_by_size[1] == "{'more_than': 0.5}"
    for size in range(1, 30):
        shown = OUTSIDE.chance(1 / size)
        true = 1 / size <= shown.get("at_most", 1) + 1e-9 and 1 / size > shown.get("more_than", 0)
        assert true


@given(st.fractions(0, 1))
def test_what_is_told_of_a_chance_is_true(value: Fraction) -> None:
    shown = OUTSIDE.chance(float(value))
    assert float(value) <= shown.get("at_most", 1) + 1e-9
    assert float(value) > shown.get("more_than", -1)


def test_inside_everything_is_told() -> None:
    inside = INSIDE
    estimate = {"value": 3.0, "low": 1.0, "high": 9.0, "estimator": "e", "why": "w"}
    for name in TELLERS:
        args = (10,) if name == "share" else ()
        assert getattr(inside, name)(0.123456, *args) == 0.123456
        assert getattr(inside, name)(estimate, *args) == estimate
        assert getattr(inside, name)(None, *args) is None


def test_an_estimate_outside_has_no_reason_and_no_small_end() -> None:
    shown = OUTSIDE.count({"value": 30.2, "low": 3.0, "high": 99.0, "estimator": "e", "why": "w"})
    assert shown == {"value": 30, "low": {"fewer_than": 10}, "high": 99, "estimator": "e"}
    assert printed(shown, COUNT) == "30 (estimate)"


def test_words() -> None:
    assert printed({"fewer_than": 10}, COUNT) == "fewer than 10"
    assert printed({"about": 0.14}, SHARE) == "about 14\u202f%"
    assert printed(1216.89, COUNT) == "1,217"
    assert printed(None, SHARE) == "–"
    assert at_most(0.25) == "at most 25\u202f%"
    assert at_most({"at_most": 0.5}) == "at most 50\u202f%"
    assert at_most({"more_than": 0.5}) == "more than 50\u202f%"
    assert printed({"value": 0.5, "low": 0.4, "high": 0.6, "estimator": "e"}, SHARE) == (
        "50\u202f% (40\u202f% to 60\u202f%, e)"
    )


RELEASED = {
    "constraints": [{"name": "g_balance", "g": 0.9}, {"name": "h_affiliation", "h": 0.33}],
    "pid_k": 4, "sample_uniques": 0,
}  # fmt: skip


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_what_promises_imply_holds_in_every_class(records: list[int]) -> None:
    """A class whose persons have so many records, and the g-balance that it just keeps."""
    shares = [each / sum(records) for each in records]
    promise = {"name": "g_balance", "g": 1 - sum(share**2 for share in shares)}
    measured = {"constraints": [promise], "pid_k": len(records)}
    assert fewest_persons({**measured, "pid_k": 0}) <= len(records)
    assert fewest_persons(measured) <= len(records)
    assert max(shares) <= largest_chance("max_gidr", measured) + 1e-9
    assert 1 / len(records) <= largest_chance("prosecutor", measured) + 1e-9


def test_a_chance_outside_is_told_as_its_promise_says() -> None:
    shown = OUTSIDE
    for name, value, said in (
        ("max_gidr", 0.3, 0.32),
        ("max_gidr", 0.2, 0.25),
        ("max_gsar", 0.3, 0.33),
        ("h_affiliation", 0.3, 0.33),
        ("prosecutor", 0.1, 0.1),
        ("max_count_risk", 0.3, 0.5),
    ):
        assert disclosed_measure(name, value, RELEASED, shown) == {"at_most": said}
    assert disclosed_measure("max_gidr", 0.3, {}, shown) == {"at_most": 0.5}
    assert disclosed_measure("max_gsar", 0.4, RELEASED, shown) == {"at_most": 0.5}
    of_one = {"constraints": [{"name": "h_affiliation", "h": 0.33, "attribute": "a"}]}
    assert disclosed_measure("max_gsar", 0.3, of_one, shown) == {"at_most": 0.5}
    assert disclosed_measure("max_gidr", 0.3, RELEASED, INSIDE) == 0.3


@given(st.integers(2, 9), st.integers(2, 9), st.integers(2, 9))
def test_a_promise_tells_no_more_of_a_small_class_than_its_own_number(
    promised: int, one: int, other: int
) -> None:
    """Sizes that a promise allows and that read the same without it read the same with it."""
    measured = {"constraints": [{"name": "pid_k", "k": promised}]}
    sizes = [max(size, promised) for size in (one, other)]
    with_it = {str(disclosed_measure("prosecutor", 1 / size, measured, OUTSIDE)) for size in sizes}
    without = {str(disclosed_measure("prosecutor", 1 / size, {}, OUTSIDE)) for size in sizes}
    assert len(with_it) <= len(without)


def test_that_nobody_is_alone_is_told_where_a_promise_says_so() -> None:
    def uniques(number: int, **measured: Any) -> Any:
        return disclosed_measure("sample_uniques", number, measured, OUTSIDE)

    assert uniques(0, constraints=RELEASED["constraints"]) == 0
    assert uniques(0, constraints=[{"name": "pid_k", "k": 2}]) == 0
    assert uniques(0, pid_k=10) == 0
    for measured in ({}, {"pid_k": 9}, {"constraints": [{"name": "k", "k": 5}]}):
        assert uniques(0, **measured) == {"fewer_than": FEWEST}
    assert uniques(3, pid_k=10) == {"fewer_than": FEWEST}
    assert uniques(12) == 12


def test_expected_matches_outside_are_a_coarse_count() -> None:
    assert disclosed_measure("expected_matches", 3.2, {}, Discretion(Audience.PUBLIC)) == {
        "fewer_than": 10
    }
