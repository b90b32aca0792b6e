"""Cuts of a node that take the members of a 0/1 column off: compiled loops."""

from __future__ import annotations

from sfumato.kernels.best_cut_inputs import Axes, Codes, Known, Limits
from sfumato.kernels.best_cut_scratch import Scratch
from sfumato.kernels.choose import compiled
from sfumato.kernels.place_loops import gains, sizes
from sfumato.kernels.promise_loops import large_enough
from sfumato.kernels.scans_loops import gain_of, group, shift_pairs


@compiled
def _members_loss(
    first: int,
    last: int,
    number: int,
    whole: float,
    pairs: float,
    own: int,
    known: Known,
    axes: Axes,
    scratch: Scratch,
) -> float:
    """Loss of both sides when the persons ``grouped[first:last]`` are cut off a node."""
    scratch.own_total[:] = 0.0
    scratch.own_present[:] = 0
    for place in range(first, last):
        person = scratch.grouped[place]
        for attribute in range(len(scratch.own_total)):
            scratch.own_total[attribute] += known.totals[person, attribute]
            scratch.own_present[attribute] += known.presents[person, attribute]
    own_pairs, less = shift_pairs(
        scratch.grouped, first, last, known.offsets, known.values, known.counts, axes.weights,
        scratch.held, scratch.own_held,
    )  # fmt: skip
    gain = (pairs - less) / (number - own) - pairs / number + own_pairs / own
    gain += gain_of(scratch.total, scratch.present, scratch.own_total, scratch.own_present)
    return max(whole - gain, 0.0)


@compiled
def member_cuts(
    order: Codes,
    start: int,
    stop: int,
    number: int,
    squares: int,
    whole: float,
    pairs: float,
    sure: bool,
    known: Known,
    axes: Axes,
    limits: Limits,
    scratch: Scratch,
) -> int:
    """Fill the entries of all cuts that gain and whose sides are large enough; their number.

    Other parameters as in `place_loops`; ``sure`` where size is all that is promised.
    """
    found = 0
    for axis in range(len(axes.columns)):
        ends = scratch.ends[: axes.columns[axis] + 2]
        group(order, start, stop, known.members[axis], ends, scratch.grouped)
        for column in range(axes.columns[axis]):
            first, last = ends[column], ends[column + 1]
            if first == last or last - first == stop - start:
                continue
            own, own_squares = sizes(scratch.grouped, first, last, known.records)
            right, left = last - first, stop - start - last + first
            if not large_enough(limits, right, own, own_squares) or not large_enough(
                limits, left, number - own, squares - own_squares
            ):
                continue
            after = _members_loss(first, last, number, whole, pairs, own, known, axes, scratch)
            if not gains(after, whole):
                continue
            scratch.entry_axis[found] = axis
            scratch.entry_column[found] = column
            scratch.entry_checked[found] = sure
            scratch.entry_right[found, 0] = right
            scratch.entry_right[found, 1] = own
            scratch.entry_right[found, 2] = own_squares
            scratch.entry_lost[found] = after
            found += 1
    return found
