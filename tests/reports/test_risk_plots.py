"""What pictures of risk show, against naive counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("altair")

from sfumato.core.number_text import count
from sfumato.reports.risk_plots import LEAST_RISK, records_by_risk, records_per_person
from sfumato.risk.class_measures import SHARE_BINS, share_counts


@given(st.dictionaries(st.integers(1, 60), st.integers(1, 7), min_size=1, max_size=6))
def test_median_and_most_are_those_of_the_persons(persons: dict[int, int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.reports.pictures.picture", lambda *_: "")
        shown = records_per_person(persons)
    each = np.repeat(list(persons), list(persons.values()))
    median, most = count(float(np.median(each))), count(each.max())
    assert shown.note == f"{len(each):,} people; median {median}, most {most} records."


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=1, max_size=50))
def test_shares_are_in_bins_that_are_open_at_the_left(fractions: list[tuple[int, int]]) -> None:
    shares = [min(over, under) / under for over, under in fractions]
    expected = [0] * SHARE_BINS
    for over, under in fractions:
        upto = -(-min(over, under) * SHARE_BINS // under)
        expected[max(upto - 1, 0)] += 1
    assert share_counts(np.array(shares)).tolist() == expected


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(1, 9)), min_size=1, max_size=40))
def test_records_at_a_risk_or_more(classes: list[tuple[int, int]]) -> None:
    persons = np.array([size for size, _ in classes])
    records = persons * np.array([each for _, each in classes])
    points = records_by_risk(persons, records)
    assert [x for x, _ in points] == sorted({x for x, _ in points})
    assert points[0][0] == LEAST_RISK
    assert points[-1][0] == 1
    for x, share in points:
        at_risk = records[1 / persons >= x - 1e-12].sum()
        assert share == pytest.approx(at_risk / records.sum())
