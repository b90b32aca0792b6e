"""Merge records into clusters with sets: an oracle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def merge(left: Ints, right: Ints, joins: Bools, group: Ints) -> tuple[Ints, Bools]:
    """The clusters, and which edges hold in them; see ``merging.merge``."""
    cluster = list(range(len(group)))
    members = [[record] for record in cluster]
    groups = [set() if own < 0 else {own} for own in group.tolist()]
    apart: list[set[int]] = [set() for _ in cluster]
    kept = np.zeros(len(left), dtype=np.bool_)
    for edge, (one, other, join) in enumerate(
        zip(left.tolist(), right.tolist(), joins.tolist(), strict=True)
    ):
        a, b = cluster[one], cluster[other]
        if not join:
            kept[edge] = a != b
            if a != b:
                apart[a].add(b)
                apart[b].add(a)
            continue
        kept[edge] = a == b or (b not in apart[a] and groups[a].isdisjoint(groups[b]))
        if a == b or not kept[edge]:
            continue
        if len(members[a]) < len(members[b]):
            a, b = b, a
        for record in members[b]:
            cluster[record] = a
        for neighbour in apart[b]:
            apart[neighbour].discard(b)
            apart[neighbour].add(a)
        members[a] += members[b]
        groups[a] |= groups[b]
        apart[a] |= apart[b]
    return np.array(cluster, dtype=np.int64), kept
