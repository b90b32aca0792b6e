"""A column's batches as codes into its distinct values, before their meaning is settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.table.numbering import ManyValues, NearIntegers, SpelledTexts
from sfumato.table.sources import (
    Ints,
    as_integers,
    as_numpy,
    check_utf8,
    flags,
    from_numpy,
    is_text,
    one_zero,
)
from sfumato.table.table import MISSING, Codes

MANY_RECORDS = 50_000
"""Records from which a hash table of our own pays off, if they had only distinct values."""
SORTING = 4
"""So many times the records are worth it where Arrow's dictionaries may do as well."""
MERGE_AT = 1 << 20
"""Distinct values of single batches that may wait before they are merged."""
WIDEST = 1 << 20
"""Most integers from the lowest to the highest of a column for which a table is kept."""
MANY = 8
"""So many times fewer values than are worth compiling for are many: a table needs no compiler."""
SAMPLE = 1 << 12
"""First values of a column that show whether it holds ids."""
FEW = 1 << 12
"""Values of a dictionary that are compared one by one with those of the batch before."""
BLOCK = 1 << 16
"""Records that are looked at together for values that were not met before."""


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as codes into its distinct values, before their meaning is settled.

    Attributes
    ----------
    name
        The column's name in the file.
    codes
        One code per record: the index of its value, or `MISSING`.
    given
        The distinct values that occur, without null, in order of first appearance.
    """

    name: str
    codes: Codes
    given: pa.Array | SpelledTexts = field(repr=False)

    @cached_property
    def values(self) -> pa.Array:
        """The distinct values as an array; ids that count are spelled out when it is asked for."""
        return self.given.spelled_out() if isinstance(self.given, SpelledTexts) else self.given

    def has_plain_values(self, missing: Sequence[str]) -> bool:
        """Whether surely no value means missing or has spaces around it; ``False`` says nothing."""
        return isinstance(self.given, SpelledTexts) and self.given.are_plain(missing)

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.codes)

    @property
    def missing(self) -> int:
        """Number of records without a value."""
        return int(np.count_nonzero(self.codes == MISSING))

    def recoded(self, lookup: npt.NDArray[np.integer]) -> Codes:
        """The codes after each value's code is replaced by its entry in ``lookup``."""
        return self._recode(lookup, np.empty_like(self.codes))

    def recoded_in_place(self, lookup: npt.NDArray[np.integer]) -> Codes:
        """As `recoded`, in the place of the codes: the column itself is used up."""
        if not self.codes.flags.writeable:
            return self.recoded(lookup)
        if np.array_equal(lookup, np.arange(len(lookup))):
            return self.codes
        return self._recode(lookup, self.codes)

    def _recode(self, lookup: npt.NDArray[np.integer], place: Codes) -> Codes:
        new = np.append(lookup, MISSING).astype(np.int32)
        for start in range(0, len(place), BLOCK):
            place[start : start + BLOCK] = new.take(self.codes[start : start + BLOCK])
        return place

    def without(self, dropped: npt.NDArray[np.bool_]) -> RawColumn:
        """The column with the values marked in ``dropped`` (one flag per value) missing."""
        if not dropped.any():
            return self
        lookup = np.where(dropped, MISSING, np.cumsum(~dropped) - 1)
        kept = self.values.filter(from_numpy(~dropped))
        return replace(self, codes=self.recoded(lookup), given=kept)

    def occurrences(self, values: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Which records hold one of the marked values."""
        return np.append(values, False)[self.codes]

    def count(self, values: npt.NDArray[np.bool_]) -> int:
        """How many records hold one of the marked values."""
        return int(np.count_nonzero(self.occurrences(values)))

    def at(self, values: npt.NDArray[np.bool_]) -> str:
        """How many records hold one of the marked values, and the first one's row number."""
        return at_rows(self.occurrences(values))


def at_rows(records: npt.NDArray[np.bool_]) -> str:
    """Say how many records are marked, and the row number (1-based) of the first."""
    count, first = int(np.count_nonzero(records)), int(np.argmax(records)) + 1
    return f"row {first:,}" if count == 1 else f"{count:,} records, the first in row {first:,}"


class Accumulator:
    """Collects the batches of one column as codes.

    Distinct values of single batches wait until they outnumber those known so far, so that the
    work stays linear in the records and the memory in the distinct values.

    Parameters
    ----------
    name
        The column's name in the file.
    rows
        Number of records to come, where it is known: their codes then need no second place.
    """

    def __init__(self, name: str, rows: int | None = None) -> None:
        self.name = name
        self._room = np.empty(rows or 0, dtype=np.int32)
        self._taken = 0
        self._codes: list[Codes] = []
        self._known: pa.Array | None = None
        self._pending: list[tuple[list[int], pa.Array]] = []
        self._waiting = 0
        self._shared: tuple[pa.Array, Codes, pa.Array] | None = None
        self._many: ManyValues | None = None
        self._near: NearIntegers | None = None
        self._kind: pa.DataType | None = None

    def add(self, array: pa.Array) -> None:
        """Take the next batch of the column.

        Raises
        ------
        InputError
            If the batch has another type than those before it, or its texts are not UTF-8.
        """
        if self._kind is None and self._are_ids(array):
            check_utf8(array, self.name)
            self._start_many(pa.large_string())
        if self._many is not None and self._is_kind(array.type):
            codes = self._many.number_near(array)
            if codes is None:
                check_utf8(array, self.name)
                codes = self._many.number(array)
            self._append(codes)
            return
        if self._add_near(array):
            return
        codes, values = self._encoded(array)
        self._append(codes)
        if not len(values):
            return
        self._check_type(values.type)
        if self._many is not None:
            self._codes[-1][:] = np.append(self._many.number(values), np.int32(MISSING))[codes]
            return
        if self._pending and self._pending[-1][1] is values:
            self._pending[-1][0].append(len(self._codes) - 1)
            return
        if self._waiting >= max(MERGE_AT, 0 if self._known is None else len(self._known)):
            self._merge()
        self._pending.append(([len(self._codes) - 1], values))
        self._waiting += len(values)
        if self._has_many(len(values)) and ManyValues.can_be(values.type):
            self._merge()
            self._start_many(values.type).number(self._known)

    def _has_many(self, values: int) -> bool:
        """Whether a batch of so many values shows that `ManyValues` pays off from here on."""
        records = max(self._taken, len(self._room))
        return MANY * values > MANY_RECORDS and records > SORTING * MANY_RECORDS

    def _are_ids(self, array: pa.Array) -> bool:
        """Whether the first of many texts are mostly distinct, so that no dictionary pays off."""
        few = not self._has_many(len(array)) or pa.types.is_string_view(array.type)
        if few or not is_text(array.type):
            return False
        sample = array.slice(0, SAMPLE)
        check_utf8(sample, self.name)
        return 2 * len(pc.unique(sample)) > len(sample)

    def _start_many(self, kind: pa.DataType) -> ManyValues:
        """Number values of that type one by one from here on."""
        self._kind = kind
        self._many = ManyValues(kind, max(self._taken, len(self._room)))
        return self._many

    def _is_kind(self, kind: pa.DataType) -> bool:
        """Whether a batch is of the type of those before it, texts of any width being one."""
        return bool(kind == self._kind or (is_text(kind) and is_text(self._kind)))

    def _add_near(self, array: pa.Array) -> bool:
        """Take a batch of integers by a table, as long as they lie close together."""
        if self._kind is None and NearIntegers.can_be(array.type):
            self._near = NearIntegers(array.type, WIDEST)
        if self._near is None or pa.types.is_null(array.type):
            return False
        self._check_type(array.type)
        codes = self._near.number(array)
        if codes is None:
            self._known, self._near = self._near.values(), None
            return False
        self._append(codes)
        return True

    def _append(self, codes: Codes) -> None:
        """Keep the codes of a batch, all batches in one place if there is room."""
        end = self._taken + len(codes)
        if end <= len(self._room):
            self._room[self._taken : end] = codes
            codes = self._room[self._taken : end]
        elif not codes.flags.writeable:
            codes = codes.copy()
        self._taken = end
        self._codes.append(codes)

    def _check_type(self, kind: pa.DataType) -> None:
        """Refuse values of another type than those before them.

        Raises
        ------
        InputError
            If they are.
        """
        if self._kind is None:
            self._kind = kind
        if self._kind != kind:
            raise InputError(
                f"column '{self.name}'",
                "must have one type throughout",
                found=f"{self._kind} and {kind}",
            )

    def finish(self) -> RawColumn:
        """The whole column, without values that no record holds; empties the accumulator."""
        self._merge()
        codes = self._room
        if self._taken != len(codes):
            codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.int32)
        self._codes.clear()
        values = pa.nulls(0) if self._known is None else self._known
        if self._many is not None:
            values = self._many.spelled() or self._many.values()
        if self._near is not None:
            values = self._near.values()
        raw = RawColumn(self.name, codes, values)
        in_order = self._shared is None
        self._known = self._shared = self._many = self._near = None
        return raw if in_order else _by_first_appearance(raw)

    def _encoded(self, array: pa.Array) -> tuple[Codes, pa.Array]:
        """The codes of a batch and its distinct values, wide enough to be merged."""
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        if pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        if pa.types.is_null(array.type):
            return np.full(len(array), MISSING, dtype=np.int32), pa.nulls(0)
        if pa.types.is_dictionary(array.type):
            return self._encoded_dictionary(array)
        if pa.types.is_decimal(array.type) and array.type.bit_width < 128:
            array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
        encoded = one_zero(array).dictionary_encode()
        check_utf8(encoded.dictionary, self.name)
        return _numpy_codes(encoded.indices), _widened(encoded.dictionary)

    def _encoded_dictionary(self, array: pa.Array) -> tuple[Codes, pa.Array]:
        """As `_encoded`; a dictionary that all batches share is looked at once."""
        if self._shared is None or not _same_values(self._shared[0], array.dictionary):
            codes, values = self._encoded(array.dictionary)
            self._shared = (array.dictionary, np.append(codes, np.int32(MISSING)), values)
        _, lookup, values = self._shared
        return lookup.take(_numpy_codes(array.indices)), values

    def _merge(self) -> None:
        """Give the waiting batches codes into one common list of values."""
        if not self._pending:
            return
        parts = ([] if self._known is None else [self._known]) + [v for _, v in self._pending]
        if len(parts) == 1:
            self._known = parts[0]
        else:
            merged = pa.concat_arrays(parts).dictionary_encode()
            lookup = _numpy_codes(merged.indices)
            start = 0 if self._known is None else len(self._known)
            for places, values in self._pending:
                local = np.append(lookup[start : start + len(values)], np.int32(MISSING))
                for place in places:
                    self._codes[place][:] = local.take(self._codes[place])
                start += len(values)
            self._known = merged.dictionary
        self._pending.clear()
        self._waiting = 0


