"""The hash table of strings numbers them as a dictionary does."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.interning import Interner

batches = st.lists(st.lists(st.none() | st.binary(max_size=3), max_size=70), max_size=4)


def laid_out(strings):
    known = [string or b"" for string in strings]
    offsets = np.cumsum([0, *map(len, known)]).astype(np.int64)
    data = np.frombuffer(b"".join(known), dtype=np.uint8)
    return offsets, data, np.array([string is None for string in strings], dtype=bool)


@given(batches)
def test_numbers_by_first_appearance(given_batches):
    interner, numbers = Interner(), {}
    for batch in given_batches:
        expected = [
            -1 if string is None else numbers.setdefault(string, len(numbers)) for string in batch
        ]
        assert interner.number(*laid_out(batch)).tolist() == expected
    offsets, data = interner.strings()
    found = [bytes(data[a:b]) for a, b in itertools.pairwise(offsets)]
    assert found == list(numbers)


def test_grows_beyond_its_first_room():
    strings = [b"%d" % number for number in range(200_000)]
    strings.append(b"x" * 1_000_000)
    interner = Interner()
    assert (interner.number(*laid_out(strings)) == np.arange(len(strings))).all()
    again = interner.number(*laid_out(strings[::-1]))
    assert (again == np.arange(len(strings))[::-1]).all()
