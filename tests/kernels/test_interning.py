"""The hash table of strings numbers them as a dictionary does."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels import interning_loops
from sfumato.kernels.interning import Interner

# Of either side of the length up to which two integers hold a string, with ends that differ.
long = st.builds(lambda n, end: b"\0" * n + end, st.integers(5, 18), st.binary(max_size=1))
strings = st.none() | st.binary(max_size=3) | long
# Numbers behind a prefix, of which some are written with zeros in front, and now and then others.
spelled = st.builds(
    lambda prefix, width, number: b"%s%0*d" % (prefix, width, number),
    st.sampled_from([b"", b"P", b"P"]),
    st.integers(0, 3),
    st.integers(0, 40) | st.integers(0, 10**19),
)
near = st.builds(lambda number: b"P%04d" % number, st.integers(0, 400))
batches = st.lists(
    st.lists(strings, max_size=70)
    | st.lists(st.none() | near, max_size=70)
    | st.lists(near, max_size=70)
    | st.lists(st.none() | spelled, max_size=9),
    max_size=5,
)


def laid_out(strings, width=np.int64):
    known = [string or b"" for string in strings]
    offsets = np.cumsum([0, *map(len, known)]).astype(width)
    data = np.frombuffer(b"".join(known), dtype=np.uint8)
    return offsets, data, np.array([string is None for string in strings], dtype=bool)


@given(batches, st.sampled_from([np.int32, np.int64]), st.sampled_from([0, 50, 1000, 10**6]))
def test_numbers_by_first_appearance(given_batches, width, widest):
    interner, numbers = Interner(widest), {}
    for batch in given_batches:
        expected = [
            -1 if string is None else numbers.setdefault(string, len(numbers)) for string in batch
        ]
        assert interner.number(*laid_out(batch, width)).tolist() == expected
    offsets, data = interner.strings()
    found = [bytes(data[a:b]) for a, b in itertools.pairwise(offsets)]
    assert found == list(numbers)


@given(
    st.lists(st.lists(st.none() | st.integers(-30, 30) | st.integers(-(2**63), 2**63 - 1))),
    st.sampled_from([0, 40, 100]),
)
def test_numbers_integers_by_first_appearance(given_batches, widest):
    interner, numbers = Interner(widest), {}
    for batch in given_batches:
        expected = [-1 if key is None else numbers.setdefault(key, len(numbers)) for key in batch]
        keys = np.array([key or 0 for key in batch], dtype=np.int64)
        offsets = np.arange(0, 8 * len(batch) + 1, 8)
        missing = np.array([key is None for key in batch], dtype=bool)
        found = interner.number(offsets, keys.view(np.uint8), missing, keys)
        assert found.tolist() == expected
    assert interner.strings()[1].view(np.int64).tolist() == list(numbers)


@pytest.mark.parametrize("turned", [False, True])
def test_ids_that_count_need_no_hash(turned):
    strings = [b"P%07d" % number for number in range(100_000)]
    strings = strings[::-1] if turned else strings
    interner = Interner(2 * len(strings))
    for start in range(0, len(strings), 10_000):
        found = interner.number(*laid_out(strings[start : start + 10_000]))
        assert (found == np.arange(start, start + 10_000)).all()
    assert len(interner._near.table) <= 2 * len(strings)
    again = interner.number(*laid_out([*strings[:5], b"Q1", b"P0000001x", *strings[:5]]))
    assert again.tolist() == [0, 1, 2, 3, 4, 100_000, 100_001, 0, 1, 2, 3, 4]
    assert interner._near is None


def test_long_strings_of_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(interning_loops, "number", interning_loops.number.py_func)
    monkeypatch.setattr(interning_loops, "_key", lambda data, start, stop: (7, -1))
    monkeypatch.setattr(interning_loops, "_hash", lambda low, high: 3)
    numbers = Interner().number(*laid_out([b"a" * 16, b"a" * 15 + b"b", b"a" * 17, b"a" * 16]))
    assert numbers.tolist() == [0, 1, 2, 0]


def test_grows_beyond_its_first_room():
    strings = [b"%d" % number for number in range(200_000)]
    strings.append(b"x" * 1_000_000)
    interner = Interner()
    assert (interner.number(*laid_out(strings)) == np.arange(len(strings))).all()
    again = interner.number(*laid_out(strings[::-1], np.int32))
    assert (again == np.arange(len(strings))[::-1]).all()
