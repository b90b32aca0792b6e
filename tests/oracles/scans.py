"""The search's loops in NumPy: an oracle.

Places inside the nodes are numbered one after another, so that running sums meet no gaps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from oracles.cuts import Codes, Floats, Ints, members


@dataclass(frozen=True, eq=False)
class _Runs:
    """The values that persons hold, sorted by value, in runs of one value in one group.

    Attributes
    ----------
    entry, owner
        Index of each held value, and the place of the person who holds it.
    starts, run
        Where the runs start, and the run of each held value.
    value, group
        Value and group of each run.
    """

    entry: Ints
    owner: Ints
    starts: Ints
    run: Ints
    value: Codes
    group: Ints


def _runs_of(person: Codes, group: Ints, offsets: Ints, values: Codes, size: int) -> _Runs:
    """The runs of these persons, whose groups ascend."""
    entry, owner = members(offsets[person], offsets[person + 1])
    by_value = _ascending(values[entry], size)
    entry, owner = entry[by_value], owner[by_value]
    value, of_entry = values[entry], group[owner]
    starts, run = _runs(value, of_entry)
    return _Runs(entry, owner, starts, run, value[starts], of_entry[starts])


def _ascending(codes: Codes | Ints, size: int) -> Ints:
    """Stable order of codes below ``size``; NumPy sorts codes of 16 bits by counting."""
    return np.argsort(codes.astype(np.min_scalar_type(size)), kind="stable")


def _runs(value: Codes, group: Ints) -> tuple[Ints, Ints]:
    """Starts of the runs of equal value and group, and the run of each entry."""
    starting = np.ones(len(value), dtype=bool)
    starting[1:] = (value[1:] != value[:-1]) | (group[1:] != group[:-1])
    return np.flatnonzero(starting), np.cumsum(starting) - 1


def _running(numbers: Ints, first: Ints) -> Ints:
    """Running sums of whole numbers, down the first axis, that start again at each ``first``."""
    sums = np.cumsum(numbers, axis=0)
    before = sums[first] - numbers[first]
    running: Ints = sums - np.repeat(before, np.diff(first, append=len(numbers)), axis=0)
    return running


def _first_places(low: Ints, high: Ints) -> Ints:
    first: Ints = np.cumsum(high - low) - (high - low)
    return first


def _sums(group: Ints, values: Floats, groups: int) -> Floats:
    return np.bincount(group, values, groups).astype(np.float64, copy=False)


def _sums_by(group: Ints, kind: Ints, numbers: Ints, groups: int, kinds: int) -> Ints:
    """Sums of whole numbers per group and kind, exact up to 2^53; shape (groups, kinds)."""
    sums = np.bincount(group * kinds + kind, numbers, groups * kinds)
    return sums.astype(np.int64).reshape(groups, kinds)


def scan_affiliations(
    order: Codes, low: Ints, high: Ints, offsets: Ints, values: Codes, size: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Most shared and distinct values around each place; see ``scans.scan_affiliations``."""
    places, node = members(low, high)
    runs = _runs_of(order[places], node, offsets, values, size)
    lengths = np.diff(runs.starts, append=len(runs.entry))
    within = np.arange(len(runs.entry)) - runs.starts[runs.run]
    as_met = _ascending(runs.owner, len(places))
    before, of_entry = within[as_met], node[runs.owner[as_met]]
    behind = lengths[runs.run][as_met] - before - 1
    until = np.cumsum(np.bincount(runs.owner, minlength=len(places)))
    from_right = len(low) - 1
    left = _met(before, of_entry, until, node)
    right = _met(behind[::-1], from_right - of_entry[::-1], len(before) - until, from_right - node)
    found = np.zeros((4, len(order)), dtype=np.int64)
    found[:, places] = left[0], right[0], left[1], right[1]
    return found[0], found[1], found[2], found[3]


def _met(earlier: Ints, of_entry: Ints, until: Ints, node: Ints) -> tuple[Ints, Ints]:
    """Most shared value and distinct values at each place.

    Parameters
    ----------
    earlier, of_entry
        Of each held value, as they are met: persons of the node met with it before, and node.
    until, node
        Of each place: held values that have been met, and node.
    """
    step = len(earlier) + 1
    most = np.maximum.accumulate(np.append(0, earlier + 1 + step * of_entry))
    new = earlier == 0
    distinct = np.append(0, np.cumsum(new))
    elsewhere = np.bincount(of_entry[new] + 1, minlength=int(node.max(initial=0)) + 1)
    return (
        np.maximum(most[until] - step * node, 0),
        np.maximum(distinct[until] - np.cumsum(elsewhere)[node], 0),
    )


