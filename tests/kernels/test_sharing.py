"""Who shares a number of records: loops and oracles against a naive count."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import sharing

from sfumato.kernels import tree_loops
from sfumato.kernels.class_counts import (
    SharingCounts,
    class_order,
    count_records,
    count_sharing,
    in_order,
)

both_ways = pytest.mark.parametrize("compiled", [False, True])


@st.composite
def records(draw):
    """Class, person and id of some records; ids numbered person by person."""
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 2)),
            min_size=1,
            max_size=50,
        )
    )
    if draw(st.booleans()):
        rows = [(t, who, 0) for t, who, _ in rows]
    order = {}
    classes = [order.setdefault(t, len(order)) for t, _, _ in rows]
    ids = {pair: place for place, pair in enumerate(sorted({row[1:] for row in rows}))}
    return classes, [row[1] for row in rows], [ids[row[1:]] for row in rows]


def naive(rows, person, shown):
    """The numbers of one class from its rows, in fractions."""
    sizes = Counter(shown[row] for row in rows)
    owner = {shown[row]: person[row] for row in rows}
    ids, persons = Counter(sizes.values()), defaultdict(set)
    own = Counter((owner[one], size) for one, size in sizes.items())
    for one, size in sizes.items():
        persons[size].add(owner[one])
    fewest = min(map(len, persons.values()))
    risk = defaultdict(Fraction)
    for (who, size), count in own.items():
        risk[who] = max(risk[who], Fraction(count, ids[size]))

    def share(row):
        size = sizes[shown[row]]
        return Fraction(own[person[row], size], ids[size])

    return {
        "fewest": fewest,
        "fewest_row": next(row for row in rows if len(persons[sizes[shown[row]]]) == fewest),
        "alone": len({who for who, size in own if len(persons[size]) == 1}),
        "risk": float(max(risk.values())),
        "risk_row": next(row for row in rows if share(row) == max(risk.values())),
        "risk_total": float(sum(risk.values())),
    }


@both_ways
@settings(deadline=None, max_examples=examples(150))
@given(case=records())
def test_count_sharing_is_the_naive_count(compiled, case):
    class_of, person, shown = (np.array(column, dtype=np.int32) for column in case)
    records, _ = count_records(class_of, int(class_of.max()) + 1)
    order = class_order(class_of, records, shown).part(0, len(records))
    counts = count_sharing(order, in_order(order, person))
    if not compiled:
        rows, starts, ids = order
        counts = SharingCounts(*sharing.count_sharing(rows, starts, in_order(order, person), ids))
    found = counts._asdict()
    for t in range(len(records)):
        own = [row for row, number in enumerate(case[0]) if number == t]
        for name, expected in naive(own, case[1], case[2]).items():
            assert found[name][t] == pytest.approx(expected), name


@st.composite
def nodes(draw):
    """Persons with numbers of records in some order, cut into segments, on two sides."""
    numbers = draw(st.lists(st.integers(1, 5), min_size=1, max_size=40))
    order = draw(st.permutations(range(len(numbers))))
    bounds = sorted({0, len(numbers), *draw(st.lists(st.integers(0, len(numbers)), max_size=4))})
    side = draw(st.lists(st.integers(0, 1), min_size=len(numbers), max_size=len(numbers)))
    first = draw(st.integers(0, len(bounds) - 2))
    return numbers, list(order), bounds[first:], side


def rarest(numbers):
    return min(Counter(numbers).values(), default=0)


@both_ways
@settings(deadline=None, max_examples=examples(150))
@given(case=nodes())
def test_sides_and_scans_are_the_naive_count(compiled, case):
    numbers, order, bounds, side = case
    arrays = (
        np.array(order, dtype=np.int32),
        np.array(bounds[:-1], dtype=np.int64),
        np.array(bounds[1:], dtype=np.int64),
    )
    records = np.array(numbers, dtype=np.int64)
    kernel = tree_loops if compiled else sharing
    sides = kernel.side_sharing(*arrays, np.array(side, dtype=np.int8), records)
    before, behind = kernel.scan_sharing(*arrays, records)
    for node, (low, high) in enumerate(itertools.pairwise(bounds)):
        people = order[low:high]
        for half in (0, 1):
            mine = [numbers[one] for one in people if side[one] == half]
            assert sides[node, half] == rarest(mine)
        for place in range(low, high):
            assert before[place] == rarest(numbers[one] for one in order[low : place + 1])
            assert behind[place] == rarest(numbers[one] for one in order[place + 1 : high])
