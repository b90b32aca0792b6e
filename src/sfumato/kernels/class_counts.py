"""What is counted in equivalence classes, and what the records of each person say.

The counts of classes read the records in one order: by class, within a class by person, within a
person by row. It is made once for all classes; what follows is counted for some of them at a time.

Distances are those of a class's sensitive values from the file's. Distributions are over records
that have a value. The equal distance is the total variation distance; the ordered one is the earth
mover's distance when neighbouring ranks lie 1 / (ranks - 1) apart (Li, Li & Venkatasubramanian
2007, Section 4). Both are 0 where there is no value.

What persons say is read through ``rows`` and ``starts``, which `group_rows` gives:
``rows[starts[p]:starts[p + 1]]`` are the records of person p, in file order. Codes are -1 where the
value is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

import sfumato.kernels._classes as _classes
from sfumato.kernels.loop_calls import (
    Bools,
    Codes,
    Floats,
    Integers,
    Ints,
    as_declared,
    floats,
    in_threads,
    ints,
    parts,
)

MANY = 32
"""Records of a class, on average, from which all of them are sorted together."""
LARGE = 4096
"""Records of a class from which NumPy sorts it, by vector instructions."""
ROW_BITS = 32
ROW = (1 << ROW_BITS) - 1
"""The bits of a key that hold its row; those above hold its person."""
SCANS = 4
"""Runs of classes, each of which looks through all records for its own."""
WORTH_A_THREAD = 20_000
"""Records of a call from which it is divided among the processors."""


class PersonCounts(NamedTuple):
    """What the records of each person say; every array has shape (classes,).

    Attributes
    ----------
    persons
        Number of distinct persons.
    squares
        Sum over persons of the squared number of their records in the class.
    largest
        Number of records of the person who has most of them in the class.
    largest_row
        0-based row of that person's first record in the class; of tied persons the first row.
    """

    persons: Ints
    squares: Ints
    largest: Integers
    largest_row: Integers


class ValueCounts(NamedTuple):
    """What the values of one sensitive attribute say; shape (classes,) unless stated.

    A missing value is no value: it is counted nowhere here.

    Attributes
    ----------
    affiliation
        Number of persons who share the most shared value.
    affiliation_row
        0-based row of the first record with that value (of tied values the first row); -1 in a
        class without a value.
    distinct
        Number of distinct values.
    entropy
        Entropy of the records' values, in nats; 0 in a class without a value.
    commonest
        Number of records with the commonest and with the second commonest value, shape
        (classes, 2).
    distance
        Equal distance of the records' values from those of the whole file, as said above.
    """

    affiliation: Integers
    affiliation_row: Integers
    distinct: Integers
    entropy: Floats
    valued: Integers
    commonest: Integers
    distance: Floats


class ClassOrder(NamedTuple):
    """The records of some classes by class, within a class by person, within a person by row.

    Attributes
    ----------
    rows
        The 0-based rows in that order, shape (records,).
    starts
        Where each class starts in it, shape (classes + 1,).
    owners
        The person of each of ``rows``, shape (records,).
    """

    rows: Codes
    starts: Ints
    owners: Codes


@dataclass(frozen=True, eq=False)
class RecordOrder:
    """All records by class, within a class by person, within a person by row.

    Attributes
    ----------
    keys
        The person of each record times 2**32, plus its 0-based row; shape (records,).
    starts
        Where each class starts, shape (classes + 1,).
    """

    keys: Ints
    starts: Ints

    def part(self, start: int, stop: int) -> ClassOrder:
        """The records of the classes from ``start`` to before ``stop``."""
        # Person and row in one number sort as one key; here they come apart again.
        begin, end = self.starts[start], self.starts[stop]
        own = self.keys[begin:end]
        return ClassOrder(
            (own & ROW).astype(np.int32),
            self.starts[start : stop + 1] - begin,
            (own >> ROW_BITS).astype(np.int32),
        )


@as_declared
def count_records(class_of: Codes, classes: int) -> tuple[Ints, Codes]:
    """The number of records of each class, and its 0-based first row: O(records).

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,).
    classes
        Number of classes. The first row of one without a record means nothing.
    """
    # Count and first row side by side: one cache line for each record's class.
    counts = np.zeros((classes, 2), dtype=np.int32)
    _classes.count_records(class_of, counts)
    return counts[:, 0].astype(np.int64), counts[:, 1].copy()


@as_declared
def class_order(class_of: Codes, records: Ints, person: Codes) -> RecordOrder:
    """Order the records by class, within a class by person, within a person by row.

    Classes of few records are sorted each by itself, after one pass that moves the records to
    their classes. Where they have many, two stable counting sorts take O(records + persons +
    classes).

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,).
    person
        Index of each record's person, from 0, shape (records,).
    """
    starts = np.zeros(len(records) + 1, dtype=np.int64)
    np.cumsum(records, out=starts[1:])
    keys = np.empty(len(person), dtype=np.int64)
    # Sorting each large class costs n log n; the counting sorts over all are linear.
    if len(person) > MANY * len(records):
        by_person = np.empty_like(person)
        place = np.zeros(int(person.max()) + 2, dtype=np.int64)
        _classes.order_by_person(person, place, by_person)
        _classes.order_by_class(class_of, person, by_person, starts[:-1].copy(), keys)
        return RecordOrder(keys, starts)

    def order(begin: int, end: int) -> None:
        place = starts[begin:end].copy()
        _classes.order_classes(class_of, person, starts, begin, LARGE, place, keys)
        # The loop leaves large classes unsorted, as NumPy is faster there.
        for t in begin + np.flatnonzero(records[begin:end] >= LARGE):
            keys[starts[t] : starts[t + 1]].sort()

    if len(person) <= WORTH_A_THREAD:
        order(0, len(records))
        return RecordOrder(keys, starts)
    wanted = len(person) * np.arange(1, SCANS) // SCANS
    edges = [0, *np.searchsorted(starts, wanted).tolist(), len(records)]
    in_threads([partial(order, *edge) for edge in pairwise(edges)])
    return RecordOrder(keys, starts)


@as_declared
def in_order(order: ClassOrder, codes: Codes) -> Codes:
    """A column in the order of some classes, shape (records,)."""
    taken = np.empty_like(order.rows)
    _classes.take(codes, order.rows, taken)
    return taken


def count_persons(order: ClassOrder) -> PersonCounts:
    """Count the records of each person in each class, none of them empty: O(records)."""
    rows, starts, owners = order
    counts = np.empty((2, len(starts) - 1), dtype=np.int64)
    largest = np.empty((2, len(starts) - 1), dtype=np.int32)
    _classes.count_persons(rows, starts, owners, counts, largest)
    return PersonCounts(*counts, *largest)


@as_declared
def count_values(order: ClassOrder, codes: Codes, file: Ints) -> ValueCounts:
    """Count the records and the persons of each sensitive value in each class: O(records).

    Parameters
    ----------
    order
        Records of some classes, none of them empty.
    codes
        Sensitive value of each record in [-1, values), -1 for missing, as `in_order` gives them.
    file
        Number of records of the file with each value, shape (values,).
    """
    rows, starts, owners = order
    share = file / max(file.sum(), 1)
    counts = np.empty((6, len(starts) - 1), dtype=np.int32)
    spread = np.empty((2, len(starts) - 1))
    # A value not met in a class has -1, which the loop
    # puts back after it: no array per class is cleared.
    scratch = np.full((5, len(share)), -1, dtype=np.int64)
    _classes.count_values(rows, starts, owners, codes, floats(share), scratch, counts, spread)
    affiliation, affiliation_row, distinct, valued = counts[:4]
    entropy, distance = spread
    commonest = counts[4:].T
    return ValueCounts(affiliation, affiliation_row, distinct, entropy, valued, commonest, distance)


class SharingCounts(NamedTuple):
    """What the numbers of records in each class give away; every array has shape (classes,).

    The number of records of an id is called its size here. With one id per person, the share of
    the ids of a size that are one person's is 1 / (persons who have that number of records).

    Attributes
    ----------
    fewest
        Over the sizes that occur, the fewest persons who have an id of one size.
    fewest_row
        0-based first row with such a size.
    alone
        Number of persons who have an id of a size that nobody else of the class has.
    risk
        Largest share of the ids of one size that are one person's.
    risk_row
        0-based first row of an id with that share.
    risk_total
        Sum over persons of the largest such share of each.
    """

    fewest: Integers
    fewest_row: Integers
    alone: Integers
    risk: Floats
    risk_row: Integers
    risk_total: Floats


@as_declared
def count_sharing(order: ClassOrder, person: Codes) -> SharingCounts:
    """Count in each class the persons who share a number of records: O(records).

    Parameters
    ----------
    order
        Records of some classes, none of them empty, by the ids that they show.
        Ids are the persons themselves, unless a person has several, which are then numbered one
        after the other.
    person
        Index of each record's person, in that order, shape (records,).
    """
    rows, starts, shown = order
    counts = np.empty((4, len(starts) - 1), dtype=np.int32)
    risks = np.empty((2, len(starts) - 1))
    scratch = np.zeros((6, _classes.longest_run(shown) + 1), dtype=np.int64)
    runs = np.empty((3, int(np.diff(starts).max())), dtype=np.int32)
    _classes.count_sharing(rows, starts, person, shown, scratch, runs, counts, risks)
    fewest, fewest_row, alone, risk_row = counts
    return SharingCounts(fewest, fewest_row, alone, risks[0], risk_row, risks[1])


@as_declared
def class_ordered_distances(
    rows: Codes, starts: Ints, codes: Codes, file: Ints, rank: Codes
) -> Floats:
    """The ordered distance of each class: O(v log r) for the v values of the classes.

    The equal one is counted with the values, by `count_values`.

    Parameters
    ----------
    rows, starts
        As `class_order` gave them.
    codes
        Value of each record, -1 for missing, shape (records,).
    rank
        Rank of each value, from 0 without a gap.

    Returns
    -------
    array
        Shape (classes,).
    """
    if not file.any():
        return np.zeros(len(starts) - 1)
    below, sums = cumulated(file, rank)
    loop, given = _classes.class_ordered_distances, (codes, rank, below, sums)
    runs = parts(starts[1:], WORTH_A_THREAD)
    tasks = [partial(loop, rows, starts[:-1][run], starts[1:][run], *given) for run in runs]
    return np.concatenate(in_threads(tasks))


def cumulated(file: Ints, rank: Codes) -> tuple[Floats, Floats]:
    """The file's share at or below each rank but the last, and the sums of those before each.

    Parameters
    ----------
    file
        Number of records of the file with each value, not all 0.
    rank
        Rank of each value, from 0 without a gap.
    """
    below = np.cumsum(np.bincount(rank, weights=file))[:-1] / file.sum()
    return below, np.concatenate([[0.0], np.cumsum(below)])


def moved_between(start: Ints, stop: Ints, reached: Floats, below: Floats, sums: Floats) -> Floats:
    """Sum of |reached - below| over the ranks from start to before stop: O(log r) each."""
    # `below` ascends: it is less than reached up to one rank and more from there on, so that the
    # absolute values become two sums.
    cross = np.clip(np.searchsorted(below, reached), start, stop)
    less = reached * (cross - start) - (sums[cross] - sums[start])
    return np.asarray(less + (sums[stop] - sums[cross]) - reached * (stop - cross))


LIMB = 26
"""Bits of a limb: points have at most 53 bits and are summed in two limbs."""


class Sums(NamedTuple):
    """The values of each person; shape (persons,).

    Attributes
    ----------
    total, square
        Sum and sum of squares, added up by ascending code, whatever the order of the rows.
    lowest, highest
        Lowest and highest code; 2**31 - 1 and -1 where there is no value.
    """

    total: Floats
    square: Floats
    present: Ints
    lowest: Codes
    highest: Codes


@as_declared
def group_rows(person: Codes, persons: int) -> tuple[Codes, Ints]:
    """The rows of each person in [0, persons), by one counting sort: O(records + persons)."""
    return _classes.group_rows(person, persons)


@as_declared
def sums(rows: Codes, starts: Ints, codes: Codes, values: Floats) -> Sums:
    """Add up the ``values`` of each person's codes.

    O(records) and a sort of the codes of each person who has several.
    """
    return Sums(*_classes.sums(rows, starts, codes, values))


@as_declared
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
    # The keys of means multiply a point by counts of records; beyond 62 bits they would overflow.
    if max(spread + 1, most) * most**2 >= 1 << 62:
        return _exact_ranks(rows, starts, codes, points)
    keys = _classes.mean_keys(rows, starts, codes, points, most)
    # Equal keys get equal ranks, whatever order the sort leaves them in: it need not be stable.
    by_mean = np.argsort(keys)
    rank = np.empty(len(keys), dtype=np.int64)
    return rank, _classes.rank(keys, ints(by_mean), rank)


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
    own = codes[rows]
    known = own >= 0
    # A person without a value has the mean 0 / 1, that of the lowest point.
    count = np.maximum(np.add.reduceat(known.astype(np.int64), starts[:-1]), 1)
    shifted = np.where(known, points[own] - points[0], 0)
    high = np.add.reduceat(shifted >> LIMB, starts[:-1])
    low = np.add.reduceat(shifted & ((1 << LIMB) - 1), starts[:-1])
    # Long division of a sum of two limbs: the rest of the
    # high one is carried down, and nothing is rounded.
    high_floor, high_rest = np.divmod(high + (low >> LIMB), count)
    low_floor, rest = np.divmod((high_rest << LIMB) + (low & ((1 << LIMB) - 1)), count)
    return (high_floor << LIMB) + low_floor, rest / count


def _exact_ranks(rows: Codes, starts: Ints, codes: Codes, points: Ints) -> tuple[Ints, int]:
    """The ranks of `mean_ranks`, whatever the points.

    The mean of integers is floor + remainder/count. The floor is an integer; two different
    remainders over counts below 2**26 differ by more than the spacing of doubles in [0, 1),
    and equal ones divide to the same double, so the pair orders exactly.
    """
    floor, fraction = exact_means(rows, starts, codes, points)
    by_mean = np.lexsort((fraction, floor))
    changes = np.zeros(len(floor), dtype=np.int64)
    changes[1:] = (np.diff(floor[by_mean]) != 0) | (np.diff(fraction[by_mean]) != 0)
    rank = np.empty(len(floor), dtype=np.int64)
    rank[by_mean] = np.cumsum(changes)
    return rank, int(changes.sum()) + 1


@as_declared
def modes(rows: Codes, starts: Ints, codes: Codes, size: int) -> Codes:
    """Each person's most frequent code, the lowest of ties; ``size`` where there is none."""
    return _classes.modes(rows, starts, codes, size)


