"""Take from a register what an intruder knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.core.errors import InputError
from sfumato.intruder.knowledge.knowledge import Floats, Knowledge, KnownColumn
from sfumato.intruder.knowledge.numbers import measure_of
from sfumato.intruder.knowledge.texts import Texts, everybody, read_texts
from sfumato.schema import IntervalHierarchy, Kind, QuasiIdentifier, Schema
from sfumato.table.preparation import prepared_in_part
from sfumato.table.sources import Source
from sfumato.table.table_files import open_source


def hold(
    register: Any,
    schema: Schema,
    *,
    knows: Sequence[str] | None = None,
) -> Knowledge:
    """What an intruder knows who has this register.

    A missing value is one that the intruder does not know.

    Parameters
    ----------
    register
        A dataframe, or the path of a file, with exact values. Rows with the same id in the
        schema's person column are about one person; without that column each row is a person.
    schema
        What each column is.
    knows
        The quasi-identifiers that the intruder knows; all that the register has when not given.

    Raises
    ------
    InputError
        If the register cannot be read, has none of the quasi-identifiers or not one that is
        named, or a row has no person.
    """
    source = prepared_in_part(open_source(register), schema)
    known = _known_names(source, schema, knows)
    has_person = schema.person is not None and schema.person in source.names
    read = read_texts(source, list(source.names), schema.missing)
    rows = len(read[source.names[0]].codes)
    person, persons = np.arange(rows, dtype=np.int64), rows
    if has_person:
        person = everybody(read[str(schema.person)], str(schema.person), source.subject)
        persons = len(read[str(schema.person)].texts)
    others = [name for name in source.names if name not in known and name != schema.person]
    return Knowledge(
        persons=persons,
        person=person,
        quasi_identifiers=tuple(
            _known(name, read[name], schema.quasi_identifiers[name]) for name in known
        ),
        others=tuple(_other(name, read[name]) for name in others),
    )


def is_measured(quasi: QuasiIdentifier, texts: Sequence[str | None]) -> bool:
    """Whether a quasi-identifier's values are numbers or dates rather than labels.

    Parameters
    ----------
    quasi
        What the schema says about it.
    texts
        Its distinct values, as far as they are known.
    """
    if quasi.kind is Kind.NUMERIC or isinstance(quasi.hierarchy, IntervalHierarchy):
        return True
    if quasi.kind is Kind.CATEGORICAL or quasi.order is not None:
        return False
    if quasi.kind is Kind.ORDERED and quasi.hierarchy is not None:
        return False
    numbers = [measure_of(text) for text in texts if text is not None]
    return bool(numbers) and None not in numbers


def _known_names(source: Source, schema: Schema, knows: Sequence[str] | None) -> list[str]:
    if knows is not None:
        asked = [knows] if isinstance(knows, str) else list(knows)
        for name in asked:
            if name not in schema.quasi_identifiers:
                raise InputError(
                    f"column '{name}'",
                    "must be a quasi-identifier where the intruder knows it",
                    accepted=", ".join(schema.quasi_identifiers),
                )
            if name not in source.names:
                raise InputError(
                    f"column '{name}'",
                    f"must be a column of {source.subject}, the register",
                    found=f"no such name among its {len(source.names)} columns",
                )
        known = [name for name in schema.quasi_identifiers if name in asked]
    else:
        known = [name for name in schema.quasi_identifiers if name in source.names]
    if not known:
        raise InputError(
            source.subject,
            "must have a quasi-identifier that the intruder knows",
            found="none of the schema's" if knows is None else "none named",
            accepted=", ".join(schema.quasi_identifiers),
        )
    return known


def _known(name: str, column: Texts, quasi: QuasiIdentifier) -> KnownColumn:
    numbers = np.full(len(column.texts), np.nan)
    if is_measured(quasi, column.texts):
        numbers = numbers_of(column.texts)
    return KnownColumn(name, column.texts, numbers, column.codes)


def _other(name: str, column: Texts) -> KnownColumn:
    return KnownColumn(name, column.texts, numbers_of(column.texts), column.codes)


def numbers_of(texts: Sequence[str | None]) -> Floats:
    """Each text as a number, or a date in days; NaN for anything else."""
    numbers = [None if text is None else measure_of(text) for text in texts]
    return np.array([np.nan if each is None else each for each in numbers], dtype=np.float64)
