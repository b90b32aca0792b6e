"""Further records of the linked persons, such as their visits, by the ids of the sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.linkage.linked.stack import Analytic, free, stacked
from sfumato.linkage.sources.cells import as_text
from sfumato.linkage.sources.halves import separate
from sfumato.linkage.sources.headers import match_headers
from sfumato.linkage.values import Ints, Records
from sfumato.schema import Schema
from sfumato.table.preparation import prepared_in_part
from sfumato.table.sources import Source, positions
from sfumato.table.table_files import open_source


class Identified(Protocol):
    """What a specification says of the records' ids."""

    @property
    def id(self) -> str | None:
        """The column of ids."""

    @property
    def rename(self) -> Mapping[str, Mapping[str, str]]:
        """By source: names of columns and their headers."""


def attach(
    analytic: Analytic,
    records: Records,
    tables: Mapping[str, object],
    spec: Identified,
    schema: Schema | None = None,
) -> Analytic:
    """Put tables with any number of rows per record in the place of the sources' records.

    A row has what its table says, and of other columns what the record has. A record without rows
    is left out, and so are identifying columns. A source without such a table stays as it is.

    Parameters
    ----------
    analytic
        What is analysed of each record.
    records
        The records.
    tables
        By source: the table, with the specification's id column.
    spec
        What is linked, and how.
    schema
        What the columns are.

    Raises
    ------
    InputError
        If there is no such source, or no id column, or a row's id is none of the source's.
    """
    if not set(tables) <= set(records.sources):
        raise InputError(
            "attached tables",
            "must be given for sources",
            found="a name that no source has",
            accepted=", ".join(records.sources),
        )
    rows, parts = [], []
    for place, name in enumerate(records.sources):
        start, stop = (int(end) for end in records.starts[place : place + 2])
        if name not in tables:
            rows.append(np.arange(start, stop))
            parts.append(analytic.columns.slice(start, stop - start))
            continue
        own, table = _read(tables[name], name, records.ids[place], spec, schema)
        rows.append(own + start)
        parts.append(_beside(table, analytic.columns.take(pa.array(rows[-1]))))
    names = set().union(*(part.column_names for part in parts))
    quasi = {name: kind for name, kind in analytic.quasi_identifiers.items() if name in names}
    return Analytic(np.concatenate(rows), stacked(parts), quasi)


def _beside(table: pa.Table, of_record: pa.Table) -> pa.Table:
    source, *others = of_record.column_names
    columns = {source: of_record[source]}
    columns |= dict(zip(table.column_names, table.columns, strict=True))
    for name in others:
        empty = of_record[name].null_count == len(of_record)
        if name not in table.column_names and not empty:
            columns[name] = of_record[name]
    return pa.table(columns)


def _read(
    data: object, name: str, ids: pa.Array, spec: Identified, schema: Schema | None
) -> tuple[Ints, pa.Table]:
    """Number of each row's record within its source, and the row's columns."""
    source = prepared_in_part(data if isinstance(data, Source) else open_source(data), schema)
    subject = f"the table attached to {name}"
    if spec.id is None:
        raise InputError(subject, "needs an id column in the specification", found="none")
    header = match_headers(source.names, [spec.id], spec.rename.get(name, {}), subject).get(spec.id)
    if header is None:
        raise InputError(f"column '{spec.id}'", f"must be a column of {subject}")
    wanted = separate(source.names, {}, header, schema).analytic
    table = pa.Table.from_batches(list(source.batches([header, *wanted])))
    text = as_text(table[header].combine_chunks(), header)
    number = np.asarray(pc.fill_null(pc.index_in(text, ids.cast(text.type)), -1), dtype=np.int64)
    unknown = np.flatnonzero(number < 0)
    if len(unknown):
        raise InputError(
            f"column '{header}' of {subject}",
            "must hold ids of the source's records",
            found=f"{len(unknown):,} others, such as in row "
            f"{positions((unknown[:6] + 1).tolist())}",
        )
    columns: dict[str, pa.ChunkedArray] = {}
    for each in wanted:
        column = table[each]
        encoded = pa.types.is_dictionary(column.type)
        columns[free(each, columns)] = column.cast(column.type.value_type) if encoded else column
    return number, pa.table(columns)