@as_declared
def distinct(rows: Codes, starts: Ints, codes: Codes) -> tuple[Ints, Codes, Codes]:
    """The distinct codes of each person and how often they occur, as compressed rows.

    Starts of persons, shape (persons + 1,); codes, ascending within one; records with each.
    """
    return _classes.distinct(rows, starts, codes)


@as_declared
def take_rows(
    offsets: Ints, values: Codes, counts: Codes, chosen: Codes
) -> tuple[Ints, Codes, Codes]:
    """Some of the compressed rows, in another order."""
    return _classes.take_rows(offsets, values, counts, chosen)


class Holding(NamedTuple):
    """Who has what of which events in each class; labels are what records show of an event.

    Without pseudonyms of their own, ids and persons are the same, in the same order.

    Attributes
    ----------
    own_starts, own_classes, own_ids
        The classes in which each person has ids, and how many, as compressed rows.
    known_starts, known_low, known_high
        The distinct events of each person as compressed rows; the label of a record that fits an
        event lies between these two. Both ascend within a person.
    id_starts, labels, counts
        The distinct labels that each id shows as compressed rows, ascending, and how many records
        of the id show each.
    owners
        Person of each id; shape (ids,).
    detailed
        Which ids show something beside the labels; shape (ids,).
    silent
        Which labels say nothing, such as ``*``; shape (labels,), or empty where all say something.
    class_ids
        Number of ids of each class; shape (classes,).
    class_starts, list_labels, list_ids
        The ids by class and label: those of a class start at its place in ``class_starts``.
    """

    own_starts: Ints
    own_classes: Codes
    own_ids: Codes
    known_starts: Ints
    known_low: Codes
    known_high: Codes
    id_starts: Ints
    labels: Codes
    counts: Codes
    owners: Codes
    detailed: Bools
    silent: Bools
    class_ids: Ints
    class_starts: Ints
    list_labels: Codes
    list_ids: Codes


class Holders(NamedTuple):
    """What each set of known events gives away; every array has shape (sets,).

    Attributes
    ----------
    found
        Chance that an id drawn from those that fit is the person's.
    looked
        Number of entries of lists that were looked at, of all sets together.
    """

    found: Floats
    learned: Floats
    holders: Codes
    looked: int


@as_declared
def count_holders(holding: Holding, persons: Codes, sets: Codes) -> Holders:
    """Count the ids of a person's class that fit each set of known events.

    An id fits that has a record of its own for each event. Where persons have several ids, that
    part of the events, in that of their classes, decides by which the person is found most surely.
    The shortest of the lists of ids of a set's events is looked through: O(length of that list x
    log labels) a set.

    Parameters
    ----------
    persons
        Person of each set; shape (sets,).
    sets
        Places of known events in ``known_low``, ascending, -1 for none; shape (sets, m), m at
        most 8.
    """
    found, learned = np.zeros(len(sets)), np.zeros(len(sets))
    holders = np.zeros(len(sets), dtype=np.int32)
    looked = _classes.count_holders(sets, persons, holding, found, learned, holders)
    return Holders(found, learned, holders, looked)
