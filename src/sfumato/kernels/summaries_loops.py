"""Per class counts of persons and sensitive values: compiled loops."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sfumato.kernels.stored import stored

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
LARGE = 4096
"""Records of a class from which its keys are left to the caller to sort."""


@stored
def count_records(class_of: Codes, counts: Codes) -> None:
    """Fill the number of records and the first row of each class, side by side in memory.

    ``counts``, shape (classes, 2), comes as zeros. From the last row on, each overwrites the row
    that comes after it.
    """
    for row in range(len(class_of) - 1, -1, -1):
        t = class_of[row]
        counts[t, 0] += 1
        counts[t, 1] = row


@stored
def _insert(keys: Counts, begin: int, end: int, gap: int) -> None:
    """Sort ``keys[begin:end]`` so far that each is at most the one ``gap`` places further."""
    for i in range(begin + gap, end):
        key = keys[i]
        at = i
        while at >= begin + gap and keys[at - gap] > key:
            keys[at] = keys[at - gap]
            at -= gap
        keys[at] = key


@stored
def _sort(keys: Counts, begin: int, end: int) -> None:
    """Shellsort with the gaps of Knuth (TAOCP 3, 5.2.1): by insertion where there are few keys."""
    gap = 1
    while 9 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 1:
        _insert(keys, begin, end, gap)
        gap //= 3
    _insert(keys, begin, end, 1)


@stored
def order_classes(
    class_of: Codes, person: Codes, starts: Counts, begin: int, place: Counts, keys: Counts
) -> None:
    """Fill ``keys`` for the classes from ``begin`` on; those of large classes are not sorted.

    ``place`` comes with where each of these classes starts, and is used up.
    """
    end = begin + len(place)
    for row in range(len(class_of)):
        t = class_of[row]
        if begin <= t < end:
            keys[place[t - begin]] = (np.int64(person[row]) << 32) | row
            place[t - begin] += 1
    for t in range(begin, end):
        if 1 < starts[t + 1] - starts[t] < LARGE:
            _sort(keys, starts[t], starts[t + 1])


@stored
def order_by_person(person: Codes, place: Counts, rows: Codes) -> None:
    """Fill ``rows`` with the rows in the order of persons, by a stable counting sort.

    ``place``, shape (persons + 1,), comes filled with zeros.
    """
    for i in range(len(person)):
        place[person[i] + 1] += 1
    for p in range(len(place) - 1):
        place[p + 1] += place[p]
    for i in range(len(person)):
        p = person[i]
        rows[place[p]] = i
        place[p] += 1


@stored
def order_by_class(
    class_of: Codes, person: Codes, by_person: Codes, place: Counts, keys: Counts
) -> None:
    """Fill ``keys`` from the rows in the order of persons, class after class.

    ``place`` comes with where each class starts, and is used up.
    """
    for row in by_person:
        t = class_of[row]
        keys[place[t]] = (np.int64(person[row]) << 32) | row
        place[t] += 1


@stored
def take(codes: Codes, rows: Codes, taken: Codes) -> None:
    """Fill ``taken`` with the codes of some rows."""
    for at in range(len(rows)):
        taken[at] = codes[rows[at]]


@stored
def count_persons(rows: Codes, starts: Counts, owners: Codes, out: Counts, most: Codes) -> None:
    """Fill the fields of `PersonCounts`.

    ``out``, shape (2, classes), holds persons and squares; ``most``, shape (2, classes), largest
    and largest_row.
    """
    for t in range(len(starts) - 1):
        persons = 0
        squares = 0
        largest = 0
        largest_row = -1
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
        most[0, t], most[1, t] = largest, largest_row


@stored
def _read_class(
    scratch: Counts, distinct: int, valued: int, file: Floats
) -> tuple[int, int, int, int, float, float]:
    """Read one class off ``scratch`` and leave its values as if they had not been met."""
    affiliation, affiliation_row = 0, -1
    commonest, second = 0, 0
    entropy, distance = 0.0, 0.0
    for i in range(distinct):
        value = scratch[4, i]
        records, persons, first_row = scratch[0, value], scratch[1, value], scratch[3, value]
        scratch[0, value] = -1
        share = records / valued
        if distinct > 1:
            entropy -= share * math.log(share)
        distance += max(share - file[value], 0.0)
        if records > commonest:
            commonest, second = records, commonest
        elif records > second:
            second = records
        if persons > affiliation or (persons == affiliation and first_row < affiliation_row):
            affiliation, affiliation_row = persons, first_row
    return affiliation, affiliation_row, commonest, second, entropy, distance


@stored
def count_values(
    rows: Codes,
    starts: Counts,
    owners: Codes,
    codes: Codes,
    file: Floats,
    scratch: Counts,
    out: Codes,
    spread: Floats,
) -> None:
    """Fill the fields of `ValueCounts`.

    ``out``, shape (6, classes), holds affiliation, affiliation_row, distinct, valued, commonest
    and second commonest; ``spread``, shape (2, classes), entropy and distance. ``scratch``, shape
    (5, values), holds per value its records (-1 while the class has none), persons, last person
    and first row; its last row lists the class's values.
    """
    records, persons, last, first = scratch[0], scratch[1], scratch[2], scratch[3]
    met = scratch[4]
    for t in range(len(starts) - 1):
        distinct = 0
        valued = 0
        for at in range(starts[t], starts[t + 1]):
            value = codes[at]
            if value < 0:
                continue
            row, owner = rows[at], owners[at]
            valued += 1
            if records[value] < 0:
                met[distinct] = value
                distinct += 1
                records[value] = 1
                persons[value] = 1
                last[value] = owner
                first[value] = row
            else:
                records[value] += 1
                first[value] = min(first[value], row)
                if last[value] != owner:
                    persons[value] += 1
                    last[value] = owner
        out[0, t], out[1, t], out[4, t], out[5, t], spread[0, t], spread[1, t] = _read_class(
            scratch, distinct, valued, file
        )
        out[2, t], out[3, t] = distinct, valued
