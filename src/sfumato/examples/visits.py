"""The visits that persons make, in order of their dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.examples.choice import WeightedChoice
from sfumato.examples.diagnoses import CODES, OLDEST, code_weights
from sfumato.examples.people import DAYS_PER_YEAR, EDUCATION, FIRST_YEAR, WINDOW_DAYS, People
from sfumato.examples.places import ZIPS

CLINICS = ("hospital", "practice")
WINDOW_START = (date(FIRST_YEAR, 1, 1) - date(1970, 1, 1)).days
"""The first day of the window, in days since 1970-01-01."""
OTHER_CLINIC_SECOND = 0.7
"""Probability that the second visit drawn for a person is at the other clinic than the first."""

CHRONIC_VISIT_SHARE = 0.5
"""Share of the visits of a person with chronic conditions that are for one of them."""

MISSING_EDUCATION = 0.03
EDUCATION_FROM_AGE = (15, 18, 21, 24, 27)
"""Ages in years before which the second, third, ... level cannot have been reached."""

DEPARTMENTS: tuple[tuple[tuple[str, float, float], ...], ...] = (
    (
        ("Outpatient", 0.42, 310.0),
        ("Emergency", 0.24, 780.0),
        ("Laboratory", 0.16, 120.0),
        ("Day surgery", 0.10, 2900.0),
        ("Inpatient", 0.08, 8400.0),
    ),
    (
        ("Consultation", 0.68, 140.0),
        ("Laboratory", 0.17, 60.0),
        ("Nursing", 0.11, 45.0),
        ("Home visit", 0.04, 210.0),
    ),
)
"""Departments of each clinic: name, share of its visits, median charge in dollars."""
CHARGE_SIGMA = 0.6
_MOST_DEPARTMENTS = max(map(len, DEPARTMENTS))


@dataclass(frozen=True, eq=False)
class Visits:
    """One entry per visit in every field, ascending by day.

    Attributes
    ----------
    person
        Index of the person.
    day
        Day of the visit, counted from the first day of the window.
    clinic
        Index of `CLINICS`.
    age
        Completed years at the visit.
    home
        Index of the ZIP at the visit.
    diagnosis
        Index of the code.
    department
        Index of the clinic's departments.
    """

    person: npt.NDArray[np.int32]
    day: npt.NDArray[np.int16]
    clinic: npt.NDArray[np.int8]
    age: npt.NDArray[np.int16]
    home: npt.NDArray[np.int16]
    diagnosis: npt.NDArray[np.int16]
    department: npt.NDArray[np.int16]


def draw_visits(people: People, rng: np.random.Generator) -> Visits:
    """Draw the visits of all persons.

    The distributions are those that `sfumato.examples.generate_clinics` states.
    """
    person, day, clinic = _calendar(people, rng)
    age = ((day - people.birth[person]) / DAYS_PER_YEAR).astype(np.int16)
    moved = day >= people.move[person]
    home = people.homes[moved.astype(np.int8), person]
    shares = [
        [share for _, share, _ in one] + [0.0] * (_MOST_DEPARTMENTS - len(one))
        for one in DEPARTMENTS
    ]
    return Visits(
        person=person,
        day=day,
        clinic=clinic,
        age=age,
        home=home,
        diagnosis=_diagnoses(people, person, age, rng),
        department=WeightedChoice.of(shares).draw(clinic, rng),
    )


def _calendar(
    people: People, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int16], npt.NDArray[np.int8]]:
    """Persons, days and clinics of the visits, ascending by day."""
    person = np.repeat(np.arange(len(people.sex), dtype=np.int32), people.visits)
    clinic = _clinics(people, person, rng)
    first = np.maximum(people.birth, 0)[person]
    day = (first + rng.random(len(person)) * (WINDOW_DAYS - first)).astype(np.int16)
    np.minimum(day, WINDOW_DAYS - 1, out=day)
    order = np.argsort(day, kind="stable")
    return person[order], day[order], clinic[order]


def _clinics(
    people: People, person: npt.NDArray[np.int32], rng: np.random.Generator
) -> npt.NDArray[np.int8]:
    at_practice = rng.random(len(person), dtype=np.float32) >= people.hospital_share[person]
    clinic = at_practice.astype(np.int8)
    starts = np.cumsum(people.visits) - people.visits
    firsts = starts[people.visits > 1]
    other = rng.random(len(firsts)) < OTHER_CLINIC_SECOND
    clinic[firsts + 1] = clinic[firsts] ^ other
    return clinic


def _diagnoses(
    people: People,
    person: npt.NDArray[np.int32],
    age: npt.NDArray[np.int16],
    rng: np.random.Generator,
) -> npt.NDArray[np.int16]:
    stratum = 2 * np.minimum(age, OLDEST) + people.sex[person]
    diagnosis = WeightedChoice.of(code_weights(chronic=False)).draw(stratum, rng)
    count = people.condition_count[person]
    chronic = np.flatnonzero((rng.random(len(person)) < CHRONIC_VISIT_SHARE) & (count > 0))
    slot = (count[chronic] * rng.random(len(chronic)) ** 2).astype(np.int8)
    diagnosis[chronic] = people.conditions[person[chronic], slot]
    return diagnosis


def visit_table(
    people: People, visits: Visits, rows: npt.NDArray[np.intp], rng: np.random.Generator
) -> pa.Table:
    """The visits of ``rows``, all of one clinic, with their charges, as an Arrow table.

    Parameters
    ----------
    people
        All persons.
    visits
        All visits.
    rows
        Which visits, by position, ascending.
    rng
        Source of randomness.
    """
    person = visits.person[rows]
    clinic = int(visits.clinic[rows[0]]) if len(rows) else 0
    departments = DEPARTMENTS[clinic]
    department = visits.department[rows]
    charge = rng.lognormal(0.0, CHARGE_SIGMA, len(rows))
    charge *= np.array([median for *_, median in departments])[department]
    persons = pa.array(person)
    return pa.table(
        {
            "patient": people.key.take(persons),
            "name": people.name.take(persons),
            "phone": people.phone.take(persons),
            "visit_date": _dates(visits.day[rows]),
            "age": pa.array(visits.age[rows].astype(np.int32)),
            "sex": _labels(("Female", "Male"), people.sex[person]),
            "zip": _labels(ZIPS, visits.home[rows]),
            "education": _education(people.education[person], visits.age[rows], rng),
            "icd9": _labels(CODES, visits.diagnosis[rows]),
            "department": _labels([name for name, *_ in departments], department),
            "charge": pa.array(np.round(charge, 2)),
        }
    )


def _labels(labels: Sequence[str], codes: npt.NDArray[np.integer]) -> pa.StringArray:
    return pa.array(labels, pa.string()).take(pa.array(codes))


def _dates(days: npt.NDArray[np.int16]) -> pa.Date32Array:
    return pa.array(days.astype(np.int32) + WINDOW_START).view(pa.date32())


def _education(
    highest: npt.NDArray[np.int16], age: npt.NDArray[np.int16], rng: np.random.Generator
) -> pa.StringArray:
    reached = np.searchsorted(EDUCATION_FROM_AGE, age, side="right").astype(np.int16)
    level = np.minimum(highest, reached)
    missing = rng.random(len(level), dtype=np.float32) < MISSING_EDUCATION
    return pa.array(EDUCATION).take(pa.array(level, mask=missing))
