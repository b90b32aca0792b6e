"""Summarise equivalence classes: every number that a measure reads, counted once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.kernels.distances import class_distances, class_ordered_distances
from sfumato.kernels.sharing import SharingCounts, count_sharing
from sfumato.kernels.summaries import (
    PersonCounts,
    ValueCounts,
    class_order,
    count_persons,
    count_values,
)
from sfumato.kernels.threads import in_background
from sfumato.risk.classes import ClassSummary, Counts

Codes = npt.NDArray[np.int32]


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
    numbers of records and one per sensitive attribute: O(records x (1 + attributes)).

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
    rows, starts = class_order(class_of, classes, person)
    records = np.diff(starts)
    if records.min() == 0:
        raise InputError("parameter class_of", "must give every class a record")
    if shown is None and np.array_equal(person, np.arange(len(person))):
        first = rows[starts[:-1]].astype(np.int64)
        counts = PersonCounts(records, records, np.ones_like(records), first, first)
        coming: Callable[[], SharingCounts] = partial(_alone_or_equal, records, first)
    else:
        by_id = (rows, starts) if shown is None else class_order(class_of, classes, shown)
        own = person if shown is None else shown
        coming = in_background(partial(count_sharing, *by_id, person, own))
        counts = count_persons(rows, starts, person)
    values: dict[str, ValueCounts] = {
        name: count_values(rows, starts, person, codes, int(codes.max()) + 1)
        for name, codes in sensitive.items()
    }
    ranks = ranks or {}
    files = {
        name: np.bincount(codes + 1, minlength=len(ranks.get(name, ())) + 1)[1:]
        for name, codes in sensitive.items()
    }
    sharing = coming()
    return ClassSummary(
        records=records,
        persons=counts.persons,
        squares=counts.squares,
        largest=counts.largest,
        affiliation={name: value.affiliation for name, value in values.items()},
        distinct={name: value.distinct for name, value in values.items()},
        distance={
            name: class_distances(rows, starts, codes, files[name])
            for name, codes in sensitive.items()
        },
        ordered_distance={
            name: class_ordered_distances(rows, starts, sensitive[name], files[name], rank)
            for name, rank in ranks.items()
        },
        fewest_sharing=sharing.fewest,
        first_row=counts.first_row,
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


def _alone_or_equal(records: Counts, first: Counts) -> SharingCounts:
    """Where every record is a person of its own: all of a class have the same number, 1."""
    alone = (records == 1).astype(np.int64)
    return SharingCounts(records, first, alone, 1 / records, first, np.ones(len(records)))


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
