"""Say what each column of the linked file is, before the persons are known."""

from __future__ import annotations

import pyarrow as pa

from sfumato.linkage.linked.linked_file import linked_names
from sfumato.linkage.linked.schema import LinkedSchema, linked_schema
from sfumato.linkage.linked.stack import Analytic, without_columns
from sfumato.schema import Schema


def declare(analytic: Analytic, schema: Schema | None) -> tuple[Analytic, LinkedSchema]:
    """What is analysed, without columns that number a person, and what its columns are.

    Parameters
    ----------
    analytic
        What is analysed.
    schema
        What the sources' columns are, where that is known.

    Raises
    ------
    InputError
        If the file has no column that can be a quasi-identifier.
    """
    names = linked_names(analytic.columns.column_names)
    person = pa.chunked_array([pa.array(analytic.record)])
    table = pa.Table.from_arrays([person, *analytic.columns.columns], names=names)
    declared = linked_schema(table, analytic.quasi_identifiers, schema)
    return without_columns(analytic, declared.left_out), declared
