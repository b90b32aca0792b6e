"""What is found block by block is what is found over all classes."""

from __future__ import annotations

from dataclasses import fields
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.risk import summary
from sfumato.risk.classes import LaterSummary
from sfumato.risk.extremes import Sought, extremes
from sfumato.risk.multi_record import gidr
from sfumato.risk.summary import ClassBlocks, summarize

records = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(-1, 3)), min_size=1, max_size=50
)


def counted(case, make):
    names, person, codes = np.array(case, dtype=np.int32).T.copy()
    classes, class_of = np.unique(names, return_inverse=True)
    ranks = np.arange(max(codes.max() + 1, 2), dtype=np.int32)
    return make(class_of.astype(np.int32), len(classes), person, {"a": codes}, None, {"a": ranks})


@given(records, st.integers(1, 8))
def test_blocks_give_the_first_extreme_and_the_sum(case, block):
    whole = counted(case, summarize)
    sought = {
        "low": Sought(gidr, "low"),
        "high": Sought(gidr, "high", lambda classes, at: int(classes.largest_row[at])),
        "count": Sought(lambda classes: classes.persons, "low"),
    }
    with patch.object(summary, "BLOCK", block):
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
    with patch.object(summary, "BLOCK", block):
        blocks = counted(case, ClassBlocks)
        parts = blocks.summary
        assert parts.classes == whole.classes
    assert isinstance(parts, LaterSummary) == (len(blocks.look(lambda *_: None)) > 1)
    for field in fields(whole):
        one, other = getattr(parts, field.name), getattr(whole, field.name)
        if isinstance(one, dict):
            one, other = one["a"], other["a"]
        np.testing.assert_array_equal(one, other, err_msg=field.name)
    with pytest.raises(AttributeError):
        _ = parts.no_such_number
