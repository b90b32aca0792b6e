"""Classes are summarised alike block by block, all at once, and where each record is a person."""

from __future__ import annotations

from dataclasses import fields
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sfumato.risk import classes as classes_module
from sfumato.risk.class_measures import gidr
from sfumato.risk.classes import ClassBlocks, ClassValue, LazySummary, extremes, summarize

records = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(-1, 3)), min_size=1, max_size=50
)


def counted(case, make):
    names, person, codes = np.array(case, dtype=np.int32).T.copy()
    classes, class_of = np.unique(names, return_inverse=True)
    ranks = np.arange(max(codes.max() + 1, 2), dtype=np.int32)
    # Of several tables, as far as a column says where its records are.
    given = class_of.astype(np.int32), len(classes), person, {"a": codes}, None, {"a": ranks}
    return make(*given, rows={"a": codes >= 0})


@given(records, st.integers(1, 8))
def test_blocks_give_the_first_extreme_and_the_sum(case, block):
    whole = counted(case, summarize)
    sought = {
        "low": ClassValue(gidr, "low"),
        "high": ClassValue(gidr, "high", lambda classes, at: int(classes.largest_row[at])),
        "count": ClassValue(lambda classes: classes.persons, "low"),
    }
    with patch.object(classes_module, "BLOCK", block):
        found = extremes(counted(case, ClassBlocks), sought)
    expected, rows = gidr(whole), whole.largest_row
    for name, at, row in (
        ("low", expected.argmin(), whole.first_row[expected.argmin()]),
        ("high", expected.argmax(), rows[expected.argmax()]),
    ):
        assert found[name].value == expected[at]
        assert found[name].where.equivalence_class == at + 1
        assert found[name].where.row == row + 1
        assert found[name].total == pytest.approx(expected.sum())
    assert (found["count"].whole, found["count"].total) == (
        whole.persons.min(),
        whole.persons.sum(),
    )
    measure = found["high"].measure("x")
    assert (measure.value, measure.where) == (found["high"].value, found["high"].where)


@given(records, st.integers(1, 8), st.booleans())
def test_the_summary_of_blocks_is_that_of_all(case, block, persons):
    if not persons:
        case = [(name, row, codes) for row, (name, _, codes) in enumerate(case)]
    whole = counted(case, summarize)
    with patch.object(classes_module, "BLOCK", block):
        blocks = counted(case, ClassBlocks)
        parts = blocks.summary
        assert parts.classes == whole.classes
    assert isinstance(parts, LazySummary) == (len(blocks.map_blocks(lambda *_: None)) > 1)
    for field in fields(whole):
        one, other = getattr(parts, field.name), getattr(whole, field.name)
        if isinstance(one, dict):
            one, other = one["a"], other["a"]
        np.testing.assert_array_equal(one, other, err_msg=field.name)
    with pytest.raises(AttributeError):
        _ = parts.no_such_number


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
