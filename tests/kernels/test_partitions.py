"""Partitions drawn as often as they are likely, and the best of all found, in small components."""

from collections import Counter

import numpy as np
import pytest
from few_cases import fast_first
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.partitions import probabilities

from sfumato.kernels.record_partitions import Graph

APART = -1.5
GRAPHS = st.integers(2, 5).flatmap(
    lambda nodes: st.tuples(
        st.dictionaries(
            st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(
                lambda pair: pair[0] < pair[1]
            ),
            st.sampled_from([-3.0, -1.0, 0.5, 2.0, 4.0]),
            min_size=1,
        ),
        st.lists(st.sampled_from([0, 1, 2]), min_size=nodes, max_size=nodes),
    )
)


def called(weights, held, copies=1, **options):
    """Partitions of copies of a graph, that are components of their own or one large one."""
    nodes = len(held)
    left, right = np.array(list(weights), dtype=np.int64).T
    moved = np.repeat(np.arange(copies) * nodes, len(left))
    graph = Graph(
        np.tile(left, copies) + moved,
        np.tile(right, copies) + moved,
        np.ones(nodes * copies, np.int64),
        np.tile(np.array(held, dtype=np.uint64), copies),
        np.arange(nodes * copies),
    )
    return graph.partitions(
        np.tile(np.array(list(weights.values())), copies), apart=APART, **options
    )


@settings(max_examples=15, deadline=None)
@given(GRAPHS)
def test_as_often_as_likely(graph):
    """All components jointly; nodes without an edge to the others stay alone.

    The oracle has no cluster over such a gap.
    """
    weights, held = graph
    drawn = called(weights, held, draws=4000, seed=1)
    joined = {tuple(sorted(pair)) for pair in weights}
    within = probabilities(len(held), weights, held, APART)
    component = _components(len(held), joined)
    fits = {
        labels: share
        for labels, share in within.items()
        if all(component[i] == component[label] for i, label in enumerate(labels))
    }
    whole = sum(fits.values())
    linked = Counter(tuple(row) for row in drawn.tolist())
    assert set(linked) <= set(fits)
    for labels, share in fits.items():
        assert linked[labels] / 4000 == pytest.approx(share / whole, abs=0.04)


def _components(nodes, edges):
    label = list(range(nodes))
    for _ in range(nodes):
        for one, other in edges:
            label[one] = label[other] = min(label[one], label[other])
    return label


@pytest.mark.parametrize("draws", fast_first(1, [4, 16, 40]))
def test_components_are_drawn_independently_of_each_other(draws):
    """Five hundred pairs of records: each stratified by itself, all two of them independent.

    Of independent ones, the number that are joined varies by Σ p(1 − p) from draw to draw, and two
    neighbours are joined in as many draws as the product of their shares says. What the
    next seed draws has nothing to do with that.
    """
    copies, seeds = 500, range(3000 // draws)
    p = 1 / (1 + np.exp(1.0))
    drawn = [called({(0, 1): -1.0}, [0, 0], copies, draws=draws, seed=seed) for seed in seeds]
    joined = np.array([label[:, ::2] == label[:, 1::2] for label in drawn])
    assert np.all(np.abs(joined.sum(axis=1) - draws * p) < 1)
    total = joined.sum(axis=2)
    assert total.std() == pytest.approx(np.sqrt(copies * p * (1 - p)), rel=0.05)
    error = (joined - p).transpose(1, 0, 2) / np.sqrt(p * (1 - p))
    number = (len(seeds) - 1) * copies
    one, other = error[:, :-1].reshape(draws, number), error[:, 1:].reshape(draws, number)
    assert np.abs(one @ other.T / number).max() < 5 / np.sqrt(number)
    both = (joined[:, :, ::2] & joined[:, :, 1::2]).mean(axis=(0, 1))
    assert both.mean() == pytest.approx(p * p, abs=0.004)
    assert both.std() == pytest.approx(np.sqrt(p * p * (1 - p * p) / total.size), rel=0.35)


@settings(max_examples=15, deadline=None)
@given(GRAPHS)
def test_no_source_twice(graph):
    weights, held = graph
    for label in (*called(weights, held, draws=20, seed=2), *called(weights, held)):
        for cluster in set(label.tolist()):
            own = [held[node] for node in np.flatnonzero(label == cluster)]
            assert len([bits for bits in own if bits]) == len({bits for bits in own if bits})


def test_gibbs_sweeps_draw_pairs_as_often_as_they_are_likely():
    """Twelve records of two sources, too many to be summed over: persons are pairs with an edge."""
    held = [1, 2] * 6
    rng = np.random.default_rng(7)
    near = [(i, j) for i in range(12) for j in range(i + 1, 12) if j - i in {1, 3}]
    weights = dict(zip(near, rng.normal(0.5, 2.0, len(near)).round(2).tolist(), strict=True))
    likely = {
        labels: p
        for labels, p in probabilities(12, weights, held, APART).items()
        if all((label, i) in weights for i, label in enumerate(labels) if label != i)
    }
    drawn = called(weights, held, draws=8000, seed=3)
    for i, j in near:
        share = sum(p for labels, p in likely.items() if labels[i] == labels[j])
        share /= sum(likely.values())
        assert np.mean(drawn[:, i] == drawn[:, j]) == pytest.approx(share, abs=0.03)


def test_a_weak_bridge_is_broken():
    """Two groups of four, each tightly joined, and one likely pair between them."""
    groups = [[0, 1, 2, 3], [4, 5, 6, 7]]
    weights = {(i, j): 4.0 for own in groups for i in own for j in own if i < j}
    label = called({**weights, (3, 4): 5.0}, [0] * 8)[0]
    assert label.tolist() == [label[0]] * 4 + [label[4]] * 4
    assert label[0] != label[4]
