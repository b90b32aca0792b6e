"""Keys are numbered by first appearance, whichever way is taken and wherever blocks end."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels import choose, grouping_twin
from sfumato.kernels.grouping import number_by_first_appearance

keys = st.lists(st.integers(0, 9), max_size=40)


@pytest.mark.parametrize("compiled", [False, True])
@settings(deadline=None)
@given(given_keys=keys, space=st.sampled_from([10, 1 << 40, (1 << 62) - 1]), spent=st.booleans())
def test_keys_are_numbered_by_first_appearance(compiled, given_keys, space, spent):
    numbers: dict[int, int] = {}
    expected = [numbers.setdefault(key, len(numbers)) for key in given_keys]
    array = np.array(given_keys, dtype=np.int64)
    with (
        patch.object(choose, "COMPILED_ABOVE", -1 if compiled else 10**9),
        patch.object(grouping_twin, "BLOCK", 4),
    ):
        found, distinct = number_by_first_appearance(array, space, spent=spent)
    assert found.dtype == np.int32
    assert (found.tolist(), distinct) == (expected, len(numbers))
    assert spent or array.tolist() == given_keys
