"""Equivalence classes: what is counted of each, and where an extreme of them lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Bools, Codes, Integers
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure, Position
from sfumato.kernels import class_counts
from sfumato.kernels.loop_calls import in_threads

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
BLOCK = 1 << 16
"""Records that are looked at together, so that what is made of them stays in a cache."""
_Result = TypeVar("_Result")


def _unknown() -> Counts:
    return np.empty(0, dtype=np.int64)


def _no_numbers() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class ClassSummary:
    """Numbers of each equivalence class; every array has shape (classes,) unless stated.

    Constraints need the counts up to ``population``; what follows them says more for the
    measures of a whole file, and may be left out. A missing sensitive value is no value: it
    adds to the records and persons of its class only.

    Attributes
    ----------
    records
        Number of records N_t.
    persons
        Number of distinct persons n_t.
    squares
        Sum over persons of the squared number of their records in the class.
    largest
        Number of records of the person who has most of them in the class.
    affiliation
        Per sensitive attribute, the number of persons who share its most shared value
        (max n_j of paper 003, Definition 3).
    distinct
        Per sensitive attribute, its number of distinct values in the class.
    distance
        Per sensitive attribute, the distance of its values over records from those of the whole
        file: half the sum of the differences of shares; 0 in a class without a value.
    ordered_distance
        The earth mover's distance on ranks instead, for attributes whose values are numbers and
        for which it was asked.
    holders
        Per sensitive attribute of one of several tables, the number of persons who have a record
        of its table: of others nothing can be learned by it. Empty where there is one table.
    fewest_sharing
        Over the numbers of records that occur, the fewest persons who share one; where persons
        have several ids, the fewest who have an id with one number of records.
    population
        Number of persons of a population register F_t who look like the class; empty without one.
    first_row
        0-based row of the class's first record.
    largest_row
        0-based row of the first record of the person who has most of them.
    affiliation_row
        Per sensitive attribute, the 0-based row of the first record with its most shared
        value; -1 in a class without a value.
    entropy
        Per sensitive attribute, the entropy of its values over records, in nats.
    commonest
        Per sensitive attribute, the number of records with its commonest and with its second
        commonest value, shape (classes, 2).
    fewest_sharing_row
        0-based first row of a person with the rarest number of records.
    alone
        Number of persons whose number of records nobody else of the class shares.
    count_risk
        Largest share of the ids with one number of records that are one person's: with one id
        per person 1 / ``fewest_sharing``.
    count_risk_row
        0-based first row of an id with that share.
    count_risk_total
        Sum over persons of the largest such share of each.
    """

    records: Counts
    persons: Counts
    squares: Counts
    largest: Integers
    affiliation: Mapping[str, Integers] = field(default_factory=dict)
    distinct: Mapping[str, Integers] = field(default_factory=dict)
    distance: Mapping[str, Floats] = field(default_factory=dict)
    ordered_distance: Mapping[str, Floats] = field(default_factory=dict)
    holders: Mapping[str, Integers] = field(default_factory=dict)
    fewest_sharing: Integers = field(default_factory=_unknown)
    population: Counts = field(default_factory=_unknown)
    first_row: Integers = field(default_factory=_unknown)
    largest_row: Integers = field(default_factory=_unknown)
    affiliation_row: Mapping[str, Integers] = field(default_factory=dict)
    entropy: Mapping[str, Floats] = field(default_factory=dict)
    valued: Mapping[str, Integers] = field(default_factory=dict)
    commonest: Mapping[str, Integers] = field(default_factory=dict)
    fewest_sharing_row: Integers = field(default_factory=_unknown)
    alone: Integers = field(default_factory=_unknown)
    count_risk: Floats = field(default_factory=_no_numbers)
    count_risk_row: Integers = field(default_factory=_unknown)
    count_risk_total: Floats = field(default_factory=_no_numbers)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.records)

    def sharing(self, attribute: str) -> Integers:
        """Persons among whom the values of an attribute are shared."""
        return self.holders.get(attribute, self.persons)

    def map_arrays(self, made: Callable[[Any], Any]) -> ClassSummary:
        """The same with every array replaced by what is made of it."""
        own: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Mapping):
                own[each.name] = {name: made(array) for name, array in value.items()}
            else:
                own[each.name] = made(value)
        return ClassSummary(**own)

    def arrays(self) -> Iterator[npt.NDArray[Any]]:
        """Every array, in the order of the attributes."""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Mapping):
                yield from value.values()
            else:
                yield value


class LazySummary(ClassSummary):
    """A summary that is made when one of its arrays is first read."""

    def __init__(self, make: Callable[[], ClassSummary]) -> None:
        # A frozen dataclass refuses assignments, its own as well.
        object.__setattr__(self, "_make", make)

    def __getattr__(self, name: str) -> Any:
        # Copying and pickling ask for other names: to make the arrays for those would loop.
        if name not in {each.name for each in fields(self)}:
            raise AttributeError(name)
        made = self._make()
        for each in fields(self):
            object.__setattr__(self, each.name, getattr(made, each.name))
        return getattr(made, name)


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
    files
        For sensitive attributes, the records of the whole file with each value, where these are
        not all of its records.
    rows
        For sensitive attributes of one of several tables, which records are of it; shape
        (records,) each.
    """

    def __init__(
        self,
        class_of: Codes,
        classes: int,
        person: Codes,
        sensitive: Mapping[str, Codes],
        shown: Codes | None = None,
        ranks: Mapping[str, Codes] | None = None,
        files: Mapping[str, Counts] | None = None,
        *,
        rows: Mapping[str, Bools] | None = None,
    ) -> None:
        _check(class_of, classes, person, sensitive, shown)
        self._records, self._first = class_counts.count_records(class_of, classes)
        if self._records.min() == 0:
            raise InputError("parameter class_of", "must give every class a record")
        self._person, self._sensitive, self._ranks = person, sensitive, ranks or {}
        # Files with a record per person are common, and need neither a sort nor a count of persons.
        self._single = shown is None and _own_each(person)
        self._holders = {
            name: _distinct_persons(class_of[row], person[row], classes)
            for name, row in (rows or {}).items()
        }
        self._order = self._by_id = None
        if sensitive or not self._single:
            self._order = class_counts.class_order(class_of, self._records, person)
        if shown is not None:
            self._by_id = class_counts.class_order(class_of, self._records, shown)
        sizes = {
            name: max(int(codes.max()) + 1, len(self._ranks.get(name, ())))
            for name, codes in sensitive.items()
        }
        # t-closeness compares each block with the whole
        # file, so that its counts come before all blocks.
        self._file = {name: _frequencies(sensitive[name], size) for name, size in sizes.items()}
        self._file |= files or {}
        # A block is at least as long as a domain: the loops
        # clear an array of that length for each block.
        self._edges = self._ends_of_blocks(max(BLOCK, *sizes.values(), 0))

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self._records)

    def map_blocks(self, function: Callable[[ClassSummary, int], _Result]) -> list[_Result]:
        """What a function of a block and the number of its first class gives, in their order."""
        if self._one:
            return [function(self.summary, 0)]

        def of_block(start: int, stop: int) -> _Result:
            return function(self._part(start, stop), start)

        return in_threads([partial(of_block, *block) for block in pairwise(self._edges)])

    @cached_property
    def summary(self) -> ClassSummary:
        """The numbers of all classes; where there are several blocks, made when they are read."""
        return self._part(0, self.classes) if self._one else LazySummary(self.whole)

    @property
    def _one(self) -> bool:
        return len(self._edges) == 2

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

        summary = first.map_arrays(room)

        def fill(part: ClassSummary, start: int) -> None:
            for mine, array in zip(summary.arrays(), part.arrays(), strict=True):
                mine[start : start + len(array)] = array

        self.map_blocks(fill)
        return summary

    def _part(self, start: int, stop: int) -> ClassSummary:
        """The numbers of the classes from ``start`` to before ``stop``."""
        records, first = self._records[start:stop], self._first[start:stop]
        order = None if self._order is None else self._order.part(start, stop)
        if self._single or order is None:
            # One number that looks like an array: nothing is allocated for millions of ones.
            ones = np.broadcast_to(np.int64(1), len(records))
            counts = class_counts.PersonCounts(records, records, ones, first)
            sharing = _alone_or_equal(records, first)
        else:
            counts = class_counts.count_persons(order)
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
            holders={name: holder[start:stop] for name, holder in self._holders.items()},
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

    def _values(
        self, order: class_counts.ClassOrder
    ) -> tuple[dict[str, class_counts.ValueCounts], dict[str, Floats]]:
        """What the values of each sensitive attribute say, and the ordered distances asked for."""
        values = {
            name: class_counts.count_values(
                order, class_counts.in_order(order, codes), self._file[name]
            )
            for name, codes in self._sensitive.items()
        }
        distances = {
            name: class_counts.class_ordered_distances(
                order.rows, order.starts, self._sensitive[name], self._file[name], ranks
            )
            for name, ranks in self._ranks.items()
            if name in self._sensitive
        }
        return values, distances

    def _sharing(
        self, order: class_counts.ClassOrder, start: int, stop: int
    ) -> class_counts.SharingCounts:
        """What the numbers of records give away; ids are the persons if none are shown."""
        if self._by_id is None:
            return class_counts.count_sharing(order, order.owners)
        by_id = self._by_id.part(start, stop)
        return class_counts.count_sharing(by_id, class_counts.in_order(by_id, self._person))


