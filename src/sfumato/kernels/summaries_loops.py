"""Per class counts of persons and sensitive values: compiled loops."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def _by_person(person: Codes, persons: int) -> Codes:
    """Rows in the order of persons, by a stable counting sort."""
    place = np.zeros(persons + 1, dtype=np.int64)
    for i in range(len(person)):
        place[person[i] + 1] += 1
    for p in range(persons):
        place[p + 1] += place[p]
    rows = np.empty(len(person), dtype=np.int32)
    for i in range(len(person)):
        p = person[i]
        rows[place[p]] = i
        place[p] += 1
    return rows


@compiled
def class_order(class_of: Codes, person: Codes, persons: int, rows: Codes, starts: Counts) -> None:
    """Fill ``rows`` and ``starts``; ``starts`` comes filled with zeros."""
    records = len(person)
    sorted_already = True
    for i in range(1, records):
        if person[i] < person[i - 1]:
            sorted_already = False
            break
    for i in range(records):
        starts[class_of[i] + 1] += 1
    for t in range(len(starts) - 1):
        starts[t + 1] += starts[t]
    place = starts[:-1].copy()
    if sorted_already:
        for i in range(records):
            t = class_of[i]
            rows[place[t]] = i
            place[t] += 1
    else:
        for row in _by_person(person, persons):
            t = class_of[row]
            rows[place[t]] = row
            place[t] += 1


@compiled
def count_persons(
    rows: Codes, starts: Counts, person: Codes, begin: int, end: int, out: Counts
) -> None:
    """Fill ``out``, shape (5, classes), for some classes with the fields of `PersonCounts`."""
    for t in range(begin, end):
        persons = 0
        squares = 0
        largest = 0
        largest_row = -1
        first_row = rows[starts[t]]
        at = starts[t]
        while at < starts[t + 1]:
            row = rows[at]
            owner = person[row]
            records = 0
            while at < starts[t + 1] and person[rows[at]] == owner:
                records += 1
                at += 1
            persons += 1
            squares += records * records
            if records > largest or (records == largest and row < largest_row):
                largest = records
                largest_row = row
            first_row = min(first_row, row)
        out[0, t] = persons
        out[1, t] = squares
        out[2, t] = largest
        out[3, t] = largest_row
        out[4, t] = first_row


@compiled
def _read_class(scratch: Counts, distinct: int, valued: int) -> tuple[int, int, int, int, float]:
    """Read one class off ``scratch`` and leave its values as if they had not been met."""
    affiliation, affiliation_row = 0, -1
    commonest, second = 0, 0
    entropy = 0.0
    for i in range(distinct):
        value = scratch[4, i]
        records, persons, first_row = scratch[0, value], scratch[1, value], scratch[3, value]
        scratch[0, value] = -1
        share = records / valued
        entropy -= share * math.log(share)
        if records > commonest:
            commonest, second = records, commonest
        elif records > second:
            second = records
        if persons > affiliation or (persons == affiliation and first_row < affiliation_row):
            affiliation, affiliation_row = persons, first_row
    return affiliation, affiliation_row, commonest, second, entropy


@compiled
def count_values(
    rows: Codes,
    starts: Counts,
    person: Codes,
    codes: Codes,
    begin: int,
    end: int,
    scratch: Counts,
    out: Counts,
    commonest: Counts,
    entropy: Floats,
) -> None:
    """Fill the fields of `ValueCounts` for the classes from ``begin`` to ``end``.

    ``out``, shape (4, classes), holds affiliation, affiliation_row, distinct and valued.
    ``scratch``, shape (5, values), holds per value its records (-1 while the class has none),
    persons, last person and first row; its last row lists the class's values.
    """
    records, persons, last, first = scratch[0], scratch[1], scratch[2], scratch[3]
    met = scratch[4]
    for t in range(begin, end):
        distinct = 0
        valued = 0
        for at in range(starts[t], starts[t + 1]):
            row = rows[at]
            value = codes[row]
            if value < 0:
                continue
            valued += 1
            if records[value] < 0:
                met[distinct] = value
                distinct += 1
                records[value] = 1
                persons[value] = 1
                last[value] = person[row]
                first[value] = row
            else:
                records[value] += 1
                first[value] = min(first[value], row)
                if last[value] != person[row]:
                    persons[value] += 1
                    last[value] = person[row]
        out[0, t], out[1, t], commonest[t, 0], commonest[t, 1], entropy[t] = _read_class(
            scratch, distinct, valued
        )
        out[2, t] = distinct
        out[3, t] = valued
