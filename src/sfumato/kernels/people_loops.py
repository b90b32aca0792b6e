"""What the records of each person say, compiled; the twin is ``people_twin``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MANY = 64
"""Records of a person that are too many to be sorted by insertion."""


@compiled
def group_rows(person: Codes, persons: int) -> tuple[Codes, Ints]:
    """Rows by person: a stable counting sort, or nothing where they are so already."""
    starts = np.zeros(persons + 1, np.int64)
    ascending = True
    last = 0
    for row in range(len(person)):
        starts[person[row] + 1] += 1
        ascending &= person[row] >= last
        last = person[row]
    for p in range(persons):
        starts[p + 1] += starts[p]
    if ascending:
        return np.arange(len(person)).astype(np.int32), starts
    rows = np.empty(len(person), np.int32)
    place = starts[:-1].copy()
    for row in range(len(person)):
        p = person[row]
        rows[place[p]] = row
        place[p] += 1
    return rows, starts


@compiled
def _sort(codes: Codes) -> None:
    """Sort in place, a few by insertion."""
    if len(codes) > MANY:
        codes.sort()
        return
    for place in range(1, len(codes)):
        code, at = codes[place], place
        while at > 0 and codes[at - 1] > code:
            codes[at] = codes[at - 1]
            at -= 1
        codes[at] = code


@compiled
def sums(
    rows: Codes, starts: Ints, codes: Codes, values: Floats
) -> tuple[Floats, Floats, Ints, Codes, Codes]:
    """Sums and bounds of each person's values; different codes are sorted before they add up."""
    persons = len(starts) - 1
    own = np.empty(MANY, np.int32)
    total = np.empty(persons, np.float64)
    square = np.empty(persons, np.float64)
    present = np.empty(persons, np.int64)
    lowest = np.empty(persons, np.int32)
    highest = np.empty(persons, np.int32)
    for p in range(persons):
        counted = 0
        least, most = np.int32(2**31 - 1), np.int32(-1)
        if starts[p + 1] - starts[p] > len(own):
            own = np.empty(2 * (starts[p + 1] - starts[p]), np.int32)
        for place in range(starts[p], starts[p + 1]):
            code = codes[rows[place]]
            if code >= 0:
                own[counted] = code
                counted += 1
                least = min(least, code)
                most = max(most, code)
        if least < most:
            _sort(own[:counted])
        summed, squared = 0.0, 0.0
        for entry in range(counted):
            value = values[own[entry]]
            summed += value
            squared += value * value
        total[p], square[p], present[p] = summed, squared, counted
        lowest[p], highest[p] = least, most
    return total, square, present, lowest, highest


@compiled
def mean_keys(rows: Codes, starts: Ints, codes: Codes, points: Ints, most: int) -> Ints:
    """An integer for each person that orders exactly as their means.

    With c records at most, two different remainders over a count differ by at least 1/c², so
    the whole part of the remainder times c² tells them apart.
    """
    keys = np.empty(len(starts) - 1, np.int64)
    scale = most * most
    for p in range(len(starts) - 1):
        summed, counted = 0, 0
        for place in range(starts[p], starts[p + 1]):
            code = codes[rows[place]]
            if code >= 0:
                summed += points[code] - points[0]
                counted += 1
        counted = max(counted, 1)
        keys[p] = summed // counted * scale + summed % counted * scale // counted
    return keys


@compiled
def rank(keys: Ints, ascending: Ints, ranks: Ints) -> int:
    """Fill ``ranks`` with the rank of each key, equal ones sharing it; how many there are."""
    current = 0
    for place in range(len(keys)):
        if place > 0 and keys[ascending[place]] != keys[ascending[place - 1]]:
            current += 1
        ranks[ascending[place]] = current
    return current + 1


@compiled
def modes(rows: Codes, starts: Ints, codes: Codes, size: int) -> Codes:
    """Most frequent code of each person."""
    found = np.full(len(starts) - 1, size, np.int32)
    counts = np.zeros(size, np.int64)
    for p in range(len(starts) - 1):
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
    return found


@compiled
def distinct(rows: Codes, starts: Ints, codes: Codes) -> tuple[Ints, Codes, Codes]:
    """Distinct codes of each person; few records are sorted by insertion, many beforehand."""
    own = codes[:0]
    persons = len(starts) - 1
    offsets = np.zeros(persons + 1, np.int64)
    values = np.empty(len(rows), np.int32)
    counts = np.empty(len(rows), np.int32)
    found = 0
    for p in range(persons):
        many = starts[p + 1] - starts[p] > MANY
        if many:
            own = np.sort(codes[rows[starts[p] : starts[p + 1]]])
        for entry in range(starts[p + 1] - starts[p]):
            code = own[entry] if many else codes[rows[starts[p] + entry]]
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
    return offsets, values[:found].copy(), counts[:found].copy()


@compiled
def take_rows(
    offsets: Ints, values: Codes, counts: Codes, chosen: Codes
) -> tuple[Ints, Codes, Codes]:
    """Some compressed rows, one after the other."""
    taken = np.zeros(len(chosen) + 1, np.int64)
    for row in range(len(chosen)):
        taken[row + 1] = taken[row] + offsets[chosen[row] + 1] - offsets[chosen[row]]
    taken_values = np.empty(taken[-1], np.int32)
    taken_counts = np.empty(taken[-1], counts.dtype)
    for row in range(len(chosen)):
        entry = offsets[chosen[row]]
        for place in range(taken[row], taken[row + 1]):
            taken_values[place] = values[entry]
            taken_counts[place] = counts[entry]
            entry += 1
    return taken, taken_values, taken_counts