def summarize(
    class_of: Codes,
    classes: int,
    person: Codes,
    sensitive: Mapping[str, Codes],
    shown: Codes | None = None,
    ranks: Mapping[str, Codes] | None = None,
    files: Mapping[str, Counts] | None = None,
    *,
    rows: Mapping[str, Bools] | None = None,
) -> ClassSummary:
    """Count records, persons and sensitive values of every equivalence class.

    Parameters and errors are those of `ClassBlocks`.
    """
    return ClassBlocks(class_of, classes, person, sensitive, shown, ranks, files, rows=rows).whole()


def _distinct_persons(class_of: Codes, person: Codes, classes: int) -> Counts:
    """Number of distinct persons of some records in each class."""
    people = int(person.max(initial=0)) + 1
    pairs = np.unique(class_of.astype(np.int64) * people + person)
    return np.bincount(pairs // people, minlength=classes)


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
    # Each part costs an array of the domain's length, so
    # that shorter parts would cost more than they spare.
    length = max(BLOCK, size)
    for start in range(0, len(codes), length):
        counts += np.bincount(codes[start : start + length] + 1, minlength=size + 1)
    return counts[1:]


def _alone_or_equal(records: Counts, first: Integers) -> class_counts.SharingCounts:
    """Where every record is a person of its own: all of a class have the same number, 1."""
    alone, ones = (records == 1).astype(np.int32), np.broadcast_to(1.0, len(records))
    return class_counts.SharingCounts(records, first, alone, 1 / records, first, ones)


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
                "must have one value per record",
                found=f"{length} entries for {len(class_of)} records",
            )
    if class_of.min() < 0 or class_of.max() >= classes:
        raise InputError("parameter class_of", "must number the classes from 0 to classes - 1")
    if person.min() < 0:
        raise InputError("parameter person", "must number the people from 0")


