"""Open linked and local data, and bring them to the same values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.schema import QuasiIdentifier, Schema
from sfumato.semantics.linkage_anonymity.common_values import common_values
from sfumato.semantics.linkage_anonymity.keys import Ints
from sfumato.semantics.linkage_anonymity.linked import Linked
from sfumato.semantics.linkage_anonymity.local import Local
from sfumato.semantics.linkage_anonymity.matches import matches
from sfumato.table.classification import open_classified
from sfumato.table.door import open_table
from sfumato.table.preparation import fitting
from sfumato.table.sources import is_bytes
from sfumato.table.table import CodedColumn, Table
from sfumato.table.table_files import open_source


class LocalAsked(Protocol):
    """What is asked about one local data set; see `LinkageAnonymity`."""

    @property
    def local(self) -> Any:
        """The local data."""

    @property
    def k(self) -> int:
        """How many of its individuals must match."""

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Which columns the requester knows of them."""

    @property
    def schema(self) -> Schema | None:
        """What each column is."""

    @property
    def name(self) -> str:
        """Its name."""


def link_up(linked: Any, schema: Schema, asked: Sequence[LocalAsked]) -> Linked:
    """The linked tuples and the local data sets, every rule checked before work starts.

    Parameters
    ----------
    linked
        The linked records: a dataframe, or the path of a file.
    schema
        What each column of them is.
    asked
        The local data sets, at least one; the largest k holds for all of them.

    Raises
    ------
    InputError
        If a file does not fit its schema, a quasi-identifier has no hierarchy or its hierarchy
        no leaf for a value, k is larger than a local data set, or a local data set does not
        contain the linked persons.
    """
    names = [each.name for each in asked]
    if not names or len(set(names)) < len(names):
        raise InputError("the local data sets", "must be at least one, with a name of its own each")
    schemas = [_local_schema(each, schema) for each in asked]
    specs = {
        name: _one_spec(name, quasi, schemas) for name, quasi in schema.quasi_identifiers.items()
    }
    table = open_classified(linked, schema.model_copy(update={"quasi_identifiers": specs}))
    tables = [open_table(each.local, own) for each, own in zip(asked, schemas, strict=True)]
    hierarchies, codes, local_codes = _same_values(table, tables, specs)
    k = max(each.k for each in asked)
    locals_ = tuple(
        _local(name, other, own, hierarchies, k)
        for name, other, own in zip(names, tables, local_codes, strict=True)
    )
    all_hierarchies = tuple(hierarchies[name] for name in specs)
    found = Linked.of(table, all_hierarchies, codes, locals_)
    for local, other in zip(locals_, tables, strict=True):
        _check_contains(found, local, other)
    return found


def _local_schema(asked: LocalAsked, schema: Schema) -> Schema:
    """What is read of a local data set: its person column and its quasi-identifiers."""
    own = asked.schema or schema
    names = asked.quasi_identifiers or tuple(own.quasi_identifiers)
    for name in names:
        if name not in own.quasi_identifiers or name not in schema.quasi_identifiers:
            raise InputError(
                f"quasi-identifier '{name}' of local data '{asked.name}'",
                "must be a quasi-identifier of the linked data and of the local data",
                accepted=", ".join(schema.quasi_identifiers),
            )
    there = open_source(asked.local).names
    person = own.person
    if asked.schema is None and person is not None:
        person = person if person in there else None
    return Schema(
        person=person,
        quasi_identifiers={name: own.quasi_identifiers[name] for name in names},
        missing=own.missing,
        recipe=fitting(own, there).recipe,
    )


def _one_spec(name: str, quasi: QuasiIdentifier, schemas: Sequence[Schema]) -> QuasiIdentifier:
    """The linked schema's word on a quasi-identifier, its hierarchy from a local one if need be."""
    given = [quasi.hierarchy]
    given += [s.quasi_identifiers[name].hierarchy for s in schemas if name in s.quasi_identifiers]
    stated = [each for each in given if each is not None]
    if any(each != stated[0] for each in stated):
        raise InputError(
            f"quasi-identifier '{name}'", "must have the same hierarchy in every schema"
        )
    return quasi.model_copy(update={"hierarchy": stated[0] if stated else None})


def _same_values(
    table: Table, tables: Sequence[Table], specs: Mapping[str, QuasiIdentifier]
) -> tuple[dict[str, Hierarchy], Ints, list[dict[str, Ints]]]:
    """One hierarchy per quasi-identifier, and the leaf codes of the linked and local records."""
    hierarchies: dict[str, Hierarchy] = {}
    codes = np.empty((table.records, len(specs)), dtype=np.int32, order="F")
    local_codes: list[dict[str, Ints]] = [{} for _ in tables]
    for place, column in enumerate(table.quasi_identifiers):
        held = [(number, _column(each, column.name)) for number, each in enumerate(tables)]
        having = [(number, own) for number, own in held if own is not None]
        columns = [column, *(own for _, own in having)]
        hierarchy, coded = common_values(columns, specs[column.name], flat=not having)
        hierarchies[column.name] = hierarchy
        codes[:, place] = coded[0]
        for (number, _), each in zip(having, coded[1:], strict=True):
            local_codes[number][column.name] = each
    return hierarchies, codes, local_codes


def _column(table: Table, name: str) -> CodedColumn | None:
    return next((each for each in table.quasi_identifiers if each.name == name), None)


def _local(
    name: str, table: Table, codes: Mapping[str, Ints], hierarchies: Mapping[str, Hierarchy], k: int
) -> Local:
    own = [column.name for column in table.quasi_identifiers]
    return Local.from_codes(
        name,
        own,
        [hierarchies[each] for each in own],
        np.asfortranarray(np.column_stack([codes[each] for each in own])),
        table.person,
        k,
    )


def _check_contains(linked: Linked, local: Local, table: Table) -> None:
    """Refuse a local data set without the linked persons.

    Persons are compared by their ids where both files name the same person column, else by
    their values: each linked tuple must be that of somebody in the local data.
    """
    person = linked.table.schema.person
    if person is not None and person == table.schema.person:
        theirs = _ids(linked.table, person)
        absent = len(theirs) - int(pc.sum(pc.is_in(theirs, _ids(table, person))).as_py() or 0)
        found = f"{absent:,} of {len(theirs):,} linked persons who are not in it"
    else:
        own = linked.columns_of(local)
        codes = linked.codes[:, own]
        nobody = matches(local, codes, np.zeros(codes.shape, dtype=np.int8)) == 0
        absent = int(nobody[linked.tuple_of].sum())
        found = f"{absent:,} of {linked.table.records:,} linked records that match nobody in it"
    if absent:
        raise InputError(
            f"local data '{local.name}'",
            "must contain the linked persons, with the values that the linked data has",
            found=found,
            advice="give the local data that was linked, all of it",
        )


def _ids(table: Table, person: str) -> pa.Array:
    ids = pc.unique(table.source.column(person))
    return pc.cast(ids if is_bytes(ids.type) else pc.cast(ids, pa.string()), pa.large_binary())
