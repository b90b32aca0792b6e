"""The loops over records: keys and texts that are numbered, persons, and what classes give away.

Loops without the interpreter's lock: they check nothing, so that their callers must pass
contiguous arrays of the stated types. Sums of floats are added up in the order that is written
here, and the compiler is told to contract none of it.
"""

import numpy as np

from libc.math cimport log
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport qsort

ctypedef fused Offsets:
    const int32_t[::1]
    const int64_t[::1]

cdef uint64_t GOLDEN = 0x9E3779B97F4A7C15
# 2**64 divided by the golden ratio: multiplying by it spreads keys (Knuth, TAOCP 3, 6.4).
cdef uint64_t PRIME = 0x100000001B3
cdef uint64_t BASIS = 0xCBF29CE484222325
# The numbers of the hash FNV-1a.
cdef uint64_t MIXED_FIRST = 0xFF51AFD7ED558CCD
cdef uint64_t MIXED_SECOND = 0xC4CEB9FE1A85EC53
# The numbers of MurmurHash3's finaliser.

cdef enum:
    SHORT = 15
    # Bytes of the longest string that fits into two integers, with its length.
    LONG = -1
    # The second integer of longer strings, whose first one is a hash.
    NUMBER_BITS = 32
    AHEAD = 64
    # Strings that are looked up side by side.
    FEW = 64
    # Codes that insertion sorts as fast as anything.
    IDS = 0
    PERSONS = 1
    LAST = 2
    FIRST = 3
    OWN = 4
    MET = 5
    # Rows of the scratch of `count_sharing`.

cdef int64_t NUMBER = (<int64_t>1 << NUMBER_BITS) - 1
# The bits of a slot that hold a number; those above hold a hash.


# --------------------------------------------------------------- keys by first appearance


def number_with_table(const int64_t[::1] keys, int32_t[::1] table, int32_t[::1] numbers):
    """Look every key up in ``table``, shape (space,), which comes filled with -1."""
    cdef Py_ssize_t i
    cdef int32_t distinct = 0, number
    with nogil:
        for i in range(keys.shape[0]):
            number = table[keys[i]]
            if number < 0:
                number = distinct
                table[keys[i]] = number
                distinct += 1
            numbers[i] = number
    return distinct


cdef inline int64_t _spread(int64_t key, int64_t bits) noexcept nogil:
    """The highest bits of a key's hash."""
    return <int64_t>((<uint64_t>key * GOLDEN) >> (64 - bits))


