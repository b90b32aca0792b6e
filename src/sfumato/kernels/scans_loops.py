"""The search's loops, compiled; the twin with the same names is in ``scans_twin``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
CLEARED_AT_ONCE = 16
"""Counters per person that are set to 0 faster than those of the person's values are found."""


@compiled
def forget(order: Codes, start: int, stop: int, offsets: Ints, values: Codes, held: Ints) -> None:
    """Set ``held``, which counts nobody else's values, to 0."""
    if len(held) <= CLEARED_AT_ONCE * (stop - start):
        held[:] = 0
        return
    for place in range(start, stop):
        person = order[place]
        for entry in range(offsets[person], offsets[person + 1]):
            held[values[entry]] = 0


@compiled
def _count_shared(
    order: Codes,
    start: int,
    stop: int,
    step: int,
    shift: int,
    offsets: Ints,
    values: Codes,
    shared: Ints,
    most: Ints,
    distinct: Ints,
) -> None:
    """Fill ``most`` and ``distinct``, ``shift`` places on, with what is met from ``start`` on."""
    largest, different = 0, 0
    for place in range(start, stop, step):
        person = order[place]
        for entry in range(offsets[person], offsets[person + 1]):
            shared[values[entry]] += 1
            if shared[values[entry]] == 1:
                different += 1
            largest = max(largest, shared[values[entry]])
        most[place + shift] = largest
        distinct[place + shift] = different


