"""Summarise equivalence classes: every number that a measure reads, counted once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.kernels.distances import class_ordered_distances
from sfumato.kernels.sharing import SharingCounts, count_sharing
from sfumato.kernels.summaries import (
    ClassOrder,
    PersonCounts,
    ValueCounts,
    class_order,
    count_persons,
    count_records,
    count_values,
    in_order,
)
from sfumato.risk.classes import ClassSummary, Counts, Floats

Codes = npt.NDArray[np.int32]
BLOCK = 1 << 16
"""Records that are looked at together, so that what is made of them stays in a cache."""


def summarize(
    class_of: Codes,
    classes: int,
    person: Codes,
    sensitive: Mapping[str, Codes],
    shown: Codes | None = None,
    ranks: Mapping[str, Codes] | None = None,
) -> ClassSummary:
    """Count records, persons and sensitive values of every equivalence class.

    One sort of the records by class and person, then one pass for the persons, one for their
    numbers of records and one per sensitive attribute: O(records x (1 + attributes)). Where
    every record is a person of its own and nothing is sensitive, counting them is enough.

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,); no class is empty.
    classes
        Number of classes.
    person
        Index of each record's person, from 0, shape (records,). A person may have records in
        several classes.
    sensitive
        Codes of each sensitive attribute, from 0, -1 for missing; shape (records,) each.
    shown
        Index of the id that each record shows where a person may have several, numbered person
        by person; shape (records,). Without it everybody has one.
    ranks
        For sensitive attributes whose ordered distance is to be measured, the rank of each of
        their values, from 0 without a gap.

    Raises
    ------
    InputError
        If there is no record, the arrays differ in length, a class number is out of range, or
        a class is empty.
    """
    _check(class_of, classes, person, sensitive, shown)
    records, first = count_records(class_of, classes)
    if records.min() == 0:
        raise InputError("parameter class_of", "must give every class a record")
    single = shown is None and _own_each(person)
    order = None if single and not sensitive else class_order(class_of, records, person)
    if single or order is None:
        ones = np.broadcast_to(np.int64(1), len(records))
        counts = PersonCounts(records, records, ones, first)
        sharing = _alone_or_equal(records, first)
    else:
        counts = count_persons(order)
        sharing = _sharing(order, class_of, records, person, shown)
    values, distances = ({}, {}) if order is None else _values(order, sensitive, ranks or {})
    return ClassSummary(
        records=records,
        persons=counts.persons,
        squares=counts.squares,
        largest=counts.largest,
        affiliation={name: value.affiliation for name, value in values.items()},
        distinct={name: value.distinct for name, value in values.items()},
        distance={name: value.distance for name, value in values.items()},
        ordered_distance=distances,
        fewest_sharing=sharing.fewest,
        first_row=first,
        largest_row=counts.largest_row,
        affiliation_row={name: value.affiliation_row for name, value in values.items()},
        entropy={name: value.entropy for name, value in values.items()},
        valued={name: value.valued for name, value in values.items()},
        commonest={name: value.commonest for name, value in values.items()},
        fewest_sharing_row=sharing.fewest_row,
        alone=sharing.alone,
        count_risk=sharing.risk,
        count_risk_row=sharing.risk_row,
        count_risk_total=sharing.risk_total,
    )


def _own_each(person: Codes) -> bool:
    """Whether every record is a person of its own, numbered as the rows are."""
    return all(
        np.array_equal(person[start : start + BLOCK], np.arange(start, min(start + BLOCK, end)))
        for end in [len(person)]
        for start in range(0, end, BLOCK)
    )


def _sharing(
    order: ClassOrder, class_of: Codes, records: Counts, person: Codes, shown: Codes | None
) -> SharingCounts:
    """What the numbers of records give away; ids are the persons where ``shown`` is not given."""
    if shown is None:
        return count_sharing(order, order.owners)
    by_id = class_order(class_of, records, shown)
    return count_sharing(by_id, in_order(by_id, person))


def _values(
    order: ClassOrder, sensitive: Mapping[str, Codes], ranks: Mapping[str, Codes]
) -> tuple[dict[str, ValueCounts], dict[str, Floats]]:
    """What the values of each sensitive attribute say, and the ordered distances asked for."""
    values, distances = {}, {}
    for name, codes in sensitive.items():
        size = max(int(codes.max()) + 1, len(ranks.get(name, ())))
        file = _frequencies(codes, size)
        values[name] = count_values(order, in_order(order, codes), file)
        if name in ranks:
            distances[name] = class_ordered_distances(
                order.rows, order.starts, codes, file, ranks[name]
            )
    return values, distances


def _frequencies(codes: Codes, size: int) -> Counts:
    """Number of records with each code; missing ones are left out."""
    counts = np.zeros(size + 1, dtype=np.int64)
    length = max(BLOCK, size)
    for start in range(0, len(codes), length):
        counts += np.bincount(codes[start : start + length] + 1, minlength=size + 1)
    return counts[1:]


def _alone_or_equal(records: Counts, first: Counts) -> SharingCounts:
    """Where every record is a person of its own: all of a class have the same number, 1."""
    alone, ones = (records == 1).astype(np.int32), np.broadcast_to(1.0, len(records))
    return SharingCounts(records, first, alone, 1 / records, first, ones)


def _check(
    class_of: Codes,
    classes: int,
    person: Codes,
    sensitive: Mapping[str, Codes],
    shown: Codes | None,
) -> None:
    if len(class_of) == 0:
        raise InputError("the data", "must have at least one record", found="none")
    lengths = {"person": len(person)} | {
        f"column '{name}'": len(codes) for name, codes in sensitive.items()
    }
    lengths |= {} if shown is None else {"parameter shown": len(shown)}
    for name, length in lengths.items():
        if length != len(class_of):
            raise InputError(
                name,
                "must have one entry per record",
                found=f"{length} entries for {len(class_of)} records",
            )
    if class_of.min() < 0 or class_of.max() >= classes:
        raise InputError("parameter class_of", "must number the classes from 0 to classes - 1")
    if person.min() < 0:
        raise InputError("parameter person", "must number the persons from 0")
