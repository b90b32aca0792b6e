"""A file after the door: codes for everything that is measured, Arrow for the rest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.schema import Schema
from sfumato.table.columns import CodedColumn
from sfumato.table.encoding.arrow_types import from_numpy


@dataclass(frozen=True, eq=False)
class Table:
    """An encoded file.

    Attributes
    ----------
    schema
        The schema, with the kind of every quasi-identifier settled.
    person
        Index of the person of each record, persons numbered by first appearance; without a
        person column ``arange(records)``.
    quasi_identifiers
        Encoded quasi-identifiers, in the schema's order.
    sensitive
        Encoded sensitive attributes, in the schema's order; their domains' order is arbitrary.
    source
        The columns that a release hands on or renames, as Arrow; the person column included,
        direct identifiers and quasi-identifiers not.
    columns
        Names of all columns of the file, in its order.
    warnings
        What the reader should know; publishable.
    household
        Index of the household of each record, -1 for missing; ``None`` without such a column.
    ties
        Hash of the content that each record had before its codes were changed; ``None`` where
        they are as they were read.
    """

    schema: Schema
    person: npt.NDArray[np.int32]
    quasi_identifiers: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    source: pa.Table = field(repr=False)
    columns: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    household: npt.NDArray[np.int32] | None = None
    ties: npt.NDArray[np.int64] | None = None

    @property
    def records(self) -> int:
        """Number of records N."""
        return len(self.person)

    @cached_property
    def persons(self) -> int:
        """Number of persons."""
        return int(self.person.max()) + 1 if len(self.person) else 0

    def take(self, rows: npt.NDArray[np.int64]) -> Table:
        """Some of the records, in the order of ``rows``; persons are numbered again.

        Domains stay those of the whole file, so that normalised values mean the same.
        """
        persons, first, person = np.unique(
            self.person[rows], return_index=True, return_inverse=True
        )
        number = np.empty(len(persons), dtype=np.int32)
        number[np.argsort(first, kind="stable")] = np.arange(len(persons), dtype=np.int32)
        return replace(
            self,
            person=number[person],
            quasi_identifiers=_rows(self.quasi_identifiers, rows),
            sensitive=_rows(self.sensitive, rows),
            source=self.source.take(from_numpy(rows)),
            household=None if self.household is None else self.household[rows],
            ties=None if self.ties is None else self.ties[rows],
        )


def _rows(columns: tuple[CodedColumn, ...], rows: npt.NDArray[np.int64]) -> tuple[CodedColumn, ...]:
    return tuple(replace(column, codes=column.codes[rows]) for column in columns)