RowOf = Callable[[ClassSummary, int], int]


def first_row(classes: ClassSummary, at: int) -> int:
    """The 0-based row of a class's first record."""
    return int(classes.first_row[at])


class ClassValue(NamedTuple):
    """A value of each class, of which an extreme is looked for, at its 0-based row."""

    values: Callable[[ClassSummary], Floats | Integers]
    end: Literal["low", "high"]
    row: RowOf = first_row


class Extreme(NamedTuple):
    """What a pass over a value of all classes finds.

    That is the lowest or highest, and the first class that has it.
    """

    value: float
    where: Position
    total: float

    @property
    def whole(self) -> int:
        """A value that is a whole number."""
        return int(self.value)

    def measure(self, name: str, *, why: str = "", threshold: float | None = None) -> Measure:
        """The value as a measure."""
        return Measure(name, float(self.value), why=why, where=self.where, threshold=threshold)


def extremes(blocks: ClassBlocks, wanted: Mapping[str, ClassValue]) -> dict[str, Extreme]:
    """The lowest or highest of each value over classes, and its sum, in one pass."""

    def of_block(classes: ClassSummary, start: int) -> dict[str, Extreme]:
        return {name: _extreme(classes, start, value) for name, value in wanted.items()}

    found = blocks.map_blocks(of_block)
    best = {"low": min, "high": max}
    return {
        name: best[class_value.end]((block[name] for block in found), key=_value)._replace(
            total=sum(block[name].total for block in found)
        )
        for name, class_value in wanted.items()
    }


def _extreme(classes: ClassSummary, start: int, wanted: ClassValue) -> Extreme:
    values = wanted.values(classes)
    # The first of ties, so that the place is the same in any number of blocks.
    at = int(values.argmin() if wanted.end == "low" else values.argmax())
    where = Position(row=wanted.row(classes, at) + 1, equivalence_class=start + at + 1)
    return Extreme(values[at].item(), where, values.sum().item())


def _value(extreme: Extreme) -> float:
    return extreme.value


def spread_warning(memberships: int, persons: int) -> tuple[str, ...]:
    """Say where persons have records in several classes, which each class hides."""
    if memberships == persons:
        return ()
    warning = (
        f"a person has records in {memberships / persons:.2f} classes on average; each "
        "class is measured by itself. A person who can tell which records belong to one "
        "person learns more than these numbers say."
    )
    return (warning,)
