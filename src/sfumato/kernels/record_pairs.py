"""Records beside each other: alignment, similarity, clusters, and groups that agree in something.

Edits of an alignment are insertions, deletions, substitutions and transpositions of neighbours. No
element takes part in two edits (optimal string alignment): each edit can then be drawn at its
places, which the unrestricted distance of Damerau, with insertions between transposed elements,
does not allow.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import sfumato.kernels._pairs as _pairs
from sfumato.kernels.loop_calls import (
    Bools,
    Bytes,
    Codes,
    Floats,
    Ints,
    Rows,
    Words,
    as_declared,
    in_threads,
    parts,
)
from sfumato.kernels.loop_calls import flags as as_flags

EQUAL, TRANSPOSED, SUBSTITUTED, DELETED, INSERTED = range(5)
"""Steps of an alignment, in the order in which they are preferred where costs are equal."""
TAKEN = ((1, 1), (2, 2), (1, 1), (1, 0), (0, 1))
"""How many elements of the one and of the other sequence each step takes."""
WHOLE = -1
"""In the place of a character: the value as a whole."""
WORTH_A_THREAD = 1_000_000
"""Pairs of patterns that are not worth dividing."""
ROOM = 1024
"""Similar pairs for which there is room at first."""


@as_declared
def steps(one: Ints, other: Ints) -> npt.NDArray[np.int8]:
    """The steps from the one sequence to the other: O(n m).

    Of the alignments with the fewest edits one that marks the fewest places as different, so
    that the least is disclosed; of those the one that takes, from the beginning on, equal
    elements before a transposition, a substitution, a deletion and an insertion. An edit thereby
    stands as late as it can, as in Table 1 of 001.

    Parameters
    ----------
    one, other
        Elements as numbers; shapes (n,) and (m,).

    Returns
    -------
    array
        ``EQUAL``, ``TRANSPOSED``, ``SUBSTITUTED``, ``DELETED``, ``INSERTED`` per step; `TAKEN`
        says how many elements of each sequence a step takes.
    """
    return _pairs.steps(one, other)


@as_declared
def pairs_above(
    one: Words, other: Words, low: Ints, high: Ints, least: float
) -> tuple[Ints, Ints, Floats]:
    """All pairs within windows whose Dice similarity is at least ``least``, above 0.

    A pattern is a row of 64-bit words. The Dice similarity of patterns of a and b bits, c of them
    common, is 2c / (a + b).

    Parameters
    ----------
    one, other
        Patterns; shape (patterns, words).
    low, high
        The window ``other[low:high]`` that each of ``one`` is compared with.
    least
        The lowest similarity that is given.

    Returns
    -------
    tuple
        Positions in ``one`` and ``other``, ascending, and the similarities; shape (pairs,).
    """
    if not len(one):
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    # Windows differ in length: runs of equal work, not of equal numbers of rows.
    work = np.cumsum(high - low)
    # Bits are counted once for all runs, as each run compares with the same rows.
    ones_other = _pairs.ones(other)
    runs = parts(work, WORTH_A_THREAD)
    found = in_threads(
        [partial(_similar, one[run], other, ones_other, low[run], high[run], least) for run in runs]
    )
    return (
        np.concatenate([left + run.start for (left, *_), run in zip(found, runs, strict=True)]),
        np.concatenate([right for _, right, _ in found]),
        np.concatenate([score for *_, score in found]),
    )


def _similar(
    one: Words, other: Words, ones_other: Ints, low: Ints, high: Ints, least: float
) -> tuple[Ints, Ints, Floats]:
    """All pairs of one run, however many there are."""
    ones_one, begin, room = _pairs.ones(one), np.zeros(2, np.int64), ROOM
    found: list[tuple[Ints, Ints, Floats]] = []
    while True:
        left, right, score = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
        size = _pairs.pairs_above(
            one, other, ones_one, ones_other, low, high, least, begin, left, right, score
        )
        found.append((left[:size], right[:size], score[:size]))
        if begin[0] == len(one):
            break
        # Nobody knows how many pairs are similar. Doubling
        # costs O(pairs) in all, and what was found is kept.
        room *= 2
    lefts, rights, scores = zip(*found, strict=True)
    return np.concatenate(lefts), np.concatenate(rights), np.concatenate(scores)


@as_declared
def merge(left: Ints, right: Ints, joins: Bools, group: Ints) -> tuple[Ints, Bools]:
    """The clusters, and which edges hold in them: O(edges · α) where few edges keep apart.

    The edges come in the order in which they count. An edge that joins two records merges their
    clusters unless an earlier edge keeps them apart, or both clusters hold a record of the same
    limited group (a source with at most one record per person). An edge that keeps two records
    apart does so from then on, unless they are together already.

    Parameters
    ----------
    left, right
        Records of each edge, different ones; shape (edges,).
    joins
        Whether the edge joins them; otherwise it keeps them apart.
    group
        Limited group of each record, -1 for none; shape (records,).

    Returns
    -------
    tuple
        A label per record, the number of one record of its cluster, and whether each edge was
        kept when its turn came.
    """
    return _pairs.merge(left, right, as_flags(joins), group)


@as_declared
def smallest_group(
    members: Rows,
    codes: Codes,
    start: Ints,
    characters: npt.NDArray[np.unsignedinteger[Any]],
    columns: Ints,
    places: Ints,
    weights: Ints,
) -> int:
    """Size of the smallest group of records that agree in every item.

    An item is a column and a place of a character in its value, or `WHOLE`. Records whose value
    is missing or ends before the place agree with each other. Takes O(members x items) expected.

    Parameters
    ----------
    members
        Numbers of the records; shape (members,), at least one.
    codes
        The value of each record, -1 where it is missing; shape (records, columns).
    start
        Where the characters of each value start; shape (values + 1,).
    columns, places
        The items; each of shape (items,).
    weights
        How often each member counts, at least once; shape (members,), or empty for once.
    """
    # The width of a character is the caller's, so that no declared type can ask for it.
    letters = np.ascontiguousarray(characters)
    return _pairs.smallest_group(members, codes, start, letters, columns, places, weights)


@as_declared
def tallies(postings: Rows, edges: Ints, flags: Bytes) -> Ints:
    """Number of records of a set that have each value.

    Parameters
    ----------
    postings
        The records of each value, one value after the other.
    edges
        Where those of each value start and end; shape (values + 1,).
    flags
        1 for each record of the set, else 0; shape (records,).

    Returns
    -------
    NDArray
        Shape (values,).
    """
    return _pairs.tallies(postings, edges, flags)


@as_declared
def smallest_tally(
    postings: Rows,
    edges: Ints,
    flags: Bytes,
    order: Ints,
    best: int,
) -> int:
    """The smallest number of records of a set that have a value, if any; at most ``best``.

    Looks at few records of a value that more than the smallest number have:
    rare values first, it need not read most records.

    Parameters
    ----------
    postings, edges, flags
        As for `tallies`.
    order
        All values, in the order in which they are looked at; shape (values,).
    best
        What is known to be no less than the answer, at least 1.
    """
    return _pairs.smallest_tally(postings, edges, flags, order, best)


@as_declared
def key_individuals(
    keys: Ints,
    alone: Ints,
    tuple_of: Codes,
    person_of: Codes,
    asked: Ints,
) -> Ints:
    """How many distinct individuals have a tuple with each of some keys.

    Takes O(tuples + entries + asked) expected.

    Parameters
    ----------
    keys
        The key of each tuple, not negative; shape (tuples,).
    alone
        How many individuals have this tuple and no other; shape (tuples,).
    tuple_of, person_of
        The tuples of every individual who has several, ordered by individual; each of shape
        (entries,).
    asked
        The keys asked for, not negative; shape (asked,).

    Returns
    -------
    numpy.ndarray
        Individuals, shape (asked,).
    """
    return _pairs.key_individuals(keys, alone, tuple_of, person_of, asked)
