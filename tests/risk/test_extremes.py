"""The worst class over blocks of classes is that over all of them."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.risk import extremes
from sfumato.risk.classes import ClassSummary
from sfumato.risk.extremes import extreme


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30),
    st.integers(1, 8),
)
def test_blocks_give_the_first_extreme_and_the_mean(sizes, block):
    records, largest = np.array(sizes).T
    summary = ClassSummary(
        records, records, records, largest, affiliation={"a": largest}, fewest_sharing=records
    )
    expected = largest / records
    for end, best in (("low", np.argmin), ("high", np.argmax)):
        with patch.object(extremes, "BLOCK", block):
            found = extreme(lambda part: part.affiliation["a"] / part.records, summary, end)
        assert found.at == best(expected)
        assert found.value == expected[found.at]
        assert found.mean == pytest.approx(expected.mean())
        measure = found.measure("x", np.arange(len(sizes)))
        assert (measure.value, measure.where.row) == (found.value, found.at + 1)
