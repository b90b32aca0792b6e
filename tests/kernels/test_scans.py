"""The loops of the search agree with their oracles, and both with plain Python."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import scans
from oracles.levels import compressed, levels

from sfumato.kernels import loop_calls, tree_loops

KERNELS = [tree_loops, scans]
CLOSE = 1e-9
"""Difference that is allowed, as a share of the squares and counts that a node sums up."""


@dataclass
class Records:
    """What each person's records hold, and the arrays that the kernels read instead.

    ``numbers[person]`` has a row per record and a column per ordered attribute, NaN for missing;
    ``categories[person]`` a column per indicator axis, -1 for missing.
    """

    order: np.ndarray
    low: np.ndarray
    high: np.ndarray
    records: np.ndarray
    numbers: list[np.ndarray]
    categories: list[np.ndarray]
    sizes: list[int]
    weights: np.ndarray
    axis_of: np.ndarray

    def __post_init__(self):
        persons, attributes = len(self.records), self.numbers[0].shape[1]
        shape = (persons, attributes)
        self.totals = np.array([np.nansum(x, axis=0) for x in self.numbers]).reshape(shape)
        self.presents = np.array([(~np.isnan(x)).sum(axis=0) for x in self.numbers]).reshape(shape)
        self.squares = np.array([np.nansum(x**2) for x in self.numbers])
        self.lowest = np.array(
            [np.nan_to_num(x, nan=np.inf).min(axis=0) for x in self.numbers]
        ).reshape(shape)
        self.highest = np.array(
            [np.nan_to_num(x, nan=-np.inf).max(axis=0) for x in self.numbers]
        ).reshape(shape)
        held = [self.indicators([person]).sum(axis=0) for person in range(persons)]
        columns = [np.flatnonzero(row) for row in held]
        self.offsets = np.cumsum([0, *map(len, columns)]).astype(np.int64)
        self.values = np.concatenate([*columns, []]).astype(np.int32)
        self.counts = np.concatenate(
            [*(row[at] for row, at in zip(held, columns, strict=True)), []]
        ).astype(np.int32)

    def indicators(self, people):
        """The 0/1 columns of these persons' records."""
        codes = np.concatenate([self.categories[p] for p in people])
        blocks = [codes[:, [i]] == np.arange(size) for i, size in enumerate(self.sizes)]
        return np.hstack([np.zeros((len(codes), 0)), *blocks]).astype(np.int64)

    def loss(self, people):
        """Squared distances from the means, and the sums from which they cancel."""
        numbers = np.concatenate([self.numbers[p] for p in people])
        lost = scale = 0.0
        for column in numbers.T:
            held = column[~np.isnan(column)]
            lost += ((held - held.mean()) ** 2).sum() if len(held) else 0.0
            scale += (held**2).sum()
        for weight, column in zip(self.weights, self.indicators(people).T, strict=True):
            lost += weight * ((column - column.mean()) ** 2).sum()
            scale += weight * column.sum()
        return lost, scale

    def nodes(self):
        return [self.order[a:b] for a, b in zip(self.low, self.high, strict=True)]

    def common(self):
        """What the kernels of the losses have in common."""
        return (
            self.records, self.totals, self.squares, self.presents, self.offsets, self.values,
            self.counts, self.weights,
        )  # fmt: skip


@st.composite
def people(draw, most_attributes=3, most_axes=3):
    """Persons whose records hold numbers and categories, any of which may be missing."""
    rng, records, _, _, order, low, high = draw(levels())
    attributes, axes = draw(st.integers(0, most_attributes)), draw(st.integers(0, most_axes))
    gaps = draw(st.sampled_from([0.0, 0.2, 1.0]))
    grid = draw(st.sampled_from([1, 2, 100]))
    sizes = [draw(st.integers(1, 4)) for _ in range(axes)]
    numbers, categories = [], []
    for count in records:
        values = rng.integers(1, grid + 1, (count, attributes)) / 100 + 0.7
        if rng.random() < 0.5:
            values[:] = values[:1]
        values[rng.random(values.shape) < gaps] = np.nan
        numbers.append(values)
        codes = np.array([rng.integers(0, size, count) for size in sizes]).reshape(axes, count).T
        codes[rng.random(codes.shape) < gaps] = -1
        categories.append(codes)
    weights = np.repeat(rng.choice([0.5, 1.0, 0.3], axes), sizes)
    axis_of = np.repeat(np.arange(axes), sizes).astype(np.int32)
    return rng, Records(order, low, high, records, numbers, categories, sizes, weights, axis_of)


