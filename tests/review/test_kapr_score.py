"""KAPR is a norm of the disclosure state (001, Properties 4.1-4.5), exactly and in units."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sfumato.review.disclosure_account import (
    UNITS,
    disclosure_state,
    kapr,
    kapr_of,
    row_units,
    row_value,
    units_of,
)

entries = st.fractions(-3, 3, max_denominator=40)
shares = st.fractions(0, 1, max_denominator=12)
sizes = st.integers(1, 30)


@st.composite
def shapes(draw: st.DrawFn, of: st.SearchStrategy[Fraction], matrices: int = 1) -> list:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    matrix = st.lists(
        st.lists(of, min_size=columns, max_size=columns), min_size=rows, max_size=rows
    )
    return [draw(matrix) for _ in range(matrices)]


@given(shapes(entries), st.integers(1, 5))
def test_not_negative_and_zero_for_nothing_only(matrix: list, k: int) -> None:
    """Property 4.1."""
    (state,) = matrix
    score = kapr(state, k, len(state), len(state[0]))
    assert score >= 0
    assert (score == 0) is not any(entry for row in state for entry in row)


@given(shapes(entries), entries)
def test_homogeneous(matrix: list, factor: Fraction) -> None:
    """Property 4.1."""
    (state,) = matrix
    scaled = [[factor * entry for entry in row] for row in state]
    assert kapr(scaled, 2, 10, 4) == abs(factor) * kapr(state, 2, 10, 4)


@given(shapes(entries, matrices=2))
def test_triangle_inequality(matrices: list) -> None:
    """Property 4.1."""
    one, two = matrices
    both = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(one, two, strict=True)]
    assert kapr(both, 1, 10, 4) <= kapr(one, 1, 10, 4) + kapr(two, 1, 10, 4)


@given(shapes(shares), st.data(), st.integers(1, 5))
def test_between_0_and_1_where_no_set_is_below_k(matrix: list, data: st.DataObject, k: int) -> None:
    """Property 4.3, which needs the floor."""
    (table,) = matrix
    held = data.draw(st.lists(st.integers(k, 30), min_size=len(table), max_size=len(table)))
    score = kapr(disclosure_state(table, held), k, len(table), len(table[0]))
    assert 0 <= score <= 1


def test_1_where_everything_shows_and_every_set_is_1() -> None:
    """Property 4.3."""
    assert kapr(disclosure_state([[1, 1], [1, 1]], [1, 1]), 1, 2, 2) == 1


def test_below_the_floor_it_passes_1() -> None:
    assert kapr(disclosure_state([[Fraction(1)]], [1]), 5, 1, 1) == 5


@given(shares, shares, sizes)
def test_grows_with_the_share(one: Fraction, two: Fraction, size: int) -> None:
    """Property 4.4."""
    less, more = sorted([one, two])
    assert row_value(less, size) <= row_value(more, size)
    assert (row_value(less, size) == row_value(more, size)) is (less == more)
    assert row_units(less, size) <= row_units(more, size)


@given(shares, sizes, sizes)
def test_falls_with_the_set(share: Fraction, one: int, two: int) -> None:
    """Property 4.5."""
    small, large = sorted([one, two])
    assert row_value(share, large) <= row_value(share, small)
    if share and small < large:
        assert row_value(share, large) < row_value(share, small)
    assert row_units(share, large) <= row_units(share, small)


@given(shares, sizes)
def test_units_are_rounded_up_by_less_than_one(share: Fraction, size: int) -> None:
    exact = row_value(share, size) * UNITS
    assert 0 <= row_units(share, size) - exact < 1


def test_a_row_of_1_is_as_many_units_as_it_should_be() -> None:
    assert row_units(Fraction(1), 1) == UNITS
    assert row_units(Fraction(1), 3) == UNITS // 3 + 1
    assert kapr_of(row_units(Fraction(3), 1), 1, 1, 3) == 1


def test_one_more_masked_pair_does_not_lower_the_score() -> None:
    """n is the task's number of rows, not of those shown so far."""
    shown = disclosure_state([[Fraction(1, 2)], [Fraction(1, 2)]], [1, 1])
    more = [*shown, *disclosure_state([[Fraction(0)], [Fraction(0)]], [4, 4])]
    assert kapr(more, 1, 12, 1) == kapr(shown, 1, 12, 1) == Fraction(1, 12)


def test_a_budget_is_read_as_it_is_written() -> None:
    """0.3 as a double is below three tenths; three rows of 0.1 must fit."""
    assert units_of(0.3, 1, 10, 1) == 3 * UNITS
    assert units_of(0.1, 3, 1, 1) == UNITS // 30
    assert units_of(0.0, 1, 10, 1) == 0
