"""The loops of the tree agree with their oracles, and both with plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import cuts
from oracles.levels import compressed, levels

from sfumato.kernels import tree_loops

KERNELS = [tree_loops, cuts]


def node_records(records, order, low, high):
    return np.array([records[order[a:b]].sum() for a, b in zip(low, high, strict=True)])


def plain_cut(people, records, position, missing, strict):
    """The left persons of one node by the words of NOTES, section 1."""
    half = sum(records[p] for p in people) / 2
    if strict:
        places = sorted({position[p] for p in people})[:-1]
        lefts = [[p for p in people if position[p] <= place] for place in places]
        distance = [abs(sum(records[p] for p in left) - half) for left in lefts]
        return lefts[int(np.argmin(distance))] if lefts else []
    seen, left = 0, []
    for person in people:
        seen += records[person]
        left.append(person)
        if seen >= half:
            break
    if position[left[-1]] == missing:
        return [p for p in people if position[p] != missing]
    return left if len(left) < len(people) else left[:-1]


@given(levels(), st.booleans())
def test_median_cut(level, strict):
    rng, records, position, missing, order, low, high = level
    present = rng.integers(0, 3, len(records))
    values = rng.random((2, len(records))) * (present > 0)
    found = [
        kernel.ordered_cuts(
            order, low, high, node_records(records, order, low, high),
            records, position, missing, strict, values[0], values[1], present,
        )
        for kernel in KERNELS
    ]  # fmt: skip
    for node, (start, stop) in enumerate(zip(low, high, strict=True)):
        left = plain_cut(list(order[start:stop]), records, position, missing, strict)
        counted = max(present[order[start:stop]].sum(), 1)
        mean, square = (each[order[start:stop]].sum() / counted for each in values)
        for size, left_records, left_squares, variance in found:
            assert size[node] == len(left)
            assert left_records[node] == sum(records[p] for p in left)
            assert left_squares[node] == sum(records[p] ** 2 for p in left)
            assert variance[node] == pytest.approx(max(square - mean**2, 0), abs=1e-12)


@given(levels())
def test_spreads(level):
    rng, records, _, _, order, low, high = level
    lowest = rng.integers(0, 9, len(records)).astype(np.int32)
    highest = (lowest + rng.integers(0, 3, len(records))).astype(np.int32)
    for kernel in KERNELS:
        least, most = kernel.ordered_spreads(order, low, high, lowest, highest)
        for node, (start, stop) in enumerate(zip(low, high, strict=True)):
            assert least[node] == min(lowest[order[start:stop]])
            assert most[node] == max(highest[order[start:stop]])


@given(levels(), st.integers(1, 5))
def test_indicator_cuts(level, size):
    rng, records, _, _, order, low, high = level
    rows, offsets, values, counts = compressed(rng, len(records), size)
    member = rng.integers(-1, size, len(records)).astype(np.int32)
    member = np.where([m in row for m, row in zip(member, rows, strict=True)], member, -1)
    member = member.astype(np.int32)
    expected = {}
    for node, (start, stop) in enumerate(zip(low, high, strict=True)):
        for person in order[start:stop]:
            for place in range(offsets[person], offsets[person + 1]):
                cell = expected.setdefault((node, values[place]), [0, 0, 0, 0])
                cell[3] += counts[place]
                if member[person] == values[place]:
                    cell[0] += 1
                    cell[1] += records[person]
                    cell[2] += records[person] ** 2
    for kernel in KERNELS:
        node, column, *numbers = kernel.indicator_cuts(
            order, low, high, records, member, offsets, values, counts, size
        )
        found = dict(zip(zip(node, column, strict=True), zip(*numbers, strict=True), strict=True))
        assert {key: list(cell) for key, cell in found.items()} == expected


@given(levels(), st.integers(1, 5))
def test_side_affiliations(level, size):
    rng, records, _, _, order, low, high = level
    rows, offsets, values, _ = compressed(rng, len(records), size)
    side = rng.integers(0, 2, len(records)).astype(np.int8)
    found = [
        kernel.side_affiliations(order, low, high, side, offsets, values, size)
        for kernel in KERNELS
    ]
    for node, (start, stop) in enumerate(zip(low, high, strict=True)):
        for half in (0, 1):
            people = [p for p in order[start:stop] if side[p] == half]
            shared = [sum(value in rows[p] for p in people) for value in range(size)]
            for affiliation, distinct in found:
                assert affiliation[node, half] == max(shared)
                assert distinct[node, half] == sum(count > 0 for count in shared)


@given(levels())
def test_mark_and_partition(level):
    rng, records, _, _, order, low, high = level
    end = low + rng.integers(0, 2, len(low)) * (high - low)
    member = rng.integers(-1, 2, len(records)).astype(np.int32)
    column = rng.integers(0, 2, len(low)).astype(np.int32)
    for mark in ("cut", "members"):
        sides, orders = [], []
        for kernel in KERNELS:
            side, divided = np.zeros(len(records), np.int8), order.copy()
            if mark == "cut":
                kernel.mark_cut(order, low, high, end, side)
            else:
                kernel.mark_members(order, low, high, column, member, side)
            kernel.partition(divided, low, high, side)
            sides.append(side)
            orders.append(divided)
        assert_array_equal(*sides)
        assert_array_equal(*orders)
        expected = order.copy()
        for start, stop in zip(low, high, strict=True):
            part = list(order[start:stop])
            expected[start:stop] = [p for p in part if not sides[0][p]] + [
                p for p in part if sides[0][p]
            ]
        assert_array_equal(orders[0], expected)
    assert_allclose(np.sort(order), np.arange(len(order)))
