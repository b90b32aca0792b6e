"""Numbers print for people and never say more than they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import number_text
from sfumato.core.measure import Measure, Position
from sfumato.core.phrases import listed
from sfumato.reports import printed_numbers

SPACE = number_text.NARROW


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0"),
        (1.0, "100"),
        (0.5, "50"),
        (0.1432, "14.3"),
        (0.99961, "over 99.9"),
        (0.0042, "0.42"),
        (1e-9, "below 0.0001"),
    ],
)
def test_shares(share: float, text: str) -> None:
    assert number_text.percent(share) == f"{text}{SPACE}%"


@given(st.floats(0, 1))
def test_a_share_prints_as_0_or_100_only_where_it_is(share: float) -> None:
    text = number_text.percent(share).removesuffix(f"{SPACE}%")
    if text in ("0", "0.0"):
        assert share == 0
    if text.startswith("100"):
        assert share > 1 - 1e-7


@given(st.floats(0, 1), st.sampled_from([0.2, 0.5, 0.9]), st.booleans())
def test_a_value_beside_its_threshold_can_be_told_from_it(
    value: float, threshold: float, share: bool
) -> None:
    shown = number_text.against_threshold(value, threshold, share)
    same = number_text.percent(threshold) if share else number_text.number(threshold)
    assert (shown == same) == (abs(value - threshold) < 1e-9)


def test_no_estimator_is_named_without_its_interval():
    told = {"value": 0.03, "low": {"at_most": 0.02}, "high": {"about": 0.05}, "estimator": "way"}
    shown = printed_numbers.printed(0.03, "share")
    assert printed_numbers.printed(told, "share") == f"{shown} (estimate)"
    assert "way" in printed_numbers.printed(told | {"low": 0.02, "high": 0.05}, "share")


def test_counts_have_separators() -> None:
    assert number_text.count(1234567) == "1,234,567"
    assert number_text.count(1.7) == "1.7"


def test_numbers_without_an_end_are_words() -> None:
    assert number_text.number(float("inf")) == "no c"
    assert number_text.percent(float("nan")) == number_text.NONE


def test_estimates_show_their_interval_and_estimator() -> None:
    measure = Measure("marketer", 0.1, low=0.05, high=0.2, estimator="argus")
    shown = printed_numbers.measured(measure, share=True).replace(SPACE, " ")
    assert shown == "10 % (5 % to 20 %, argus)"


def test_places_and_lists_are_words() -> None:
    assert printed_numbers.position(Position(1234, 5)) == "class 5, row 1,234"
    assert printed_numbers.position(None) == ""
    assert listed(("a", "b", "c")) == "a, b and c"
    assert listed(("a",)) == "a"
