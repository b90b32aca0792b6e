"""Error of random range-count queries."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.release import distributions as range_queries
from sfumato.release.distributions import Attribute, draw_predicates, query_error, released_cells
from sfumato.release.generalisation import release_column
from sfumato.release.release_options import Form
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn, LabelDomain, NumberDomain


def attributes_of(case):
    return [
        Attribute(original, case.cells(column))
        for column, original in zip(case.kept_columns(), case.table.quasi_identifiers, strict=True)
    ]


def in_classes(column, class_of):
    """A column released as ranges."""
    classes = int(class_of.max()) + 1
    (printed,) = release_column(column, class_of, classes, Form.RANGE)
    return Attribute(column, released_cells(column, class_of, classes, Form.RANGE, printed))


def every_code(column):
    """The codes of a column's domain."""
    return np.arange(column.domain.size)


def naive_error(case, group, selected):
    """Relative error of one query, a record at a time."""
    columns = [each.column for each in group]
    exact = sum(
        all(code in chosen for code, chosen in zip(codes, selected, strict=True))
        for codes in zip(*(c.codes.tolist() for c in columns), strict=True)
    )
    estimate = Fraction(0)
    for t in case.class_of.tolist():
        share = Fraction(1)
        for column, chosen in zip(columns, selected, strict=True):
            inside = case.candidates(column, t)
            share *= Fraction(len(chosen & set(inside)), max(len(inside), 1))
        estimate += share
    return float(abs(estimate - exact)) / max(exact, 0.001 * case.table.records)


@given(data=st.data(), seed=st.integers(0, 9), chunk=st.sampled_from([1, 40, 1 << 22]))
def test_errors_agree_with_naive_ones(data, seed, chunk, cases) -> None:
    case = data.draw(cases())
    group = tuple(attributes_of(case)[:2])
    sizes = np.bincount(case.class_of)
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(range_queries, "CHUNK", chunk)
        asked = [draw_predicates(each.column, each.records, 20, rng) for each in group]
        counts = list(range_queries._counted_in_parts(group, asked, sizes, None))
    exact, estimate = (np.concatenate(each) for each in zip(*counts, strict=True))
    found = np.abs(estimate - exact) / np.maximum(exact, 0.001 * case.table.records)
    by_name = [
        own.selected(np.arange(each.column.domain.size), slice(None))
        for each, own in zip(group, asked, strict=True)
    ]
    expected = [
        naive_error(case, group, [set(np.flatnonzero(v[:, q]).tolist()) for v in by_name])
        for q in range(20)
    ]
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_large_table_is_counted_like_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    one, other = rng.integers(-1, 400, 500), rng.integers(-1, 300, 500)
    weights = rng.random(500)
    dense = np.zeros((400, 300))
    for a, b, w in zip(one, other, weights, strict=True):
        if a >= 0 and b >= 0:
            dense[a, b] += w
    places, found = range_queries._contingency([one, other], [400, 300], weights)
    assert len(found) < 500
    assert found == pytest.approx(dense[tuple(places)])
    assert found.sum() == pytest.approx(dense.sum())


def test_predicates_cover_about_a_third(column) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 1000, 3000)
    numbers = column("x", Kind.NUMERIC, values.tolist())
    letters = column("y", Kind.CATEGORICAL, [f"v{value % 50}" for value in values.tolist()])
    for each in (numbers, letters):
        attribute = in_classes(each, np.arange(3000))
        selected = draw_predicates(each, attribute.records, 200, rng).selected(
            every_code(each), slice(None)
        )
        covered = attribute.records @ selected / 3000
        assert covered == pytest.approx(0.3, abs=0.02)
        assert len(np.unique(selected, axis=1).T) > 100
        if each.kind is Kind.NUMERIC:
            runs = np.abs(np.diff(selected, axis=0, prepend=0, append=0)).sum(axis=0)
            assert (runs == 2).all()


def test_every_predicate_selects_a_value(column) -> None:
    rng = np.random.default_rng(1)
    for kind in Kind:
        values = [1, 1, 1, None] if kind is Kind.NUMERIC else ["a", "a", "b", None]
        each = column("x", kind, values)
        attribute = in_classes(each, np.arange(4))
        selected = draw_predicates(each, attribute.records, 50, rng).selected(
            every_code(each), slice(None)
        )
        assert (attribute.records @ selected > 0).all()


def test_intervals_need_no_list_of_their_values(column) -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 60, 200).tolist()
    numbers = column("x", Kind.NUMERIC, [None if value == 59 else value for value in values])
    cells = in_classes(numbers, rng.permutation(np.arange(200) % 40)).cells
    low, high = np.sort(rng.integers(0, numbers.domain.size, (2, 30)), axis=0)
    codes = np.arange(numbers.domain.size)[:, None]
    selected = ((codes >= low) & (codes <= high)).astype(float)
    assert cells.are_ranges
    assert (cells.overlaps(low, high) == cells.shares(selected)).all()


def test_the_seed_decides_and_suppressed_records_are_errors(case, column) -> None:
    columns = [
        column("age", Kind.NUMERIC, list(range(40))),
        column("place", Kind.CATEGORICAL, list("abcd") * 10),
    ]
    made = case(columns, range(40), [number // 5 for number in range(40)])
    assert made.measure(1).queries == made.measure(1).queries
    assert made.measure(1).queries != made.measure(2).queries
    whole = case(columns, range(40), list(range(40)))
    assert whole.measure().queries.mean == 0.0
    kept = [number % 2 == 0 for number in range(40)]
    half = case(columns, range(40), list(range(40)), kept=kept).measure().queries
    assert 0.2 < half.mean < 0.8
    assert half.columns == 2
    one = case(columns[:1], range(40), [0] * 40).measure().queries
    assert one.columns == 1
    assert one.lower_quartile <= one.median <= one.upper_quartile


@pytest.mark.slow
def test_fifty_thousand_classes() -> None:
    rng = np.random.default_rng(0)
    records = 200_000
    attributes = []
    class_of = (np.arange(records) // 4).astype(np.int32)
    for number, size in enumerate((90, 20_000, 7, 500, 2)):
        codes = np.sort(rng.integers(0, size, records)).astype(np.int32)
        rng.shuffle(codes.reshape(-1, 4))
        kind = Kind.CATEGORICAL if number == 4 else Kind.NUMERIC
        domain = (
            LabelDomain(("a", "b"))
            if number == 4
            else NumberDomain(np.arange(size, dtype=np.int64))
        )
        column = CodedColumn(f"q{number}", codes, domain, kind)
        attributes.append(in_classes(column, class_of))
    sizes = np.bincount(class_of)
    found = query_error(attributes, sizes, rng)
    assert found.queries == 1000
