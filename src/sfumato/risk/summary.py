"""Summarise equivalence classes: every number that a measure reads, counted once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.kernels.summaries import ValueCounts, class_order, count_persons, count_values
from sfumato.risk.classes import ClassSummary

Codes = npt.NDArray[np.int32]


def summarize(
    class_of: Codes, classes: int, person: Codes, sensitive: Mapping[str, Codes]
) -> ClassSummary:
    """Count records, persons and sensitive values of every equivalence class.

    One sort of the records by class and person, then one pass for the persons and one per
    sensitive attribute: O(records x (1 + attributes)).

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

    Raises
    ------
    InputError
        If there is no record, the arrays differ in length, a class number is out of range, or
        a class is empty.
    """
    _check(class_of, classes, person, sensitive)
    rows, starts = class_order(class_of, classes, person)
    records = np.diff(starts)
    if records.min() == 0:
        raise InputError("parameter class_of", "must give every class a record")
    counts = count_persons(rows, starts, person)
    values: dict[str, ValueCounts] = {
        name: count_values(rows, starts, person, codes, int(codes.max()) + 1)
        for name, codes in sensitive.items()
    }
    return ClassSummary(
        records=records,
        persons=counts.persons,
        squares=counts.squares,
        largest=counts.largest,
        affiliation={name: value.affiliation for name, value in values.items()},
        distinct={name: value.distinct for name, value in values.items()},
        first_row=counts.first_row,
        largest_row=counts.largest_row,
        affiliation_row={name: value.affiliation_row for name, value in values.items()},
        entropy={name: value.entropy for name, value in values.items()},
        valued={name: value.valued for name, value in values.items()},
        commonest={name: value.commonest for name, value in values.items()},
    )


def _check(class_of: Codes, classes: int, person: Codes, sensitive: Mapping[str, Codes]) -> None:
    if len(class_of) == 0:
        raise InputError("the data", "must have at least one record", found="none")
    lengths = {"person": len(person)} | {
        f"column '{name}'": len(codes) for name, codes in sensitive.items()
    }
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
