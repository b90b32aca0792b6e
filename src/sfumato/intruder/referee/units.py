"""Which released unit is which register person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.intruder.candidates.sets import distinct_sets
from sfumato.intruder.reading.released_file import ReleasedFile
from sfumato.intruder.referee.truth import Truth

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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
