"""Equivalence classes: numbered by first appearance, whatever the size of the key space."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import grouping

from sfumato.core.errors import InputError
from sfumato.engines.embedded.counts import group
from sfumato.kernels import key_numbering


def naive(rows):
    numbers = {}
    return [numbers.setdefault(row, len(numbers)) for row in rows], len(numbers)


@st.composite
def coded_rows(draw):
    sizes = draw(
        st.lists(st.sampled_from([1, 2, 3, 50, 2**20 - 1, 2**31 - 1]), min_size=1, max_size=6)
    )
    row = st.tuples(*(st.sampled_from([-1, 0, size // 2, size - 1]) for size in sizes))
    return sizes, draw(st.lists(row, min_size=1, max_size=40))


def columns_of(rows):
    return [np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)]


@given(coded_rows())
def test_classes_are_numbered_by_first_appearance(case):
    sizes, rows = case
    class_of, classes = group(columns_of(rows), sizes)
    assert (class_of.tolist(), classes) == naive(rows)
    assert class_of.dtype == np.int32


@settings(deadline=None)
@given(coded_rows(), st.sampled_from([0, 1 << 16]))
def test_hash_tables_number_as_direct_ones_do(case, direct_space):
    sizes, rows = case
    with patch.object(key_numbering, "DIRECT_SPACE", direct_space):
        class_of, classes = group(columns_of(rows), sizes)
    assert (class_of.tolist(), classes) == naive(rows)


def test_many_distinct_keys_make_the_hash_table_grow():
    keys = np.random.default_rng(7).integers(0, 1 << 61, 70_000)
    keys = np.concatenate([keys, keys[::-1]])
    expected, classes = grouping.number_by_first_appearance(keys.copy(), 1 << 61)
    numbers, found = key_numbering.number_by_first_appearance(keys, 1 << 61)
    assert found == classes > len(keys) // 4
    np.testing.assert_array_equal(numbers, expected)


def test_missing_is_a_value_of_its_own():
    class_of, classes = group([np.array([-1, 0, -1, 1], dtype=np.int32)], [2])
    assert (class_of.tolist(), classes) == ([0, 1, 0, 2], 3)


def test_a_key_space_beyond_64_bits_keeps_rows_apart():
    largest = 2**31 - 1
    # Packed without renumbering, 0 and 2**29 would differ by 2**64, that is, not at all.
    first = np.array([0, 2**29, 1, 0], dtype=np.int32)
    same = np.zeros(4, dtype=np.int32)
    class_of, classes = group([first, same, same], [largest, largest, 15])
    assert (class_of.tolist(), classes) == ([0, 1, 2, 0], 3)


def test_no_column_is_refused():
    with pytest.raises(InputError, match="no column"):
        group([], [])
