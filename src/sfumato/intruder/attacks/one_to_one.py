"""Exact matching in which nobody is used twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components, maximum_flow

from sfumato.intruder.candidates.blocks import Blocks, blocks_of
from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.guesses import Identification
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
ROUNDS = 100
"""Rounds of belief propagation at most."""
PRECISION = 1e-3
"""Share of all probability that may still move when belief propagation ends."""
TINY = 1e-12


def exact_one_to_one(
    file: ReleasedFile,
    knowledge: Knowledge,
    candidates: Candidates,
    rng: np.random.Generator,
) -> Identification:
    """Guess for released units register persons who fit, nobody twice, as many as can be.

    The assignment is a maximum flow from kinds of units to groups of persons, in an order
    drawn at random; who of a kind gets whom of a group is drawn at random. The intruder's
    probability is the share of all such assignments that have the pair, as belief propagation
    finds it (Vontobel 2013, "The Bethe permanent of a nonnegative matrix"): 1/persons where
    classes do not overlap, near it elsewhere.

    Parameters
    ----------
    file
        The released file.
    knowledge
        What the intruder knows; with ``counts`` a person fits only units with as many records.
    candidates
        Which persons fit which class.
    rng
        Source of randomness.

    Returns
    -------
    Identification
        One guess per unit, in their order; without a person and with chance 0 for units that
        nobody was left for.
    """
    blocks = blocks_of(file, knowledge, candidates)
    flow = _random_flow(blocks, rng)
    units, persons = _paired(blocks, flow, rng)
    guessed = np.full(file.persons, -1, dtype=np.int64)
    guessed[units] = persons
    chance = np.zeros(file.persons)
    pairs = _possible(blocks, flow)
    chance[units] = _chances(blocks, pairs, blocks.kind[units], blocks.group[persons])
    return Identification(np.arange(file.persons, dtype=np.int64), guessed, chance)


def _random_flow(blocks: Blocks, rng: np.random.Generator) -> sparse.coo_array:
    """How many units of each kind go to each group, shape (kinds, groups), as many as can be."""
    kinds, groups = blocks.fits.shape
    new_kind, new_group = 1 + rng.permutation(kinds), 1 + kinds + rng.permutation(groups)
    source, sink = 0, 1 + kinds + groups
    pairs = blocks.fits.tocoo()
    row, column = pairs.coords
    units, sizes = blocks.units, blocks.sizes
    capacity = np.concatenate([units, sizes, np.minimum(units[row], sizes[column])])
    start = np.concatenate([np.full(kinds, source), new_group, new_kind[row]])
    stop = np.concatenate([new_kind, np.full(groups, sink), new_group[column]])
    graph = sparse.csr_array(
        (capacity.astype(np.int32), (start.astype(np.int32), stop.astype(np.int32))),
        shape=(sink + 1, sink + 1),
    )
    graph.sort_indices()
    found = maximum_flow(graph, source, sink).flow.tocoo()
    used = (found.data > 0) & (found.coords[0] != source) & (found.coords[1] != sink)
    kind_of, group_of = np.empty(sink + 1, np.int64), np.empty(sink + 1, np.int64)
    kind_of[new_kind], group_of[new_group] = np.arange(kinds), np.arange(groups)
    places = (kind_of[found.coords[0][used]], group_of[found.coords[1][used]])
    return sparse.coo_array((found.data[used].astype(np.int64), places), shape=(kinds, groups))


def _paired(blocks: Blocks, flow: sparse.coo_array, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Units and persons, as many of each kind and group as flow between the two."""
    kinds = np.repeat(flow.coords[0], flow.data)
    groups = np.repeat(flow.coords[1], flow.data)
    return _taken(blocks.kind, kinds, rng), _taken(blocks.group, groups, rng)


