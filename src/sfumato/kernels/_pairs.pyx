"""The loops over pairs of records: alignment, similarity, clusters, groups that agree.

Loops without the interpreter's lock: they check nothing, so that their callers must pass
contiguous arrays of the stated types.
"""

import numpy as np

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef uint64_t GOLDEN = 0x9E3779B97F4A7C15
# 2**64 divided by the golden ratio: multiplying by it spreads keys (Knuth, TAOCP 3, 6.4).

ctypedef fused Characters:
    const uint8_t[::1]
    const uint16_t[::1]
    const uint32_t[::1]
    const uint64_t[::1]

cdef enum:
    EQUAL = 0
    TRANSPOSED = 1
    SUBSTITUTED = 2
    DELETED = 3
    INSERTED = 4


# --------------------------------------------------------------------------- alignment


cdef int _fill_best(
    const int64_t[::1] one, const int64_t[::1] other, int8_t[:, ::1] best, int64_t[:, ::1] costs
) except -1 nogil:
    """The step to take at each place; costs are kept of three rows only."""
    cdef int64_t rows = one.shape[0], columns = other.shape[0], edit = rows + columns + 1
    cdef int64_t i, j, here, below, second, cost
    cdef int8_t step
    cdef bint crossed
    for i in range(rows, -1, -1):
        here, below, second = i % 3, (i + 1) % 3, (i + 2) % 3
        for j in range(columns, -1, -1):
            if i < rows and j < columns and one[i] == other[j]:
                best[i, j], costs[here, j] = EQUAL, costs[below, j + 1]
                continue
            step, cost = EQUAL, 0
            if i < rows and j < columns:
                step, cost = SUBSTITUTED, edit + 2 + costs[below, j + 1]
                crossed = i + 1 < rows and j + 1 < columns
                crossed = crossed and one[i] == other[j + 1] and one[i + 1] == other[j]
                if crossed and edit + 4 + costs[second, j + 2] <= cost:
                    step, cost = TRANSPOSED, edit + 4 + costs[second, j + 2]
            if i < rows and (step == EQUAL or edit + 1 + costs[below, j] < cost):
                step, cost = DELETED, edit + 1 + costs[below, j]
            if j < columns and (step == EQUAL or edit + 1 + costs[here, j + 1] < cost):
                step, cost = INSERTED, edit + 1 + costs[here, j + 1]
            best[i, j], costs[here, j] = step, cost
    return 0


def steps(const int64_t[::1] one, const int64_t[::1] other):
    """The steps from the one sequence to the other, from their beginning; see `record_pairs.steps`."""
    cdef int64_t rows = one.shape[0], columns = other.shape[0], i = 0, j = 0, size = 0
    cdef int8_t[:, ::1] best = np.empty((rows + 1, columns + 1), np.int8)
    cdef int64_t[:, ::1] costs = np.zeros((3, columns + 1), np.int64)
    all_found = np.empty(rows + columns, np.int8)
    cdef int8_t[::1] found = all_found
    cdef int8_t step
    with nogil:
        _fill_best(one, other, best, costs)
        while i < rows or j < columns:
            step = best[i, j]
            found[size] = step
            size += 1
            if step == TRANSPOSED:
                i, j = i + 2, j + 2
            else:
                i, j = i + (step != INSERTED), j + (step != DELETED)
    return all_found[:size]


# ---------------------------------------------------------------------------- similarity


