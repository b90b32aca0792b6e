"""Partitions of records into persons, by the log odds of their pairs: drawn, or the best found."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sfumato.kernels import _partitions
from sfumato.kernels.loop_calls import Codes, Floats, Ints, Words, codes, floats, ints

_SPREAD, _GOLDEN = np.uint64(0xD1342543DE82EF95), np.uint64(0x9E3779B97F4A7C15)
WARM, THIN = 40, 4
"""Sweeps of Gibbs sampling before the first draw, and between two draws."""


def partitions(
    left: Ints,
    right: Ints,
    weight: Floats,
    size: Ints,
    held: Words,
    first: Ints,
    *,
    apart: float,
    draws: int = 0,
    seed: int = 0,
) -> Codes:
    """Partitions of nodes by the sum of the weights within their clusters.

    The weight of a partition is exp(Σ w) over all pairs of nodes in one cluster, 0 where a cluster
    holds a source twice: correlation clustering (Bansal, Blum and Chawla 2004), as a distribution.
    Components of up to ten nodes are summed over exactly, O(3^n), and drawn from independently;
    larger ones are sampled by Gibbs sweeps over the nodes from the greedy partition. Without draws
    the best partition found is given: joined greedily along the edges, then improved node by node.

    Parameters
    ----------
    left, right
        The nodes of each edge, no two edges between the same; shape (edges,).
    weight
        What it is worth that they are in one cluster, in nats; shape (edges,).
    size
        Number of records of each node; shape (nodes,).
    held
        The sources that a node holds and no cluster may hold twice, a bit each; shape (nodes,).
    first
        A number of each node that stays where others come and go: the least one of a component,
        with the seed, says how it is drawn; shape (nodes,).
    apart
        What two records of nodes without an edge are worth in one cluster.
    draws
        Number of partitions to draw, or 0 for the best one.
    seed
        Seed of the draws.

    Returns
    -------
    array
        The number of a node of its cluster, for each node; shape (draws, nodes), of one row where
        none is drawn.
    """
    nodes = len(size)
    label = np.tile(np.arange(nodes, dtype=np.int32), (max(draws, 1), 1))
    if not len(left):
        return label
    graph = coo_array((np.ones(len(left), dtype=np.bool_), (left, right)), (nodes, nodes))
    component = connected_components(graph, directed=False)[1]
    inside = np.flatnonzero(np.bincount(component)[component] > 1)
    inside = inside[np.argsort(component[inside], kind="stable")]
    place = np.full(nodes, -1, dtype=np.int64)
    place[inside] = np.arange(len(inside))
    starts = np.flatnonzero(np.diff(component[inside], prepend=-1))
    owner = place[np.concatenate([left, right])]
    other = place[np.concatenate([right, left])]
    both = np.concatenate([weight, weight])
    by_owner = np.lexsort((other, owner))
    owner, other, both = owner[by_owner], other[by_owner], both[by_owner]
    found = np.empty((len(label), len(inside)), dtype=np.int32)
    _partitions.partitions(
        ints(np.append(starts, len(inside))),
        ints(np.searchsorted(owner, np.arange(len(inside) + 1))),
        codes(other),
        floats(both),
        codes(owner),
        ints(np.lexsort((-both, component[inside][owner]))),
        ints(size[inside]),
        np.ascontiguousarray(held[inside], dtype=np.uint64),
        apart,
        not draws,
        WARM,
        THIN,
        _seeds(np.minimum.reduceat(first[inside], starts), seed),
        found,
    )
    label[:, inside] = inside[found]
    return label


def _seeds(first: Ints, seed: int) -> Words:
    """A seed for each component."""
    of_seed = np.array([seed], dtype=np.uint64) * _GOLDEN
    return (first.astype(np.uint64) + np.uint64(1)) * _SPREAD + of_seed
