"""Clusters of records that people decide as one: the pairs that do it, from linkage to review."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError

CLUSTERS = "clusters.json"
"""The file, beside the pairs."""


@dataclass(frozen=True)
class ClusterQuestions:
    """Clusters, each by its pairs, those most likely the same first.

    Once some pairs of a cluster are answered, the answers to others follow: what is the same person
    as a third record is one person, too.
    """

    pairs: tuple[tuple[str, ...], ...] = ()

    def cluster_of(self) -> dict[str, int]:
        """The number of the cluster of each pair that is in one, from 0."""
        return {pair: number for number, own in enumerate(self.pairs) for pair in own}

    def together(self, order: list[str]) -> list[str]:
        """All pairs in an order, but those of a cluster together where the first of them stands."""
        cluster, there = self.cluster_of(), set(order)
        found: dict[str, None] = {}
        for pair in order:
            own = self.pairs[cluster[pair]] if pair in cluster else (pair,)
            found |= dict.fromkeys(each for each in own if each in there)
        return list(found)

    def write(self, path: Path) -> None:
        """Write the file."""
        write_text(path, json.dumps({"clusters": self.pairs}) + "\n")

    @classmethod
    def read(cls, path: Path) -> ClusterQuestions:
        """Read the file; there are no clusters where there is none."""
        if not path.is_file():
            return cls()
        try:
            given = json.loads(path.read_text(encoding="utf-8"))["clusters"]
            found = cls(tuple(tuple(str(pair) for pair in own) for own in given))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            found = None
        # Fewer pairs by id than in the lists: a pair is in two clusters, which nothing writes.
        if found is None or len(found.cluster_of()) < sum(map(len, found.pairs)):
            raise InputError(
                f"file {path.name}", "must be one that sfumato link next wrote", found="another"
            )
        return found