def count_parts(
    const int64_t[::1] keys, Py_ssize_t begin, Py_ssize_t end, int64_t bits, int64_t[::1] counts
):
    """Add the number of keys of each of ``2**bits`` parts to ``counts``."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(begin, end):
            counts[_spread(keys[i], bits)] += 1


def scatter(
    const int64_t[::1] keys,
    Py_ssize_t begin,
    Py_ssize_t end,
    int64_t bits,
    int64_t[::1] place,
    int64_t[::1] part_keys,
    int32_t[::1] part_rows,
):
    """Move the keys to their parts, the next of each part to ``place``."""
    cdef Py_ssize_t i
    cdef int64_t part
    with nogil:
        for i in range(begin, end):
            part = _spread(keys[i], bits)
            part_keys[place[part]] = keys[i]
            part_rows[place[part]] = <int32_t>i
            place[part] += 1


def first_rows(
    const int64_t[::1] part_keys,
    const int32_t[::1] part_rows,
    int64_t[:, ::1] slots,
    int32_t[::1] first,
):
    """Give each row of one part the first row that has its key.

    ``slots``, shape (a power of 2, 2), comes filled with zeros, with room for more than the keys;
    a slot holds a key and its first row plus one (0: empty).
    """
    cdef uint64_t mask = slots.shape[0] - 1, slot
    cdef int64_t key
    cdef Py_ssize_t i
    with nogil:
        for i in range(part_keys.shape[0]):
            key = part_keys[i]
            slot = ((<uint64_t>key * GOLDEN) >> 16) & mask
            while slots[slot, 1] != 0 and slots[slot, 0] != key:
                slot = (slot + 1) & mask
            if slots[slot, 1] == 0:
                slots[slot, 0] = key
                slots[slot, 1] = part_rows[i] + 1
            first[part_rows[i]] = <int32_t>(slots[slot, 1] - 1)


def number_first_rows(int32_t[::1] first):
    """Number the rows that are the first of their key, in their order; the others copy theirs.

    ``first`` is turned from first rows into numbers; those of earlier rows are read there.
    """
    cdef int32_t distinct = 0
    cdef Py_ssize_t i
    with nogil:
        for i in range(first.shape[0]):
            if first[i] == i:
                first[i] = distinct
                distinct += 1
            else:
                first[i] = first[first[i]]
    return distinct


# ------------------------------------------------------------------------------- texts


cdef inline uint64_t _mixed(uint64_t word) noexcept nogil:
    word = (word ^ (word >> 33)) * MIXED_FIRST
    word = (word ^ (word >> 33)) * MIXED_SECOND
    return word ^ (word >> 33)


def hashes_of_texts(Offsets offsets, const uint8_t[::1] data):
    """The hash of each text; see `key_numbering.of_texts`."""
    ties = np.empty(offsets.shape[0] - 1, np.int64)
    cdef int64_t[::1] tie = ties
    cdef Py_ssize_t row
    cdef int64_t place
    cdef uint64_t word
    with nogil:
        for row in range(tie.shape[0]):
            word = BASIS
            for place in range(offsets[row], offsets[row + 1]):
                word = (word ^ <uint64_t>data[place]) * PRIME
            tie[row] = <int64_t>_mixed(word)
    return ties


def extended_hashes(const int64_t[::1] ties, const int64_t[::1] values):
    """The hashes of tuples with one more value each; see `key_numbering.extended`."""
    longers = np.empty(ties.shape[0], np.int64)
    cdef int64_t[::1] longer = longers
    cdef Py_ssize_t row
    with nogil:
        for row in range(ties.shape[0]):
            longer[row] = <int64_t>_mixed((<uint64_t>ties[row] ^ <uint64_t>values[row]) * PRIME)
    return longers


cdef int _key(
    const uint8_t[::1] data, int64_t start, int64_t stop, int64_t* first, int64_t* second
) except -1 nogil:
    """Two integers that say which string it is; of a long one, only which it may be."""
    cdef int64_t length = stop - start, i
    cdef uint64_t low = 0, high, value = BASIS
    if length <= SHORT:
        high = <uint64_t>length << 56
        for i in range(min(length, 8)):
            low |= <uint64_t>data[start + i] << (8 * i)
        for i in range(8, length):
            high |= <uint64_t>data[start + i] << (8 * (i - 8))
        first[0], second[0] = <int64_t>low, <int64_t>high
        return 0
    for i in range(start, stop):
        value = (value ^ <uint64_t>data[i]) * PRIME
    first[0], second[0] = <int64_t>value, LONG
    return 0


cdef inline int64_t _hash(int64_t low, int64_t high) noexcept nogil:
    """The bits of a key, spread over 31 others (as MurmurHash ends)."""
    cdef uint64_t value = (<uint64_t>low ^ (<uint64_t>high * PRIME)) * GOLDEN
    value = (value ^ (value >> 32)) * GOLDEN
    return <int64_t>(value >> 33)


cdef int _same(
    const uint8_t[::1] one, int64_t start, int64_t stop,
    const uint8_t[::1] other, int64_t first, int64_t last,
) except -1 nogil:
    cdef int64_t same = 0
    if stop - start != last - first:
        return 0
    while same < stop - start and one[start + same] == other[first + same]:
        same += 1
    return same == stop - start


def number_strings(
    Offsets offsets,
    const uint8_t[::1] data,
    const uint8_t[::1] missing,
    Py_ssize_t begin,
    int64_t[::1] slots,
    int64_t known,
    int64_t[:, ::1] known_keys,
    int64_t[::1] known_offsets,
    uint8_t[::1] known_data,
    int64_t[:, ::1] keys,
    int32_t[::1] codes,
    bint alike = False,
):
    """Fill ``codes`` from row ``begin`` on, until the end or until there is no room.

    Gives the first row that is not done, and how many strings are known then.

    ``slots``, shape (2**bits,), hold the hash of a key times 2**32 and a number plus one (0:
    empty); ``known_keys``, shape (room, 2), the keys by number; known strings are
    ``known_data[known_offsets[i]:known_offsets[i + 1]]``. ``keys`` has shape (64, 5). With
    ``alike`` all strings get one key, as if they were long ones of one hash.

    Some strings at a time find their slots, and touch them and what they point to, before one is
    looked up: so the processor fetches what it needs of the memory side by side.
    """
    cdef int64_t mask = slots.shape[0] - 1, low = 0, high = 0, spread, slot, found, end, i
    cdef int64_t start, stop, first, last
    cdef Py_ssize_t row, rows, ahead, done = codes.shape[0]
    cdef bint full
    with nogil:
        for row in range(begin, codes.shape[0]):
            ahead = (row - begin) % AHEAD
            if ahead == 0:
                rows = min(<Py_ssize_t>AHEAD, codes.shape[0] - row)
                for i in range(rows):
                    _key(data, offsets[row + i], offsets[row + i + 1], &low, &high)
                    if alike:
                        low, high = 7, LONG
                    keys[i, 0], keys[i, 1], keys[i, 2] = low, high, _hash(low, high)
                for i in range(rows):
                    keys[i, 3] = slots[keys[i, 2] & mask] & NUMBER
                for i in range(rows):
                    keys[i, 4] = known_keys[max(keys[i, 3] - 1, <int64_t>0), 0]
            if missing[row]:
                codes[row] = -1
                continue
            start, stop = offsets[row], offsets[row + 1]
            low, high, spread = keys[ahead, 0], keys[ahead, 1], keys[ahead, 2]
            slot = spread & mask
            while slots[slot] != 0:
                if slots[slot] >> NUMBER_BITS == spread:
                    found = (slots[slot] & NUMBER) - 1
                    if known_keys[found, 0] == low and known_keys[found, 1] == high:
                        if high != LONG:
                            break
                        first, last = known_offsets[found], known_offsets[found + 1]
                        if _same(data, start, stop, known_data, first, last):
                            break
                slot = (slot + 1) & mask
            if slots[slot] == 0:
                end = known_offsets[known] + stop - start
                full = 3 * slots.shape[0] <= 4 * known or known + 2 > known_offsets.shape[0]
                if full or end > known_data.shape[0]:
                    done = row
                    break
                for i in range(stop - start):
                    known_data[known_offsets[known] + i] = data[start + i]
                known_keys[known, 0], known_keys[known, 1] = low, high
                known += 1
                known_offsets[known] = end
                slots[slot] = (spread << NUMBER_BITS) | known
            codes[row] = <int32_t>((slots[slot] & NUMBER) - 1)
    return done, known


def move_slots(const int64_t[::1] slots, int64_t[::1] larger):
    """Put the entries into more slots, which come as zeros."""
    cdef int64_t mask = larger.shape[0] - 1, new, entry
    cdef Py_ssize_t i
    with nogil:
        for i in range(slots.shape[0]):
            entry = slots[i]
            if entry != 0:
                new = (entry >> NUMBER_BITS) & mask
                while larger[new] != 0:
                    new = (new + 1) & mask
                larger[new] = entry


# ----------------------------------------------------------------- the records of persons


def group_rows(const int32_t[::1] person, Py_ssize_t persons):
    """Rows by person: a stable counting sort, or nothing where they are so already."""
    all_starts = np.zeros(persons + 1, np.int64)
    cdef int64_t[::1] starts = all_starts
    cdef bint ascending = True
    cdef int32_t last = 0
    cdef Py_ssize_t row, p
    with nogil:
        for row in range(person.shape[0]):
            starts[person[row] + 1] += 1
            ascending = ascending and person[row] >= last
            last = person[row]
        for p in range(persons):
            starts[p + 1] += starts[p]
    if ascending:
        return np.arange(len(person), dtype=np.int32), all_starts
    all_rows = np.empty(len(person), np.int32)
    cdef int32_t[::1] rows = all_rows
    cdef int64_t[::1] place = all_starts[:persons].copy()
    with nogil:
        for row in range(person.shape[0]):
            p = person[row]
            rows[place[p]] = <int32_t>row
            place[p] += 1
    return all_rows, all_starts


cdef int _compare_codes(const void* one, const void* other) noexcept nogil:
    cdef int32_t left = (<const int32_t*>one)[0], right = (<const int32_t*>other)[0]
    return (left > right) - (left < right)


cdef int _compare_numbers(const void* one, const void* other) noexcept nogil:
    cdef int64_t left = (<const int64_t*>one)[0], right = (<const int64_t*>other)[0]
    return (left > right) - (left < right)


cdef int _sort_codes(int32_t[::1] codes, Py_ssize_t size) except -1 nogil:
    """Sort the first codes in place, a few by insertion."""
    cdef Py_ssize_t place, at
    cdef int32_t code
    if size > FEW:
        qsort(&codes[0], size, sizeof(int32_t), _compare_codes)
        return 0
    for place in range(1, size):
        code, at = codes[place], place
        while at > 0 and codes[at - 1] > code:
            codes[at] = codes[at - 1]
            at -= 1
        codes[at] = code
    return 0


cdef Py_ssize_t _longest(const int64_t[::1] starts) except -1:
    cdef Py_ssize_t longest = 0, p
    for p in range(starts.shape[0] - 1):
        longest = max(longest, starts[p + 1] - starts[p])
    return longest


def sums(
    const int32_t[::1] rows,
    const int64_t[::1] starts,
    const int32_t[::1] codes,
    const double[::1] values,
):
    """Sums and bounds of each person's values; different codes are sorted before they add up."""
    cdef Py_ssize_t persons = starts.shape[0] - 1, p, place, counted, entry
    cdef int32_t[::1] own = np.empty(_longest(starts), np.int32)
    totals, all_squares = np.empty(persons, np.float64), np.empty(persons, np.float64)
    presents = np.empty(persons, np.int64)
    lows, highs = np.empty(persons, np.int32), np.empty(persons, np.int32)
    cdef double[::1] total = totals, square = all_squares
    cdef int64_t[::1] present = presents
    cdef int32_t[::1] lowest = lows, highest = highs
    cdef int32_t code, least, most
    cdef double summed, squared, value
    with nogil:
        for p in range(persons):
            counted = 0
            least, most = 2147483647, -1
            for place in range(starts[p], starts[p + 1]):
                code = codes[rows[place]]
                if code >= 0:
                    own[counted] = code
                    counted += 1
                    least = min(least, code)
                    most = max(most, code)
            if least < most:
                _sort_codes(own, counted)
            summed, squared = 0.0, 0.0
            for entry in range(counted):
                value = values[own[entry]]
                summed += value
                squared += value * value
            total[p], square[p], present[p] = summed, squared, counted
            lowest[p], highest[p] = least, most
    return totals, all_squares, presents, lows, highs


