"""Distributions before and after release: bars that show no rare value, mass, total variation."""

from __future__ import annotations

from collections import Counter
from datetime import date
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.release import distributions
from sfumato.release.distributions import make_bars
from sfumato.release.release_options import Form
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn, NumberDomain


@given(data=st.data())
def test_cells_hold_what_is_printed(data, cases) -> None:
    case = data.draw(cases())
    for column, original in zip(case.kept_columns(), case.table.quasi_identifiers, strict=True):
        cells = case.cells(column)
        size = column.domain.size
        members = cells.shares(np.eye(size))[cells.of_class] > 0
        for number in range(case.classes):
            expected = case.candidates(original, number)
            assert np.flatnonzero(members[number]).tolist() == expected
        leaves = cells.leaves[cells.of_class]
        assert leaves.tolist() == case.released[column.name][0].leaves.tolist()


def naive_distribution(case, number, shown):
    """Mass of each bar before and after, a record of the release at a time."""
    column = case.table.quasi_identifiers[number]
    of_code = make_bars(column, case.table.person).of_code.tolist()
    last = len(shown.labels) - 1
    before = Counter(last if c < 0 else of_code[c] for c in column.codes.tolist())
    after = Counter()
    for t in case.class_of.tolist():
        inside = case.candidates(column, t)
        if not inside:
            after[last] += 1
        for code in inside:
            after[of_code[code]] += Fraction(1, len(inside))
    return before, after


@given(data=st.data(), fewest=st.sampled_from([1, 2, 10]))
def test_distributions_agree_with_a_naive_one(data, fewest, cases) -> None:
    case = data.draw(cases())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributions, "FEWEST_PERSONS", fewest)
        found = case.measure()
        for number, shown in enumerate(found.distributions):
            before, after = naive_distribution(case, number, shown)
            records, kept = case.table.records, len(case.class_of)
            places = range(len(shown.labels))
            assert shown.before == pytest.approx([before[i] / records for i in places])
            assert shown.after == pytest.approx([float(after[i] / kept) for i in places], abs=1e-9)
            apart = sum(abs(before[i] / records - float(after[i] / kept)) for i in places) / 2
            assert shown.total_variation == pytest.approx(apart, abs=1e-9)
            assert found.columns[number].total_variation == shown.total_variation


@given(data=st.data(), fewest=st.sampled_from([2, 3]))
def test_no_bar_has_few_persons_and_no_value_is_lost(data, fewest, cases) -> None:
    case = data.draw(cases())
    person = case.table.person
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributions, "FEWEST_PERSONS", fewest)
        for column in case.table.quasi_identifiers:
            made = make_bars(column, person)
            assert made.of_code.min() >= 0
            assert made.of_code.max() < len(made.labels)
            if len(made.labels) == 1:
                continue
            for number, label in enumerate(made.labels):
                held = {
                    p
                    for p, c in zip(person.tolist(), column.codes.tolist(), strict=True)
                    if c >= 0 and made.of_code[c] == number
                }
                assert len(held) >= fewest or label.startswith("other (")


def persons(values):
    return np.arange(len(values), dtype=np.int32)


def test_bins_of_ages(column) -> None:
    ages = [*range(20, 80)] * 40 + [1, 120] * 10
    made = make_bars(column("age", Kind.NUMERIC, ages), persons(ages))
    assert made.labels[:3] == ("below 20", "20-22", "23-25")
    assert made.labels[-2:] == ("77-79", "80 and above")
    assert made.edges == tuple(float(edge) for edge in range(20, 81, 3))
    assert made.edge_labels[0] == "20"
    values = sorted(set(ages))
    assert [int(made.of_code[values.index(v)]) for v in (1, 20, 22, 23)] == [0, 1, 1, 2]
    assert int(made.of_code[values.index(120)]) == len(made.labels) - 1


def test_bins_never_print_the_extremes(column) -> None:
    values = [*range(100, 1100), 987654321]
    made = make_bars(column("income", Kind.NUMERIC, values), persons(values))
    texts = " ".join([*made.labels, *made.edge_labels])
    assert "987654321" not in texts
    assert not any(label.startswith("100") for label in made.labels)
    assert len(made.labels) <= distributions.BINS + 2


def test_one_person_with_many_records_makes_no_bar(column) -> None:
    values = [5] * 50 + [90] * 50
    person = np.array([*range(50), *[50] * 50], dtype=np.int32)
    assert make_bars(column("age", Kind.NUMERIC, values), person).labels == ("any value",)


def test_bins_of_dates_and_decimals() -> None:
    days = np.arange(0, 3000, 10) + date(2000, 1, 1).toordinal() - date(1970, 1, 1).toordinal()
    codes = np.repeat(np.arange(300, dtype=np.int32), 10)
    people = persons(codes)
    made = make_bars(CodedColumn("d", codes, NumberDomain(days, unit="date"), Kind.NUMERIC), people)
    assert all(date.fromisoformat(label) for label in made.edge_labels)
    assert made.labels[1].count(" to ") == 1
    assert made.edges[0] == (date.fromisoformat(made.edge_labels[0]) - date(1970, 1, 1)).days
    cents = np.arange(300) * 25
    made = make_bars(CodedColumn("x", codes, NumberDomain(cents, 2), Kind.NUMERIC), people)
    assert [f"{edge:.2f}" for edge in made.edges] == list(made.edge_labels)


def test_rare_categories_share_a_bar(column) -> None:
    values = ["a"] * 20 + ["b"] * 9 + ["c"] * 12 + ["d"] * 2
    made = make_bars(column("place", Kind.CATEGORICAL, values), persons(values))
    assert made.labels == ("a", "c", "other (2 categories)")
    assert made.of_code.tolist() == [0, 2, 1, 2]
    one = make_bars(column("place", Kind.CATEGORICAL, values[:-2]), persons(values[:-2]))
    assert one.labels == ("a", "c", "other (1 category)")


def test_at_most_thirty_categories(column) -> None:
    values = [f"v{number:02}" for number in range(40)] * 10
    made = make_bars(column("code", Kind.ORDERED, values), persons(values))
    assert len(made.labels) == 30
    assert made.labels[-1] == "other (11 categories)"
    values = values[:30] * 10
    assert len(make_bars(column("code", Kind.ORDERED, values), persons(values)).labels) == 30


def test_missing_is_a_bar_of_its_own(case, column) -> None:
    values = ["a"] * 10 + ["b"] * 10 + [None] * 20
    classes = [0] * 20 + [1] * 10 + [2] * 10
    classes[20] = 0
    found = case([column("place", Kind.CATEGORICAL, values)], range(40), classes).measure()
    shown = found.distributions[0]
    assert shown.labels == ("a", "b", "missing")
    assert shown.has_missing
    assert shown.before == (0.25, 0.25, 0.5)
    assert shown.after == pytest.approx((10.5 / 40, 10.5 / 40, 19 / 40))
    assert shown.total_variation == pytest.approx(1 / 40)


def test_a_hierarchys_label_spreads_over_its_leaves(case, column) -> None:
    values = ["a"] * 30 + ["b"] * 10 + ["c"] * 20
    places = column("place", Kind.CATEGORICAL, values, tree=True)
    classes = [0] * 40 + [1] * 20
    shown = case([places], range(60), classes, Form.RANGE).measure().distributions[0]
    assert shown.after == pytest.approx((20 / 60, 20 / 60, 20 / 60))
    assert shown.total_variation == pytest.approx(10 / 60)
