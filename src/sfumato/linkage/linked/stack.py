"""All sources' analytic halves as one table, with the quasi-identifiers that were asked for.

Only here a linkage reads what is analysed; of the identifying halves it reads the columns asked for
and no name, number or address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.linkage.linked.types import as_found, in_one_type
from sfumato.linkage.sources.open import RECORD, Opened
from sfumato.linkage.spec.columns import sql_name
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.spec.model import LinkSpec
from sfumato.linkage.spec.settings import columns_of_settings
from sfumato.linkage.values import Records
from sfumato.schema import Schema
from sfumato.table.schema_guess import WORDS, named, words_of

QUASI = frozenset({ColumnKind.CATEGORY, ColumnKind.POSTCODE, ColumnKind.NUMBER, ColumnKind.DATE})
"""Kinds of compared columns that are quasi-identifiers where nobody says which are."""
PERSON, SOURCE = "person", "source"
"""Columns of the linked file, with underscores behind them where the sources have such columns."""
_PROVENANCE = "\0source"
"""The source of each row, under a name that no column of a file has; the first column."""


@dataclass(frozen=True, eq=False)
class Analytic:
    """What is analysed of each record, and no identifier.

    Attributes
    ----------
    record
        Number of the record that each row is of.
    columns
        The columns.
    quasi_identifiers
        Those of them that were compared, too: name and kind.
    """

    record: np.ndarray
    columns: pa.Table
    quasi_identifiers: Mapping[str, ColumnKind]


def without_columns(analytic: Analytic, names: Sequence[str]) -> Analytic:
    """The same without some columns.

    Parameters
    ----------
    analytic
        What is analysed.
    names
        Names of the columns to leave out.
    """
    return replace(analytic, columns=analytic.columns.drop_columns(list(names)))


def kept_columns(
    spec: LinkSpec, schema: Schema | None, asked: Sequence[str] | None
) -> dict[str, ColumnKind]:
    """The compared columns that go into the linked file: name and kind.

    Parameters
    ----------
    spec
        What is linked, and how.
    schema
        What the columns are; without ``asked`` its quasi-identifiers are taken.
    asked
        Names of the columns; ``None`` leaves it to the schema, or to what the columns hold:
        dates, postcodes, numbers and categories.

    Raises
    ------
    InputError
        If one is not compared, or is a direct identifier.
    """
    own = _compared(spec)
    if asked is None:
        wanted = None if schema is None else {sql_name(n) for n in schema.quasi_identifiers}
        return {
            name: kind
            for key, (name, kind) in own.items()
            if (_looks_like_one(name, kind) if wanted is None else key in wanted)
        }
    direct = set() if schema is None else {sql_name(name) for name in schema.direct_identifiers}
    kept = {}
    for each in asked:
        if sql_name(each) not in own:
            raise InputError(
                f"quasi-identifier '{each}'",
                "must be a compared column; other columns are in the linked file anyway",
                accepted=", ".join(name for name, _ in own.values()),
            )
        name, kind = own[sql_name(each)]
        if kind not in QUASI or sql_name(each) in direct:
            raise InputError(
                f"quasi-identifier '{each}'",
                "must not name or reach a person",
                found="a direct identifier" if kind in QUASI else f"of kind {kind.value}",
            )
        kept[name] = kind
    return kept


def _compared(spec: LinkSpec) -> dict[str, tuple[str, ColumnKind]]:
    """Compared columns by their SQL names: name and kind; of Splink settings by their words."""
    if spec.splink is None:
        return {sql_name(name): (name, column.kind) for name, column in spec.columns.items()}
    return {
        sql_name(name): (
            name,
            ColumnKind.IDENTIFIER
            if named(words_of(name), WORDS["direct"])
            else ColumnKind.CATEGORY,
        )
        for name in columns_of_settings(spec.splink)
    }


def _looks_like_one(name: str, kind: ColumnKind) -> bool:
    """Whether a compared column is a quasi-identifier: a house number is part of an address."""
    return kind in QUASI and not named(words_of(name), WORDS["direct"])


def read_analytic(opened: Opened, kept: Mapping[str, ColumnKind]) -> Analytic:
    """Stack the analytic halves: the union of their columns, one row per record.

    Parameters
    ----------
    opened
        The tables, open and separated.
    kept
        Compared columns that go along: name and kind.

    Raises
    ------
    InputError
        If columns of one name cannot be put under each other.
    """
    parts = [_one_source(opened, place, kept) for place in range(len(opened.records.sources))]
    return Analytic(np.arange(opened.records.count), stacked(parts), kept)


def sources_alone(records: Records) -> Analytic:
    """Of each record its source, and nothing else.

    Parameters
    ----------
    records
        The records.
    """
    every = np.arange(records.count)
    names = pa.array(records.sources, pa.string())
    source = names.take(pa.array(records.source_of(every)))
    return Analytic(every, pa.table({_PROVENANCE: source}), {})


def stacked(parts: Sequence[pa.Table]) -> pa.Table:
    """Tables under each other: the union of their columns, in the order in which they come.

    Parameters
    ----------
    parts
        The tables.

    Raises
    ------
    InputError
        If columns of one name cannot be put under each other.
    """
    names = dict.fromkeys(name for part in parts for name in part.column_names)
    columns = {}
    for name in names:
        own = [
            part[name] if name in part.column_names else pa.chunked_array([pa.nulls(len(part))])
            for part in parts
        ]
        columns[name] = in_one_type(own, name)
    return pa.table(columns)


def quasi_identifiers_of(opened: Opened, place: int, kept: Mapping[str, ColumnKind]) -> pa.Table:
    """The compared columns that are kept, of one source.

    Parameters
    ----------
    opened
        The tables.
    place
        Number of the source.
    kept
        Name and kind of the columns.
    """
    with pq.ParquetFile(opened.identifying[place]) as file:
        having = set(file.schema_arrow.names)
        names = {n: own for n in kept for own in (n, sql_name(n)) if own in having}
        table = file.read(columns=list(names.values()))
    columns = {name: as_found(table[own], kept[name]) for name, own in names.items()}
    rows = len(opened.records.ids[place])
    return pa.table(columns) if columns else pa.table({RECORD: pa.nulls(rows)}).select([])


def _one_source(opened: Opened, place: int, kept: Mapping[str, ColumnKind]) -> pa.Table:
    quasi = quasi_identifiers_of(opened, place, kept)
    with pq.ParquetFile(opened.analytic[place]) as file:
        rest = file.read(columns=file.schema_arrow.names[1:])
    rows = len(opened.records.ids[place])
    columns = dict(zip(quasi.column_names, quasi.columns, strict=True))
    for name in rest.column_names:
        columns[free(name, columns)] = rest[name]
    names = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(rows, np.int32)), pa.array([opened.records.sources[place]])
    )
    return pa.table({_PROVENANCE: names.cast(pa.string()), **columns})


def free(name: str, taken: Mapping[str, object] | Sequence[str]) -> str:
    """The name, with underscores behind it until no other column has it.

    Parameters
    ----------
    name
        The name wanted.
    taken
        Names of the other columns.
    """
    while name in taken:
        name += "_"
    return name