def mean_keys(
    const int32_t[::1] rows,
    const int64_t[::1] starts,
    const int32_t[::1] codes,
    const int64_t[::1] points,
    int64_t most,
):
    """An integer for each person that orders exactly as their means.

    With c records at most, two different remainders over a count differ by at least 1/c², so
    the whole part of the remainder times c² tells them apart. Points ascend, so that nothing that
    is divided is negative.
    """
    all_keys = np.empty(starts.shape[0] - 1, np.int64)
    cdef int64_t[::1] keys = all_keys
    cdef int64_t scale = most * most, summed, counted
    cdef Py_ssize_t p, place
    cdef int32_t code
    with nogil:
        for p in range(starts.shape[0] - 1):
            summed, counted = 0, 0
            for place in range(starts[p], starts[p + 1]):
                code = codes[rows[place]]
                if code >= 0:
                    summed += points[code] - points[0]
                    counted += 1
            counted = max(counted, <int64_t>1)
            keys[p] = summed // counted * scale + summed % counted * scale // counted
    return all_keys


def rank(const int64_t[::1] keys, const int64_t[::1] ascending, int64_t[::1] ranks):
    """Fill ``ranks`` with the rank of each key, equal ones sharing it; how many there are."""
    cdef int64_t current = 0
    cdef Py_ssize_t place
    with nogil:
        for place in range(keys.shape[0]):
            if place > 0 and keys[ascending[place]] != keys[ascending[place - 1]]:
                current += 1
            ranks[ascending[place]] = current
    return current + 1


def modes(
    const int32_t[::1] rows, const int64_t[::1] starts, const int32_t[::1] codes, int32_t size
):
    """Most frequent code of each person."""
    commonest = np.full(starts.shape[0] - 1, size, np.int32)
    cdef int32_t[::1] found = commonest
    cdef int64_t[::1] counts = np.zeros(size, np.int64)
    cdef int64_t most
    cdef Py_ssize_t p, place
    cdef int32_t code
    with nogil:
        for p in range(starts.shape[0] - 1):
            most = 0
            for place in range(starts[p], starts[p + 1]):
                code = codes[rows[place]]
                if code >= 0:
                    counts[code] += 1
                    if counts[code] > most or (counts[code] == most and code < found[p]):
                        most = counts[code]
                        found[p] = code
            for place in range(starts[p], starts[p + 1]):
                code = codes[rows[place]]
                if code >= 0:
                    counts[code] = 0
    return commonest


