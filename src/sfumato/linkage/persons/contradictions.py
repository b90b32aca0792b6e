"""Decisions that cannot all be true: A = B, B = C, A ≠ C."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sfumato.linkage.persons.verdicts import DIFFERENT, SAME, Verdicts
from sfumato.linkage.values import Ints

_Neighbours = dict[int, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two records that are different persons' and, by a chain of decisions, one person's.

    Attributes
    ----------
    left, right
        Numbers of the two records.
    different
        Index of the verdict that calls them different; ``None`` where both are of one source
        that has at most one record per person.
    chain
        Indexes of the verdicts "same" that lead from the left record to the right one, as few
        as possible.
    """

    left: int
    right: int
    different: int | None
    chain: tuple[int, ...]


def find_contradictions(verdicts: Verdicts, records: int, limited: Ints) -> list[Contradiction]:
    """All contradictions, each with a shortest chain, by breadth-first searches.

    A search stays among the records that decisions have joined, and serves all records that
    its first one must differ from. For a source with at most one record per person, each
    further record of a joined group is told from the group's first one.

    Parameters
    ----------
    verdicts
        What people decided.
    records
        Number of records.
    limited
        Source of each record where it has at most one record per person, else -1.
    """
    same = np.flatnonzero(verdicts.result == SAME)
    if not len(same):
        return []
    left, right = verdicts.left[same], verdicts.right[same]
    graph = coo_array((np.ones(len(same), dtype=np.bool_), (left, right)), (records, records))
    group: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    cases = sorted([*_decided(verdicts, group), *_limited(left, right, group, limited)])
    if not cases:
        return []
    wanted = {int(group[case[0]]) for case in cases}
    neighbours = _neighbours(verdicts, same[np.isin(group[left], list(wanted))])
    found = []
    for start, own in groupby(cases, key=lambda case: case[0]):
        of_start = list(own)
        chains = _chains(neighbours, start, {end for _, end, _ in of_start})
        found += [
            Contradiction(start, end, None if verdict < 0 else verdict, chains[end])
            for _, end, verdict in of_start
        ]
    return found


def _decided(verdicts: Verdicts, group: Ints) -> Iterator[tuple[int, int, int]]:
    """Pairs that were called different, of one group."""
    broken = (verdicts.result == DIFFERENT) & (group[verdicts.left] == group[verdicts.right])
    for index in np.flatnonzero(broken).tolist():
        yield int(verdicts.left[index]), int(verdicts.right[index]), index


def _limited(left: Ints, right: Ints, group: Ints, limited: Ints) -> Iterator[tuple[int, int, int]]:
    """Records of one source and group, each with the first one; the verdict is -1."""
    joined = np.unique(np.concatenate([left, right]))
    joined = joined[limited[joined] >= 0]
    order = joined[np.lexsort((joined, limited[joined], group[joined]))]
    first = -1
    for record in order.tolist():
        alike = first >= 0 and group[first] == group[record] and limited[first] == limited[record]
        if alike:
            yield first, record, -1
        else:
            first = record


def _neighbours(verdicts: Verdicts, same: Ints) -> _Neighbours:
    neighbours: _Neighbours = {}
    for index in same.tolist():
        one, other = int(verdicts.left[index]), int(verdicts.right[index])
        neighbours.setdefault(one, []).append((other, index))
        neighbours.setdefault(other, []).append((one, index))
    return neighbours


def _chains(neighbours: _Neighbours, start: int, ends: set[int]) -> dict[int, tuple[int, ...]]:
    """A shortest chain of verdicts from one record to each of some others."""
    came: dict[int, tuple[int, int]] = {start: (start, -1)}
    missing, waiting = set(ends), deque([start])
    while missing:
        record = waiting.popleft()
        for other, verdict in neighbours[record]:
            if other not in came:
                came[other] = (record, verdict)
                missing.discard(other)
                waiting.append(other)
    chains = {}
    for end in ends:
        chain, record = [], end
        while record != start:
            record, verdict = came[record]
            chain.append(verdict)
        chains[end] = tuple(reversed(chain))
    return chains
