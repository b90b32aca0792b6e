"""Keys are numbered by first appearance, whichever way is taken and wherever blocks end."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import grouping

from sfumato.kernels import key_numbering
from sfumato.kernels.key_numbering import number_by_first_appearance

keys = st.lists(st.integers(0, 9), max_size=40)


@settings(deadline=None)
@given(
    given_keys=keys,
    space=st.sampled_from([10, 1 << 40, (1 << 62) - 1]),
    few=st.sampled_from([0, 1 << 14]),
)
def test_keys_are_numbered_by_first_appearance(given_keys, space, few):
    numbers: dict[int, int] = {}
    expected = [numbers.setdefault(key, len(numbers)) for key in given_keys]
    array = np.array(given_keys, dtype=np.int64)
    with patch.object(grouping, "BLOCK", 4), patch.object(key_numbering, "FEW", few):
        ways = (number_by_first_appearance, grouping.number_by_first_appearance)
        for way in ways:
            found, distinct = way(array.copy(), space)
            assert found.dtype == np.int32
            assert (found.tolist(), distinct) == (expected, len(numbers))
