"""Whose each released record is, and what is true of the persons of the register."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PersonValues:
    """The values of one sensitive attribute that persons of the register really have.

    Attributes
    ----------
    person
        Register person of each entry, shape (entries,).
    codes
        The value that this person has, a position in ``texts``, shape (entries,).
    texts
        The distinct values.
    """

    person: Ints
    codes: Ints
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Truth:
    """What the referee knows and the intruder does not.

    Attributes
    ----------
    owner
        Register person of each released record, -1 outside the register, shape (records,).
    released
        Whether each register person has a record in the release, shape (register persons,).
    values
        By sensitive attribute, what the persons of the register really have, those outside the
        release too (for the control group); may be empty.
    """

    owner: Ints
    released: Bools
    values: Mapping[str, PersonValues] = field(default_factory=dict)


def owned(owner: Ints, persons: int, values: Mapping[str, PersonValues] | None = None) -> Truth:
    """The truth from the register person of each released record.

    Parameters
    ----------
    owner
        Register person of each released record, -1 outside the register, shape (records,).
    persons
        Number of register persons.
    values
        What the register's persons have, by sensitive attribute.

    Raises
    ------
    InputError
        If an owner is not a person of the register.
    """
    owner = np.asarray(owner, dtype=np.int64)
    if owner.size and not (owner.min() >= -1 and owner.max() < persons):
        raise InputError(
            "the truth",
            "must name persons of the register",
            found="another number",
            accepted=f"-1 (outside the register) to {persons - 1}",
        )
    released = np.zeros(persons, dtype=np.bool_)
    released[owner[owner >= 0]] = True
    return Truth(owner, released, dict(values or {}))


def owned_by_row(source_rows: Ints, register_person: Ints, persons: int) -> Truth:
    """The truth where the register is the original, or has its rows in the same order.

    Parameters
    ----------
    source_rows
        Row of the original (from 0) of each released record, shape (records,); ``arange`` where
        the release keeps the order.
    register_person
        Register person of each row, shape (rows,).
    persons
        Number of register persons.

    Raises
    ------
    InputError
        If a row is not one of the register.
    """
    rows = np.asarray(source_rows, dtype=np.int64)
    if rows.size and not (rows.min() >= 0 and rows.max() < len(register_person)):
        raise InputError(
            "the truth",
            "must name rows of the register",
            found="another number",
            accepted=f"0 to {len(register_person) - 1}",
        )
    return owned(register_person[rows], persons)


def owned_by_id(
    record_ids: Sequence[str | None],
    register_ids: Sequence[str | None],
    values: Mapping[str, PersonValues] | None = None,
) -> Truth:
    """The truth from the person id of each released record and of each register person.

    Parameters
    ----------
    record_ids
        True person id of each released record; ``None`` where nobody knows.
    register_ids
        Person id of each register person.
    values
        What the register's persons have, by sensitive attribute.

    Raises
    ------
    InputError
        If two register persons have the same id.
    """
    number = {one: i for i, one in enumerate(register_ids) if one is not None}
    if len(number) < sum(one is not None for one in register_ids):
        raise InputError(
            "the register", "must have one id per person", found="an id of two persons"
        )
    owner = [-1 if one is None else number.get(one, -1) for one in record_ids]
    return owned(np.array(owner, dtype=np.int64), len(register_ids), values)


def person_values(person: Ints, texts: Sequence[str | None]) -> PersonValues:
    """What persons have, from rows of a table; a row without a value says nothing.

    Parameters
    ----------
    person
        Register person of each row, -1 for none of the register, shape (rows,).
    texts
        Value of each row.
    """
    keep = [i for i, text in enumerate(texts) if text is not None and person[i] >= 0]
    held = [str(texts[i]) for i in keep]
    distinct = tuple(dict.fromkeys(held))
    code = {text: i for i, text in enumerate(distinct)}
    return PersonValues(
        np.asarray(person, dtype=np.int64)[keep],
        np.array([code[text] for text in held], dtype=np.int64),
        distinct,
    )