def distinct(const int32_t[::1] rows, const int64_t[::1] starts, const int32_t[::1] codes):
    """Distinct codes of each person; few records are sorted by insertion, many beforehand."""
    cdef Py_ssize_t persons = starts.shape[0] - 1, p, entry, records
    cdef int32_t[::1] own = np.empty(_longest(starts), np.int32)
    all_offsets = np.zeros(persons + 1, np.int64)
    all_values, all_counts = np.empty(rows.shape[0], np.int32), np.empty(rows.shape[0], np.int32)
    cdef int64_t[::1] offsets = all_offsets
    cdef int32_t[::1] values = all_values, counts = all_counts
    cdef int64_t found = 0, at, later
    cdef int32_t code
    with nogil:
        for p in range(persons):
            records = starts[p + 1] - starts[p]
            for entry in range(records):
                own[entry] = codes[rows[starts[p] + entry]]
            if records > FEW:
                _sort_codes(own, records)
            for entry in range(records):
                code = own[entry]
                if code < 0:
                    continue
                at = found
                while at > offsets[p] and values[at - 1] > code:
                    at -= 1
                if at > offsets[p] and values[at - 1] == code:
                    counts[at - 1] += 1
                    continue
                for later in range(found, at, -1):
                    values[later] = values[later - 1]
                    counts[later] = counts[later - 1]
                values[at] = code
                counts[at] = 1
                found += 1
            offsets[p + 1] = found
    return all_offsets, all_values[:found].copy(), all_counts[:found].copy()


def take_rows(
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    const int32_t[::1] counts,
    const int32_t[::1] chosen,
):
    """Some compressed rows, one after the other."""
    all_taken = np.zeros(chosen.shape[0] + 1, np.int64)
    cdef int64_t[::1] taken = all_taken
    cdef Py_ssize_t row
    cdef int64_t entry, place
    with nogil:
        for row in range(chosen.shape[0]):
            taken[row + 1] = taken[row] + offsets[chosen[row] + 1] - offsets[chosen[row]]
    entries = all_taken[len(chosen)]
    all_values, all_counts = np.empty(entries, np.int32), np.empty(entries, np.int32)
    cdef int32_t[::1] taken_values = all_values, taken_counts = all_counts
    with nogil:
        for row in range(chosen.shape[0]):
            entry = offsets[chosen[row]]
            for place in range(taken[row], taken[row + 1]):
                taken_values[place] = values[entry]
                taken_counts[place] = counts[entry]
                entry += 1
    return all_taken, all_values, all_counts


# -------------------------------------------------------------------- counts per class


def count_records(const int32_t[::1] class_of, int32_t[:, ::1] counts):
    """Fill the number of records and the first row of each class, side by side in memory.

    ``counts``, shape (classes, 2), comes as zeros. From the last row on, each overwrites the row
    that comes after it.
    """
    cdef Py_ssize_t row
    cdef int32_t t
    with nogil:
        for row in range(class_of.shape[0] - 1, -1, -1):
            t = class_of[row]
            counts[t, 0] += 1
            counts[t, 1] = <int32_t>row


cdef int _insert(int64_t[::1] keys, int64_t begin, int64_t end, int64_t gap) except -1 nogil:
    """Sort ``keys[begin:end]`` so far that each is at most the one ``gap`` places further."""
    cdef int64_t i, at, key
    for i in range(begin + gap, end):
        key = keys[i]
        at = i
        while at >= begin + gap and keys[at - gap] > key:
            keys[at] = keys[at - gap]
            at -= gap
        keys[at] = key
    return 0


cdef int _sort(int64_t[::1] keys, int64_t begin, int64_t end) except -1 nogil:
    """Shellsort with the gaps of Knuth (TAOCP 3, 5.2.1): by insertion where there are few keys."""
    cdef int64_t gap = 1
    while 9 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 1:
        _insert(keys, begin, end, gap)
        gap //= 3
    return _insert(keys, begin, end, 1)


def order_classes(
    const int32_t[::1] class_of,
    const int32_t[::1] person,
    const int64_t[::1] starts,
    Py_ssize_t begin,
    int64_t large,
    int64_t[::1] place,
    int64_t[::1] keys,
):
    """Fill ``keys`` for the classes from ``begin`` on; classes of ``large`` size are not sorted.

    ``place`` comes with where each of these classes starts, and is used up.
    """
    cdef Py_ssize_t end = begin + place.shape[0], row, t
    with nogil:
        for row in range(class_of.shape[0]):
            t = class_of[row]
            if begin <= t < end:
                keys[place[t - begin]] = (<int64_t>person[row] << 32) | row
                place[t - begin] += 1
        for t in range(begin, end):
            if 1 < starts[t + 1] - starts[t] < large:
                _sort(keys, starts[t], starts[t + 1])


def order_by_person(const int32_t[::1] person, int64_t[::1] place, int32_t[::1] rows):
    """Fill ``rows`` with the rows in the order of persons, by a stable counting sort.

    ``place``, shape (persons + 1,), comes filled with zeros.
    """
    cdef Py_ssize_t i, p
    with nogil:
        for i in range(person.shape[0]):
            place[person[i] + 1] += 1
        for p in range(place.shape[0] - 1):
            place[p + 1] += place[p]
        for i in range(person.shape[0]):
            p = person[i]
            rows[place[p]] = <int32_t>i
            place[p] += 1


def order_by_class(
    const int32_t[::1] class_of,
    const int32_t[::1] person,
    const int32_t[::1] by_person,
    int64_t[::1] place,
    int64_t[::1] keys,
):
    """Fill ``keys`` from the rows in the order of persons, class after class.

    ``place`` comes with where each class starts, and is used up.
    """
    cdef Py_ssize_t i, t
    cdef int64_t row
    with nogil:
        for i in range(by_person.shape[0]):
            row = by_person[i]
            t = class_of[row]
            keys[place[t]] = (<int64_t>person[row] << 32) | row
            place[t] += 1


