"""Odds in the report on a linkage: their words, and how many of them an axis has room for."""

from __future__ import annotations

from math import log2

import pytest

from sfumato.reports import linkage_report as page
from sfumato.reports import linkage_tables as tables


@pytest.mark.parametrize("most", [4, 5])
@pytest.mark.parametrize("least", [-40.0, -20.0, -9.0, -2.0, 0.0])
@pytest.mark.parametrize("last", [2.0, 6.0, 14.0, 40.0])
def test_ticks_are_few_powers_of_ten(least: float, last: float, most: int) -> None:
    ticks = page._ticks((least, 0.0, last), most)
    assert len(ticks) <= most
    assert 0.0 in ticks
    tens = [tick / log2(10) for tick in ticks]
    assert tens == pytest.approx([round(each) for each in tens])
    assert all(least <= tick <= last for tick in ticks)
    # As many as fit: where several steps do, the shortest is taken.
    assert len(ticks) > 1 or last - least < log2(10) * 2


def test_ticks_of_hundreds() -> None:
    assert page._ticks((-10.0, 15.0), 4) == pytest.approx(
        [-2 * log2(10), 0, *[2 * log2(10), 4 * log2(10)]]
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.0, "1"),
        (1.04, "1"),
        (2.54, "2.5"),
        (99.6, "100"),
        (123_456.0, "120,000"),
        (999_999.0, "1 million"),
        (1e6, "1 million"),
        (1.26e6, "1.3 million"),
        (1.25e7, "12 million"),
        (9.99e8, "1 billion"),
        (9.99e11, "1 trillion"),
        (1e15, "1,000 trillion"),
    ],
)
def test_a_large_number_is_rounded_before_its_word_is_chosen(value: float, said: str) -> None:
    assert tables.large(value) == said


@pytest.mark.parametrize("bits", [0.0, 0.04, -0.04])
def test_what_is_about_as_frequent_is_once_as_frequent(bits: float) -> None:
    assert tables.times(bits) == "× 1"
    assert tables.times(-1.0) == "÷ 2"


@pytest.mark.parametrize(
    ("score", "odds"), [(0.999, "999 : 1"), (0.01, "1 : 99"), (0.5, "1 : 1"), (1.0, None)]
)
def test_a_score_stands_beside_its_odds(score: float, odds: str | None) -> None:
    said = tables.with_odds(score)
    assert said == (f"{score:g}" if odds is None else f"{score:g} ({odds})")
