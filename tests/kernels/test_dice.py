"""Dice similarities, of the loops and of their oracle, agree with sets of bits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import dice

from sfumato.kernels import record_pairs


@st.composite
def patterns(draw):
    """Two lists of bit patterns, some empty, some alike, with windows on the second."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    words = draw(st.integers(1, 4))
    sizes = draw(st.integers(0, 12)), draw(st.integers(1, 12))
    fill = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    both = [rng.random((size, words * 64)) < fill for size in sizes]
    for row in range(min(sizes)):
        if rng.random() < 0.5:
            both[0][row] = both[1][row] ^ (rng.random(words * 64) < 0.1)
    packed = [np.packbits(each, axis=1).view(np.uint64) for each in both]
    low = rng.integers(0, sizes[1] + 1, sizes[0])
    return both, packed, low, rng.integers(low, sizes[1] + 1)


def by_sets(one, other):
    """2 |A and B| / (|A| + |B|) of two rows."""
    a, b = set(np.flatnonzero(one).tolist()), set(np.flatnonzero(other).tolist())
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


@given(patterns(), st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
def test_pairs_above_are_those_of_sets(made, least):
    (one, other), packed, low, high = made
    expected = [
        (a, b, by_sets(one[a], other[b])) for a in range(len(one)) for b in range(low[a], high[a])
    ]
    expected = [each for each in expected if each[2] >= least and each[2] > 0]
    for kernel in (record_pairs, dice):
        left, right, found = kernel.pairs_above(*packed, low, high, least)
        assert list(zip(left.tolist(), right.tolist(), strict=True)) == [e[:2] for e in expected]
        assert_allclose(found, [each[2] for each in expected])


def test_many_pairs_in_parts_that_outgrow_their_room(monkeypatch):
    rng = np.random.default_rng(3)
    one, other = (rng.integers(0, 2**63, (n, 2)).astype(np.uint64) for n in (300, 50))
    low, high = np.zeros(300, np.int64), np.full(300, 50)
    expected = dice.pairs_above(one, other, low, high, 0.5)
    monkeypatch.setattr(record_pairs, "WORTH_A_THREAD", 100)
    monkeypatch.setattr(record_pairs, "ROOM", 8)
    for found, wanted in zip(
        record_pairs.pairs_above(one, other, low, high, 0.5), expected, strict=True
    ):
        assert_array_equal(found, wanted)
