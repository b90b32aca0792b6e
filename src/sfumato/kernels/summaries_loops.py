"""Per class counts of persons and sensitive values: compiled loops."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
FEW = 32
"""Records of a class up to which they are sorted by insertion."""


@compiled
def _sort(keys: Counts) -> None:
    if len(keys) > FEW:
        keys.sort()
        return
    for i in range(1, len(keys)):
        key = keys[i]
        at = i
        while at > 0 and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key


@compiled
def order_classes(
    class_of: Codes,
    person: Codes,
    starts: Counts,
    begin: int,
    end: int,
    keys: Counts,
) -> None:
    """Fill ``keys`` for the classes from ``begin`` to before ``end``."""
    place = starts[begin:end].copy()
    for row in range(len(class_of)):
        t = class_of[row]
        if begin <= t < end:
            keys[place[t - begin]] = (np.int64(person[row]) << 32) | row
            place[t - begin] += 1
    for t in range(begin, end):
        if starts[t + 1] - starts[t] > 1:
            _sort(keys[starts[t] : starts[t + 1]])


@compiled
def order_by_person(person: Codes, persons: int, rows: Codes) -> None:
    """Fill ``rows`` with the rows in the order of persons, by a stable counting sort."""
    place = np.zeros(persons + 1, dtype=np.int64)
    for i in range(len(person)):
        place[person[i] + 1] += 1
    for p in range(persons):
        place[p + 1] += place[p]
    for i in range(len(person)):
        p = person[i]
        rows[place[p]] = i
        place[p] += 1


@compiled
def order_by_class(
    class_of: Codes, person: Codes, by_person: Codes, starts: Counts, keys: Counts
) -> None:
    """Fill ``keys`` from the rows in the order of persons, class after class."""
    place = starts[:-1].copy()
    for row in by_person:
        t = class_of[row]
        keys[place[t]] = (np.int64(person[row]) << 32) | row
        place[t] += 1


@compiled
def take(codes: Codes, rows: Codes) -> Codes:
    """The codes of some rows."""
    taken = np.empty(len(rows), codes.dtype)
    for at in range(len(rows)):
        taken[at] = codes[rows[at]]
    return taken


@compiled
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


@compiled
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


@compiled
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
