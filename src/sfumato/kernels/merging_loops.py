"""Merge records into clusters by union-find, compiled; the twin is ``merging_twin``.

What a cluster is kept apart from is a linked list of records: two lists become one in O(1), and
a merge looks through the shorter one. Its limited groups are the bits of a row of words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]


@compiled
def find(parent: Ints, record: int) -> int:
    """Root of a record's cluster; halves the path to it."""
    while parent[record] != record:
        parent[record] = parent[parent[record]]
        record = parent[record]
    return record


@compiled
def held_groups(group: Ints) -> Words:
    """The limited group of each record as a bit of its row; shape (records, words)."""
    words = 0
    for record in range(len(group)):
        words = max(words, (group[record] + 64) // 64)
    held = np.zeros((len(group), words), np.uint64)
    for record in range(len(group)):
        if group[record] >= 0:
            held[record, group[record] // 64] = np.uint64(1) << np.uint64(group[record] % 64)
    return held


@compiled
def merge(left: Ints, right: Ints, joins: Bools, group: Ints) -> tuple[Ints, Bools]:
    """The clusters, and which edges hold in them."""
    records, edges = len(group), len(left)
    held = held_groups(group)
    parent = np.arange(records)
    size = np.ones(records, np.int64)
    first, last = np.full(records, -1), np.full(records, -1)
    length = np.zeros(records, np.int64)
    nodes = 0
    for edge in range(edges):
        nodes += 0 if joins[edge] else 2
    following, enemy = np.full(nodes, -1), np.empty(nodes, np.int64)
    kept = np.zeros(edges, np.bool_)
    node = 0
    for edge in range(edges):
        a, b = find(parent, left[edge]), find(parent, right[edge])
        if not joins[edge]:
            if a == b:
                continue
            kept[edge] = True
            for turn in range(2):
                one, other = (a, right[edge]) if turn == 0 else (b, left[edge])
                enemy[node] = other
                if last[one] >= 0:
                    following[last[one]] = node
                else:
                    first[one] = node
                last[one] = node
                length[one] += 1
                node += 1
            continue
        if a == b:
            kept[edge] = True
            continue
        allowed = True
        for word in range(held.shape[1]):
            allowed &= (held[a, word] & held[b, word]) == 0
        if not allowed:
            continue
        one, other = (a, b) if length[a] <= length[b] else (b, a)
        place = first[one]
        while place >= 0 and allowed:
            allowed = find(parent, enemy[place]) != other
            place = following[place]
        if not allowed:
            continue
        kept[edge] = True
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        for word in range(held.shape[1]):
            held[a, word] |= held[b, word]
        if first[b] >= 0:
            if last[a] >= 0:
                following[last[a]] = first[b]
            else:
                first[a] = first[b]
            last[a] = last[b]
            length[a] += length[b]
    for record in range(records):
        parent[record] = find(parent, record)
    return parent, kept
