"""Whose each released record is, what is true of the register's persons, what guessing finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.candidates import distinct_sets
from sfumato.intruder.reading import ReleasedFile, TextColumn
from sfumato.intruder.referee.attack_odds import clopper_pearson

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


@dataclass(frozen=True, eq=False)
class Owners:
    """The register persons of each released unit; several where a linkage erred.

    Attributes
    ----------
    units, persons
        Number of released units, and of register persons.
    pairs
        unit * persons + person of each unit and a person of its records, ascending.
    first
        A register person of each unit, -1 outside the register, shape (units,).
    """

    units: int
    persons: int
    pairs: Ints
    first: Ints

    def right(self, unit: Ints, person: Ints) -> Bools:
        """Whether each guess names a person to whom a record of the unit belongs.

        Paper 003: disclosure is deemed to occur when any one of a person's records is identified.

        Parameters
        ----------
        unit, person
            The guesses; -1 is never right.
        """
        named = (unit >= 0) & (person >= 0)
        key = unit * self.persons + person
        at = np.minimum(np.searchsorted(self.pairs, key), max(len(self.pairs) - 1, 0))
        if not len(self.pairs):
            return np.zeros(len(key), dtype=np.bool_)
        return np.asarray(named & (self.pairs[at] == key), dtype=np.bool_)

    def chance(self, unit: Ints) -> npt.NDArray[np.float64]:
        """The chance that a register person drawn at random is right, for each unit.

        Parameters
        ----------
        unit
            Released units.
        """
        of_unit = np.bincount(self.pairs // max(self.persons, 1), minlength=self.units)
        return np.asarray(of_unit[unit] / max(self.persons, 1), dtype=np.float64)

    def chance_of_person(self, person: Ints) -> npt.NDArray[np.float64]:
        """The chance that a unit drawn at random is right, for each register person.

        Parameters
        ----------
        person
            Register persons.
        """
        of_person = np.bincount(self.pairs % max(self.persons, 1), minlength=self.persons)
        return np.asarray(of_person[person] / max(self.units, 1), dtype=np.float64)


def owners(file: ReleasedFile, truth: Truth, *, by_record: bool = False) -> Owners:
    """The register persons of the released units.

    Parameters
    ----------
    file
        The released file.
    truth
        Whose each record is.
    by_record
        Whether records are the units even where the file has pseudonyms.

    Raises
    ------
    InputError
        If the truth is about another number of records.
    """
    if len(truth.owner) != file.records:
        raise InputError(
            "the truth",
            "must say whose each released record is",
            found=f"{len(truth.owner)} records",
            accepted=f"{file.records} records",
        )
    unit = np.arange(file.records, dtype=np.int64) if by_record else file.unit
    units = file.records if by_record else file.persons
    persons = len(truth.released)
    known = truth.owner >= 0
    first = np.full(units, -1, dtype=np.int64)
    first[unit[known][::-1]] = truth.owner[known][::-1]
    return Owners(units, persons, np.unique(unit[known] * persons + truth.owner[known]), first)


def unit_kinds(file: ReleasedFile) -> Ints:
    """Number of the set of classes that each released unit shows, shape (units,).

    Parameters
    ----------
    file
        The released file.
    """
    return distinct_sets(file.unit, file.class_of, file.persons, file.classes)[0]


def random_persons(owners: Owners, unit: Ints) -> Measure:
    """Expected success of naming a person of the register at random for each unit.

    Parameters
    ----------
    owners
        Who the units are.
    unit
        The units of the attempts.
    """
    value = float(owners.chance(unit).mean()) if len(unit) else 0.0
    return Measure("baseline", value, why="a person of the register, drawn at random")


def random_units(owners: Owners, person: Ints) -> Measure:
    """Expected success of naming a unit of the file at random for each person.

    Parameters
    ----------
    owners
        Who the units are.
    person
        The persons of the attempts.
    """
    value = float(owners.chance_of_person(person).mean()) if len(person) else 0.0
    return Measure("baseline", value, why="a person of the file, drawn at random")


def most_frequent_value(has_it: Bools) -> Measure:
    """Success of guessing the most frequent value of the whole file for every target.

    Parameters
    ----------
    has_it
        Whether each target has that value.
    """
    value = float(np.mean(has_it)) if len(has_it) else 0.0
    return Measure("baseline", value, why="the value that most persons of the file have")


def pinned_outside(person: Ints, truth: Truth) -> Measure | None:
    """Share of the guesses that pin a released record on somebody who is not in the release.

    ``None`` where every register person is in it.

    Parameters
    ----------
    person
        The register person of each attempt.
    truth
        Who is in the release.
    """
    if bool(truth.released.all()) or not len(person):
        return None
    value = float(np.mean(~truth.released[person]))
    return Measure("control", value, why="guesses that name somebody outside the release")


def right_outside(right: Bools) -> Measure | None:
    """How often the same guess is right for persons who look alike but are not in the release.

    ``None`` where there are none of whom the truth is known.

    Parameters
    ----------
    right
        Whether the guess is right for each of them.
    """
    if not len(right):
        return None
    count = int(right.sum())
    low, high = clopper_pearson(count, len(right))
    why = f"the same guess for {len(right)} persons who are not in the release"
    return Measure("control", count / len(right), low, high, "Clopper-Pearson", why)


@dataclass(frozen=True, eq=False)
class Holdings:
    """The values that register persons have, by the codes of the released column.

    Attributes
    ----------
    keys
        person * texts + code of each person and value, ascending.
    texts
        Number of distinct texts of the released column.
    known
        Whether anything is known of each register person, shape (persons,).
    """

    keys: Ints
    texts: int
    known: Bools

    def has(self, person: Ints, value: Ints) -> Bools:
        """Whether each person has each value; -1 is never had.

        Parameters
        ----------
        person
            Register persons.
        value
            Codes of the released column.
        """
        wanted = person * self.texts + value
        if not len(self.keys):
            return np.zeros(len(wanted), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.asarray((value >= 0) & (self.keys[at] == wanted), dtype=np.bool_)


def holdings(column: TextColumn, truth: Truth) -> Holdings:
    """What the register's persons have: by the truth where it says, else by their own records.

    Parameters
    ----------
    column
        The sensitive column of the released file.
    truth
        Whose each record is, and what persons have.
    """
    texts = len(column.texts)
    given = truth.values.get(column.name)
    some = (truth.owner >= 0) & (column.told >= 0)
    person, code = truth.owner[some], column.codes[some]
    known = truth.released.copy()
    if given is not None:
        number = {text: place for place, text in enumerate(column.texts)}
        of_text = np.array([number.get(text, -1) for text in given.texts], dtype=np.int64)
        told = of_text[given.codes] if len(of_text) else np.zeros(0, dtype=np.int64)
        known[given.person] = True
        person = np.concatenate([person, given.person[told >= 0]])
        code = np.concatenate([code, told[told >= 0]])
    return Holdings(np.unique(person * max(texts, 1) + code), max(texts, 1), known)