def _taken(label: Ints, wanted: Ints, rng: np.random.Generator) -> Ints:
    """For each label that is wanted one of its members, at random and none twice."""
    shuffled = rng.permutation(len(label))
    members = shuffled[np.argsort(label[shuffled], kind="stable")]
    sizes = np.bincount(label, minlength=int(wanted.max(initial=0)) + 1)
    order = np.argsort(wanted, kind="stable")
    counts = np.bincount(wanted, minlength=len(sizes))
    rank = np.arange(len(wanted)) - np.repeat(np.cumsum(counts) - counts, counts)
    taken = np.empty(len(wanted), dtype=np.int64)
    taken[order] = members[(np.cumsum(sizes) - sizes)[wanted[order]] + rank]
    return taken


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Kinds and groups of which some maximum assignment has a pair.

    ``spare_kind`` and ``spare_group`` are 1 where some of them leaves one of the kind or of the
    group out, else 0.
    """

    kind: Ints
    group: Ints
    spare_kind: Floats
    spare_group: Floats


def _possible(blocks: Blocks, flow: sparse.coo_array) -> _Pairs:
    """Find the pairs that some maximum assignment has.

    A pair that this one does not have is in another one if units can move around a cycle
    through it: if both ends are in one strong component of what the flow leaves free.
    """
    kinds, groups = blocks.fits.shape
    source, sink = kinds + groups, kinds + groups + 1
    row = np.repeat(np.arange(kinds), np.diff(blocks.fits.indptr))
    column = blocks.fits.indices.astype(np.int64)
    sent = np.bincount(flow.coords[0], flow.data, kinds)
    got = np.bincount(flow.coords[1], flow.data, groups)
    waiting, started = np.flatnonzero(sent < blocks.units), np.flatnonzero(sent > 0)
    free, ended = np.flatnonzero(got < blocks.sizes), np.flatnonzero(got > 0)
    moves = [
        (row, column + kinds),
        (flow.coords[1] + kinds, flow.coords[0]),
        (np.full(len(waiting), source), waiting),
        (started, np.full(len(started), source)),
        (free + kinds, np.full(len(free), sink)),
        (np.full(len(ended), sink), ended + kinds),
    ]
    start, stop = (np.concatenate(each).astype(np.int32) for each in zip(*moves, strict=True))
    graph = sparse.csr_array(
        (np.ones(len(start), np.int8), (start, stop)), shape=(sink + 1, sink + 1)
    )
    part = connected_components(graph, directed=True, connection="strong")[1]
    possible = part[row] == part[column + kinds]
    return _Pairs(
        row[possible],
        column[possible],
        (part[:kinds] == part[source]).astype(np.float64),
        (part[kinds:source] == part[sink]).astype(np.float64),
    )


def _chances(blocks: Blocks, pairs: _Pairs, kinds: Ints, groups: Ints) -> Floats:
    """The probability of each pair of a unit of this kind and a person of this group.

    Each unit of a kind tells each person of a group how much it needs that person, 1 over what
    the others offer it; each person answers with 1 over what the other units ask.
    """
    row, column = pairs.kind, pairs.group
    units, sizes = blocks.units.astype(np.float64), blocks.sizes.astype(np.float64)
    pairs_of = units[row] * sizes[column]
    offer, chance = np.ones(len(row)), np.zeros(len(row))
    for _ in range(ROUNDS):
        offered = np.bincount(row, sizes[column] * offer, len(units)) + pairs.spare_kind
        need = 1.0 / np.maximum(offered[row] - offer, TINY)
        asked = np.bincount(column, units[row] * need, len(sizes)) + pairs.spare_group
        offer = 1.0 / np.maximum(asked[column] - need, TINY)
        last, chance = chance, 1.0 / (1.0 + 1.0 / (need * offer))
        if float(np.abs(chance - last) @ pairs_of) <= PRECISION * float(chance @ pairs_of):
            break
    width = len(sizes)
    place = np.searchsorted(row * width + column, kinds * width + groups)
    return chance[place]
