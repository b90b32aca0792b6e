"""Find a household by its members, as a neighbour would who knows who lives next door.

The neighbour knows how many live there, and the quasi-identifiers of each. A release that shows who
lives together, under whatever name, can be searched for the households whose records can be those
people, each record another of them. Members who hide among hundreds, one by one, may be found
together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from sfumato.core.arrays import Bools, Ints
from sfumato.intruder.candidates import Candidates, Identification
from sfumato.intruder.knowledge import Knowledge
from sfumato.intruder.reading import ReleasedFile, TextColumn


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Households that were looked for, and which of the released ones can be each.

    Attributes
    ----------
    guesses
        One of those that can be it, drawn at random, for each household that was looked for:
        households in the place of persons, by their numbers in ``known`` and ``shown``.
    known
        Household of each person whom the intruder knows, shape (persons,).
    shown
        Household of each released record, shape (records,).
    composition
        Released households with members of the same classes have the same number, shape
        (released households,).
    can_be
        Whether households of a composition can be each household that was looked for, shape
        (households looked for, compositions), sparse.
    """

    guesses: Identification
    known: Ints
    shown: Ints
    composition: Ints
    can_be: sparse.csr_array


def known_households(knowledge: Knowledge, name: str) -> Ints:
    """The household of each person; who has none is one alone. Shape (persons,)."""
    column = next(column for column in knowledge.others if column.name == name)
    nameless = np.array([text is None for text in column.texts], dtype=np.bool_)
    first = np.unique(knowledge.person, return_index=True)[1]
    return _apart(column.codes[first], nameless)


def _apart(codes: Ints, nameless: Bools) -> Ints:
    """Numbers of households from 0, with one of its own for each code that names none."""
    own = len(nameless) + np.arange(len(codes), dtype=np.int64)
    numbered = np.unique(np.where(nameless[codes], own, codes), return_inverse=True)[1]
    return numbered.reshape(-1).astype(np.int64)


def by_members(
    file: ReleasedFile,
    candidates: Candidates,
    known: Ints,
    column: TextColumn,
    targets: Ints,
    rng: np.random.Generator,
) -> Neighbours:
    """For each household that is looked for, the released ones that its members can be.

    A released household can be one that is looked for if each of its people can be another member
    of that one: as many where any has as many, else those with the fewest left out. O(targets x
    (persons of the file + edges between members that fit)).
    """
    nameless = np.array([text is None for text in column.texts], dtype=np.bool_)
    first = np.unique(file.unit, return_index=True)[1]
    of_unit = _apart(column.codes[first], nameless)
    kinds_of, composition = _compositions(of_unit, candidates.kind)
    sizes = np.array([len(kind) for kind in kinds_of])
    kinds = candidates.fits_kind.shape[0]
    holds = sparse.csr_array(
        (
            np.ones(sizes.sum(), dtype=np.int32),
            np.concatenate(kinds_of),
            np.concatenate([[0], np.cumsum(sizes)]),
        ),
        shape=(len(kinds_of), kinds),
    )
    fits = candidates.fits_kind.tocsc()
    members = np.argsort(known, kind="stable")
    start = np.searchsorted(known[members], np.arange(int(known.max()) + 2))
    often = np.bincount(composition)
    by_composition = np.argsort(composition, kind="stable")
    begins = np.cumsum(often) - often
    named = np.full(len(targets), -1, dtype=np.int64)
    chance, rows = np.zeros(len(targets)), []
    for place, target in enumerate(targets.tolist()):
        groups = candidates.group[members[start[target] : start[target + 1]]]
        fitting = _fitting(fits[:, groups].toarray(), holds, sizes, kinds_of)
        rows.append(fitting)
        total = int(often[fitting].sum())
        if total:
            # Drawn among all released households that can be it, without listing them.
            drawn = int(rng.integers(total))
            at = int(np.searchsorted(np.cumsum(often[fitting]), drawn, side="right"))
            beside = drawn - int(often[fitting[:at]].sum())
            named[place] = by_composition[begins[fitting[at]] + beside]
            chance[place] = 1 / total
    lengths = [len(row) for row in rows]
    can_be = sparse.csr_array(
        (
            np.ones(sum(lengths), dtype=np.int64),
            np.concatenate([*rows, np.empty(0, np.int64)]),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        ),
        shape=(len(targets), len(kinds_of)),
    )
    guesses = Identification(named, targets, chance)
    return Neighbours(guesses, known, of_unit[file.unit], composition, can_be)


def _compositions(home: Ints, kind: Ints) -> tuple[list[Ints], Ints]:
    """The kinds of the members of each composition, and the composition of each household."""
    order = np.lexsort((kind, home))
    ordered, sizes = kind[order], np.bincount(home)
    first = np.cumsum(sizes) - sizes
    kinds_of: list[Ints] = []
    composition = np.empty(len(sizes), dtype=np.int64)
    # Households of one size make a table, whose equal rows are found at once.
    for size in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == size)
        rows = ordered[first[alike][:, None] + np.arange(size)]
        distinct, number = np.unique(rows, axis=0, return_inverse=True)
        composition[alike] = number.reshape(-1) + len(kinds_of)
        kinds_of.extend(distinct)
    return kinds_of, composition


def _fitting(
    member_fits: Bools, holds: sparse.csr_array, sizes: Ints, kinds_of: list[Ints]
) -> Ints:
    """The compositions that can be a household of so many members, by fits (kinds, members)."""
    # Most are ruled out by a single member whom nobody of the household can be.
    possible = holds @ member_fits.any(axis=1).astype(np.int32) == sizes
    for size in range(member_fits.shape[1], 0, -1):
        tried = np.flatnonzero(possible & (sizes == size))
        if not len(tried):
            continue
        edges = member_fits[np.stack([kinds_of[each] for each in tried])]
        found = tried[_all_matched(edges)]
        if len(found):
            return found
    return np.empty(0, dtype=np.int64)


def _all_matched(edges: Bools) -> Bools:
    """Whether all on the left can be paired, each with another; shape (graphs, left, right)."""
    graphs, left, right = edges.shape
    graph, one, other = np.nonzero(edges)
    places = (graph * left + one, graph * right + other)
    # As blocks of one graph: a call for each household would cost more than the matching.
    whole = sparse.csr_matrix(
        (np.ones(len(graph), dtype=np.int8), places), shape=(graphs * left, graphs * right)
    )
    matched = maximum_bipartite_matching(whole, perm_type="column") >= 0
    return np.asarray(matched.reshape(graphs, left).all(axis=1), dtype=np.bool_)
