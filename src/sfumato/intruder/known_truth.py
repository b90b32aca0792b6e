"""How the referee comes to know whose each released record is; the intruder is never told."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.knowledge.texts import everybody, read_texts
from sfumato.intruder.referee.truth import (
    PersonValues,
    Truth,
    owned,
    owned_by_id,
    owned_by_row,
    person_values,
)
from sfumato.schema import Schema
from sfumato.table.preparation import prepared_in_part
from sfumato.table.table_files import open_source

Ints = npt.NDArray[np.int64]
SAME_ORDER = "same-order"
"""The word for a released file whose records are in the order of the original's."""
ROW, PERSON = "row", "person"
"""Columns of a truth file: number of a released record from 1, id of its person."""


@dataclass(frozen=True, eq=False)
class People:
    """The rows of a register, or of an original, and whose they are.

    Attributes
    ----------
    ids
        Id of each person in order of appearance; row numbers where there is no person column.
    person
        Person of each row, shape (rows,).
    named
        Whether the ids are those of a person column.
    values
        By sensitive attribute, what the persons have.
    """

    ids: tuple[str, ...]
    person: Ints
    named: bool
    values: dict[str, PersonValues]


def people_of(data: Any, schema: Schema) -> People:
    """Read whose the rows are, and their sensitive values where the file has them.

    Parameters
    ----------
    data
        A dataframe, or the path of a file.
    schema
        What each column is.

    Raises
    ------
    InputError
        If the file cannot be read, or a row has no person.
    """
    source = prepared_in_part(open_source(data), schema)
    named = schema.person is not None and schema.person in source.names
    sensitive = [name for name in schema.sensitive if name in source.names]
    first = [str(schema.person)] if named else [source.names[0]]
    read = read_texts(source, list(dict.fromkeys([*first, *sensitive])), schema.missing)
    rows = len(read[first[0]].codes)
    ids, person = tuple(str(row + 1) for row in range(rows)), np.arange(rows, dtype=np.int64)
    if named:
        person = everybody(read[first[0]], first[0], source.subject)
        ids = tuple(str(text) for text in read[first[0]].texts)
    values = {}
    for name in sensitive:
        column = read[name]
        values[name] = person_values(person, [column.texts[code] for code in column.codes.tolist()])
    return People(ids, person, named, values)


def by_source_rows(rows: Ints, original: People, register: People, knowledge: Knowledge) -> Truth:
    """The truth from the row of the original that each released record came from.

    Of those in the release what counts is what it says of them, sensitive values being released
    unchanged; the values of the others are those of the register.

    Parameters
    ----------
    rows
        Row of the original, from 0, of each released record, shape (records,).
    original
        Whose the rows of the original are.
    register
        Whose those of the register are; the same object where the register is the original.
    knowledge
        What the intruder holds of it.

    Raises
    ------
    InputError
        If the register is another file and one of the two has no person column, or the original
        is too short.
    """
    if register is original:
        truth = owned_by_row(rows, knowledge.person, knowledge.persons)
        return _of_others(truth, register)
    if not (original.named and register.named):
        raise InputError(
            "the register",
            "must have the schema's person column, as the original must",
            found="rows without person ids",
            advice="give the truth as a file with columns row and person",
        )
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < len(original.person):
        raise InputError("the original", "must be the file that was released", found="another size")
    owners = original.person[rows]
    truth = owned_by_id([original.ids[owner] for owner in owners], register.ids)
    return _of_others(truth, register)


def _of_others(truth: Truth, register: People) -> Truth:
    """The truth with the sensitive values of those outside the release."""
    values = {}
    for name, held in register.values.items():
        outside = ~truth.released[held.person]
        values[name] = replace(held, person=held.person[outside], codes=held.codes[outside])
    return replace(truth, values=values)


def by_given(
    truth: Any, records: int, original: People | None, register: People, missing: Sequence[str] = ()
) -> Truth:
    """The truth that somebody states.

    Parameters
    ----------
    truth
        ``"same-order"``; the path of a file with columns ``row`` and ``person``; or one person id
        per released record, ``None`` where nobody knows.
    records
        Number of released records.
    original
        Whose the rows of the original are, where there is one.
    register
        Whose the rows of the register are.
    missing
        Texts that mean a missing value.

    Raises
    ------
    InputError
        If the truth cannot be read or does not fit the released file.
    """
    if isinstance(truth, str) and truth == SAME_ORDER:
        return _same_order(records, original or register, register)
    if isinstance(truth, (str, os.PathLike)):
        return owned_by_id(_from_file(truth, records, missing), register.ids, register.values)
    ids = [None if each is None else str(each) for each in truth]
    if len(ids) != records:
        raise InputError(
            "parameter truth",
            "must name a person for each released record",
            found=f"{len(ids):,} for {records:,} records",
        )
    return owned_by_id(ids, register.ids, register.values)


def _same_order(records: int, original: People, register: People) -> Truth:
    if records > len(original.person):
        raise InputError(
            "the truth",
            "cannot be the same order where the release has more records",
            found=f"{records:,} released and {len(original.person):,} others",
        )
    owners = original.person[:records]
    if register is original:
        return owned(owners, len(register.ids), register.values)
    return owned_by_id([original.ids[owner] for owner in owners], register.ids, register.values)


def _from_file(path: Any, records: int, missing: Sequence[str]) -> list[str | None]:
    source = open_source(path)
    for name in (ROW, PERSON):
        if name not in source.names:
            raise InputError(
                source.subject,
                f"must have columns '{ROW}' and '{PERSON}' to say whose each record is",
                found=f"no column '{name}'",
            )
    read = read_texts(source, [ROW, PERSON], missing)
    rows, persons = read[ROW], read[PERSON]
    ids: list[str | None] = [None] * records
    numbers = [int(text) if text is not None and text.isdecimal() else 0 for text in rows.texts]
    for place, (row, person) in enumerate(
        zip(rows.codes.tolist(), persons.codes.tolist(), strict=True), 1
    ):
        if not 1 <= numbers[row] <= records:
            raise InputError(
                f"column '{ROW}' of {source.subject}",
                "must number the released records",
                found=f"something else in row {place}",
                accepted=f"1 to {records}",
            )
        ids[numbers[row] - 1] = persons.texts[person]
    return ids
