"""Persons: clusters of records that keep to people's decisions and to the sources' rules."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sfumato.core.errors import InputError
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.kernels.record_pairs import merge
from sfumato.linkage.persons.verdicts import DIFFERENT, SAME, Verdicts, no_verdicts
from sfumato.linkage.values import Ints, Pairs, Records

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Persons:
    """Whose each record is.

    Attributes
    ----------
    person
        Person of each record, numbered by first appearance; shape (records,).
    count
        Number of persons.
    unmet
        Indexes of the verdicts that the persons break, ascending: of decisions that contradict
        each other or a source's rule, those that gave way.
    refused
        Numbers of the pairs that their score calls a match and whose two records are different
        persons' all the same, ascending.
    """

    person: npt.NDArray[np.int32]
    count: int
    unmet: Ints
    refused: Ints


@dataclass(frozen=True, eq=False)
class _Edges:
    """What joins records or keeps them apart, in the order in which it counts."""

    left: Ints
    right: Ints
    joins: Bools


def find_persons(
    records: Records,
    pairs: Pairs,
    matches: Bools,
    verdicts: Verdicts | None = None,
    *,
    one_per_source: Collection[str] = (),
) -> Persons:
    """Cluster the records: decisions first, then matches from the highest score down.

    Decisions count from the surest to the least sure; of equally sure ones "same" before
    "different", then in the order of the pairs. Matches count by score, of equal ones the pair
    that comes first. Two clusters are merged unless a decision that counted before keeps a
    record of the one from a record of the other, or both hold a record of one source that has
    at most one record per person; that rule gives way to nothing. Pairs that were called
    different or left undecided are not joined for their score. Without rules and decisions
    "different" these are the connected components, and only the components in which a rule or a
    decision would be broken are walked edge by edge: O(P + N), and O(Q log Q) for the Q
    edges of those.

    Parameters
    ----------
    records
        The records.
    pairs
        The candidate pairs.
    matches
        Whether the score of each pair makes it a match; shape (pairs,).
    verdicts
        What people decided.
    one_per_source
        Names of the sources that have at most one record per person.

    Raises
    ------
    InputError
        If ``one_per_source`` names a source that there is not.
    """
    limited = limited_sources(records, one_per_source)
    verdicts = no_verdicts() if verdicts is None else verdicts
    edges = _edges(pairs, matches, verdicts)
    component = _components(edges, records.count)
    broken = _broken(edges, component, limited)
    label = component
    if np.any(broken):
        label = _walked(edges, component, broken, limited)
    person, count = number_by_first_appearance(label, records.count)
    together = person[verdicts.left] == person[verdicts.right]
    against = ((verdicts.result == SAME) & ~together) | ((verdicts.result == DIFFERENT) & together)
    refused = matches & (person[pairs.left] != person[pairs.right])
    return Persons(person, count, np.flatnonzero(against), np.flatnonzero(refused))


def limited_sources(records: Records, one_per_source: Collection[str]) -> Ints:
    """Source of each record where it has at most one record per person, else -1.

    Parameters
    ----------
    records
        The records.
    one_per_source
        Names of such sources.

    Raises
    ------
    InputError
        If a name is not that of a source.
    """
    if not set(one_per_source) <= set(records.sources):
        raise InputError(
            "parameter one_per_source",
            "must name sources",
            found="a name that no source has",
            accepted=", ".join(records.sources),
        )
    number = [i if name in one_per_source else -1 for i, name in enumerate(records.sources)]
    sizes = [len(each) for each in records.ids]
    return np.repeat(np.array(number, dtype=np.int64), sizes)


def _edges(pairs: Pairs, matches: Bools, verdicts: Verdicts) -> _Edges:
    """Decisions by confidence, then matches that nobody decided, by score."""
    decided = np.flatnonzero(verdicts.result != 0)
    pair = np.where(verdicts.pair < 0, len(pairs), verdicts.pair)[decided]
    order = np.lexsort((pair, -verdicts.result[decided], -verdicts.confidence[decided]))
    decided = decided[order]
    scored = matches.copy()
    scored[verdicts.pair[verdicts.pair >= 0]] = False
    number = np.flatnonzero(scored)
    number = number[np.argsort(-pairs.score[number], kind="stable")]
    return _Edges(
        np.concatenate([verdicts.left[decided], pairs.left[number]]),
        np.concatenate([verdicts.right[decided], pairs.right[number]]),
        np.concatenate([verdicts.result[decided] == SAME, np.ones(len(number), dtype=np.bool_)]),
    )


def _components(edges: _Edges, records: int) -> Ints:
    """Connected component of each record, whatever keeps records apart."""
    left, right = edges.left[edges.joins], edges.right[edges.joins]
    graph = coo_array((np.ones(len(left), dtype=np.bool_), (left, right)), (records, records))
    component: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return component


def _broken(edges: _Edges, component: Ints, limited: Ints) -> Bools:
    """Per component, whether a decision or a source's rule is broken within it."""
    broken = np.zeros(int(component.max(initial=-1)) + 1, dtype=np.bool_)
    apart = ~edges.joins & (component[edges.left] == component[edges.right])
    broken[component[edges.left[apart]]] = True
    if np.any(limited >= 0):
        size = np.bincount(component)
        record = np.flatnonzero((limited >= 0) & (size[component] > 1))
        sources = int(limited.max()) + 1
        held = np.sort(component[record] * sources + limited[record])
        broken[held[1:][np.diff(held) == 0] // sources] = True
    return broken


def _walked(edges: _Edges, component: Ints, broken: Bools, limited: Ints) -> Ints:
    """The components, with the broken ones merged again edge by edge."""
    record = np.flatnonzero(broken[component])
    number = np.full(len(component), -1, dtype=np.int64)
    number[record] = np.arange(len(record))
    inside = broken[component[edges.left]] & broken[component[edges.right]]
    left, right = number[edges.left[inside]], number[edges.right[inside]]
    cluster, _ = merge(left, right, edges.joins[inside], limited[record])
    first = np.empty(len(broken), dtype=np.int64)
    first[component[::-1]] = np.arange(len(component))[::-1]
    label = first[component]
    label[record] = record[cluster]
    return label