def _by_first_appearance(raw: RawColumn) -> RawColumn:
    """Renumber the values by their first record, and drop those that no record holds."""
    records, size = len(raw.codes), len(raw.values)
    first = np.full(size + 1, records, dtype=np.int64)
    first[-1] = -1
    length = max(BLOCK, size)
    for start in range(0, records, length):
        block = raw.codes[start : start + length]
        seen = np.full(size + 1, records, dtype=np.int64)
        seen[block[::-1]] = np.arange(start + len(block) - 1, start - 1, -1)
        np.minimum(first, seen, out=first)
        if first.max() < records:
            break
    first = first[:size]
    if (first < records).all() and (np.diff(first) > 0).all():
        return raw
    order = np.argsort(first, kind="stable")[: int(np.count_nonzero(first < records))]
    lookup = np.full(size, MISSING, dtype=np.int32)
    lookup[order] = np.arange(len(order), dtype=np.int32)
    return RawColumn(raw.name, raw.recoded_in_place(lookup), raw.values.take(from_numpy(order)))


def _numpy_codes(indices: pa.Array) -> Codes:
    codes: Codes = as_numpy(indices).astype(np.int32, copy=False)
    if indices.null_count:
        codes = np.where(flags(indices.is_null()), np.int32(MISSING), codes)
    return codes


