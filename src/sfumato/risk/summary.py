"""Summarise equivalence classes: every number that a measure reads, counted once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.kernels.class_counts import (
    ClassOrder,
    PersonCounts,
    SharingCounts,
    ValueCounts,
    class_order,
    class_ordered_distances,
    count_persons,
    count_records,
    count_sharing,
    count_values,
    in_order,
)
from sfumato.kernels.threads import in_threads
from sfumato.risk.classes import ClassSummary, Counts, Floats, Integers, LaterSummary

Codes = npt.NDArray[np.int32]
BLOCK = 1 << 16
"""Records that are looked at together, so that what is made of them stays in a cache."""
_Result = TypeVar("_Result")


class ClassBlocks:
    """The numbers of equivalence classes, counted for some thousand classes at a time.

    One sort of the records by class and person, then for each block one pass for the persons,
    one for their numbers of records and one per sensitive attribute: O(records x (1 +
    attributes)). Where every record is a person of its own and nothing is sensitive, counting
    them is enough. What is read of a block is thrown away with it, unless there is only one.

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

    def __init__(
        self,
        class_of: Codes,
        classes: int,
        person: Codes,
        sensitive: Mapping[str, Codes],
        shown: Codes | None = None,
        ranks: Mapping[str, Codes] | None = None,
    ) -> None:
        _check(class_of, classes, person, sensitive, shown)
        self._records, self._first = count_records(class_of, classes)
        if self._records.min() == 0:
            raise InputError("parameter class_of", "must give every class a record")
        self._person, self._sensitive, self._ranks = person, sensitive, ranks or {}
        self._single = shown is None and _own_each(person)
        self._order = self._by_id = None
        if sensitive or not self._single:
            self._order = class_order(class_of, self._records, person)
        if shown is not None:
            self._by_id = class_order(class_of, self._records, shown)
        sizes = {
            name: max(int(codes.max()) + 1, len(self._ranks.get(name, ())))
            for name, codes in sensitive.items()
        }
        self._file = {name: _frequencies(sensitive[name], size) for name, size in sizes.items()}
        self._edges = self._ends_of_blocks(max(BLOCK, *sizes.values(), 0))

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self._records)

    def look(self, at: Callable[[ClassSummary, int], _Result]) -> list[_Result]:
        """What is seen in each block, in their order.

        Parameters
        ----------
        at
            Given a block, and the number of its first class.
        """
        if self._one:
            return [at(self.summary, 0)]
        blocks = list(pairwise(self._edges))
        return in_threads([partial(self._look, at, *block) for block in blocks])

    @cached_property
    def summary(self) -> ClassSummary:
        """The numbers of all classes; where there are several blocks, made when they are read."""
        return self._part(0, self.classes) if self._one else LaterSummary(self.whole)

    @property
    def _one(self) -> bool:
        return len(self._edges) == 2

    def _look(self, at: Callable[[ClassSummary, int], _Result], start: int, stop: int) -> _Result:
        return at(self._part(start, stop), start)

    def _ends_of_blocks(self, records: int) -> list[int]:
        """Where each block of classes ends, after 0; one has about so many records, or classes."""
        if self._order is None:
            return [*range(0, self.classes, records), self.classes]
        starts = self._order.starts
        wanted = np.arange(records, starts[-1], records)
        edges = np.searchsorted(starts, wanted).tolist()
        return sorted({0, *edges, self.classes})

    def whole(self) -> ClassSummary:
        """The numbers of all classes."""
        if self._one:
            return self.summary
        start, stop = self._edges[:2]
        first = self._part(start, stop)

        def room(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
            known = self.classes if len(array) else 0
            return np.empty((known, *array.shape[1:]), array.dtype)

        whole = first.each_array(room)

        def fill(part: ClassSummary, start: int) -> None:
            for mine, own in zip(whole.arrays(), part.arrays(), strict=True):
                mine[start : start + len(own)] = own

        self.look(fill)
        return whole

    def _part(self, start: int, stop: int) -> ClassSummary:
        """The numbers of the classes from ``start`` to before ``stop``."""
        records, first = self._records[start:stop], self._first[start:stop]
        order = None if self._order is None else self._order.part(start, stop)
        if self._single or order is None:
            ones = np.broadcast_to(np.int64(1), len(records))
            counts = PersonCounts(records, records, ones, first)
            sharing = _alone_or_equal(records, first)
        else:
            counts = count_persons(order)
            sharing = self._sharing(order, start, stop)
        values, distances = ({}, {}) if order is None else self._values(order)
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

    def _values(self, order: ClassOrder) -> tuple[dict[str, ValueCounts], dict[str, Floats]]:
        """What the values of each sensitive attribute say, and the ordered distances asked for."""
        values = {
            name: count_values(order, in_order(order, codes), self._file[name])
            for name, codes in self._sensitive.items()
        }
        distances = {
            name: class_ordered_distances(
                order.rows, order.starts, self._sensitive[name], self._file[name], ranks
            )
            for name, ranks in self._ranks.items()
            if name in self._sensitive
        }
        return values, distances

    def _sharing(self, order: ClassOrder, start: int, stop: int) -> SharingCounts:
        """What the numbers of records give away; ids are the persons if none are shown."""
        if self._by_id is None:
            return count_sharing(order, order.owners)
        by_id = self._by_id.part(start, stop)
        return count_sharing(by_id, in_order(by_id, self._person))


def summarize(
    class_of: Codes,
    classes: int,
    person: Codes,
    sensitive: Mapping[str, Codes],
    shown: Codes | None = None,
    ranks: Mapping[str, Codes] | None = None,
) -> ClassSummary:
    """Count records, persons and sensitive values of every equivalence class.

    Parameters and errors are those of `ClassBlocks`.
    """
    return ClassBlocks(class_of, classes, person, sensitive, shown, ranks).whole()


def _own_each(person: Codes) -> bool:
    """Whether every record is a person of its own, numbered as the rows are."""
    return all(
        np.array_equal(person[start : start + BLOCK], np.arange(start, min(start + BLOCK, end)))
        for end in [len(person)]
        for start in range(0, end, BLOCK)
    )


def _frequencies(codes: Codes, size: int) -> Counts:
    """Number of records with each code; missing ones are left out."""
    counts = np.zeros(size + 1, dtype=np.int64)
    length = max(BLOCK, size)
    for start in range(0, len(codes), length):
        counts += np.bincount(codes[start : start + length] + 1, minlength=size + 1)
    return counts[1:]


def _alone_or_equal(records: Counts, first: Integers) -> SharingCounts:
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