def take(const int32_t[::1] codes, const int32_t[::1] rows, int32_t[::1] taken):
    """Fill ``taken`` with the codes of some rows."""
    cdef Py_ssize_t at
    with nogil:
        for at in range(rows.shape[0]):
            taken[at] = codes[rows[at]]


def count_persons(
    const int32_t[::1] rows,
    const int64_t[::1] starts,
    const int32_t[::1] owners,
    int64_t[:, ::1] out,
    int32_t[:, ::1] most,
):
    """Fill the fields of `class_counts.PersonCounts`.

    ``out``, shape (2, classes), holds persons and squares; ``most``, shape (2, classes), largest
    and largest_row.
    """
    cdef Py_ssize_t t
    cdef int64_t persons, squares, largest, largest_row, at, stop, row, records
    cdef int32_t owner
    with nogil:
        for t in range(starts.shape[0] - 1):
            persons, squares, largest, largest_row = 0, 0, 0, -1
            at = starts[t]
            stop = starts[t + 1]
            while at < stop:
                row = rows[at]
                owner = owners[at]
                records = 0
                while at < stop and owners[at] == owner:
                    records += 1
                    at += 1
                persons += 1
                squares += records * records
                if records > largest or (records == largest and row < largest_row):
                    largest = records
                    largest_row = row
            out[0, t], out[1, t] = persons, squares
            most[0, t], most[1, t] = <int32_t>largest, <int32_t>largest_row


def count_values(
    const int32_t[::1] rows,
    const int64_t[::1] starts,
    const int32_t[::1] owners,
    const int32_t[::1] codes,
    const double[::1] file,
    int64_t[:, ::1] scratch,
    int32_t[:, ::1] out,
    double[:, ::1] spread,
):
    """Fill the fields of `class_counts.ValueCounts`.

    ``out``, shape (6, classes), holds affiliation, affiliation_row, distinct, valued, commonest
    and second commonest; ``spread``, shape (2, classes), entropy and distance. ``scratch``, shape
    (5, values), holds per value its records (-1 while the class has none), persons, last person
    and first row; its last row lists the class's values.
    """
    cdef Py_ssize_t t
    cdef int64_t at, different, valued, value, row, owner, i, records, persons, first_row
    cdef int64_t affiliation, affiliation_row, commonest, second
    cdef double entropy, distance, share, more
    with nogil:
        for t in range(starts.shape[0] - 1):
            different = 0
            valued = 0
            for at in range(starts[t], starts[t + 1]):
                value = codes[at]
                if value < 0:
                    continue
                row, owner = rows[at], owners[at]
                valued += 1
                if scratch[0, value] < 0:
                    scratch[4, different] = value
                    different += 1
                    scratch[0, value] = 1
                    scratch[1, value] = 1
                    scratch[2, value] = owner
                    scratch[3, value] = row
                else:
                    scratch[0, value] += 1
                    scratch[3, value] = min(scratch[3, value], row)
                    if scratch[2, value] != owner:
                        scratch[1, value] += 1
                        scratch[2, value] = owner
            affiliation, affiliation_row, commonest, second = 0, -1, 0, 0
            entropy, distance = 0.0, 0.0
            for i in range(different):
                value = scratch[4, i]
                records, persons, first_row = scratch[0, value], scratch[1, value], scratch[3, value]
                scratch[0, value] = -1
                share = <double>records / <double>valued
                if different > 1:
                    entropy -= share * log(share)
                more = share - file[value]
                distance += more if more > 0.0 else 0.0
                if records > commonest:
                    commonest, second = records, commonest
                elif records > second:
                    second = records
                if persons > affiliation or (
                    persons == affiliation and first_row < affiliation_row
                ):
                    affiliation, affiliation_row = persons, first_row
            out[0, t], out[1, t] = <int32_t>affiliation, <int32_t>affiliation_row
            out[2, t], out[3, t] = <int32_t>different, <int32_t>valued
            out[4, t], out[5, t] = <int32_t>commonest, <int32_t>second
            spread[0, t], spread[1, t] = entropy, distance


# ------------------------------------------------------- persons who share a number of records


def longest_run(const int32_t[::1] shown):
    """Length of the longest run of one number."""
    cdef int64_t longest = 0, start = 0, at
    with nogil:
        for at in range(shown.shape[0]):
            if shown[at] != shown[start]:
                start = at
            longest = max(longest, at + 1 - start)
    return longest


