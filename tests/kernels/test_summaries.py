"""The loops count what their oracles and a naive count say."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from unittest.mock import patch

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import summaries

from sfumato.kernels import class_counts
from sfumato.kernels.class_counts import (
    LARGE,
    PersonCounts,
    RecordOrder,
    ValueCounts,
    class_order,
    count_persons,
    count_records,
    count_values,
    in_order,
)

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


def counted(case, compiled, many=class_counts.MANY):
    class_of, person, codes = (np.array(column, dtype=np.int32) for column in case)
    if not compiled:
        return by_oracle(class_of, person, codes)
    with patch.object(class_counts, "MANY", many), patch.object(class_counts, "WORTH_A_THREAD", 9):
        records, first = count_records(class_of, int(class_of.max()) + 1)
        order = class_order(class_of, records, person).part(0, len(records))
        file = np.bincount(codes + 1, minlength=VALUES + 1)[1:]
        values = count_values(order, in_order(order, codes), file)
        return (records, first), order, count_persons(order), values


def by_oracle(class_of, person, codes):
    """The same, by sorting."""
    classes = int(class_of.max()) + 1
    records, first = summaries.count_records(class_of, classes)
    starts = np.append(0, np.cumsum(records))
    keys = summaries.class_order(class_of, person, classes)
    order = RecordOrder(keys, starts).part(0, classes)
    file = np.bincount(codes + 1, minlength=VALUES + 1)[1:]
    own, share = codes[order.rows], file / max(file.sum(), 1)
    persons = PersonCounts(*summaries.count_persons(*order))
    values = ValueCounts(*summaries.count_values(*order, own, share))
    return (records, first), order, persons, values


@settings(deadline=None, max_examples=examples(200))
@given(cases(), st.sampled_from([0, class_counts.MANY]))
def test_loops_agree_with_oracles(case, many):
    records, order, *found = counted(case, compiled=True, many=many)
    twin_records, twin_order, *twin_found = counted(case, compiled=False)
    np.testing.assert_array_equal(records, twin_records)
    for one, other in zip(order, twin_order, strict=True):
        np.testing.assert_array_equal(one, other)
    for counts, twin_counts in zip(found, twin_found, strict=True):
        for name in counts._fields:
            np.testing.assert_allclose(
                getattr(counts, name), getattr(twin_counts, name), atol=1e-12, err_msg=name
            )


def test_a_part_holds_the_records_of_some_classes():
    class_of, person = np.random.default_rng(5).integers(0, 6, (2, 100)).astype(np.int32)
    order = class_order(class_of, count_records(class_of, 6)[0], person)
    whole, part = order.part(0, 6), order.part(2, 5)
    begin, end = whole.starts[[2, 5]]
    np.testing.assert_array_equal(part.rows, whole.rows[begin:end])
    np.testing.assert_array_equal(part.owners, person[part.rows])
    np.testing.assert_array_equal(part.starts, whole.starts[2:6] - begin)


def test_records_and_first_rows():
    class_of = np.random.default_rng(6).integers(0, 20, 100).astype(np.int32)
    records, first = count_records(class_of, 20)
    _, expected, counts = np.unique(class_of, return_index=True, return_counts=True)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(records, counts)


@pytest.mark.parametrize("many", [0, 10**9])
@pytest.mark.parametrize("records", [100, 5000, 5 * LARGE])
def test_large_classes_are_sorted_by_person_and_row(many, records):
    drawn = np.random.default_rng(3).integers(0, (3, 40), (records, 2))
    class_of, person = drawn.T.astype(np.int32)
    found = counted((class_of, person, person), compiled=True, many=many)[1]
    np.testing.assert_array_equal(found.rows, np.lexsort((person, class_of)))
    np.testing.assert_array_equal(found.owners, person[found.rows])


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
@settings(deadline=None, max_examples=examples(150))
@given(case=cases())
def test_counts_agree_with_a_naive_count(compiled, case):
    class_of, person, codes = case
    (records, first), _, persons, values = counted(case, compiled)
    for t in range(max(class_of) + 1):
        rows = [row for row, number in enumerate(class_of) if number == t]
        assert (records[t], first[t]) == (len(rows), rows[0])
        found = persons._asdict() | values._asdict()
        for name, expected in naive_class(rows, person, codes).items():
            assert found[name][t] == pytest.approx(expected, abs=1e-12), name
