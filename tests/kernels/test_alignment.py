"""Alignments, of the loops and of their oracle, are the best of all that there are."""

from functools import cache

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import alignment
from rapidfuzz.distance import OSA

from sfumato.kernels import record_pairs

SEQUENCES = st.lists(st.integers(0, 3), max_size=7)


def codes(values):
    return np.array(values, dtype=np.int64)


def every_alignment(one, other):
    """All alignments there are, by trying every step at every place."""

    @cache
    def tails(i, j):
        if i == len(one) and j == len(other):
            return [()]
        found = []
        for step, (down, right) in enumerate(alignment.TAKEN):
            if i + down > len(one) or j + right > len(other):
                continue
            a, b = one[i : i + down], other[j : j + right]
            fits = {
                alignment.EQUAL: a == b,
                alignment.TRANSPOSED: a == b[::-1] and a != b,
                alignment.SUBSTITUTED: a != b,
            }
            if fits.get(step, True):
                found += [(step, *tail) for tail in tails(i + down, j + right)]
        return found

    return tails(0, 0)


def rank(steps):
    """Fewest edits, then fewest marked places, then the order of preference."""
    places = {alignment.TRANSPOSED: 4, alignment.SUBSTITUTED: 2}
    edits = [step for step in steps if step != alignment.EQUAL]
    return len(edits), sum(places.get(step, 1) for step in edits), steps


@given(st.lists(st.integers(0, 2), max_size=4), st.lists(st.integers(0, 2), max_size=4))
def test_the_best_of_all_alignments_is_found(one, other):
    expected = min(every_alignment(tuple(one), tuple(other)), key=rank)
    for kernel in (record_pairs, alignment):
        assert tuple(kernel.steps(codes(one), codes(other)).tolist()) == expected


@given(SEQUENCES, SEQUENCES)
def test_edits_are_as_many_as_a_library_counts(one, other):
    found = alignment.steps(codes(one), codes(other))
    assert np.count_nonzero(found) == OSA.distance(one, other)


@given(st.lists(st.integers(0, 9), max_size=40), st.lists(st.integers(0, 9), max_size=40))
def test_loops_and_oracle_agree(one, other):
    assert_array_equal(
        record_pairs.steps(codes(one), codes(other)),
        alignment.steps(codes(one), codes(other)),
    )