@dataclass(frozen=True, eq=False)
class _Whole:
    """Nodes as a whole, and how far each person in them lies from their means.

    Attributes
    ----------
    number, present
        Records of each node; its values of each ordered attribute.
    apart
        Of each place, the person's totals less what the node's means would give.
    squared
        Squared distance from the means of the ordered attributes, of each node.
    """

    number: Ints
    present: Ints
    apart: Floats
    squared: Floats


def _whole(
    person: Codes,
    node: Ints,
    first: Ints,
    records: Ints,
    totals: Floats,
    squares: Floats,
    presents: Ints,
) -> _Whole:
    own_total, own_present = totals[person], presents[person]
    total = np.add.reduceat(own_total, first, axis=0)
    present = np.add.reduceat(own_present, first, axis=0)
    mean = total / np.maximum(present, 1)
    squared = np.add.reduceat(squares[person], first) - (mean * total).sum(axis=1)
    number = np.add.reduceat(records[person], first)
    return _Whole(number, present, own_total - own_present * mean[node], squared)


def scan_losses(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    totals: Floats,
    squares: Floats,
    presents: Ints,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    weights: Floats,
) -> tuple[Floats, Floats]:
    """Loss of each node and of the two sides of each place; see ``scans.scan_losses``."""
    places, node = members(low, high)
    person, first = order[places], _first_places(low, high)
    level = _whole(person, node, first, records, totals, squares, presents)
    left_present = _running(presents[person], first)
    gain = _gains(level.present[node], np.cumsum(level.apart, axis=0), left_present)
    runs = _runs_of(person, node, offsets, values, len(weights))
    number, distinct = level.number, np.unique(weights)
    held, pairs, grown, met = _place_pairs(runs, counts, weights, len(low), len(places))
    left_pairs, cross = _running(grown, first), _running(met, first)
    left = _running(records[person], first)
    gain += _pair_gains(pairs[node], number[node], left_pairs, cross, left) @ distinct
    loss = level.squared + (held - pairs / number[:, None]) @ distinct
    after = np.zeros(len(order))
    whole = np.maximum(loss, 0.0)
    after[places] = np.maximum(whole[node] - gain, 0.0)
    after[high - 1] = 0.0
    return whole, after


def _gains(present: Ints, apart: Floats, own_present: Ints) -> Floats:
    """What cutting parts off their nodes gains in squared distance, over ordered attributes.

    Parameters
    ----------
    present
        Values of the node of each part; shape (parts, attributes).
    apart, own_present
        Sum of the part's differences from the node's means, and its number of values.
    """
    share = np.maximum(own_present * (present - own_present), 1)
    gains: Floats = (apart * apart * (present / share)).sum(axis=1)
    return gains


def _pair_gains(pairs: Ints, number: Ints, own: Ints, cross: Ints, part: Ints) -> Floats:
    """What cutting parts off their nodes gains in squared distance, over 0/1 columns.

    Parameters
    ----------
    pairs, number
        Of the node of each part: squared counts, summed over the columns of each distinct
        weight, and records; shapes (parts, weights), (parts,).
    own, cross
        Squared counts of the part, and its counts times the node's, summed likewise.
    part
        Records of each part.
    """
    rest = (number - part)[:, None]
    outside = (pairs - 2 * cross + own) / np.maximum(rest, 1)
    gains: Floats = own / part[:, None] + outside - pairs / number[:, None]
    return gains