@compiled
def scan_affiliations(
    order: Codes, low: Ints, high: Ints, offsets: Ints, values: Codes, size: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Most shared value and distinct values up to and behind every place of each node."""
    places = len(order)
    left, left_distinct = np.zeros(places, np.int64), np.zeros(places, np.int64)
    right, right_distinct = np.zeros(places, np.int64), np.zeros(places, np.int64)
    shared = np.zeros(size, np.int64)
    for node in range(len(low)):
        start, stop = low[node], high[node]
        _count_shared(order, start, stop, 1, 0, offsets, values, shared, left, left_distinct)
        forget(order, start, stop, offsets, values, shared)
        _count_shared(
            order, stop - 1, start, -1, -1, offsets, values, shared, right, right_distinct
        )
        forget(order, start, stop, offsets, values, shared)
    return left, right, left_distinct, right_distinct


@compiled
def _moment(total: Floats, present: Ints) -> float:
    """Sum over attributes of squared totals over numbers of values."""
    moment = 0.0
    for attribute in range(len(total)):
        if present[attribute] > 0:
            moment += total[attribute] * total[attribute] / present[attribute]
    return moment


@compiled
def gain_of(total: Floats, present: Ints, own_total: Floats, own_present: Ints) -> float:
    """What the squared distance loses when a node's own part is cut off, over attributes.

    Own part and rest, of m and n - m values, gain m (n - m) / n times the squared distance of
    their means, which does not cancel as differences of moments do.
    """
    gain = 0.0
    for attribute in range(len(total)):
        number, own = present[attribute], own_present[attribute]
        if 0 < own < number:
            apart = own_total[attribute] - total[attribute] * (own / number)
            gain += apart * apart * (number / (own * (number - own)))
    return gain


@compiled
def gather(
    order: Codes,
    start: int,
    stop: int,
    records: Ints,
    totals: Floats,
    squares: Floats,
    presents: Ints,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    weights: Floats,
    total: Floats,
    present: Ints,
    held: Ints,
) -> tuple[int, float, float]:
    """Fill ``total``, ``present`` and ``held`` (of zeros); a node's records, loss and pairs.

    Pairs are the weighted sum of the squared counts of the 0/1 columns.
    """
    total[:] = 0.0
    present[:] = 0
    number, square, pairs = 0, 0.0, 0.0
    for place in range(start, stop):
        person = order[place]
        number += records[person]
        square += squares[person]
        for attribute in range(len(total)):
            total[attribute] += totals[person, attribute]
            present[attribute] += presents[person, attribute]
        for entry in range(offsets[person], offsets[person + 1]):
            value, count = values[entry], counts[entry]
            square += weights[value] * count
            pairs += weights[value] * count * (2 * held[value] + count)
            held[value] += count
    loss = square - _moment(total, present) - pairs / number
    return number, max(loss, 0.0), pairs


@compiled
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
    """Loss of each node whole, and of its two sides when it is cut behind each place."""
    attributes = totals.shape[1]
    whole, after = np.zeros(len(low), np.float64), np.zeros(len(order), np.float64)
    total, left_total = np.zeros(attributes), np.zeros(attributes)
    present, left_present = np.zeros(attributes, np.int64), np.zeros(attributes, np.int64)
    right_held, left_held = np.zeros(len(weights), np.int64), np.zeros(len(weights), np.int64)
    for node in range(len(low)):
        start, stop = low[node], high[node]
        number, whole[node], pairs = gather(
            order, start, stop, records, totals, squares, presents, offsets, values, counts,
            weights, total, present, right_held,
        )  # fmt: skip
        left_total[:] = 0.0
        left_present[:] = 0
        left_number, left_pairs, right_pairs = 0, 0.0, pairs
        for place in range(start, stop):
            person = order[place]
            left_number += records[person]
            for attribute in range(attributes):
                left_total[attribute] += totals[person, attribute]
                left_present[attribute] += presents[person, attribute]
            for entry in range(offsets[person], offsets[person + 1]):
                value, count = values[entry], counts[entry]
                right_pairs -= weights[value] * count * (2 * right_held[value] - count)
                right_held[value] -= count
                left_pairs += weights[value] * count * (2 * left_held[value] + count)
                left_held[value] += count
            if place + 1 < stop:
                gain = left_pairs / left_number + right_pairs / (number - left_number)
                gain += gain_of(total, present, left_total, left_present) - pairs / number
                after[place] = max(whole[node] - gain, 0.0)
        forget(order, start, stop, offsets, values, left_held)
    return whole, after


@compiled
def group(order: Codes, start: int, stop: int, member: Codes, ends: Ints, grouped: Codes) -> None:
    """Put a node's persons by column, and where those of column c end into ``ends[c + 1]``."""
    ends[:] = 0
    for place in range(start, stop):
        ends[member[order[place]] + 2] += 1
    for column in range(len(ends) - 2):
        ends[column + 2] += ends[column + 1]
    for place in range(start, stop):
        column = member[order[place]]
        grouped[ends[column + 1]] = order[place]
        ends[column + 1] += 1


@compiled
def shift_pairs(
    grouped: Codes,
    first: int,
    last: int,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    weights: Floats,
    held: Ints,
    own_held: Ints,
) -> tuple[float, float]:
    """Pairs of the members, and by how many those of the rest shrink, ``own_held`` left at 0."""
    own_pairs, lost = 0.0, 0.0
    for place in range(first, last):
        person = grouped[place]
        for entry in range(offsets[person], offsets[person + 1]):
            value, count = values[entry], counts[entry]
            rest = held[value] - own_held[value]
            lost += weights[value] * count * (2 * rest - count)
            own_pairs += weights[value] * count * (2 * own_held[value] + count)
            own_held[value] += count
    forget(grouped, first, last, offsets, values, own_held)
    return own_pairs, lost


@compiled
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
    """Persons, records and loss when the members of each 0/1 column are cut off each node."""
    room, longest = 0, 0
    for node in range(len(low)):
        room += min(high[node] - low[node], columns)
        longest = max(longest, high[node] - low[node])
    found_node, found_column = np.empty(room, np.int64), np.empty(room, np.int32)
    right, right_records = np.zeros(room, np.int64), np.zeros(room, np.int64)
    right_squares, after = np.zeros(room, np.int64), np.zeros(room, np.float64)
    total, own_total = np.zeros(totals.shape[1]), np.zeros(totals.shape[1])
    present, own_present = np.zeros(len(total), np.int64), np.zeros(len(total), np.int64)
    held, own_held = np.zeros(len(weights), np.int64), np.zeros(len(weights), np.int64)
    ends, grouped = np.zeros(columns + 2, np.int64), np.empty(longest, np.int32)
    found = 0
    for node in range(len(low)):
        number, whole, pairs = gather(
            order, low[node], high[node], records, totals, squares, presents, offsets, values,
            counts, weights, total, present, held,
        )  # fmt: skip
        group(order, low[node], high[node], member, ends, grouped)
        for column in range(columns):
            first, last = ends[column], ends[column + 1]
            if first == last:
                continue
            own_total[:] = 0.0
            own_present[:] = 0
            for place in range(first, last):
                person = grouped[place]
                right_records[found] += records[person]
                right_squares[found] += records[person] * records[person]
                for attribute in range(len(total)):
                    own_total[attribute] += totals[person, attribute]
                    own_present[attribute] += presents[person, attribute]
            after[found] = whole
            if right_records[found] < number:
                own_pairs, lost = shift_pairs(
                    grouped, first, last, offsets, values, counts, weights, held, own_held
                )
                gain = (pairs - lost) / (number - right_records[found]) - pairs / number
                gain += own_pairs / right_records[found]
                gain += gain_of(total, present, own_total, own_present)
                after[found] = max(whole - gain, 0.0)
            found_node[found], found_column[found], right[found] = node, column, last - first
            found += 1
        forget(order, low[node], high[node], offsets, values, held)
    return (
        found_node[:found],
        found_column[:found],
        right[:found],
        right_records[:found],
        right_squares[:found],
        after[:found],
    )


@compiled
def _ordered_loss(
    order: Codes,
    start: int,
    stop: int,
    number: int,
    attribute: int,
    totals: Floats,
    presents: Ints,
    lowest: Floats,
    highest: Floats,
    weight: float,
) -> float:
    """Absolute error and width of one ordered attribute in one node."""
    total, present, least, most = 0.0, 0, np.inf, -np.inf
    for place in range(start, stop):
        person = order[place]
        total += totals[person, attribute]
        present += presents[person, attribute]
        least = min(least, lowest[person, attribute])
        most = max(most, highest[person, attribute])
    if present == 0:
        return 0.0
    mean, error = total / present, 0.0
    for place in range(start, stop):
        person = order[place]
        error += abs(totals[person, attribute] - presents[person, attribute] * mean)
    width = weight if present < number else most - least
    return weight * (error + width * number)


@compiled
def _category_error(
    order: Codes,
    start: int,
    stop: int,
    number: int,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    axis_of: Codes,
    error_weights: Floats,
    held: Ints,
    distinct: Ints,
    covered: Ints,
) -> float:
    """Absolute error of the 0/1 columns in one node; ``distinct`` and ``covered`` of each axis."""
    distinct[:] = 0
    covered[:] = 0
    for place in range(start, stop):
        person = order[place]
        for entry in range(offsets[person], offsets[person + 1]):
            value, count = values[entry], counts[entry]
            if held[value] == 0:
                distinct[axis_of[value]] += 1
            held[value] += count
            covered[axis_of[value]] += count
    error = 0.0
    for place in range(start, stop):
        person = order[place]
        for entry in range(offsets[person], offsets[person + 1]):
            count = held[values[entry]]
            weight = error_weights[axis_of[values[entry]]]
            error += weight * count * (1 - min(count / number, 1.0))
            held[values[entry]] = 0
    return error


@compiled
def leaf_loss(
    order: Codes,
    start: int,
    stop: int,
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
    held: Ints,
    distinct: Ints,
    covered: Ints,
) -> float:
    """Absolute error and width of the released values of one node; ``held`` comes as zeros."""
    loss, number = 0.0, 0
    for place in range(start, stop):
        number += records[order[place]]
    for attribute in range(totals.shape[1]):
        loss += _ordered_loss(
            order, start, stop, number, attribute, totals, presents, lowest, highest,
            attribute_weights[attribute],
        )  # fmt: skip
    loss += _category_error(
        order, start, stop, number, offsets, values, counts, axis_of, error_weights, held,
        distinct, covered,
    )  # fmt: skip
    for axis in range(len(distinct)):
        others = distinct[axis] - 1 + (covered[axis] < number)
        if others > 0:
            width = min(others * width_scales[axis], 1.0)
            loss += width_weights[axis] * width * number
    return loss


@compiled
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
    """Absolute error and width of the released values of each node."""
    losses = np.zeros(len(low), np.float64)
    held = np.zeros(len(axis_of), np.int64)
    distinct = np.zeros(len(error_weights), np.int64)
    covered = np.zeros(len(error_weights), np.int64)
    for node in range(len(low)):
        losses[node] = leaf_loss(
            order, low[node], high[node], records, totals, presents, lowest, highest,
            attribute_weights, offsets, values, counts, axis_of, error_weights, width_weights,
            width_scales, held, distinct, covered,
        )  # fmt: skip
    return losses
