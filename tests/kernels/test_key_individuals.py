"""Individuals per key: the loops, their oracle, and a naive count."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles import key_individuals as oracle

from sfumato.kernels.record_pairs import key_individuals


@given(st.integers(0, 2**32 - 1))
def test_counts_agree_with_their_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(0, 30))
    keys = rng.integers(0, 8, size) * 10**15
    alone = rng.integers(0, 4, size)
    entries = int(rng.integers(0, 40)) if size else 0
    tuple_of = rng.integers(0, max(size, 1), entries).astype(np.int32)
    person_of = np.sort(rng.integers(0, 6, entries)).astype(np.int32)
    asked = rng.integers(0, 10, 15) * 10**15
    given_ = (keys, alone, tuple_of, person_of, asked)
    loops = key_individuals(*given_)
    np.testing.assert_array_equal(loops, oracle.key_individuals(*given_))
    for key, count in zip(asked.tolist(), loops.tolist(), strict=True):
        held = keys == key
        several = set(person_of[held[tuple_of]].tolist()) if size else set()
        assert count == alone[held].sum() + len(several)


def test_individuals_are_counted_once() -> None:
    keys = np.array([5, 5, 7])
    alone = np.array([1, 2, 0])
    tuple_of = np.array([0, 1, 2, 2], dtype=np.int32)
    person_of = np.array([0, 0, 0, 1], dtype=np.int32)
    asked = np.array([5, 7, 9])
    found = key_individuals(keys, alone, tuple_of, person_of, asked)
    assert found.tolist() == [4, 2, 0]


def test_no_tuples_match_nothing() -> None:
    none = np.zeros(0, dtype=np.int64)
    found = key_individuals(
        none, none, none.astype(np.int32), none.astype(np.int32), np.array([1, 2])
    )
    assert found.tolist() == [0, 0]
