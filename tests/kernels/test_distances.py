"""Distances of sensitive values from the file's: loops, twins, a naive count, published numbers."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import distances
from scipy.stats import wasserstein_distance

from sfumato.kernels import class_counts, tree_loops
from sfumato.kernels.class_counts import ClassOrder, class_ordered_distances, count_values
from sfumato.kernels.tree_loops import side_distances, side_ordered_distances

both_ways = pytest.mark.parametrize("compiled", [False, True])
VALUES = 6


def compiling(compiled):
    if compiled:
        return nullcontext()
    stack = ExitStack()
    for module in (class_counts, tree_loops):
        loops = SimpleNamespace(**{**vars(module._classes), **vars(distances)})
        stack.enter_context(patch.object(module, "_classes", loops))
    return stack


def naive(values, file, rank):
    """The equal and the ordered distance of some values, in fractions."""
    if not values:
        return Fraction(0), Fraction(0)
    ranks = max(rank) + 1
    p = [Fraction(values.count(v), len(values)) for v in range(VALUES)]
    q = [Fraction(int(n), int(sum(file))) for n in file]
    equal = sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2
    moved = sum(abs(sum(p[v] - q[v] for v in range(VALUES) if rank[v] <= r)) for r in range(ranks))
    return equal, moved / max(ranks - 1, 1)


@st.composite
def cases(draw):
    """Persons with a node (some in none), a side and values; the file; ranks of the values."""
    person = st.tuples(
        st.integers(0, 3), st.integers(0, 1), st.lists(st.integers(0, VALUES - 1), max_size=6)
    )
    persons = draw(st.lists(person, min_size=1, max_size=15))
    file = draw(st.lists(st.integers(1, 9), min_size=VALUES, max_size=VALUES))
    drawn = draw(st.lists(st.integers(0, 5), min_size=VALUES, max_size=VALUES))
    rank = [sorted(set(drawn)).index(each) for each in drawn]
    return persons, file, rank


@both_ways
@settings(deadline=None, max_examples=examples(150))
@given(case=cases())
def test_sides_are_the_naive_distances(compiled, case):
    persons, file, rank = case
    persons.sort(key=lambda person: person[0])
    nodes = sorted({node for node, _, _ in persons} - {3})
    places = [[i for i, person in enumerate(persons) if person[0] == node] for node in nodes]
    low = np.array([each[0] for each in places], dtype=np.int64)
    high = np.array([each[-1] + 1 for each in places], dtype=np.int64)
    rows = [sorted(set(values)) for _, _, values in persons]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    held = np.array([v for row in rows for v in row], dtype=np.int32)
    counts = np.array(
        [each[2].count(v) for each, row in zip(persons, rows, strict=True) for v in row],
        dtype=np.int32,
    )
    shared = (
        np.arange(len(persons), dtype=np.int32),
        low,
        high,
        np.array([side for _, side, _ in persons], dtype=np.int8),
        offsets,
        held,
        counts,
        np.array(file),
    )
    if not nodes:
        return
    with compiling(compiled):
        equal = side_distances(*shared)
        ordered = side_ordered_distances(*shared, np.array(rank, dtype=np.int32))
    for number, node in enumerate(nodes):
        for side in (0, 1):
            own = [v for t, s, values in persons if (t, s) == (node, side) for v in values]
            expected = [float(each) for each in naive(own, file, rank)]
            found = [equal[number, side], ordered[number, side]]
            assert found == pytest.approx(expected, abs=1e-12)


@both_ways
@settings(deadline=None, max_examples=examples(150))
@given(case=cases())
def test_classes_are_the_naive_distances(compiled, case):
    persons, file, rank = case
    records = [(node, v) for node, _, values in persons for v in [*values, -1]]
    records.sort(key=lambda record: record[0])
    classes = sorted({node for node, _ in records})
    starts = np.cumsum([0, *(sum(t == node for t, _ in records) for node in classes)])
    codes = np.array([v for _, v in records], dtype=np.int32)
    rows = np.arange(len(codes), dtype=np.int32)
    ranks = np.array(rank, dtype=np.int32)
    with compiling(compiled):
        order = ClassOrder(rows, starts, rows)
        equal = count_values(order, codes, np.array(file)).distance
        ordered = class_ordered_distances(rows, starts, codes, np.array(file), ranks)
    for number, node in enumerate(classes):
        own = [v for t, v in records if t == node and v >= 0]
        expected = [float(each) for each in naive(own, file, rank)]
        assert [equal[number], ordered[number]] == pytest.approx(expected, abs=1e-12)


@both_ways
def test_li_2007_examples_of_the_ordered_distance(compiled):
    """Li et al. 2007, Section 4: salaries 3k..11k; {3,4,5}k is 0.375 away and {6,8,11}k 0.167."""
    rank = np.arange(9, dtype=np.int32)
    codes = np.array([0, 1, 2, 3, 5, 8], dtype=np.int32)
    with compiling(compiled):
        found = class_ordered_distances(
            np.arange(6, dtype=np.int32), np.array([0, 3, 6]), codes, np.ones(9, np.int64), rank
        )
    assert found == pytest.approx([0.375, 1 / 6])
    for distance, own in zip(found, ([0, 1, 2], [3, 5, 8]), strict=True):
        assert distance == pytest.approx(wasserstein_distance(own, np.arange(9)) / 8)