def count_sharing(
    const int32_t[::1] rows,
    const int64_t[::1] starts,
    const int32_t[::1] person,
    const int32_t[::1] shown,
    int64_t[:, ::1] scratch,
    int32_t[:, ::1] runs,
    int32_t[:, ::1] out,
    double[:, ::1] risks,
):
    """Fill the fields of `class_counts.SharingCounts`.

    ``out``, shape (4, classes), holds fewest, fewest_row, alone and risk_row; ``risks``, shape
    (2, classes), risk and risk_total.

    ``scratch``, shape (6, sizes), comes filled with zeros; it holds per size the ids, the
    persons, the last person, the first row and the ids of one person; its last row lists the
    sizes of the class. ``runs``, shape (3, ids), holds size, person and first row of its ids.
    """
    cdef Py_ssize_t t
    cdef int64_t found, different, at, stop, row, owner, one, size, i, left, right
    cdef int64_t fewest, fewest_row, alone, risk_row, worst_row
    cdef double risk, total, worst, share
    cdef bint is_alone
    with nogil:
        for t in range(starts.shape[0] - 1):
            found, different = 0, 0
            at, stop = starts[t], starts[t + 1]
            if shown[at] == shown[stop - 1]:
                out[0, t], out[1, t], out[2, t], out[3, t] = 1, rows[at], 1, rows[at]
                risks[0, t], risks[1, t] = 1.0, 1.0
                continue
            while at < stop:
                row = rows[at]
                owner, one = person[at], shown[at]
                size = 0
                while at < stop and shown[at] == one:
                    size += 1
                    at += 1
                runs[0, found], runs[1, found] = <int32_t>size, <int32_t>owner
                runs[2, found] = <int32_t>row
                found += 1
                if scratch[IDS, size] == 0:
                    scratch[MET, different] = size
                    different += 1
                    scratch[PERSONS, size] = 1
                    scratch[FIRST, size] = row
                else:
                    scratch[PERSONS, size] += scratch[LAST, size] != owner
                    scratch[FIRST, size] = min(scratch[FIRST, size], row)
                scratch[LAST, size] = owner
                scratch[IDS, size] += 1
            fewest = scratch[PERSONS, scratch[MET, 0]]
            fewest_row = scratch[FIRST, scratch[MET, 0]]
            for i in range(1, different):
                size = scratch[MET, i]
                if scratch[PERSONS, size] < fewest or (
                    scratch[PERSONS, size] == fewest and scratch[FIRST, size] < fewest_row
                ):
                    fewest, fewest_row = scratch[PERSONS, size], scratch[FIRST, size]
            alone, risk, risk_row, total = 0, 0.0, -1, 0.0
            left = 0
            while left < found:
                right = left
                while right < found and runs[1, right] == runs[1, left]:
                    scratch[OWN, runs[0, right]] += 1
                    right += 1
                worst, worst_row, is_alone = 0.0, -1, False
                for i in range(left, right):
                    size = runs[0, i]
                    share = <double>scratch[OWN, size] / <double>scratch[IDS, size]
                    if share > worst or (share == worst and runs[2, i] < worst_row):
                        worst, worst_row = share, runs[2, i]
                    is_alone = is_alone or scratch[PERSONS, size] == 1
                for i in range(left, right):
                    scratch[OWN, runs[0, i]] = 0
                alone += is_alone
                total += worst
                if worst > risk or (worst == risk and worst_row < risk_row):
                    risk, risk_row = worst, worst_row
                left = right
            for i in range(different):
                scratch[IDS, scratch[MET, i]] = 0
            out[0, t], out[1, t] = <int32_t>fewest, <int32_t>fewest_row
            out[2, t], out[3, t] = <int32_t>alone, <int32_t>risk_row
            risks[0, t], risks[1, t] = risk, total


def side_sharing(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int8_t[::1] side,
    const int64_t[::1] records,
    int64_t[:, ::1] seen,
    int64_t[:, ::1] fewest,
):
    """Fill ``fewest``, shape (nodes, 2); it and ``seen``, shape (2, numbers), come as zeros."""
    cdef Py_ssize_t node
    cdef int64_t place, one, half, sharing
    with nogil:
        for node in range(low.shape[0]):
            for place in range(low[node], high[node]):
                one = order[place]
                seen[side[one], records[one]] += 1
            for place in range(low[node], high[node]):
                one = order[place]
                half = side[one]
                sharing = seen[half, records[one]]
                if sharing > 0:
                    seen[half, records[one]] = 0
                    if fewest[node, half] == 0 or sharing < fewest[node, half]:
                        fewest[node, half] = sharing


cdef int _scan_one_way(
    int64_t first,
    int64_t last,
    int64_t step,
    const int32_t[::1] order,
    const int64_t[::1] records,
    int64_t[::1] seen,
    int64_t[::1] numbers,
    int64_t[:, ::1] fewest,
    Py_ssize_t into,
    bint included,
) except -1 nogil:
    """The fewest persons who share a number among those met so far, at every place."""
    cdef int64_t least = 0, place = first, number, sharing
    while place != last:
        if not included:
            fewest[into, place] = least
        number = records[order[place]]
        sharing = seen[number]
        seen[number] += 1
        numbers[sharing] -= sharing > 0
        numbers[sharing + 1] += 1
        if sharing == 0:
            least = 1
        elif sharing == least and numbers[sharing] == 0:
            least += 1
        if included:
            fewest[into, place] = least
        place += step
    place = first
    while place != last:
        number = records[order[place]]
        numbers[seen[number]] = 0
        seen[number] = 0
        place += step
    return 0


def scan_sharing(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int64_t[::1] records,
    int64_t[::1] seen,
    int64_t[::1] numbers,
    int64_t[:, ::1] fewest,
):
    """Fill ``fewest``, shape (2, persons).

    ``seen`` (persons per number of records) and ``numbers`` (numbers that so many persons share)
    come as zeros.
    """
    cdef Py_ssize_t node
    with nogil:
        for node in range(low.shape[0]):
            _scan_one_way(
                low[node], high[node], 1, order, records, seen, numbers, fewest, 0, True
            )
            _scan_one_way(
                high[node] - 1, low[node] - 1, -1, order, records, seen, numbers, fewest, 1, False
            )


# ------------------------------------------------------------- distances of distributions


cdef double _gap(
    int64_t start, int64_t stop, double reached, const double[::1] below, const double[::1] sums
) except? -1.0 nogil:
    """Sum of |reached - below| over the ranks from start to before stop."""
    cdef int64_t cross = start, end = stop, middle
    cdef double less
    while cross < end:
        middle = (cross + end) // 2
        if below[middle] < reached:
            cross = middle + 1
        else:
            end = middle
    less = reached * (cross - start) - (sums[cross] - sums[start])
    return less + (sums[stop] - sums[cross]) - reached * (stop - cross)


