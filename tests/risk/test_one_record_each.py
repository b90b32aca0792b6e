"""A file whose records are all persons of their own is summarised as any other."""

from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sfumato.risk.summary import summarize


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(0, 2**32 - 1))
def test_the_short_way_gives_the_same(labels, seed):
    classes, class_of = np.unique(labels, return_inverse=True)
    class_of = class_of.astype(np.int32)
    person = np.arange(len(labels), dtype=np.int32)
    codes = np.random.default_rng(seed).integers(-1, 3, len(labels)).astype(np.int32)
    codes[0] = 0
    short = summarize(class_of, len(classes), person, {"a": codes})
    long = summarize(class_of, len(classes), person, {"a": codes}, shown=person)
    for field in fields(short):
        one, other = getattr(short, field.name), getattr(long, field.name)
        if isinstance(one, dict):
            assert list(one) == list(other)
            one, other = list(one.values()), list(other.values())
        assert_allclose(one, other, rtol=1e-12, err_msg=field.name)
