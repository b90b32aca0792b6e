"""What the classes below a node lose at several shares: compiled loops.

The subtrees of the shares are grown together, depth first. Where several shares choose the same
cut, they share what is below it. A node's persons are numbered anew, so that all that is known of
them lies together.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.best_cut_inputs import Axes, Bools, Chosen, Codes, Floats, Ints, Known, Limits
from sfumato.kernels.best_cut_loops import choose, nothing_chosen
from sfumato.kernels.best_cut_scratch import Scratch, longest_of, plain, scratch_for
from sfumato.kernels.choose import compiled
from sfumato.kernels.scans_loops import leaf_loss


@compiled
def _rows(
    order: Codes, start: int, stop: int, offsets: Ints, values: Codes
) -> tuple[Ints, Codes, Ints]:
    """The values of some persons (CSR), and where each was."""
    own = np.zeros(stop - start + 1, np.int64)
    for place in range(start, stop):
        person = order[place]
        own[place - start + 1] = own[place - start] + offsets[person + 1] - offsets[person]
    kept = np.empty(own[-1], np.int32)
    entries = np.empty(own[-1], np.int64)
    for place in range(start, stop):
        begin, write = offsets[order[place]], own[place - start]
        for entry in range(own[place - start + 1] - write):
            kept[write + entry] = values[begin + entry]
            entries[write + entry] = begin + entry
    return own, kept, entries


@compiled
def _known_of(order: Codes, start: int, stop: int, known: Known) -> Known:
    """What is known of the persons of one node, numbered as they stand in ``order``."""
    persons, attributes = stop - start, known.totals.shape[1]
    records, squares = np.empty(persons, np.int64), np.empty(persons)
    positions = np.empty((len(known.positions), persons), np.int32)
    members = np.empty((len(known.members), persons), np.int32)
    totals, presents = np.empty((persons, attributes)), np.empty((persons, attributes), np.int64)
    lowest, highest = np.empty((persons, attributes)), np.empty((persons, attributes))
    for new in range(persons):
        old = order[start + new]
        records[new], squares[new] = known.records[old], known.squares[old]
        for axis in range(len(positions)):
            positions[axis, new] = known.positions[axis, old]
        for axis in range(len(members)):
            members[axis, new] = known.members[axis, old]
        for attribute in range(attributes):
            totals[new, attribute] = known.totals[old, attribute]
            presents[new, attribute] = known.presents[old, attribute]
            lowest[new, attribute] = known.lowest[old, attribute]
            highest[new, attribute] = known.highest[old, attribute]
    offsets, values, entries = _rows(order, start, stop, known.offsets, known.values)
    counts = np.empty(len(values), np.int32)
    for entry in range(len(values)):
        counts[entry] = known.counts[entries[entry]]
    sensitive_offsets, sensitive, _ = _rows(
        order, start, stop, known.sensitive_offsets, known.sensitive
    )
    return Known(
        records, positions, members, totals, presents, lowest, highest, squares, offsets, values,
        counts, sensitive_offsets, sensitive,
    )  # fmt: skip


@compiled
def _divide(
    block: Codes,
    persons: int,
    ordered: int,
    known: Known,
    chosen: Chosen,
    cut: int,
    right: Bools,
    arena: Codes,
    top: int,
) -> None:
    """Write a node's two children, all orders divided stably, into ``arena`` from ``top`` on."""
    axis = chosen.axis[cut]
    for place in range(persons):
        if axis < ordered:
            right[block[axis, place]] = place >= chosen.left[cut]
        else:
            person = block[0, place]
            right[person] = known.members[axis - ordered, person] == chosen.column[cut]
    for each in range(len(block)):
        left_end, right_end = top, top + chosen.left[cut]
        for place in range(persons):
            person = block[each, place]
            if right[person]:
                arena[each, right_end] = person
                right_end += 1
            else:
                arena[each, left_end] = person
                left_end += 1