def _widened(array: pa.Array) -> pa.Array:
    """Texts and bytes with 64-bit offsets, so that merging has room."""
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_binary(kind) or pa.types.is_binary_view(kind):
        return array.cast(pa.large_binary())
    return array


def _same_values(one: pa.Array, other: pa.Array) -> bool:
    """Whether two arrays are the same memory, or few values that are the same."""

    def addresses(array: pa.Array) -> list[object]:
        buffers = [None if buffer is None else buffer.address for buffer in array.buffers()]
        return [array.type, array.offset, len(array), *buffers]

    few = len(one) == len(other) <= FEW
    return addresses(one) == addresses(other) or (few and bool(one.equals(other)))


@dataclass(frozen=True, eq=False)
class CountedColumn(RawColumn):
    """Distinct values, each a row that stands for all records that hold it.

    Attributes
    ----------
    counts
        Number of records of each row of ``codes``.
    """

    counts: Ints

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        """Number of records without a value."""
        return int(self.counts[self.codes == MISSING].sum())

    def count(self, values: npt.NDArray[np.bool_]) -> int:
        """How many records hold one of the marked values."""
        return int(self.counts[self.occurrences(values)].sum())

    def at(self, values: npt.NDArray[np.bool_]) -> str:
        """How many records hold one of the marked values; there are no row numbers."""
        return counted_records(self.count(values))

    def of_codes(self, codes: Codes, size: int) -> Ints:
        """Number of records with each of ``size`` codes, one code per row given."""
        known = codes != MISSING
        counts = np.zeros(size, dtype=np.int64)
        np.add.at(counts, codes[known], self.counts[known])
        return counts


def counted_records(count: int) -> str:
    """A number of records in words."""
    return "1 record" if count == 1 else f"{count:,} records"


def counted_column(name: str, values: pa.Array, counts: pa.Array) -> CountedColumn:
    """A column from its distinct values, null among them, and their numbers of records."""
    known = flags(values.is_valid())
    codes = np.where(known, np.cumsum(known) - 1, MISSING).astype(np.int32)
    return CountedColumn(name, codes, values.filter(from_numpy(known)), as_integers(counts))
