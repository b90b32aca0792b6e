"""The same persons registered at two clinics without a common key, and the truth."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Ints
from sfumato.examples.clinics import (
    CLINICS,
    DAYS_PER_YEAR,
    EDUCATION,
    WINDOW_START,
    Clinics,
    write_tables,
)
from sfumato.examples.demographics import ZIPS
from sfumato.examples.identities import RELATIONS, Identities, identities
from sfumato.examples.registration_errors import Entries, ErrorRates, register
from sfumato.schema import Schema

_HEADER = """\
# Patients and visits of two made-up clinics, as sfumato.examples.generate_registrations draws them.
# Each column has one role, but for the clinics' own numbers, the column patient.
"""
# Of different forms: nobody must take the numbers for a common key.
_NUMBERS = (("H", 1), ("", 40_000_001))
"""Of each clinic, what its patient numbers begin with, and the lowest of them."""
_SCHEMA = Schema(
    direct_identifiers=("given_name", "surname", "phone", "date_of_birth", "visit_date"),
    quasi_identifiers={
        "age": "numeric",
        "sex": "categorical",
        "zip": "numeric",
        "education": {"kind": "ordered", "order": EDUCATION},
    },
    sensitive=("icd9",),
    insensitive=("department", "charge"),
)


@dataclass(frozen=True, eq=False)
class Registrations:
    """Patients and visits of two clinics; nothing but the truth says who is who.

    Attributes
    ----------
    hospital, practice
        One row per registration, in the order of the clinic's own patient numbers: ``patient``,
        ``given_name``, ``surname``, ``date_of_birth``, ``sex``, ``zip``, ``phone``.
    hospital_visits, practice_visits
        The visits under those numbers, ascending by date: those of `Clinics` without name and
        phone, with age and ZIP of the persons as they are here. A person registered twice in
        one clinic has visits under both numbers.
    truth
        One row per registration: ``clinic``, ``patient``, ``person`` (the key of `Clinics`),
        ``relation`` (twin, senior, junior, or empty) and ``errors``, the names of `ErrorRates`
        with semicolons between.
    schema
        What the columns of patients and visits are, but for the clinics' own numbers.
    """

    hospital: pa.Table
    practice: pa.Table
    hospital_visits: pa.Table
    practice_visits: pa.Table
    truth: pa.Table
    rates: ErrorRates
    schema: Schema


def generate_registrations(clinics: Clinics, rates: ErrorRates | None = None) -> Registrations:
    """Register the persons of two clinics at each, as they must be linked again.

    Each clinic gives numbers of its own, in random order, and writes down at the first visit
    under a number who comes: names, date of birth, sex, ZIP, phone, with the errors that
    `ErrorRates` states. Some persons become twins, or a senior and a junior, and share an
    address. No value comes from a record about a person. The same clinics and rates give the
    same tables, and other rates of errors the same persons, relations and numbers.

    Parameters
    ----------
    clinics
        The visits, as `generate_clinics` draws them; they are left as they are.
    rates
        How often registrations err; the defaults of `ErrorRates` if not given.
    """
    rates = ErrorRates() if rates is None else rates
    # Streams of their own: other rates leave persons, relations and numbers as they are.
    relating, numbering, *erring = (
        np.random.default_rng([*clinics.seed.generate_state(4).tolist(), stream])
        for stream in range(4)
    )
    who = identities(clinics.people, rates.twins, rates.juniors, relating)
    hospital, practice = (
        _ClinicRegister.of(clinics, who, clinic, rates, numbering, rng)
        for clinic, rng in enumerate(erring)
    )
    key = clinics.people.key
    return Registrations(
        hospital=hospital.patients(),
        practice=practice.patients(),
        hospital_visits=hospital.visits,
        practice_visits=practice.visits,
        truth=pa.concat_tables([hospital.truth(who, key), practice.truth(who, key)]),
        rates=rates,
        schema=_SCHEMA,
    )


@dataclass(frozen=True, eq=False)
class _ClinicRegister:
    """One clinic; entries in the order of its numbers."""

    clinic: int
    number: pa.StringArray
    person: Ints
    entries: Entries
    visits: pa.Table

    @classmethod
    def of(
        cls,
        clinics: Clinics,
        who: Identities,
        clinic: int,
        rates: ErrorRates,
        numbering: np.random.Generator,
        erring: np.random.Generator,
    ) -> _ClinicRegister:
        """Register the persons of a clinic and put their numbers on its visits."""
        table = (clinics.hospital, clinics.practice)[clinic]
        # The key is P and the person's place, from 1.
        person = pc.utf8_slice_codeunits(table["patient"], 1).cast(pa.int64()).to_numpy() - 1
        day = table["visit_date"].to_numpy().astype("datetime64[D]").astype(np.int64)
        day -= WINDOW_START
        registration = _registrations(person, rates.registered_twice, numbering)
        _, first = np.unique(registration, return_index=True)
        order = numbering.permutation(len(first))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        first = first[order]
        number = _numbers(clinic, len(first))
        return cls(
            clinic,
            number,
            person[first],
            register(who, person[first], day[first], WINDOW_START, rates, erring),
            _visits(table, number.take(pa.array(place[registration])), who, person, day),
        )

    def patients(self) -> pa.Table:
        """What is written down of each patient."""
        birth = pa.array(self.entries.birth.astype(np.int32), mask=self.entries.birth_missing)
        return pa.table(
            {
                "patient": self.number,
                "given_name": self.entries.given.to_arrow(),
                "surname": self.entries.surname.to_arrow(),
                "date_of_birth": birth.view(pa.date32()),
                "sex": pa.array(("Female", "Male")).take(pa.array(self.entries.sex)),
                "zip": self.entries.zip.to_arrow(),
                "phone": self.entries.phone.to_arrow(),
            }
        )

    def truth(self, who: Identities, key: pa.StringArray) -> pa.Table:
        """Whose each number is, and what is wrong with it."""
        persons = pa.array(self.person)
        relation = pa.array(who.relation[self.person])
        clinic = pa.array(np.full(len(self.person), self.clinic, np.int8))
        return pa.table(
            {
                "clinic": pa.array(CLINICS).take(clinic),
                "patient": self.number,
                "person": key.take(persons),
                "relation": pa.array(RELATIONS).take(relation),
                "errors": _listed(self.entries.errors),
            }
        )


def _registrations(person: Ints, twice: float, rng: np.random.Generator) -> Ints:
    """Registration of each visit, from 0; a second one begins after the first visit.

    Each visit after the first is under either number with equal chances; the last is under
    the second one.
    """
    _, first, which = np.unique(person, return_index=True, return_inverse=True)
    last = np.full(len(first), -1)
    last[which] = np.arange(len(person))
    second = np.flatnonzero((rng.random(len(first)) < twice) & (last > first))
    number = np.full(len(first), -1)
    number[second] = len(first) + np.arange(len(second))
    visit = np.arange(len(person))
    moves = (number[which] >= 0) & (visit > first[which])
    moves &= (rng.random(len(person)) < 0.5) | (visit == last[which])
    return np.where(moves, number[which], which).astype(np.int64)


def _numbers(clinic: int, count: int) -> pa.StringArray:
    letter, lowest = _NUMBERS[clinic]
    digits = pa.array(np.arange(lowest, lowest + count)).cast(pa.string())
    return pc.binary_join_element_wise(letter, pc.utf8_lpad(digits, width=7, padding="0"), "")


def _visits(
    table: pa.Table, number: pa.StringArray, who: Identities, person: Ints, day: Ints
) -> pa.Table:
    """The visits under the clinic's numbers, with age and ZIP of the person as it is here."""
    age = ((day - who.birth[person]) / DAYS_PER_YEAR).astype(np.int32)
    own = {
        "patient": number,
        "age": pa.array(age),
        "zip": pa.array(ZIPS).take(pa.array(who.home_on(day, person))),
    }
    kept = [name for name in table.column_names if name not in {"name", "phone"}]
    return pa.table({name: own.get(name, table[name]) for name in kept})


