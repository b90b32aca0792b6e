"""Runs of neighbours that agree."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.key_numbering import run_starts


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1))))
def test_runs_begin_where_any_key_changes(rows):
    starts = run_starts(*np.array(rows, dtype=np.int64).reshape(-1, 2).T)
    assert starts.tolist() == [
        place for place, row in enumerate(rows) if place == 0 or row != rows[place - 1]
    ]
