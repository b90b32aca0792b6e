"""Cuts of a node behind the places of its orders: compiled loops."""

from __future__ import annotations

from sfumato.kernels.best_cut_inputs import Axes, Codes, Floats, Ints, Known, Limits
from sfumato.kernels.best_cut_scratch import Scratch
from sfumato.kernels.choose import compiled
from sfumato.kernels.promise_loops import large_enough
from sfumato.kernels.scans_loops import forget, gain_of

LEAST_GAIN = 1e-12
"""The least share of a node's loss that a cut must gain, and the rounding of a share."""


@compiled
def gains(after: float, before: float) -> bool:
    """Whether a cut lowers a node's loss by more than rounding."""
    return after < before * (1 - LEAST_GAIN) - LEAST_GAIN


@compiled
def sizes(order: Codes, start: int, stop: int, records: Ints) -> tuple[int, int]:
    """Number of records, and sum of the persons' squared ones."""
    number, squares = 0, 0
    for place in range(start, stop):
        own = records[order[place]]
        number += own
        squares += own * own
    return number, squares


@compiled
def find_places(
    order: Codes,
    start: int,
    stop: int,
    number: int,
    squares: int,
    axis: int,
    known: Known,
    axes: Axes,
    limits: Limits,
    share: Floats,
) -> bool:
    """Fill ``share`` of every place, negative where both sides are no classes; is there a cut.

    ``number`` and ``squares`` are the node's records and squared record counts.
    """
    position = known.positions[axis]
    strict, missing = axes.strict[axis], axes.missing[axis]
    left_number, left_squares, found = 0, 0, False
    for place in range(start, stop - 1):
        person = order[place]
        records = known.records[person]
        left_number += records
        left_squares += records * records
        here = position[person]
        share[place - start] = -1.0
        if here == position[order[place + 1]] and (strict or here == missing):
            continue
        left, right = place + 1 - start, stop - place - 1
        if large_enough(limits, left, left_number, left_squares) and large_enough(
            limits, right, number - left_number, squares - left_squares
        ):
            share[place - start] = min(left_number, number - left_number) / number
            found = True
    return found


@compiled
def place_losses(
    order: Codes,
    start: int,
    stop: int,
    number: int,
    whole: float,
    pairs: float,
    known: Known,
    axes: Axes,
    scratch: Scratch,
    share: Floats,
    lost: Floats,
) -> None:
    """Fill ``lost`` of every place, infinite where there is no cut or where it gains nothing.

    ``scratch`` holds the node's totals and 0/1 columns, ``whole`` its loss, and ``pairs`` the
    weighted sum of its squared counts of 0/1 columns.
    """
    total, own_total = scratch.total, scratch.own_total
    own_present = scratch.own_present
    attributes = len(total)
    own_total[:] = 0.0
    own_present[:] = 0
    last = stop - 2
    while last >= start and share[last - start] < 0:
        lost[last - start] = float("inf")
        last -= 1
    own, left_pairs, right_pairs = 0, 0.0, pairs
    for place in range(start, last + 1):
        person = order[place]
        own += known.records[person]
        for attribute in range(attributes):
            own_total[attribute] += known.totals[person, attribute]
        if not axes.complete:
            for attribute in range(attributes):
                own_present[attribute] += known.presents[person, attribute]
        for entry in range(known.offsets[person], known.offsets[person + 1]):
            value, count = known.values[entry], known.counts[entry]
            left, weight = scratch.own_held[value], axes.weights[value]
            right_pairs -= weight * count * (2 * (scratch.held[value] - left) - count)
            left_pairs += weight * count * (2 * left + count)
            scratch.own_held[value] = left + count
        lost[place - start] = float("inf")
        if share[place - start] < 0:
            continue
        gain = left_pairs / own + right_pairs / (number - own) - pairs / number
        if axes.complete:
            part, apart = own / number, 0.0
            for attribute in range(attributes):
                difference = own_total[attribute] - total[attribute] * part
                apart += difference * difference
            gain += apart * (number / (own * (number - own)))
        else:
            gain += gain_of(total, scratch.present, own_total, own_present)
        after = max(whole - gain, 0.0)
        if gains(after, whole):
            lost[place - start] = after
    forget(order, start, last + 1, known.offsets, known.values, scratch.own_held)


@compiled
def best_places(
    places: int, axis: int, whole: float, sure: bool, shares: Floats, scratch: Scratch
) -> None:
    """Fill ``key`` and ``place`` of one axis at each share, the shares ascending.

    The best place is that of least loss among those that divide evenly enough. The key is its
    loss over the node's, plus 1 where the share was not to be had; unless it is ``sure`` that all
    of the places keep the promises, it is a lower bound of that.
    """
    share, lost = scratch.share[axis], scratch.lost[axis]
    key, best = scratch.key[axis], scratch.place[axis]
    widest, least = 0.0, float("inf")
    for place in range(places):
        if lost[place] < float("inf"):
            widest = max(widest, share[place])
            least = min(least, lost[place])
    key[:] = float("inf")
    best[:] = -1
    if least == float("inf"):
        return
    for place in range(places):
        if lost[place] < float("inf"):
            for which in range(len(shares) - 1, -1, -1):
                if share[place] < min(shares[which], widest) - LEAST_GAIN:
                    continue
                if lost[place] >= key[which]:
                    break
                key[which] = lost[place]
                best[which] = place
    for which in range(len(shares)):
        had = widest >= shares[which]
        if sure or had:
            key[which] = key[which] / whole + (0.0 if had else 1.0)
        else:
            key[which] = 1.0 + least / whole
