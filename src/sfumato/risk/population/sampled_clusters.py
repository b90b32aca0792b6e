"""Samples whose persons were not drawn one by one: areas, practices or households were."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.errors import InputError

GROUPS = 25
"""Groups of clusters, at most, that are left out in turn."""
FEWEST = 3
"""Clusters of a sample, at least."""


@dataclass(frozen=True, eq=False)
class SampledClusters:
    """In which of the sampled clusters the persons of each class are.

    Attributes
    ----------
    class_of, cluster_of, persons
        Class, cluster and number of persons of each pair that occurs; shape (pairs,).
    within
        Share of the persons of a sampled cluster who are in the sample; 1 where clusters were
        taken whole.
    """

    class_of: Ints
    cluster_of: Ints
    persons: Ints
    within: float = 1.0

    def counts_of_spreads(self, kept: Bools | None = None) -> tuple[Ints, Floats]:
        """Numbers of clusters in which classes are, and how many classes are in so many.

        Of some pairs, or of all.
        """
        classes = self.class_of if kept is None else self.class_of[kept]
        spreads, counts = np.unique(np.bincount(classes), return_counts=True)
        # Where pairs are left out some classes have none, and are no classes of what stays.
        some = spreads > 0
        return spreads[some], counts[some].astype(np.float64)

    def single(self, sizes: Ints) -> float:
        """Share of one person's classes among the classes that are in one cluster."""
        # A class that a new cluster brings lies in one cluster: those of the sample that do tell of
        # it.
        alone = np.bincount(self.class_of, minlength=len(sizes)) == 1
        return float((sizes[alone] == 1).mean()) if alone.any() else 0.0

    def take(self, here: Bools) -> SampledClusters:
        """The clusters of some classes alone, which are numbered anew."""
        some = here[self.class_of]
        number = np.cumsum(here) - 1
        return SampledClusters(
            number[self.class_of[some]], self.cluster_of[some], self.persons[some], self.within
        )

    def left_out(self, rng: np.random.Generator) -> Iterator[Bools]:
        """The pairs that stay when one of `GROUPS` random groups after the other is left out."""
        number = np.unique(self.cluster_of, return_inverse=True)[1]
        clusters = int(number.max()) + 1
        groups = min(clusters, GROUPS)
        # Groups differ by one cluster at most, as the jackknife's variance takes them for equal.
        group_of = rng.permutation(np.arange(clusters) % groups)[number]
        for group in range(groups):
            yield group_of != group


def clusters_of(
    class_of: Ints, cluster_of: Ints, fraction: float, clusters: int | None
) -> SampledClusters:
    """The clusters of a sample of persons.

    Parameters
    ----------
    class_of, cluster_of
        Class and cluster of each person (once for every class that they are in).
    fraction
        n / N.
    clusters
        Number of clusters of the population; where it is not given, they were taken whole.
    """
    names, number = np.unique(cluster_of, return_inverse=True)
    if len(names) < FEWEST:
        raise InputError(
            "parameter cluster",
            "must name the column of the clusters that were drawn",
            found=f"{len(names)} of them",
            accepted=f"{FEWEST} or more",
        )
    if clusters is not None and clusters < len(names):
        raise InputError(
            "parameter clusters",
            "must be the number of clusters of the population",
            found="fewer than the file has",
            accepted=f"{len(names):,} or more",
        )
    # One number per pair: unique is several times as fast on numbers as on rows.
    pair, persons = np.unique(class_of * len(names) + number, return_counts=True)
    first, second = np.divmod(pair, len(names))
    # n / N over c / C: the share of persons drawn is that of clusters times that within them.
    within = 1.0 if clusters is None else min(fraction * clusters / len(names), 1.0)
    return SampledClusters(first, second, persons.astype(np.int64), within)