@compiled
def _node_loss(order: Codes, persons: int, known: Known, axes: Axes, scratch: Scratch) -> float:
    """What a node loses as one class."""
    return leaf_loss(
        order, plain(0), persons, known.records, known.totals, known.presents, known.lowest,
        known.highest, axes.attribute_weights, known.offsets, known.values, known.counts,
        axes.axis_of, axes.error_weights, axes.width_weights, axes.width_scales, scratch.held,
        scratch.distinct_columns, scratch.covered,
    )  # fmt: skip


@compiled
def _same(chosen: Chosen, one: int, other: int) -> bool:
    """Whether two cuts of a node are the same."""
    if chosen.axis[one] != chosen.axis[other] or chosen.left[one] != chosen.left[other]:
        return False
    return bool(chosen.column[one] == chosen.column[other])


@compiled
def _grow(
    persons: int,
    known: Known,
    axes: Axes,
    limits: Limits,
    shares: Floats,
    arena: Codes,
    block: Codes,
    frames: Ints,
    right: Bools,
    scratch: Scratch,
    chosen: Chosen,
    losses: Floats,
) -> None:
    """Add the losses at every share below the node that stands at the start of ``arena``.

    ``frames`` holds the open nodes: where each starts and ends, and the shares that lead to it,
    as bits. The last of them stands last in ``arena``.
    """
    ordered, first = len(axes.missing), plain(0)
    own, which = np.empty(len(shares)), np.empty(len(shares), np.int64)
    frames[0, 0], frames[0, 1], frames[0, 2] = 0, persons, (1 << len(shares)) - 1
    open_ = 1
    while open_ > 0:
        open_ -= 1
        top, size, bits = frames[open_, 0], frames[open_, 1] - frames[open_, 0], frames[open_, 2]
        for each in range(len(block)):
            for place in range(size):
                block[each, place] = arena[each, top + place]
        some = 0
        for share in range(len(shares)):
            if bits >> share & 1:
                own[some], which[some] = shares[share], share
                some += 1
        choose(block, first, size, known, axes, limits, own[:some], scratch, chosen, first)
        loss, left_bits = -1.0, bits
        for cut in range(some):
            if not left_bits >> which[cut] & 1:
                continue
            if chosen.axis[cut] < 0:
                if loss < 0:
                    loss = _node_loss(block[0], size, known, axes, scratch)
                losses[which[cut]] += loss
                continue
            same = 0
            for other in range(cut, some):
                if _same(chosen, cut, other):
                    same |= 1 << which[other]
            left_bits &= ~same
            _divide(block, size, ordered, known, chosen, cut, right, arena, top)
            middle = top + chosen.left[cut]
            frames[open_, 0], frames[open_, 1], frames[open_, 2] = top, middle, same
            frames[open_ + 1, 0], frames[open_ + 1, 1] = middle, top + size
            frames[open_ + 1, 2] = same
            open_ += 2
            top += size


@compiled
def subtree_losses(
    orders: Codes,
    low: Ints,
    high: Ints,
    known: Known,
    axes: Axes,
    limits: Limits,
    shares: Floats,
    most: int,
) -> Floats:
    """Loss of the classes below each node at each share; shape (nodes, shares)."""
    longest = longest_of(low, high)
    scratch = scratch_for(longest, most, axes, limits, len(shares))
    chosen = nothing_chosen(len(shares))
    block = np.empty((len(orders), longest), np.int32)
    arena = np.empty((len(orders), longest * len(shares)), np.int32)
    frames = np.empty((longest * len(shares) + 2, 3), np.int64)
    right = np.empty(longest, np.bool_)
    number = np.empty(orders.shape[1], np.int32)
    losses = np.zeros((len(low), len(shares)))
    for node in range(len(low)):
        start, stop = low[node], high[node]
        if stop - start < 2 * limits.persons:
            continue
        for place in range(start, stop):
            number[orders[0, place]] = place - start
        for each in range(len(orders)):
            for place in range(start, stop):
                arena[each, place - start] = number[orders[each, place]]
        here = _known_of(orders[0], start, stop, known)
        _grow(
            stop - start, here, axes, limits, shares, arena, block, frames, right, scratch, chosen,
            losses[node],
        )  # fmt: skip
    return losses
