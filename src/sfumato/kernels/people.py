"""What the records of each person say: from rows in file order to flat arrays per person.

Every function but the first reads the records through ``rows`` and ``starts``, which `group_rows`
gives: ``rows[starts[p]:starts[p + 1]]`` are the records of person p, in file order. Codes are
-1 where the value is missing. Small inputs run the NumPy twin.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np

from sfumato.kernels import people_twin
from sfumato.kernels.choose import worth_compiling
from sfumato.kernels.people_twin import Codes, Floats, Ints


class Sums(NamedTuple):
    """The values of each person; shape (persons,).

    Attributes
    ----------
    total, square
        Sum and sum of squares, added up by ascending code, whatever the order of the rows.
    present
        Number of values.
    lowest, highest
        Lowest and highest code; 2**31 - 1 and -1 where there is no value.
    """

    total: Floats
    square: Floats
    present: Ints
    lowest: Codes
    highest: Codes


def _loops(records: int) -> ModuleType:
    if not worth_compiling(records):
        return people_twin
    from sfumato.kernels import people_loops

    return people_loops


def group_rows(person: Codes, persons: int) -> tuple[Codes, Ints]:
    """The rows of each person, by one counting sort: O(records + persons).

    Parameters
    ----------
    person
        Person of each record in [0, persons).
    persons
        Number of persons.
    """
    rows, starts = _loops(len(person)).group_rows(person, persons)
    return rows, starts


def sums(rows: Codes, starts: Ints, codes: Codes, values: Floats) -> Sums:
    """Add up the ``values`` of each person's codes.

    O(records) and a sort of the codes of each person who has several.
    """
    return Sums(*_loops(len(rows)).sums(rows, starts, codes, values))


def mean_ranks(rows: Codes, starts: Ints, codes: Codes, points: Ints) -> tuple[Ints, int]:
    """Rank of each person's mean, compared exactly, and how many ranks there are.

    Parameters
    ----------
    rows, starts, codes
        The records; a person without a value has the lowest point as mean.
    points
        The integer of each code, ascending.
    """
    most = int(np.diff(starts).max())
    spread = int(points[-1]) - int(points[0])
    if not worth_compiling(len(rows)) or max(spread + 1, most) * most**2 >= 1 << 62:
        return people_twin.mean_ranks(rows, starts, codes, points)
    from sfumato.kernels import people_loops

    keys = people_loops.mean_keys(rows, starts, codes, points, most)
    by_mean = np.argsort(keys)
    rank = np.empty(len(keys), dtype=np.int64)
    return rank, int(people_loops.rank(keys, by_mean, rank))


def exact_means(rows: Codes, starts: Ints, codes: Codes, points: Ints) -> tuple[Ints, Floats]:
    """Each person's mean above the lowest point, so that means of several calls compare exactly.

    Parameters
    ----------
    rows, starts, codes
        The records, fewer than 2**26 a person; a person without a value has the lowest point.
    points
        The integer of each code, ascending.

    Returns
    -------
    tuple
        Whole part and fraction; shape (persons,).
    """
    return people_twin.exact_means(rows, starts, codes, points)


def modes(rows: Codes, starts: Ints, codes: Codes, size: int) -> Codes:
    """Each person's most frequent code, the lowest of ties; ``size`` where there is none."""
    found: Codes = _loops(len(rows)).modes(rows, starts, codes, size)
    return found


def distinct(rows: Codes, starts: Ints, codes: Codes) -> tuple[Ints, Codes, Codes]:
    """The distinct codes of each person and how often they occur, as compressed rows.

    Parameters
    ----------
    rows, starts, codes
        The records.

    Returns
    -------
    tuple
        Where each person's codes start, shape (persons + 1,); the codes, ascending within a
        person; and the number of records with each.
    """
    offsets, values, counts = _loops(len(rows)).distinct(rows, starts, codes)
    return offsets, values, counts


def take_rows(
    offsets: Ints, values: Codes, counts: Codes, chosen: Codes
) -> tuple[Ints, Codes, Codes]:
    """Some of the compressed rows, in another order."""
    taken: tuple[Ints, Codes, Codes] = _loops(len(values)).take_rows(
        offsets, values, counts, chosen
    )
    return taken