cdef inline uint64_t _ones(uint64_t word) noexcept nogil:
    """Number of bits set in a word; the compiler makes one instruction of it."""
    word = word - ((word >> 1) & <uint64_t>0x5555555555555555)
    word = (word & <uint64_t>0x3333333333333333) + (
        (word >> 2) & <uint64_t>0x3333333333333333
    )
    word = (word + (word >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return (word * <uint64_t>0x0101010101010101) >> 56


def ones(const uint64_t[:, ::1] patterns):
    """Number of bits set in each pattern."""
    all_counts = np.empty(patterns.shape[0], np.int64)
    cdef int64_t[::1] counts = all_counts
    cdef Py_ssize_t row, word
    cdef uint64_t found
    with nogil:
        for row in range(patterns.shape[0]):
            found = 0
            for word in range(patterns.shape[1]):
                found += _ones(patterns[row, word])
            counts[row] = found
    return all_counts


def pairs_above(
    const uint64_t[:, ::1] one,
    const uint64_t[:, ::1] other,
    const int64_t[::1] ones_one,
    const int64_t[::1] ones_other,
    const int64_t[::1] low,
    const int64_t[::1] high,
    double least,
    int64_t[::1] begin,
    int64_t[::1] left,
    int64_t[::1] right,
    double[::1] found,
):
    """Pairs within windows whose Dice similarity is at least ``least``, as long as there is room.

    Gives their number. ``begin``, shape (2,), holds the pair to begin with (a row of ``one``, and
    a place in its window), and gets the one to go on with.
    """
    cdef Py_ssize_t a, b, first, word, size = 0, room = left.shape[0]
    cdef uint64_t common
    cdef double dice
    with nogil:
        for a in range(begin[0], one.shape[0]):
            first = low[a] + begin[1]
            begin[1] = 0
            for b in range(first, high[a]):
                common = 0
                for word in range(one.shape[1]):
                    common += _ones(one[a, word] & other[b, word])
                if common == 0:
                    continue
                dice = 2.0 * common / (ones_one[a] + ones_other[b])
                if dice < least:
                    continue
                if size == room:
                    begin[0], begin[1] = a, b - low[a]
                    with gil:
                        return size
                left[size], right[size], found[size] = a, b, dice
                size += 1
        begin[0] = one.shape[0]
    return size


# ------------------------------------------------------------------------------- clusters


cdef int64_t _find(int64_t[::1] parent, int64_t record) except -1 nogil:
    """Root of a record's cluster; halves the path to it."""
    while parent[record] != record:
        parent[record] = parent[parent[record]]
        record = parent[record]
    return record


def merge(
    const int64_t[::1] left,
    const int64_t[::1] right,
    const uint8_t[::1] joins,
    const int64_t[::1] group,
):
    """The clusters, and which edges hold in them; see `record_pairs.merge`.

    What a cluster is kept apart from is a linked list of records: two lists become one in O(1), and
    a merge looks through the shorter one. Its limited groups are the bits of a row of words.
    """
    cdef Py_ssize_t records = group.shape[0], edges = left.shape[0], record, edge, word, words = 0
    cdef int64_t nodes = 0, node = 0, a, b, one, other, place, turn
    cdef bint allowed
    for record in range(records):
        words = max(words, (group[record] + 64) // 64)
    for edge in range(edges):
        nodes += 0 if joins[edge] else 2
    parents, all_kept = np.arange(records, dtype=np.int64), np.zeros(edges, np.uint8)
    cdef int64_t[::1] parent = parents
    cdef uint8_t[::1] kept = all_kept
    cdef uint64_t[:, ::1] held = np.zeros((records, words), np.uint64)
    cdef int64_t[::1] size = np.ones(records, np.int64)
    cdef int64_t[::1] first = np.full(records, -1, np.int64)
    cdef int64_t[::1] last = np.full(records, -1, np.int64)
    cdef int64_t[::1] length = np.zeros(records, np.int64)
    cdef int64_t[::1] following = np.full(nodes, -1, np.int64)
    cdef int64_t[::1] enemy = np.empty(nodes, np.int64)
    with nogil:
        for record in range(records):
            if group[record] >= 0:
                held[record, group[record] // 64] = <uint64_t>1 << (group[record] % 64)
        for edge in range(edges):
            a, b = _find(parent, left[edge]), _find(parent, right[edge])
            if not joins[edge]:
                if a == b:
                    continue
                kept[edge] = True
                for turn in range(2):
                    one = a if turn == 0 else b
                    enemy[node] = right[edge] if turn == 0 else left[edge]
                    if last[one] >= 0:
                        following[last[one]] = node
                    else:
                        first[one] = node
                    last[one] = node
                    length[one] += 1
                    node += 1
                continue
            if a == b:
                kept[edge] = True
                continue
            allowed = True
            for word in range(held.shape[1]):
                allowed = allowed and (held[a, word] & held[b, word]) == 0
            if not allowed:
                continue
            if length[a] <= length[b]:
                one, other = a, b
            else:
                one, other = b, a
            place = first[one]
            while place >= 0 and allowed:
                allowed = _find(parent, enemy[place]) != other
                place = following[place]
            if not allowed:
                continue
            kept[edge] = True
            if size[a] < size[b]:
                a, b = b, a
            parent[b] = a
            size[a] += size[b]
            for word in range(held.shape[1]):
                held[a, word] |= held[b, word]
            if first[b] >= 0:
                if last[a] >= 0:
                    following[last[a]] = first[b]
                else:
                    first[a] = first[b]
                last[a] = last[b]
                length[a] += length[b]
        for record in range(records):
            parent[record] = _find(parent, record)
    return parents, all_kept.view(np.bool_)


# ------------------------------------------------------------------- groups that agree


cdef inline int64_t _slot(int64_t key, int shift) noexcept nogil:
    return <int64_t>((<uint64_t>key * GOLDEN) >> shift)


def key_individuals(
    const int64_t[::1] keys,
    const int64_t[::1] alone,
    const int32_t[::1] tuple_of,
    const int32_t[::1] person_of,
    const int64_t[::1] asked,
):
    """How many distinct individuals have a tuple with each of some keys.

    The keys go into a hash table of at least twice as many slots as there are tuples. Entries
    come individual by individual, so that a slot remembers the last one that it counted.
    """
    cdef int64_t bits = 2, one = 1
    while (one << bits) < 2 * keys.shape[0]:
        bits += 1
    cdef int64_t room = one << bits, mask = room - 1, key, slot
    cdef int shift = <int>(64 - bits)
    cdef int64_t[::1] held = np.full(room, -1, np.int64)
    cdef int64_t[::1] counts = np.zeros(room, np.int64)
    cdef int32_t[::1] slot_of = np.empty(keys.shape[0], np.int32)
    cdef int32_t[::1] last = np.full(room if tuple_of.shape[0] else 0, -1, np.int32)
    all_found = np.zeros(asked.shape[0], np.int64)
    cdef int64_t[::1] found = all_found
    cdef Py_ssize_t i
    with nogil:
        for i in range(keys.shape[0]):
            key = keys[i]
            slot = _slot(key, shift)
            while held[slot] != key and held[slot] != -1:
                slot = (slot + 1) & mask
            held[slot] = key
            counts[slot] += alone[i]
            slot_of[i] = <int32_t>slot
        for i in range(tuple_of.shape[0]):
            slot = slot_of[tuple_of[i]]
            if last[slot] != person_of[i]:
                last[slot] = person_of[i]
                counts[slot] += 1
        for i in range(asked.shape[0]):
            key = asked[i]
            slot = _slot(key, shift)
            while held[slot] != key and held[slot] != -1:
                slot = (slot + 1) & mask
            if held[slot] == key:
                found[i] = counts[slot]
    return all_found


def smallest_group(
    const uint32_t[::1] members,
    const int32_t[:, ::1] codes,
    const int64_t[::1] start,
    Characters characters,
    const int64_t[::1] columns,
    const int64_t[::1] places,
    const int64_t[::1] weights,
):
    """Size of the smallest group of records that agree in every item.

    The groups of the items so far are divided by the next item: a pair of group and item is
    looked up in a hash table of at least twice as many slots as there are members.
    """
    cdef Py_ssize_t size = members.shape[0], item, i
    cdef int64_t bits = 2, one = 1
    while (one << bits) < 2 * size:
        bits += 1
    cdef int64_t room = one << bits, mask = room - 1, column, place, value, part, at, key, slot
    cdef int64_t least
    cdef int32_t count = 1
    cdef int shift = <int>(64 - bits)
    cdef bint all_differ = False
    cdef int64_t[::1] keys = np.empty(room, np.int64)
    cdef int32_t[::1] numbers = np.empty(room, np.int32)
    cdef int32_t[::1] group = np.zeros(size, np.int32)
    with nogil:
        for item in range(columns.shape[0]):
            column, place = columns[item], places[item]
            keys[:] = -1
            count = 0
            for i in range(size):
                value = codes[members[i], column]
                part = value + 1
                if place >= 0:
                    part = 0
                    if value >= 0:
                        at = start[value] + place
                        if at < start[value + 1]:
                            part = <int64_t>characters[at] + 1
                key = (<int64_t>group[i] << 32) | part
                slot = _slot(key, shift)
                while keys[slot] != key and keys[slot] != -1:
                    slot = (slot + 1) & mask
                if keys[slot] == -1:
                    keys[slot] = key
                    numbers[slot] = count
                    count += 1
                group[i] = numbers[slot]
            if count == size:
                all_differ = True
                break
    if all_differ and not weights.shape[0]:
        return 1
    cdef int64_t[::1] sizes = np.zeros(count, np.int64)
    with nogil:
        for i in range(size):
            sizes[group[i]] += weights[i] if weights.shape[0] else 1
        least = sizes[0]
        for i in range(1, sizes.shape[0]):
            least = min(least, sizes[i])
    return least


def tallies(
    const uint32_t[::1] postings, const int64_t[::1] edges, const uint8_t[::1] flags
):
    """Number of records of a set that have each value."""
    result = np.zeros(edges.shape[0] - 1, np.int64)
    cdef int64_t[::1] tally = result
    cdef Py_ssize_t value
    cdef int64_t found, place
    with nogil:
        for value in range(tally.shape[0]):
            found = 0
            for place in range(edges[value], edges[value + 1]):
                found += flags[postings[place]]
            tally[value] = found
    return result


def smallest_tally(
    const uint32_t[::1] postings,
    const int64_t[::1] edges,
    const uint8_t[::1] flags,
    const int64_t[::1] order,
    int64_t best,
):
    """The smallest number of records of a set that have a value, if any; at most ``best``."""
    cdef Py_ssize_t i
    cdef int64_t value, found, place
    with nogil:
        for i in range(order.shape[0]):
            value = order[i]
            found = 0
            for place in range(edges[value], edges[value + 1]):
                found += flags[postings[place]]
                if found == best:
                    break
            if 0 < found < best:
                best = found
                if best == 1:
                    break
    return best
