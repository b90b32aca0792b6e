"""Constrained merging, of the loops and of their oracle, agrees with plain sets of records."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import merging

from sfumato.kernels import record_pairs


@st.composite
def graphs(draw):
    """Edges between some records, each joining or keeping apart, and limited groups."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records, edges = draw(st.integers(2, 14)), draw(st.integers(0, 40))
    left = rng.integers(0, records, edges)
    right = (left + rng.integers(1, records, edges)) % records
    joins = rng.random(edges) < draw(st.sampled_from([0.3, 0.7, 1.0]))
    group = rng.integers(-1, draw(st.sampled_from([1, 3, 200])), records)
    if draw(st.booleans()):
        group[:] = -1
    return left, right, joins, group


def by_hand(left, right, joins, group):
    clusters = {record: {record} for record in range(len(group))}
    apart, kept = [], []
    for one, other, join in zip(left, right, joins, strict=True):
        both = clusters[one] | clusters[other]
        if not join:
            kept.append(other not in clusters[one])
            if kept[-1]:
                apart.append((one, other))
            continue
        limited = [group[record] for record in both if group[record] >= 0]
        allowed = not any(a in both and b in both for a, b in apart)
        kept.append(other in clusters[one] or (allowed and len(limited) == len(set(limited))))
        if kept[-1]:
            for record in both:
                clusters[record] = both
    return [min(clusters[record]) for record in range(len(group))], kept


@given(graphs())
def test_merging_agrees_with_sets(graph):
    lowest, kept = by_hand(*graph)
    for kernel in (record_pairs, merging):
        cluster, held = kernel.merge(*graph)
        assert_array_equal(held, np.array(kept, dtype=bool))
        assert_array_equal(cluster[cluster], cluster)
        first = [np.flatnonzero(cluster == label)[0] for label in cluster]
        assert_array_equal(first, lowest)


def test_a_group_is_limited_to_one_record():
    graph = (np.array([0, 1]), np.array([1, 2]), np.array([True, True]), np.array([5, 6, 5]))
    cluster, kept = record_pairs.merge(*graph)
    assert kept.tolist() == [True, False]
    assert cluster[0] == cluster[1] != cluster[2]
