"""The numbers of both sides of candidate cuts, as constraints read them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.kernels import node_counts
from sfumato.kernels.node_counts import side_sharing
from sfumato.release.candidates import Candidates, Nodes
from sfumato.release.persons import PersonTable
from sfumato.risk.classes import ClassSummary

Ints = npt.NDArray[np.int64]


def summary_of(
    records: Ints, persons: Ints, squares: Ints, population: Ints | None = None
) -> ClassSummary:
    """What is known of classes without looking at their persons."""
    known = ClassSummary(records, persons, squares, np.zeros_like(records))
    return known if population is None else replace(known, population=population.ravel())


def summary_of_nodes(nodes: Nodes) -> ClassSummary:
    """What is known of nodes without looking at their persons."""
    return summary_of(nodes.records, nodes.high - nodes.low, nodes.squares, nodes.population)


def sides_of(nodes: Nodes, candidates: Candidates) -> ClassSummary:
    """Numbers of the left and right side of each cut, interleaved; shape (2 x cuts,)."""
    of = candidates.node
    size = (nodes.high - nodes.low)[of]

    def interleaved(whole: Ints, left: Ints) -> Ints:
        return np.column_stack([left, whole - left]).ravel()

    return summary_of(
        interleaved(nodes.records[of], candidates.left_records),
        interleaved(size, candidates.left),
        interleaved(nodes.squares[of], candidates.left_squares),
        candidates.population,
    )


def counted_sides(
    persons: PersonTable,
    needs: frozenset[str],
    sides: ClassSummary,
    order: npt.NDArray[np.int32],
    nodes: Nodes,
    side: npt.NDArray[np.int8],
) -> ClassSummary:
    """Add to ``sides`` what constraints need and only counting tells.

    Parameters
    ----------
    persons
        What is known of the persons.
    needs
        Names of the fields of `ClassSummary` that are needed.
    sides
        The numbers of the sides so far, interleaved.
    order, nodes
        The persons of each node; one node per cut.
    side
        The side of each person, 0 or 1.
    """
    marked = order, nodes.low, nodes.high, side
    affiliation, distinct, distance, ordered = {}, {}, {}, {}
    for name, values in persons.sensitive.items():
        if needs & {"affiliation", "distinct"}:
            shared, different = node_counts.side_affiliations(
                *marked, values.offsets, values.values, values.size
            )
            affiliation[name], distinct[name] = shared.ravel(), different.ravel()
        if "distance" in needs:
            distance[name] = values.distances(*marked).ravel()
        if "ordered_distance" in needs and values.rank is not None:
            ordered[name] = values.ordered_distances(*marked).ravel()
    sides = replace(
        sides,
        affiliation=affiliation,
        distinct=distinct,
        distance=distance,
        ordered_distance=ordered,
    )
    if "fewest_sharing" not in needs:
        return sides
    return replace(sides, fewest_sharing=side_sharing(*marked, persons.records).ravel())
