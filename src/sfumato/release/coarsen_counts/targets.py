"""The largest numbers of records that enough persons of a class can share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def shared_targets(records: Ints, m: int) -> Ints:
    """Lower numbers of records so that m persons or more share each, losing fewest records.

    In descending order of their numbers, persons who share one number can be taken next to each
    other, and their number is the least of theirs; a run of 2m persons or more loses nothing by
    being cut in two. The best runs of m to 2m - 1 persons follow by dynamic programming:
    O(persons · m).

    Parameters
    ----------
    records
        Number of records of each person of a class; shape (persons,).
    m
        How many persons must share a number; at most the number of persons.

    Returns
    -------
    array
        The number that each person keeps, between 1 and ``records``; shape (persons,).
    """
    persons = len(records)
    descending = np.argsort(-records, kind="stable")
    numbers = records[descending].tolist()
    kept = [0] + [-1] * persons
    run = [0] * (persons + 1)
    for end in range(m, persons + 1):
        least = numbers[end - 1]
        for size in range(m, min(2 * m - 1, end) + 1):
            before = kept[end - size]
            if before >= 0 and before + size * least > kept[end]:
                kept[end], run[end] = before + size * least, size
    targets = np.empty(persons, dtype=np.int64)
    end = persons
    while end:
        targets[descending[end - run[end] : end]] = numbers[end - 1]
        end -= run[end]
    return targets


def targets_by_class(records: Ints, class_of_person: npt.NDArray[np.integer], m: int) -> Ints:
    """`shared_targets` of every class; a class whose numbers are shared already is left alone.

    Parameters
    ----------
    records
        Number of records of each person; shape (persons,).
    class_of_person
        Class of each person; every class has at least m persons.
    m
        How many persons must share a number.
    """
    by_class = np.lexsort((records, class_of_person))
    new_class = np.diff(class_of_person[by_class], prepend=-1) != 0
    new_number = new_class | (np.diff(records[by_class], prepend=-1) != 0)
    sharing = np.diff(np.append(np.flatnonzero(new_number), len(records)))
    rare = np.repeat(sharing, sharing) < m
    starts = np.append(np.flatnonzero(new_class), len(records))
    targets = records.copy()
    for place in np.flatnonzero(np.logical_or.reduceat(rare, starts[:-1])).tolist():
        members = by_class[starts[place] : starts[place + 1]]
        targets[members] = shared_targets(records[members], m)
    return targets
