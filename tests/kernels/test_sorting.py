"""Sorting by packed numbers gives what a stable sort gives, whatever the size of the keys."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.key_numbering import fits, run_lengths, run_starts, sort_with_places

spaces = st.sampled_from([1, 3, 1 << 40, (1 << 62) - 1])
"""The last one leaves no bit for a place."""


@given(spaces.flatmap(lambda space: st.tuples(st.just(space), st.lists(st.integers(0, space - 1)))))
def test_equal_keys_keep_their_order(case):
    space, keys = case
    ascending, places = sort_with_places(np.array(keys, dtype=np.int64), space)
    assert list(zip(ascending.tolist(), places.tolist(), strict=True)) == sorted(
        (key, place) for place, key in enumerate(keys)
    )


def test_the_largest_key_and_place_fit():
    assert fits(1 << 20, 1 << 41)
    assert not fits(1 << 20, 1 << 42)
    space = 1 << 61
    keys = np.array([space - 1, 0, space - 1], dtype=np.int64)[:1]
    assert fits(len(keys), space)
    assert sort_with_places(keys, space)[0].tolist() == [space - 1]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1))))
def test_runs_begin_where_any_key_changes(rows):
    starts = run_starts(*np.array(rows, dtype=np.int64).reshape(-1, 2).T)
    assert starts.tolist() == [
        place for place, row in enumerate(rows) if place == 0 or row != rows[place - 1]
    ]
    assert np.repeat(starts, run_lengths(starts, len(rows))).tolist() == [
        max(start for start in starts.tolist() if start <= place) for place in range(len(rows))
    ]
