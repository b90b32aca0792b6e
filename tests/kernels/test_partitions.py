"""Partitions drawn as often as they are likely, and the best of all found, in small components."""

from collections import Counter

import numpy as np
import pytest
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
    """Each component by itself: of two, the draws of small ones are not independent of each other.

    Nodes without an edge to the others stay alone: the oracle has no cluster over a gap.
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
    assert {tuple(row) for row in drawn.tolist()} <= set(fits)
    for nodes in ([i for i, own in enumerate(component) if own == one] for one in set(component)):
        linked = Counter(tuple(row) for row in drawn[:, nodes].tolist())
        likely: Counter[tuple[int, ...]] = Counter()
        for labels, share in fits.items():
            likely[tuple(labels[i] for i in nodes)] += share / whole
        for labels, share in likely.items():
            assert linked[labels] / 4000 == pytest.approx(share, abs=0.05)


def _components(nodes, edges):
    label = list(range(nodes))
    for _ in range(nodes):
        for one, other in edges:
            label[one] = label[other] = min(label[one], label[other])
    return label


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