cdef double _moved(
    int64_t[:, ::1] met,
    int64_t[:, ::1] seen,
    Py_ssize_t half,
    Py_ssize_t found,
    int64_t total,
    const double[::1] below,
    const double[::1] sums,
) except? -1.0 nogil:
    """The ordered distance of the ranks that were met; ``seen`` is left as zeros."""
    cdef double moved = 0.0
    cdef int64_t at = 0, reached = 0, rank
    cdef Py_ssize_t i
    qsort(&met[half, 0], found, sizeof(int64_t), _compare_numbers)
    for i in range(found):
        rank = met[half, i]
        moved += _gap(at, rank, <double>reached / <double>total, below, sums)
        reached += seen[half, rank]
        seen[half, rank] = 0
        at = rank
    moved += _gap(at, below.shape[0], 1.0, below, sums)
    return moved / max(below.shape[0], <Py_ssize_t>1)


def side_distances(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int8_t[::1] side,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    const int32_t[::1] counts,
    const double[::1] share,
):
    """Equal distance on both sides; shape (nodes, 2)."""
    distances = np.zeros((low.shape[0], 2))
    cdef double[:, ::1] distance = distances
    cdef int64_t[:, ::1] seen = np.zeros((2, share.shape[0]), np.int64)
    cdef int64_t total[2]
    cdef Py_ssize_t node
    cdef int64_t place, person, half, entry, value
    cdef double more
    with nogil:
        for node in range(low.shape[0]):
            total[0], total[1] = 0, 0
            for place in range(low[node], high[node]):
                person = order[place]
                half = side[person]
                for entry in range(offsets[person], offsets[person + 1]):
                    seen[half, values[entry]] += counts[entry]
                    total[half] += counts[entry]
            for place in range(low[node], high[node]):
                person = order[place]
                half = side[person]
                for entry in range(offsets[person], offsets[person + 1]):
                    value = values[entry]
                    if seen[half, value] > 0:
                        more = <double>seen[half, value] / <double>total[half] - share[value]
                        distance[node, half] += more if more > 0.0 else 0.0
                        seen[half, value] = 0
    return distances


def side_ordered_distances(
    const int32_t[::1] order,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int8_t[::1] side,
    const int64_t[::1] offsets,
    const int32_t[::1] values,
    const int32_t[::1] counts,
    const int32_t[::1] rank,
    const double[::1] below,
    const double[::1] sums,
):
    """Ordered distance on both sides; shape (nodes, 2)."""
    distances = np.zeros((low.shape[0], 2))
    cdef double[:, ::1] distance = distances
    cdef int64_t[:, ::1] seen = np.zeros((2, sums.shape[0]), np.int64)
    cdef int64_t[:, ::1] met = np.zeros((2, sums.shape[0]), np.int64)
    cdef int64_t found[2]
    cdef int64_t total[2]
    cdef Py_ssize_t node
    cdef int64_t place, person, half, entry, one
    with nogil:
        for node in range(low.shape[0]):
            found[0], found[1], total[0], total[1] = 0, 0, 0, 0
            for place in range(low[node], high[node]):
                person = order[place]
                half = side[person]
                for entry in range(offsets[person], offsets[person + 1]):
                    one = rank[values[entry]]
                    if seen[half, one] == 0:
                        met[half, found[half]] = one
                        found[half] += 1
                    seen[half, one] += counts[entry]
                    total[half] += counts[entry]
            for half in range(2):
                if found[half] > 0:
                    distance[node, half] = _moved(
                        met, seen, half, found[half], total[half], below, sums
                    )
    return distances


def class_ordered_distances(
    const int32_t[::1] rows,
    const int64_t[::1] low,
    const int64_t[::1] high,
    const int32_t[::1] codes,
    const int32_t[::1] rank,
    const double[::1] below,
    const double[::1] sums,
):
    """Ordered distance of each class; shape (classes,)."""
    distances = np.zeros(low.shape[0])
    cdef double[::1] distance = distances
    cdef int64_t[:, ::1] seen = np.zeros((1, sums.shape[0]), np.int64)
    cdef int64_t[:, ::1] met = np.zeros((1, sums.shape[0]), np.int64)
    cdef Py_ssize_t t
    cdef int64_t found, total, place, value, one
    with nogil:
        for t in range(low.shape[0]):
            found, total = 0, 0
            for place in range(low[t], high[t]):
                value = codes[rows[place]]
                if value >= 0:
                    one = rank[value]
                    if seen[0, one] == 0:
                        met[0, found] = one
                        found += 1
                    seen[0, one] += 1
                    total += 1
            if found > 0:
                distance[t] = _moved(met, seen, 0, found, total, below, sums)
    return distances


# ------------------------------------------------------------- persons who have known events


cdef enum:
    MOST_KNOWN = 8
    # Known events of a set, at most.


cdef inline int64_t _first_from(
    const int32_t[::1] values, int64_t start, int64_t stop, int32_t least
) noexcept nogil:
    """Place of the first of ascending values that is not below ``least``."""
    cdef int64_t middle
    while start < stop:
        middle = (start + stop) >> 1
        if values[middle] < least:
            start = middle + 1
        else:
            stop = middle
    return start


cdef inline bint _fits(
    const int32_t[::1] labels,
    const int32_t[::1] counts,
    int64_t at,
    int64_t stop,
    const int32_t* low,
    const int32_t* high,
    int known,
) noexcept nogil:
    """Whether an id shows a row of its own for each known event, these by ascending ends."""
    cdef int32_t used = 0
    cdef int64_t place
    cdef int each
    for each in range(known):
        place = _first_from(labels, at, stop, low[each])
        if place > at:
            at, used = place, 0
        if at < stop and used == counts[at]:
            at, used = at + 1, 0
        if at == stop or labels[at] > high[each]:
            return False
        used += 1
    return True


cdef inline bint _shows_more(
    const int32_t[::1] labels,
    int64_t at,
    int64_t stop,
    uint8_t detailed,
    const uint8_t[::1] silent,
    const int32_t* low,
    const int32_t* high,
    int known,
) noexcept nogil:
    """Whether an id shows a label that is none of those that are known already."""
    cdef int64_t entry
    cdef int each
    cdef bint told
    if detailed:
        return True
    for entry in range(at, stop):
        told = silent.shape[0] > 0 and silent[labels[entry]]
        for each in range(known):
            told = told or low[each] <= labels[entry] <= high[each]
        if not told:
            return True
    return False


