"""Bins of plots, against naive counting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.reports.plots.bins import LEAST_RISK, records_by_risk, size_bins
from sfumato.risk.class_measures import SHARE_BINS, share_counts

SIZES = st.lists(st.integers(1, 3000), min_size=1, max_size=60)


def test_bins_of_sizes_are_named() -> None:
    assert size_bins(250).labels == (
        "1", "2", "3–4", "5–9", "10–19", "20–49", "50–99", "100–199", "200+",
    )  # fmt: skip
    assert size_bins(1).labels == ("1",)
    assert size_bins(5).labels == ("1", "2", "3–4", "5")
    assert size_bins(20_000).labels[-3:] == ("5,000–9,999", "10,000–19,999", "20,000")


@given(SIZES)
def test_every_size_is_in_the_bin_that_names_it(sizes: list[int]) -> None:
    bins = size_bins(max(sizes))
    edges = [*bins.starts.tolist(), 10**9]
    expected = [
        sum(low <= size < high for size in sizes) / len(sizes)
        for low, high in itertools.pairwise(edges)
    ]
    assert bins.shares(np.array(sizes)).tolist() == pytest.approx(expected)
    shown, times = np.unique(sizes, return_counts=True)
    assert bins.shares(shown, times).tolist() == pytest.approx(expected)


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
