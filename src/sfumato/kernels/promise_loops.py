"""Whether both sides of a cut keep the promises: compiled loops.

Arrays are taken out of their tuples before a loop, because to pass a tuple costs as much as to
count a person.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.best_cut_inputs import Codes, Floats, Ints, Known, Limits
from sfumato.kernels.best_cut_scratch import Scratch, plain
from sfumato.kernels.choose import compiled
from sfumato.kernels.scans_loops import CLEARED_AT_ONCE


@compiled
def large_enough(limits: Limits, persons: int, records: int, squares: int) -> bool:
    """Whether one side keeps the promises about its size."""
    if persons < limits.persons or records < limits.records:
        return False
    return squares <= limits.squares * float(records) ** 2


@compiled
def _met(
    persons: int, most_shared: Ints, distinct: Ints, affiliation: Floats, least_distinct: Ints
) -> bool:
    """Whether one side keeps the promises about the sensitive values of its persons."""
    for attribute in range(len(distinct)):
        if most_shared[attribute] > affiliation[attribute] * persons:
            return False
        if distinct[attribute] < least_distinct[attribute]:
            return False
    return True


@compiled
def _add(
    person: int,
    offsets: Ints,
    values: Codes,
    attribute_of: Codes,
    sharers: Ints,
    most_shared: Ints,
    distinct: Ints,
) -> None:
    """Count the sensitive values of one person more."""
    for entry in range(offsets[person], offsets[person + 1]):
        value = values[entry]
        attribute = attribute_of[value]
        number = sharers[value] + 1
        sharers[value] = number
        most_shared[attribute] = max(most_shared[attribute], number)
        if number == 1:
            distinct[attribute] += 1


@compiled
def _forget(places: range, order: Codes, offsets: Ints, values: Codes, sharers: Ints) -> None:
    """Set the counters of all values of these persons to 0."""
    if len(sharers) <= CLEARED_AT_ONCE * len(places):
        sharers[:] = 0
        return
    for place in places:
        person = order[place]
        for entry in range(offsets[person], offsets[person + 1]):
            sharers[values[entry]] = 0


@compiled
def _check_one_way(
    places: range,
    order: Codes,
    start: int,
    shift: int,
    known: Known,
    limits: Limits,
    scratch: Scratch,
    lost: Floats,
) -> None:
    """Make ``lost`` infinite, ``shift`` places on, where the persons so far break a promise."""
    records, offsets, values = known.records, known.sensitive_offsets, known.sensitive
    attribute_of, affiliation, least = limits.attribute_of, limits.affiliation, limits.distinct
    sharing, counts = limits.sharing, scratch.counts
    sharers, most_shared, distinct = scratch.sharers, scratch.most_shared, scratch.distinct
    most_shared[:] = 0
    distinct[:] = 0
    rare = 0
    for persons, place in enumerate(places, 1):
        person = order[place]
        _add(person, offsets, values, attribute_of, sharers, most_shared, distinct)
        if sharing > 1:
            number = counts[records[person]] + 1
            counts[records[person]] = number
            rare += (number == 1) - (number == sharing)
        behind = place + shift - start
        if lost[behind] < np.inf and (
            rare > 0 or not _met(persons, most_shared, distinct, affiliation, least)
        ):
            lost[behind] = np.inf
    _forget(places, order, offsets, values, sharers)
    if sharing > 1:
        for place in places:
            counts[records[order[place]]] = 0


@compiled
def check_places(
    order: Codes,
    start: int,
    stop: int,
    known: Known,
    limits: Limits,
    scratch: Scratch,
    lost: Floats,
) -> None:
    """Make ``lost`` of every place infinite behind which a cut breaks a promise on a side."""
    first, last = start, stop - 2
    while last >= first and lost[last - start] == np.inf:
        last -= 1
    _check_one_way(range(start, last + 1), order, start, plain(0), known, limits, scratch, lost)
    while first <= last and lost[first - start] == np.inf:
        first += 1
    end = first if first <= last else stop - 1
    back = range(stop - 1, end, -1)
    _check_one_way(back, order, start, plain(-1), known, limits, scratch, lost)


@compiled
def _side_meets(
    places: range,
    order: Codes,
    member: Codes,
    column: int,
    side: int,
    known: Known,
    limits: Limits,
    scratch: Scratch,
) -> bool:
    """Whether the persons on one side keep the promises: 0 outside a column, 1 inside.

    A column of -1 stands for all of the persons.
    """
    records, offsets, values = known.records, known.sensitive_offsets, known.sensitive
    sharing, counts, sharers = limits.sharing, scratch.counts, scratch.sharers
    most_shared, distinct = scratch.most_shared, scratch.distinct
    most_shared[:] = 0
    distinct[:] = 0
    rare, persons = 0, 0
    for place in places:
        person = order[place]
        if column >= 0 and (member[person] == column) != (side == 1):
            continue
        persons += 1
        _add(person, offsets, values, limits.attribute_of, sharers, most_shared, distinct)
        if sharing > 1:
            number = counts[records[person]] + 1
            counts[records[person]] = number
            rare += (number == 1) - (number == sharing)
    _forget(places, order, offsets, values, sharers)
    if sharing > 1:
        for place in places:
            counts[records[order[place]]] = 0
    return rare == 0 and _met(persons, most_shared, distinct, limits.affiliation, limits.distinct)


@compiled
def members_meet(
    order: Codes,
    start: int,
    stop: int,
    member: Codes,
    column: int,
    known: Known,
    limits: Limits,
    scratch: Scratch,
) -> bool:
    """Whether the members of a column and the others of a node both keep the promises."""
    places = range(start, stop)
    for side in range(2):
        if not _side_meets(places, order, member, column, side, known, limits, scratch):
            return False
    return True


@compiled
def place_meets(
    order: Codes,
    start: int,
    end: int,
    stop: int,
    known: Known,
    limits: Limits,
    scratch: Scratch,
) -> bool:
    """Whether the persons before ``end`` and the others of a node both keep the promises."""
    left, right = range(start, end), range(end, stop)
    for places in (left, right):
        if not _side_meets(places, order, order, plain(-1), plain(0), known, limits, scratch):
            return False
    return True