@given(levels(), st.integers(0, 5))
def test_affiliations_around_every_place(level, size):
    rng, records, _, _, order, low, high = level
    rows, offsets, values, _ = compressed(rng, len(records), size)
    expected = np.zeros((4, len(order)), np.int64)
    for start, stop in zip(low, high, strict=True):
        for place in range(start, stop):
            for side, part in enumerate((order[start : place + 1], order[place + 1 : stop])):
                shared = [sum(value in rows[p] for p in part) for value in range(size)]
                expected[side, place] = max(shared, default=0)
                expected[2 + side, place] = sum(count > 0 for count in shared)
    for kernel in KERNELS:
        found = kernel.scan_affiliations(order, low, high, offsets, values, size)
        assert_array_equal(found, expected)
        assert {each.dtype for each in found} == {np.dtype(np.int64)}


@given(people())
def test_losses_of_both_sides_of_every_place(drawn):
    _, data = drawn
    found = [
        kernel.scan_losses(data.order, data.low, data.high, *data.common()) for kernel in KERNELS
    ]
    outside = np.ones(len(data.order), dtype=bool)
    for node, (start, stop) in enumerate(zip(data.low, data.high, strict=True)):
        lost, scale = data.loss(data.order[start:stop])
        outside[start : stop - 1] = False
        for whole, _ in found:
            assert whole[node] == pytest.approx(lost, rel=0, abs=CLOSE * max(scale, 1))
        for place in range(start, stop - 1):
            left, _ = data.loss(data.order[start : place + 1])
            right, _ = data.loss(data.order[place + 1 : stop])
            for _, after in found:
                close = pytest.approx(left + right, rel=0, abs=CLOSE * max(scale, 1))
                assert after[place] == close
    for _, after in found:
        assert not after[outside].any()


@given(people(), st.integers(1, 5))
def test_losses_of_cutting_members_off(drawn, columns):
    rng, data = drawn
    member = rng.integers(-1, columns, len(data.records)).astype(np.int32)
    keys, numbers, losses, scales = [], [], [], []
    for node, part in enumerate(data.nodes()):
        for column in sorted(set(member[part]) - {-1}):
            own = [p for p in part if member[p] == column]
            rest = [p for p in part if member[p] != column]
            keys.append((node, column))
            count = data.records[own]
            numbers.append((len(own), count.sum(), (count**2).sum()))
            losses.append(data.loss(own)[0] + (data.loss(rest)[0] if rest else 0.0))
            scales.append(data.loss(part)[1])
    for kernel in KERNELS:
        node, column, *sizes, after = kernel.member_losses(
            data.order, data.low, data.high, member, columns, *data.common()
        )
        assert list(zip(node, column, strict=True)) == keys
        assert list(zip(*sizes, strict=True)) == numbers
        assert column.dtype == np.int32
        difference = np.abs(after - np.array(losses).reshape(-1))
        assert (difference <= CLOSE * np.maximum(scales, 1)).all()


def plain_leaf(data, part, axis_weights, attribute_weights):
    """Absolute error and width of one class, from the cells of its records."""
    error_weights, width_weights, width_scales = axis_weights
    numbers = np.concatenate([data.numbers[p] for p in part])
    codes = np.concatenate([data.categories[p] for p in part])
    loss = 0.0
    for attribute, weight in enumerate(attribute_weights):
        held = numbers[:, attribute][~np.isnan(numbers[:, attribute])]
        if len(held):
            for person in part:
                own = data.numbers[person][:, attribute]
                loss += weight * abs(np.nansum(own - held.mean()))
            width = held.max() - held.min() if len(held) == len(numbers) else weight
            loss += weight * width * len(numbers)
    indicators = data.indicators(part)
    for axis in range(len(data.sizes)):
        for column in indicators[:, data.axis_of == axis].T:
            loss += error_weights[axis] * np.abs(column - column.mean()).sum() / 2
        others = len(set(codes[:, axis])) - 1
        loss += width_weights[axis] * min(others * width_scales[axis], 1) * len(codes)
    return loss


@given(people())
def test_losses_of_leaves(drawn):
    rng, data = drawn
    attribute_weights = rng.choice([0.5, 1.0, 2.0], data.totals.shape[1])
    axis_weights = rng.choice([0.0, 0.25, 1.0], (3, len(data.sizes)))
    expected = [plain_leaf(data, part, axis_weights, attribute_weights) for part in data.nodes()]
    for kernel in KERNELS:
        found = kernel.leaf_losses(
            data.order, data.low, data.high, data.records, data.totals, data.presents,
            data.lowest, data.highest, attribute_weights, data.offsets, data.values, data.counts,
            data.axis_of, *axis_weights,
        )  # fmt: skip
        assert_allclose(found, np.array(expected).reshape(-1), rtol=CLOSE, atol=CLOSE)