def _listed(errors: dict[str, Bools]) -> pa.StringArray:
    """The names of each row's errors, with semicolons between."""
    # Errors as bits: few combinations occur, and each is put into words once.
    mask = np.zeros(len(next(iter(errors.values()))), np.int64)
    for bit, hit in enumerate(errors.values()):
        mask |= hit.astype(np.int64) << bit
    kinds, which = np.unique(mask, return_inverse=True)
    texts = [
        "; ".join(name for bit, name in enumerate(errors) if kind >> bit & 1)
        for kind in kinds.tolist()
    ]
    return pa.array(texts, pa.string()).take(pa.array(which))


def write_registrations(
    registrations: Registrations, folder: str | os.PathLike[str]
) -> tuple[Path, ...]:
    """Write the patients and visits of both clinics, the truth, and the schema into a folder.

    The files are ``patients_hospital.csv``, ``patients_practice.csv``, ``visits_hospital.csv``,
    ``visits_practice.csv``, ``truth.csv``, ``schema.toml`` (with comments) and ``icd9.csv`` (code,
    description). All are written whole or none is; a file of the same name is replaced.
    Missing values are empty cells.

    Parameters
    ----------
    folder
        Where; made if it does not exist.
    """
    tables = {
        "patients_hospital.csv": registrations.hospital,
        "patients_practice.csv": registrations.practice,
        "visits_hospital.csv": registrations.hospital_visits,
        "visits_practice.csv": registrations.practice_visits,
        "truth.csv": registrations.truth,
    }
    return write_tables(tables, registrations.schema, _HEADER, folder)
