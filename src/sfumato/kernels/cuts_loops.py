"""The tree's loops, compiled; the twin with the same names is in ``cuts_twin``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Sides = npt.NDArray[np.int8]


@compiled
def ordered_cuts(
    order: Codes,
    low: Ints,
    high: Ints,
    node_records: Ints,
    records: Ints,
    position: Codes,
    missing_position: int,
    strict: bool,
    total: Floats,
    square: Floats,
    present: Ints,
) -> tuple[Ints, Ints, Ints, Floats]:
    """Median cut of every node along one ordered axis."""
    nodes = len(low)
    left = np.zeros(nodes, np.int64)
    left_records = np.zeros(nodes, np.int64)
    left_squares = np.zeros(nodes, np.int64)
    variance = np.zeros(nodes, np.float64)
    for node in range(nodes):
        start, stop, whole = low[node], high[node], node_records[node]
        summed, squared, counted = 0.0, 0.0, 0
        for place in range(start, stop):
            person = order[place]
            summed += total[person]
            squared += square[person]
            counted += present[person]
        if counted > 0:
            mean = summed / counted
            variance[node] = max(squared / counted - mean * mean, 0.0)
        below = start
        run_records, run_squares = 0, 0
        seen, seen_squares = 0, 0
        median = start
        for place in range(start, stop):
            person = order[place]
            if place > start and position[person] != position[order[place - 1]]:
                below = place
                run_records, run_squares = seen, seen_squares
            seen += records[person]
            seen_squares += records[person] * records[person]
            median = place
            if 2 * seen >= whole:
                break
        last = order[median]
        end = median + 1
        if strict:
            while end < stop and position[order[end]] == position[last]:
                person = order[end]
                seen += records[person]
                seen_squares += records[person] * records[person]
                end += 1
            near = whole - 2 * run_records <= 2 * seen - whole
            if below > start and (end == stop or near):
                end, seen, seen_squares = below, run_records, run_squares
            elif end == stop:
                end, seen, seen_squares = start, 0, 0
        elif position[last] == missing_position:
            end, seen, seen_squares = below, run_records, run_squares
        elif end == stop:
            end = median
            seen -= records[last]
            seen_squares -= records[last] * records[last]
        left[node] = end - start
        left_records[node] = seen
        left_squares[node] = seen_squares
    return left, left_records, left_squares, variance


@compiled
def ordered_spreads(
    order: Codes,
    low: Ints,
    high: Ints,
    lowest: Codes,
    highest: Codes,
) -> tuple[Codes, Codes]:
    """Lowest and highest code of each node."""
    nodes = len(low)
    smallest = np.empty(nodes, np.int32)
    largest = np.empty(nodes, np.int32)
    for node in range(nodes):
        least, most = lowest[order[low[node]]], highest[order[low[node]]]
        for place in range(low[node] + 1, high[node]):
            least = min(least, lowest[order[place]])
            most = max(most, highest[order[place]])
        smallest[node] = least
        largest[node] = most
    return smallest, largest


@compiled
def indicator_cuts(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    member: Codes,
    offsets: Ints,
    values: Codes,
    counts: Ints,
    columns: int,
) -> tuple[Ints, Codes, Ints, Ints, Ints, Ints]:
    """Both sides of every 0/1 column that occurs in each node."""
    nodes = len(low)
    room = 0
    for node in range(nodes):
        entries = 0
        for place in range(low[node], high[node]):
            entries += offsets[order[place] + 1] - offsets[order[place]]
        room += min(entries, columns)
    found_node = np.empty(room, np.int64)
    found_column = np.empty(room, np.int32)
    right = np.zeros(room, np.int64)
    right_records = np.zeros(room, np.int64)
    right_squares = np.zeros(room, np.int64)
    inside = np.zeros(room, np.int64)
    slot_of = np.full(columns, -1, np.int64)
    found = 0
    for node in range(nodes):
        first = found
        for place in range(low[node], high[node]):
            person = order[place]
            for entry in range(offsets[person], offsets[person + 1]):
                value = values[entry]
                slot = slot_of[value]
                if slot < 0:
                    slot = found
                    slot_of[value] = slot
                    found_node[slot] = node
                    found_column[slot] = value
                    found += 1
                inside[slot] += counts[entry]
            if member[person] >= 0:
                slot = slot_of[member[person]]
                right[slot] += 1
                right_records[slot] += records[person]
                right_squares[slot] += records[person] * records[person]
        for slot in range(first, found):
            slot_of[found_column[slot]] = -1
    return (
        found_node[:found],
        found_column[:found],
        right[:found],
        right_records[:found],
        right_squares[:found],
        inside[:found],
    )


@compiled
def mark_cut(
    order: Codes,
    low: Ints,
    high: Ints,
    end: Ints,
    side: Sides,
) -> None:
    """Mark the persons behind the end of each node as right."""
    for node in range(len(low)):
        for place in range(low[node], high[node]):
            side[order[place]] = 1 if place >= end[node] else 0


@compiled
def mark_members(
    order: Codes,
    low: Ints,
    high: Ints,
    column: Codes,
    member: Codes,
    side: Sides,
) -> None:
    """Mark the members of an indicator column as right."""
    for node in range(len(low)):
        for place in range(low[node], high[node]):
            person = order[place]
            side[person] = 1 if member[person] == column[node] else 0


@compiled
def partition(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
) -> None:
    """Move the left persons of each node before the right ones, order kept, in place."""
    longest = 0
    for node in range(len(low)):
        longest = max(longest, high[node] - low[node])
    kept = np.empty(longest, order.dtype)
    for node in range(len(low)):
        write, moved = low[node], 0
        for place in range(low[node], high[node]):
            person = order[place]
            if side[person]:
                kept[moved] = person
                moved += 1
            else:
                order[write] = person
                write += 1
        order[write : high[node]] = kept[:moved]


@compiled
def side_affiliations(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
    offsets: Ints,
    values: Codes,
    size: int,
) -> tuple[Ints, Ints]:
    """Most shared value and distinct values on both sides of each node."""
    nodes = len(low)
    affiliation = np.zeros((nodes, 2), np.int64)
    distinct = np.zeros((nodes, 2), np.int64)
    shared = np.zeros((2, size), np.int64)
    for node in range(nodes):
        for place in range(low[node], high[node]):
            person = order[place]
            half = side[person]
            for entry in range(offsets[person], offsets[person + 1]):
                value = values[entry]
                shared[half, value] += 1
                if shared[half, value] == 1:
                    distinct[node, half] += 1
                affiliation[node, half] = max(affiliation[node, half], shared[half, value])
        for place in range(low[node], high[node]):
            person = order[place]
            for entry in range(offsets[person], offsets[person + 1]):
                shared[0, values[entry]] = 0
                shared[1, values[entry]] = 0
    return affiliation, distinct