def _place_pairs(
    runs: _Runs, counts: Codes, weights: Floats, nodes: int, places: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Counts and squared counts of nodes; what places add to squared counts and cross terms.

    All are summed over the columns of each distinct weight.
    """
    count = counts[runs.entry].astype(np.int64)
    held = np.add.reduceat(count, runs.starts)
    before = _running(count, runs.starts) - count
    distinct, kind_of = np.unique(weights, return_inverse=True)
    kind, kinds = kind_of[runs.value], len(distinct)
    of_entry = kind[runs.run]
    return (
        _sums_by(runs.group, kind, held, nodes, kinds),
        _sums_by(runs.group, kind, held * held, nodes, kinds),
        _sums_by(runs.owner, of_entry, count * (2 * before + count), places, kinds),
        _sums_by(runs.owner, of_entry, count * held[runs.run], places, kinds),
    )


def member_losses(
    order: Codes,
    low: Ints,
    high: Ints,
    member: Codes,
    columns: int,
    records: Ints,
    totals: Floats,
    squares: Floats,
    presents: Ints,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    weights: Floats,
) -> tuple[Ints, Codes, Ints, Ints, Ints, Floats]:
    """Every 0/1 column that has members in each node; see ``scans.member_losses``."""
    places, node = members(low, high)
    key = node * (columns + 1) + member[order[places]] + 1
    by_key = np.argsort(key, kind="stable")
    person, key = order[places][by_key], key[by_key]
    level = _whole(
        order[places], node, _first_places(low, high), records, totals, squares, presents
    )
    starting = np.diff(key, prepend=-1) > 0
    first, part = np.flatnonzero(starting), np.cumsum(starting) - 1
    of_part, column = np.divmod(key[first], columns + 1)
    size = np.diff(first, append=len(person))
    own_records = np.add.reduceat(records[person], first)
    own_squares = np.add.reduceat(records[person] ** 2, first)
    gain = _gains(
        level.present[of_part],
        np.add.reduceat(level.apart[by_key], first, axis=0),
        np.add.reduceat(presents[person], first, axis=0),
    )
    runs = _runs_of(person, part, offsets, values, len(weights))
    number, distinct = level.number, np.unique(weights)
    held, pairs, own, cross = _part_pairs(runs, counts, weights, of_part, len(low))
    gain += _pair_gains(pairs[of_part], number[of_part], own, cross, own_records) @ distinct
    loss = level.squared + (held - pairs / number[:, None]) @ distinct
    after = np.maximum(np.maximum(loss, 0.0)[of_part] - gain, 0.0)
    found = column > 0
    return (
        of_part[found],
        (column[found] - 1).astype(np.int32),
        size[found],
        own_records[found],
        own_squares[found],
        after[found],
    )


def _part_pairs(
    runs: _Runs, counts: Codes, weights: Floats, of_part: Ints, nodes: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Counts and squared counts of nodes; squared counts and cross terms of their parts.

    All are summed over the columns of each distinct weight.
    """
    own = np.add.reduceat(counts[runs.entry].astype(np.int64), runs.starts)
    node, parts = of_part[runs.group], len(of_part)
    starts, run = _runs(runs.value, node)
    held = np.add.reduceat(own, starts)[run]
    distinct, kind_of = np.unique(weights, return_inverse=True)
    kind, kinds = kind_of[runs.value], len(distinct)
    return (
        _sums_by(node, kind, own, nodes, kinds),
        _sums_by(node, kind, own * held, nodes, kinds),
        _sums_by(runs.group, kind, own * own, parts, kinds),
        _sums_by(runs.group, kind, own * held, parts, kinds),
    )


def leaf_losses(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    totals: Floats,
    presents: Ints,
    lowest: Floats,
    highest: Floats,
    attribute_weights: Floats,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    axis_of: Codes,
    error_weights: Floats,
    width_weights: Floats,
    width_scales: Floats,
) -> Floats:
    """Absolute error and width of each node; see ``scans.leaf_losses``."""
    places, node = members(low, high)
    person, first = order[places], _first_places(low, high)
    number = np.add.reduceat(records[person], first)
    own_total, own_present = totals[person], presents[person]
    present = np.add.reduceat(own_present, first, axis=0)
    mean = np.add.reduceat(own_total, first, axis=0) / np.maximum(present, 1)
    error = np.add.reduceat(np.abs(own_total - own_present * mean[node]), first, axis=0)
    least = np.minimum.reduceat(lowest[person], first, axis=0)
    most = np.maximum.reduceat(highest[person], first, axis=0)
    width = np.where(present >= number[:, None], most - least, attribute_weights)
    ordered = np.where(present > 0, error + width * number[:, None], 0.0) @ attribute_weights
    runs = _runs_of(person, node, offsets, values, len(axis_of))
    held = np.add.reduceat(counts[runs.entry].astype(np.int64), runs.starts)
    axis, axes = axis_of[runs.value], len(error_weights)
    rest = 1 - np.minimum(held / number[runs.group], 1.0)
    errors = _sums(runs.group, error_weights[axis] * held * rest, len(low))
    cell, cells = runs.group * axes + axis, len(low) * axes
    covered = _sums(cell, held, cells).reshape(len(low), axes)
    distinct = np.bincount(cell, minlength=cells).reshape(len(low), axes)
    others = distinct - 1 + (covered < number[:, None])
    widths = np.clip(others * width_scales, 0.0, 1.0) @ width_weights
    losses: Floats = ordered + errors + widths * number
    return losses
