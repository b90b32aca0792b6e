"""Ties: known answers that must never change, the loops beside their oracles, and the order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import ties

from sfumato.kernels import key_numbering

KERNELS = [key_numbering, ties]
WORD = 2**64
KNOWN = {
    "": -1166397803181037274,
    "7": -3510274804107466857,
    "P00000001": 8255122055654698795,
    "İzmir": -6714520863392850868,
}
KNOWN_TUPLES = {
    (): -3750763034362895579,
    (0,): -5115162479779449349,
    (-1, 2**40, 3): -6505588029346368523,
}


def finished(word):
    word = (word ^ (word >> 33)) * 0xFF51AFD7ED558CCD % WORD
    word = (word ^ (word >> 33)) * 0xC4CEB9FE1A85EC53 % WORD
    return word ^ (word >> 33)


def signed(word):
    return word - WORD if word >= WORD // 2 else word


def by_hand(text):
    word = 0xCBF29CE484222325
    for letter in text.encode():
        word = (word ^ letter) * 0x100000001B3 % WORD
    return signed(finished(word))


def tuple_by_hand(values):
    word = 0xCBF29CE484222325
    for value in values:
        word = finished((word ^ value % WORD) * 0x100000001B3 % WORD)
    return signed(word)


def buffers(texts):
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)])
    return offsets, np.frombuffer(b"".join(encoded), dtype=np.uint8)


def test_known_answers():
    for text, tie in KNOWN.items():
        assert by_hand(text) == tie
        for kernel in KERNELS:
            assert kernel.of_texts(*buffers([text])).tolist() == [tie]
    for values, tie in KNOWN_TUPLES.items():
        assert tuple_by_hand(values) == tie
        found = np.full(1, key_numbering.EMPTY)
        for value in values:
            found = key_numbering.extended(found, np.array([value]))
        assert found.tolist() == [tie]


@given(st.lists(st.text(max_size=12) | st.text(alphabet="aé", min_size=30, max_size=40)))
def test_texts(texts):
    expected = [by_hand(text) for text in texts]
    offsets, data = buffers(["before", *texts])
    for kernel in KERNELS:
        for kind in (np.int32, np.int64):
            assert kernel.of_texts(offsets[1:].astype(kind), data).tolist() == expected


WORDS = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1))
def test_tuples(pairs):
    one, other = np.array(pairs, dtype=np.int64).T
    for kernel in KERNELS:
        found = kernel.extended(
            kernel.extended(np.full(len(pairs), key_numbering.EMPTY), one), other
        )
        assert found.tolist() == [tuple_by_hand(pair) for pair in pairs]


@given(st.lists(WORDS | st.integers(-3, 40) | st.integers(2**62, 2**62 + 9), max_size=60))
def test_the_order_is_stable(numbers):
    keys = np.array(numbers, dtype=np.int64)
    assert_array_equal(key_numbering.tie_order(keys), np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("close", [1, 1000])
def test_the_order_of_many(close):
    rng = np.random.default_rng(close)
    keys = rng.integers(-(2**63), 2**63, 100_000) // close
    keys[rng.integers(0, len(keys), 50_000)] = keys[rng.integers(0, len(keys), 50_000)] + 1
    assert_array_equal(key_numbering.tie_order(keys), np.argsort(keys, kind="stable"))
