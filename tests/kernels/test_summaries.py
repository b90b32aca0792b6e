"""The compiled loops count what their twins and a naive count say."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels import choose
from sfumato.kernels.summaries import class_order, count_persons, count_values

VALUES = 5


@st.composite
def cases(draw):
    """Class, person and value of some records; classes numbered without a gap."""
    record = st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(-1, VALUES - 1))
    rows = draw(st.lists(record, min_size=1, max_size=50))
    if draw(st.booleans()):
        rows.sort(key=lambda row: row[1])
    numbers = {}
    classes = [numbers.setdefault(row[0], len(numbers)) for row in rows]
    return classes, [row[1] for row in rows], [row[2] for row in rows]


def counted(case, compiled):
    class_of, person, codes = (np.array(column, dtype=np.int32) for column in case)
    with patch.object(choose, "COMPILED_ABOVE", 0 if compiled else 10**9):
        rows, starts = class_order(class_of, int(class_of.max()) + 1, person)
        return (
            rows,
            starts,
            count_persons(rows, starts, person),
            count_values(rows, starts, person, codes, VALUES),
        )


@settings(deadline=None, max_examples=200)
@given(cases())
def test_loops_agree_with_twins(case):
    rows, starts, persons, values = counted(case, compiled=True)
    twin_rows, twin_starts, twin_persons, twin_values = counted(case, compiled=False)
    np.testing.assert_array_equal(rows, twin_rows)
    np.testing.assert_array_equal(starts, twin_starts)
    for name in persons._fields:
        np.testing.assert_array_equal(getattr(persons, name), getattr(twin_persons, name), name)
    for name in values._fields:
        np.testing.assert_allclose(
            getattr(values, name), getattr(twin_values, name), atol=1e-12, err_msg=name
        )


def naive_class(rows, person, codes):
    """Every number of one class, from its rows in order."""
    records = Counter(person[row] for row in rows)
    valued = [row for row in rows if codes[row] >= 0]
    sharing = defaultdict(set)
    for row in valued:
        sharing[codes[row]].add(person[row])
    largest = max(records.values())
    affiliation = max((len(who) for who in sharing.values()), default=0)
    shares = [count / len(valued) for count in Counter(codes[row] for row in valued).values()]
    common = sorted(Counter(codes[row] for row in valued).values(), reverse=True)
    return {
        "persons": len(records),
        "squares": sum(count**2 for count in records.values()),
        "largest": largest,
        "largest_row": next(row for row in rows if records[person[row]] == largest),
        "first_row": rows[0],
        "affiliation": affiliation,
        "affiliation_row": next(
            (row for row in valued if len(sharing[codes[row]]) == affiliation), -1
        ),
        "distinct": len(sharing),
        "entropy": -sum(share * math.log(share) for share in shares),
        "valued": len(valued),
        "commonest": [*common, 0, 0][:2],
    }


@pytest.mark.parametrize("compiled", [False, True])
@settings(deadline=None, max_examples=150)
@given(case=cases())
def test_counts_agree_with_a_naive_count(compiled, case):
    class_of, person, codes = case
    _, starts, persons, values = counted(case, compiled)
    for t in range(max(class_of) + 1):
        rows = [row for row, number in enumerate(class_of) if number == t]
        assert starts[t + 1] - starts[t] == len(rows)
        found = persons._asdict() | values._asdict()
        for name, expected in naive_class(rows, person, codes).items():
            assert found[name][t] == pytest.approx(expected, abs=1e-12), name
