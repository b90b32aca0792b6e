"""The hash table of strings numbers them as a dictionary does."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.key_numbering import Interner

# Of either side of the length up to which two integers hold a string, with ends that differ.
long = st.builds(lambda n, end: b"\0" * n + end, st.integers(5, 18), st.binary(max_size=1))
strings = st.none() | st.binary(max_size=3) | long
batches = st.lists(st.lists(strings, max_size=70), max_size=4)


def laid_out(strings, width=np.int64):
    known = [string or b"" for string in strings]
    offsets = np.cumsum([0, *map(len, known)]).astype(width)
    data = np.frombuffer(b"".join(known), dtype=np.uint8)
    return offsets, data, np.array([string is None for string in strings], dtype=bool)


@given(batches, st.sampled_from([np.int32, np.int64]))
def test_numbers_by_first_appearance(given_batches, width):
    interner, numbers = Interner(), {}
    for batch in given_batches:
        expected = [
            -1 if string is None else numbers.setdefault(string, len(numbers)) for string in batch
        ]
        assert interner.number(*laid_out(batch, width)).tolist() == expected
    offsets, data = interner.strings()
    found = [bytes(data[a:b]) for a, b in itertools.pairwise(offsets)]
    assert found == list(numbers)


def test_long_strings_of_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(Interner, "_alike", True)
    numbers = Interner().number(*laid_out([b"a" * 16, b"a" * 15 + b"b", b"a" * 17, b"a" * 16]))
    assert numbers.tolist() == [0, 1, 2, 0]


def test_grows_beyond_its_first_room():
    strings = [b"%d" % number for number in range(200_000)]
    strings.append(b"x" * 1_000_000)
    interner = Interner()
    assert (interner.number(*laid_out(strings)) == np.arange(len(strings))).all()
    again = interner.number(*laid_out(strings[::-1], np.int32))
    assert (again == np.arange(len(strings))[::-1]).all()
