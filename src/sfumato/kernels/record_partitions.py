"""Partitions of records into persons, by the log odds of their pairs: drawn, or the best found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import sfumato.kernels._partitions as _partitions
from sfumato.kernels.loop_calls import Codes, Floats, Ints, Words, codes, floats, ints

# An odd multiplier whose products visit all 2^64 places, so
# that components start far apart (Steele and Vigna 2022).
_SPREAD = np.uint64(0xD1342543DE82EF95)
WARM, THIN = 20, 4
"""Sweeps of Gibbs sampling before the first draw, and between two draws."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes of records, and the pairs of nodes that are compared.

    Attributes
    ----------
    left, right
        The nodes of each edge, no two edges between the same; shape (edges,).
    size
        Number of records of each node; shape (nodes,).
    held
        The sources that a node holds and no cluster may hold twice, a bit each; shape (nodes,).
    first
        A number of each node that stays where others come and go: the least one of a component,
        with the seed, says how it is drawn; shape (nodes,).
    """

    left: Ints
    right: Ints
    size: Ints
    held: Words
    first: Ints

    def partitions(self, weight: Floats, *, apart: float, draws: int = 0, seed: int = 0) -> Codes:
        """Partitions of the nodes by the sum of the weights within their clusters.

        The weight of a partition is exp(Σ w) over all pairs of nodes in one cluster, 0 where a
        cluster holds a source twice: correlation clustering (Bansal, Blum and Chawla 2004), as a
        distribution. Components of up to ten nodes are summed over exactly, O(3^n), and drawn from,
        each in strata of its own, independently of the others; larger ones are sampled by Gibbs
        sweeps over the nodes from the greedy partition. Without draws the best partition found is
        given: joined greedily along the edges, then improved node by node.

        Parameters
        ----------
        weight
            What it is worth that the nodes of an edge are in one cluster, in nats; shape (edges,).
        apart
            What two records of nodes without an edge are worth in one cluster.
        draws
            Number of partitions to draw, or 0 for the best one.

        Returns
        -------
        array
            The number of a node of its cluster, for each node; shape (draws, nodes), of one row
            where none is drawn.
        """
        # A node without an edge is a cluster alone in every partition.
        label = np.tile(np.arange(len(self.size), dtype=np.int32), (max(draws, 1), 1))
        if not len(self.left):
            return label
        at = self._layout
        both = floats(weight[at.edge])
        found = np.empty((len(label), len(at.inside)), dtype=np.int32)
        _partitions.partitions(
            ints(np.append(at.starts, len(at.inside))),
            at.edges,
            at.other,
            both,
            at.owner,
            # Heaviest edges first within each component: the greedy partition joins along them.
            ints(at.once[np.lexsort((-both[at.once], at.component))]),
            ints(self.size[at.inside]),
            np.ascontiguousarray(self.held[at.inside], dtype=np.uint64),
            apart,
            not draws,
            WARM,
            THIN,
            _seeds(np.minimum.reduceat(self.first[at.inside], at.starts), seed),
            found,
        )
        label[:, at.inside] = at.inside[found]
        return label

    @cached_property
    def _layout(self) -> _Layout:
        nodes = len(self.size)
        # Components are independent in exp(Σ w): each is drawn alone, and small ones exactly.
        there = np.ones(len(self.left), dtype=np.bool_)
        graph = coo_array((there, (self.left, self.right)), (nodes, nodes))
        component = connected_components(graph, directed=False)[1]
        inside = np.flatnonzero(np.bincount(component)[component] > 1)
        # Stable, so that nodes of a component keep their order and equal seeds draw the same.
        inside = inside[np.argsort(component[inside], kind="stable")]
        place = np.full(nodes, -1, dtype=np.int64)
        place[inside] = np.arange(len(inside))
        owner = place[np.concatenate([self.left, self.right])]
        other = place[np.concatenate([self.right, self.left])]
        by_owner = np.lexsort((other, owner))
        owner, other = owner[by_owner], other[by_owner]
        # Each edge stands at both nodes for the sweeps; the greedy join wants it once.
        once = np.flatnonzero(owner < other)
        return _Layout(
            inside,
            np.flatnonzero(np.diff(component[inside], prepend=-1)),
            by_owner % len(self.left),
            ints(np.searchsorted(owner, np.arange(len(inside) + 1))),
            codes(owner),
            codes(other),
            once,
            component[inside][owner[once]],
        )


class _Layout(NamedTuple):
    """The edges by their nodes, component by component; nodes without an edge are left out.

    Attributes
    ----------
    starts
        Where each component's begin among them.
    edge
        The edge of each place: each edge has two places, one at either node.
    edges
        Where each node's places begin.
    """

    inside: Ints
    starts: Ints
    edge: Ints
    edges: Ints
    owner: Codes
    other: Codes
    once: Ints
    component: Codes


def _seeds(first: Ints, seed: int) -> Words:
    """A place of each component in the generator's sequence, far from those of other seeds."""
    word = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return (first.astype(np.uint64) + np.uint64(1)) * _SPREAD + word
