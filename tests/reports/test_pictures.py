"""Bins of plots, against naive counting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("altair")

from sfumato.reports.pictures import size_bins

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
