"""Records as codes: what executors make of each batch, by the lookups that the driver settled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.engines.spark.names import (
    HOUSEHOLD,
    PERSON,
    TIE,
    WEIGHT,
    quasi_identifier,
    sensitive,
)
from sfumato.engines.spark.tasks import gathered
from sfumato.table.scalars import have_spaces, mean_missing, printed, ties_of_codes, ties_of_values
from sfumato.table.sources import (
    as_numpy,
    check_utf8,
    flags,
    from_numpy,
    from_texts,
    is_bytes,
    is_text,
    one_zero,
    plain_column,
    weights_of,
)
from sfumato.table.table import MISSING, Codes

SPACED = "sfumato_spaced"
"""The column that tells whether the text of a person's id has spaces around it."""
FEWEST_ROWS, MOST_ROWS = 1 << 14, 1 << 18
"""Rows that are looked up together: a quarter of the largest lookup, between these."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """The code of each distinct value of a column.

    Attributes
    ----------
    values
        The distinct values, without null; texts as large ones.
    codes
        The code of each.
    labels
        The label of each code, where the column is sensitive and ties are made of records.
    """

    values: pa.Array
    codes: Codes
    labels: tuple[str, ...] = ()


class Shared(Protocol):
    """What Spark has brought to every executor."""

    @property
    def value(self) -> tuple[Sequence[Lookup], Sequence[Lookup]]:
        """The lookups of the quasi-identifiers and of the sensitive attributes."""
        ...


@dataclass(frozen=True)
class EncodeBatches:
    """Turn batches of values into batches of codes.

    Attributes
    ----------
    lookups
        Of the quasi-identifiers and of the sensitive attributes, in the schema's order.
    quasi_identifiers, sensitive
        Their columns in the batches, by what errors call them.
    person
        The column of persons, or of numbers of the records, and what errors call it.
    named
        Whether the schema names a person column.
    household
        The column of households.
    kept
        Columns to hand on as they are, by what errors call them.
    missing
        Texts that mean a missing value.
    weights
        The column of sampling weights and the file, as errors call them, and the column.
    """

    lookups: Shared
    quasi_identifiers: Mapping[str, str]
    sensitive: Mapping[str, str]
    person: tuple[str, str]
    named: bool
    household: tuple[str, str] | None
    kept: Mapping[str, str]
    missing: tuple[str, ...]
    weights: tuple[str, str, str] | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Encode the batches of one task.

        Parameters
        ----------
        batches
            What Spark gives.

        Raises
        ------
        InputError
            If a value is in no lookup, a text is not UTF-8, or a weight is no positive number.
        """
        quasi_identifiers, sensitive_attributes = self.lookups.value
        sizes = [len(lookup.values) for lookup in (*quasi_identifiers, *sensitive_attributes)]
        rows = min(max(FEWEST_ROWS, max(sizes, default=0) // 4), MOST_ROWS)
        for batch in gathered(batches, rows):
            yield self._encoded(batch, quasi_identifiers, sensitive_attributes)

    def _encoded(
        self,
        batch: pa.RecordBatch,
        quasi_identifiers: Sequence[Lookup],
        sensitive_attributes: Sequence[Lookup],
    ) -> pa.RecordBatch:
        """One batch of codes, the columns by name and in the order of `encoded_fields`."""
        coded = [
            codes_of(plain_column(batch.column(column), name), lookup)
            for (name, column), lookup in zip(
                self.quasi_identifiers.items(), quasi_identifiers, strict=True
            )
        ]
        of_sensitive = [
            codes_of(plain_column(batch.column(column), name), lookup)
            for (name, column), lookup in zip(
                self.sensitive.items(), sensitive_attributes, strict=True
            )
        ]
        columns: dict[str, pa.Array] = {}
        name, column = self.person
        person = batch.column(column)
        if self.named:
            values = self._values(person, name)
            columns[PERSON] = ids(values)
            columns[TIE] = from_numpy(ties_of_values(values))
            columns[SPACED] = from_numpy(have_spaces(_filled(values)))
        else:
            labels = [lookup.labels for lookup in sensitive_attributes]
            labelled = list(zip(of_sensitive, labels, strict=True))
            columns[PERSON] = person
            columns[TIE] = from_numpy(ties_of_codes(coded, labelled))
            columns[SPACED] = from_numpy(np.zeros(batch.num_rows, dtype=np.bool_))
        if self.household is not None:
            name, column = self.household
            columns[HOUSEHOLD] = ids(self._values(batch.column(column), name))
        for place, codes in enumerate(coded):
            columns[quasi_identifier(place)] = from_numpy(codes)
        for place, codes in enumerate(of_sensitive):
            columns[sensitive(place)] = from_numpy(codes)
        if self.weights is not None:
            name, subject, column = self.weights
            values = plain_column(batch.column(column), name)
            columns[WEIGHT] = from_numpy(weights_of(values, name, subject))
        for name, column in self.kept.items():
            check_utf8(batch.column(column), name)
            columns[column] = batch.column(column)
        return pa.RecordBatch.from_pydict(columns)

    def _values(self, values: pa.Array, name: str) -> pa.Array:
        """Ids, null where they mean a missing value."""
        values = plain_column(values, name)
        check_utf8(values, name)
        known = values.drop_null()
        none = mean_missing(known, self.missing)
        if not none.any():
            return values
        places = np.flatnonzero(flags(values.is_valid()))[none]
        missing = np.zeros(len(values), dtype=np.bool_)
        missing[places] = True
        return pc.if_else(from_numpy(missing), pa.scalar(None, values.type), values)


def _filled(values: pa.Array) -> pa.Array:
    return values.fill_null("") if is_text(values.type) else values


def codes_of(values: pa.Array, lookup: Lookup) -> Codes:
    """The code of each value, -1 where it is null.

    Parameters
    ----------
    values
        Values of the type of the lookup.
    lookup
        What to look them up in.

    Raises
    ------
    InputError
        If a value is not in it.
    """
    if is_text(values.type):
        values = values.cast(pa.large_string())
    places = pc.index_in(one_zero(values), value_set=lookup.values)
    if places.null_count != values.null_count:
        raise other_values()
    codes = np.append(lookup.codes, np.int32(MISSING))
    found: Codes = codes[as_numpy(pc.fill_null(places, len(lookup.codes)))]
    return found


def other_values() -> InputError:
    """The error for data that is not the same when it is read again."""
    return InputError(
        "data",
        "must be the same whenever Spark computes it",
        found="other values when it was read again",
        advice="write it to a file first, and pass that; random numbers and the order of rows "
        "differ from one computation to the next",
    )


def has_integer_ids(kind: pa.DataType) -> bool:
    """Whether ids of the type stay integers.

    Parameters
    ----------
    kind
        The Arrow type of the column of persons or households.
    """
    return bool(pa.types.is_integer(kind))


def ids(values: pa.Array) -> pa.Array:
    """Ids as 64-bit integers, or as texts that are the same only where the ids are.

    Parameters
    ----------
    values
        Integers, texts, or values of another type that prints.
    """
    kind = values.type
    if has_integer_ids(kind):
        return values.cast(pa.int64())
    if is_text(kind):
        return values.cast(pa.string())
    valid = flags(values.is_valid())
    known = values.drop_null()
    if is_bytes(kind):
        texts = [each.hex() for each in known.to_pylist()]
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        texts = printed(known)
    else:
        texts = known.cast(pa.large_string()).to_pylist()
    places = np.where(valid, np.cumsum(valid) - 1, 0)
    return pc.take(from_texts(texts).cast(pa.string()), from_numpy(places, ~valid))