cdef inline int64_t _place_of_pair(int32_t group, int32_t one, int32_t other) noexcept nogil:
    cdef uint64_t key = (<uint64_t>group * GOLDEN) ^ <uint64_t>one
    return <int64_t>(((key * GOLDEN) ^ <uint64_t>other) * GOLDEN >> 32)


cdef struct Pair:
    # Two labels that were looked up in a class, 1 more than its number, and who fits; 0 for none.
    int32_t group, low, other, fitting


PAIR = np.dtype([("group", "i4"), ("low", "i4"), ("other", "i4"), ("fitting", "i4")])
cdef int64_t MOST_PAIRS = 1 << 20
# Pairs that are remembered; one that comes later takes the place of another.


def count_holders(
    const int32_t[:, ::1] sets,
    const int32_t[::1] persons,
    holding,
    double[::1] found,
    double[::1] learned,
    int32_t[::1] holders,
):
    """The ids of a class that fit each set of known events, by the shortest list of its events."""
    cdef const int32_t[::1] known_low = holding.known_low
    cdef const int32_t[::1] known_high = holding.known_high
    cdef const int64_t[::1] own_starts = holding.own_starts
    cdef const int32_t[::1] own_classes = holding.own_classes
    cdef const int32_t[::1] own_ids = holding.own_ids
    cdef const int64_t[::1] class_ids = holding.class_ids
    cdef const int64_t[::1] class_starts = holding.class_starts
    cdef const int32_t[::1] list_labels = holding.list_labels
    cdef const int32_t[::1] list_ids = holding.list_ids
    cdef const int64_t[::1] id_starts = holding.id_starts
    cdef const int32_t[::1] labels = holding.labels
    cdef const int32_t[::1] counts = holding.counts
    cdef const int32_t[::1] owners = holding.owners
    cdef const uint8_t[::1] detailed = holding.detailed.view(np.uint8)
    cdef const uint8_t[::1] silent = holding.silent.view(np.uint8)
    cdef bint several = owners.shape[0] > own_starts.shape[0] - 1
    cdef int64_t[::1] met = np.full(id_starts.shape[0] - 1, -1, np.int64)
    cdef Py_ssize_t width = sets.shape[1], s
    cdef int32_t[MOST_KNOWN] all_low, all_high, low, high
    cdef int64_t first, last, begin, end, entry, place, looked = 0, stamp = 0
    cdef int known, chosen, each, mask
    cdef int32_t person, t, one
    cdef int64_t fitting, own, more
    cdef Pair[::1] pairs = np.zeros(min(1 << len(sets).bit_length(), MOST_PAIRS), PAIR)
    cdef Pair* pair
    with nogil:
        for s in range(sets.shape[0]):
            person = persons[s]
            known = 0
            for each in range(width):
                if sets[s, each] >= 0:
                    all_low[known] = known_low[sets[s, each]]
                    all_high[known] = known_high[sets[s, each]]
                    known += 1
            found[s], learned[s], holders[s] = 0, 0, 0
            for place in range(own_starts[person], own_starts[person + 1]):
                t = own_classes[place]
                # A part of the events decides only where a person's ids each show a part.
                for mask in range(min(1, (1 << known) - 1) if several else (1 << known) - 1, 1 << known):
                    chosen = 0
                    begin, end = class_starts[t], class_starts[t + 1]
                    first, last = begin, end
                    for each in range(known):
                        if mask >> each & 1:
                            low[chosen], high[chosen] = all_low[each], all_high[each]
                            begin = _first_from(
                                list_labels, class_starts[t], class_starts[t + 1], low[chosen]
                            )
                            end = _first_from(
                                list_labels, begin, class_starts[t + 1], high[chosen] + 1
                            )
                            if end - begin < last - first or chosen == 0:
                                first, last = begin, end
                            chosen += 1
                    fitting, own, more = 0, 0, 0
                    stamp += 1
                    if chosen == 0:
                        # Nothing is known: every id of the class fits.
                        fitting, own = class_ids[t], own_ids[place]
                        more = own
                    elif chosen == 1 and low[0] == high[0] and not several:
                        fitting = last - first
                    else:
                        looked += last - first
                        pair = NULL
                        if chosen == 2 and low[0] == high[0] and low[1] == high[1] and not several:
                            # Many of a class are asked for the same two, most often those of most.
                            pair = &pairs[_place_of_pair(t, low[0], low[1]) & (pairs.shape[0] - 1)]
                            if pair.group == t + 1 and pair.low == low[0] and pair.other == low[1]:
                                fitting, last = pair.fitting, first
                        for entry in range(first, last):
                            one = list_ids[entry]
                            if met[one] == stamp:
                                continue
                            met[one] = stamp
                            if not _fits(
                                labels, counts, id_starts[one], id_starts[one + 1], low, high, chosen
                            ):
                                continue
                            fitting += 1
                            if several and owners[one] == person:
                                own += 1
                                more += _shows_more(
                                    labels, id_starts[one], id_starts[one + 1], detailed[one], silent,
                                    all_low, all_high, known,
                                )
                        if pair != NULL:
                            pair[0] = Pair(t + 1, low[0], low[1], <int32_t>fitting)
                    if not several:
                        own = 1
                        more = _shows_more(
                            labels, id_starts[person], id_starts[person + 1], detailed[person], silent,
                            all_low, all_high, known,
                        )
                    if fitting == 0 or own == 0:
                        continue
                    if <double>own / fitting > found[s]:
                        found[s] = <double>own / fitting
                        holders[s] = <int32_t>fitting
                    if <double>more / fitting > learned[s]:
                        learned[s] = <double>more / fitting
    return looked