def many(persons, attributes=4, axes=4, size=5, equal=False):
    """A larger level, of nodes of very different sizes with gaps between them."""
    rng = np.random.default_rng(3)
    records = rng.integers(1, 6, persons)
    numbers = [rng.random((n, attributes)) for n in records]
    categories = [rng.integers(0, size, (n, axes)) for n in records]
    if equal:
        numbers = [np.broadcast_to([0.1, 0.7, 1 / 3, 0.9], each.shape) for each in numbers]
        categories = [np.zeros_like(each) for each in categories]
    edges = np.unique(np.concatenate([rng.choice(persons // 2, 19, replace=False), [persons]]))
    if len(edges) % 2:
        edges = edges[1:]
    low, high = edges.reshape(-1, 2).T.copy()
    return Records(
        rng.permutation(persons).astype(np.int32), low, high, records, numbers,
        categories, [size] * axes, np.repeat([0.5, 0.3, 1.0, 0.7], size),
        np.repeat(np.arange(axes), size).astype(np.int32),
    )  # fmt: skip


def test_a_large_node_costs_its_neighbours_no_digits():
    data = many(2_000)
    member = np.array([codes[0, 0] for codes in data.categories], np.int32)
    wholes, afters, cuts = [], [], []
    for kernel in KERNELS:
        whole, after = kernel.scan_losses(data.order, data.low, data.high, *data.common())
        wholes.append(whole)
        afters.append(after)
        cuts.append(
            kernel.member_losses(data.order, data.low, data.high, member, 5, *data.common())
        )
    assert_allclose(*wholes, rtol=1e-12)
    assert_allclose(*afters, rtol=1e-11, atol=1e-12)
    for ours, theirs in zip(*cuts, strict=True):
        assert_allclose(ours, theirs, rtol=1e-11)


def test_cutting_all_persons_off_changes_nothing():
    data = many(2_000)
    member = np.zeros(2_000, np.int32)
    for kernel in KERNELS:
        whole, _ = kernel.scan_losses(data.order, data.low, data.high, *data.common())
        node, column, size, *_, after = kernel.member_losses(
            data.order, data.low, data.high, member, 1, *data.common()
        )
        assert_array_equal(node, np.arange(len(data.low)))
        assert_array_equal(size, data.high - data.low)
        assert not column.any()
        assert_allclose(after, whole, rtol=1e-14)


def test_no_cut_of_equal_records_gains():
    data = many(4_000, equal=True)
    data.weights = np.repeat([0.5, 0.375, 1.0, 0.75], 5)
    member = np.arange(4_000, dtype=np.int32) % 3
    for kernel in KERNELS:
        whole, after = kernel.scan_losses(data.order, data.low, data.high, *data.common())
        node, *_, cut = kernel.member_losses(
            data.order, data.low, data.high, member, 3, *data.common()
        )
        for lost, start, stop in zip(whole, data.low, data.high, strict=True):
            assert (after[start : stop - 1] >= lost - 1e-12).all()
        assert (cut >= whole[node] - 1e-12).all()


def test_threads_change_nothing(monkeypatch):
    data = many(2_000)
    member = np.array([codes[0, 0] for codes in data.categories], np.int32)
    ends = data.order, data.low, data.high
    sensitive = data.offsets, data.values, len(data.weights)
    once = [
        tree_loops.scan_affiliations(*ends, *sensitive),
        tree_loops.scan_losses(*ends, *data.common()),
        tree_loops.member_losses(*ends, member, 5, *data.common()),
    ]
    monkeypatch.setattr(tree_loops, "WORTH_A_THREAD", 10)
    assert len(loop_calls.parts(np.cumsum(data.high - data.low), 10)) > 1
    divided = [
        tree_loops.scan_affiliations(*ends, *sensitive),
        tree_loops.scan_losses(*ends, *data.common()),
        tree_loops.member_losses(*ends, member, 5, *data.common()),
    ]
    for ours, theirs in zip(once, divided, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert_array_equal(one, other)


def test_no_nodes():
    data = many(50)
    none = np.empty(0, np.int64)
    for kernel in KERNELS:
        whole, after = kernel.scan_losses(data.order, none, none, *data.common())
        assert not len(whole)
        assert_array_equal(after, np.zeros(50))
        member = np.zeros(50, np.int32)
        found = kernel.member_losses(data.order, none, none, member, 1, *data.common())
        assert not any(map(len, found))
