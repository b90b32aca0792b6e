"""The best cut of a node over all axes: compiled loops.

The axes are weighed first by what their cuts lose alone; what is promised about the persons'
values is counted only for the cuts that would win.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.best_cut_inputs import Axes, Chosen, Codes, Floats, Ints, Known, Limits
from sfumato.kernels.best_cut_scratch import Scratch, longest_of, plain, scratch_for
from sfumato.kernels.choose import compiled
from sfumato.kernels.member_cut_loops import member_cuts
from sfumato.kernels.place_loops import best_places, find_places, place_losses, sizes
from sfumato.kernels.promise_loops import check_places, members_meet, place_meets
from sfumato.kernels.scans_loops import forget, gather

LARGE = 4096
"""Persons of a node whose best place is counted alone, because it mostly keeps the promises."""


@compiled
def onlysizes(limits: Limits) -> bool:
    """Whether nothing is promised but sizes."""
    for attribute in range(len(limits.distinct)):
        if limits.affiliation[attribute] < np.inf or limits.distinct[attribute] > 0:
            return False
    return limits.sharing < 2


@compiled
def nothing_chosen(cuts: int) -> Chosen:
    """So many entries for `choose` to fill."""
    return Chosen(
        np.full(cuts, -1, np.int64),
        np.zeros(cuts, np.int32),
        np.zeros(cuts, np.int64),
        np.zeros(cuts, np.int64),
        np.zeros(cuts, np.int64),
        np.zeros(cuts),
    )


@compiled
def choose(
    orders: Codes,
    start: int,
    stop: int,
    known: Known,
    axes: Axes,
    limits: Limits,
    shares: Floats,
    scratch: Scratch,
    chosen: Chosen,
    first: int,
) -> None:
    """Fill ``chosen`` from ``first`` on with the best cut of one node at each share.

    ``orders``, shape (ordered axes or 1, persons), hold the node from ``start`` to ``stop``; the
    shares ascend.
    """
    chosen.axis[first : first + len(shares)] = -1
    if stop - start < 2 * limits.persons:
        return
    ordered = len(axes.missing)
    number, squares = sizes(orders[0], start, stop, known.records)
    found = False
    for axis in range(ordered):
        scratch.checked[axis] = find_places(
            orders[axis], start, stop, number, squares, axis, known, axes, limits,
            scratch.share[axis],
        )  # fmt: skip
        found = found or scratch.checked[axis]
    if not found and not len(axes.columns):
        return
    _, whole, pairs = gather(
        orders[0], start, stop, known.records, known.totals, known.squares, known.presents,
        known.offsets, known.values, known.counts, axes.weights, scratch.total, scratch.present,
        scratch.held,
    )  # fmt: skip
    sure = onlysizes(limits)
    for axis in range(ordered):
        if not scratch.checked[axis]:
            scratch.key[axis, :] = np.inf
            continue
        place_losses(
            orders[axis], start, stop, number, whole, pairs, known, axes, scratch,
            scratch.share[axis], scratch.lost[axis],
        )  # fmt: skip
        scratch.checked[axis] = sure
        best_places(stop - start - 1, axis, whole, sure, shares, scratch)
    entries = member_cuts(
        orders[0], start, stop, number, squares, whole, pairs, sure, known, axes, limits, scratch
    )
    forget(orders[0], start, stop, known.offsets, known.values, scratch.held)
    for which in range(len(shares)):
        _choose_one(
            orders, start, stop, number, squares, whole, entries, known, limits, shares, which,
            scratch, chosen, first + which,
        )  # fmt: skip


@compiled
def _best_of_all(
    ordered: int,
    entries: int,
    number: int,
    whole: float,
    shares: Floats,
    which: int,
    scratch: Scratch,
) -> int:
    """The axis of least key, or the number of ordered axes plus the entry; -1 for none."""
    best, least = -1, np.inf
    for axis in range(ordered):
        if scratch.key[axis, which] < least:
            best, least = axis, scratch.key[axis, which]
    for entry in range(entries):
        if scratch.entry_lost[entry] == np.inf:
            continue
        own = scratch.entry_right[entry, 1]
        uneven = min(number - own, own) / number < shares[which]
        key = scratch.entry_lost[entry] / whole + (1.0 if uneven else 0.0)
        if key < least:
            best, least = ordered + entry, key
    return best


@compiled
def _choose_one(
    orders: Codes,
    start: int,
    stop: int,
    number: int,
    squares: int,
    whole: float,
    entries: int,
    known: Known,
    limits: Limits,
    shares: Floats,
    which: int,
    scratch: Scratch,
    chosen: Chosen,
    into: int,
) -> None:
    """Fill one entry of ``chosen``: the cut of least key that keeps the promises."""
    ordered = len(scratch.checked)
    while True:
        best = _best_of_all(ordered, entries, number, whole, shares, which, scratch)
        if best < 0:
            return
        if best >= ordered:
            entry = best - ordered
            column, member = scratch.entry_column[entry], known.members[scratch.entry_axis[entry]]
            if not scratch.entry_checked[entry] and not members_meet(
                orders[0], start, stop, member, plain(column), known, limits, scratch
            ):
                scratch.entry_lost[entry] = np.inf
                continue
            scratch.entry_checked[entry] = True
            right = scratch.entry_right[entry]
            chosen.axis[into] = ordered + scratch.entry_axis[entry]
            chosen.column[into] = column
            chosen.left[into] = stop - start - right[0]
            chosen.left_records[into] = number - right[1]
            chosen.left_squares[into] = squares - right[2]
            chosen.lost[into] = scratch.entry_lost[entry]
            return
        place = scratch.place[best, which]
        if not scratch.checked[best] and not (
            stop - start >= LARGE
            and scratch.share[best, place] >= shares[which]
            and scratch.key[best, which] < 1.0
            and place_meets(orders[best], start, start + place + 1, stop, known, limits, scratch)
        ):
            check_places(orders[best], start, stop, known, limits, scratch, scratch.lost[best])
            scratch.checked[best] = True
            best_places(stop - start - 1, best, whole, scratch.checked[best], shares, scratch)
            continue
        number, squares = sizes(orders[best], start, start + place + 1, known.records)
        chosen.axis[into], chosen.column[into], chosen.left[into] = best, 0, place + 1
        chosen.left_records[into], chosen.left_squares[into] = number, squares
        chosen.lost[into] = scratch.lost[best, place]
        return


@compiled
def best_cuts(
    orders: Codes,
    low: Ints,
    high: Ints,
    shares: Floats,
    known: Known,
    axes: Axes,
    limits: Limits,
    most: int,
) -> Chosen:
    """The best cut of each node at its own share; ``most`` is the most records of a person."""
    scratch = scratch_for(longest_of(low, high), most, axes, limits, plain(1))
    chosen = nothing_chosen(len(low))
    for node in range(len(low)):
        choose(
            orders, low[node], high[node], known, axes, limits, shares[node : node + 1], scratch,
            chosen, node,
        )  # fmt: skip
    return chosen
