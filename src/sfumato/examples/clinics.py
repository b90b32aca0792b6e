"""Visits to two clinics: made-up patients with realistic risks, and a paper's worked example."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sfumato.core.arrays import Codes, Floats, Integers, Ints, Levels
from sfumato.core.atomic import all_or_none, atomic_path, write_text
from sfumato.core.errors import InputError
from sfumato.examples import demographics
from sfumato.schema import Schema, dump_schema

FIRST_YEAR = 2015
"""The visits begin on 1 January of this year."""
WINDOW_DAYS = 1826
"""Five years, 2015 to 2019."""
DAYS_PER_YEAR = 365.2425

FEMALE_SHARE = 0.53
AGE_BANDS: tuple[tuple[int, int, float], ...] = (
    (-5, 0, 0.05),
    (0, 5, 0.06),
    (5, 15, 0.10),
    (15, 30, 0.18),
    (30, 45, 0.19),
    (45, 60, 0.19),
    (60, 75, 0.15),
    (75, 90, 0.07),
    (90, 100, 0.01),
)
"""Years of age when the window opens: from, to, share. Below 0 are born within the window."""

EDUCATION = ("Primary", "Secondary", "Vocational", "Bachelor", "Master", "Doctorate")
EDUCATION_WEIGHTS = ((25, 38, 19, 11, 5, 2), (7, 33, 24, 23, 10, 3), (5, 24, 20, 33, 15, 3))
"""Highest level that is ever reached, by cohort of birth."""

MEAN_EXTRA_VISITS = 3.0
FRAILTY_SIGMA = 1.2
VISITS_BY_AGE = ((0, 5, 15, 30, 45, 60, 75, 90), (1.3, 0.9, 0.6, 0.7, 0.8, 1.1, 1.5, 1.7))
"""Factor of the rate of visits at an age, linear in between."""

MOVER_SHARE = 0.08
MOST_CONDITIONS = 3
CONDITIONS_BY_AGE = ((2, 20, 40, 60, 80), (0.15, 0.4, 0.9, 2.0, 3.0))
"""Mean number of chronic conditions at an age, linear in between."""


@dataclass(frozen=True, eq=False)
class People:
    """One entry per person in every field.

    Attributes
    ----------
    key, name, phone
        Texts: ``P`` and a number; given and family name; telephone number.
    sex
        0 female, 1 male.
    birth
        Day of birth, counted from the first day of the window.
    education
        Highest level ever reached, as an index of `EDUCATION`.
    homes
        Index of the ZIP before and after the move, shape (2, persons).
    move
        Day of the move; `WINDOW_DAYS` for those who stay.
    visits
        Number of visits, at least 1.
    conditions
        Chronic conditions as indices of the codes, shape (persons, `MOST_CONDITIONS`).
    hospital_share
        Propensity to take a visit to the hospital, in [0, 1].
    """

    key: pa.StringArray
    name: pa.StringArray
    phone: pa.StringArray
    sex: Levels
    birth: Codes
    education: npt.NDArray[np.int16]
    homes: npt.NDArray[np.int16]
    move: npt.NDArray[np.int16]
    visits: Ints
    conditions: npt.NDArray[np.int16]
    condition_count: Levels
    hospital_share: npt.NDArray[np.float32]


def draw_people(count: int, rng: np.random.Generator) -> People:
    """Draw ``count`` persons, independent of each other.

    The distributions are those that `sfumato.examples.generate_clinics` states.
    """
    sex = (rng.random(count) >= FEMALE_SHARE).astype(np.int8)
    birth = _births(count, rng)
    years = FIRST_YEAR + birth / DAYS_PER_YEAR
    cohort = np.searchsorted(demographics.COHORT_ENDS, years, side="right").astype(np.int16)
    ages = np.maximum(-birth / DAYS_PER_YEAR, 0.0)
    homes, move = _homes(count, rng)
    conditions, condition_count = _conditions(ages, sex, rng)
    return People(
        key=_keys(count),
        name=_names(sex, cohort, rng),
        phone=_phones(homes[0], rng),
        sex=sex,
        birth=birth,
        education=demographics.WeightedChoice.of(EDUCATION_WEIGHTS).draw(cohort, rng),
        homes=homes,
        move=move,
        visits=_visit_counts(ages, rng),
        conditions=conditions,
        condition_count=condition_count,
        hospital_share=rng.beta(2.0, 2.0, count).astype(np.float32),
    )


def _births(count: int, rng: np.random.Generator) -> Codes:
    low, high, share = np.array(AGE_BANDS).T
    band = demographics.WeightedChoice.of(share).sample(count, rng)
    ages = low[band] + (high - low)[band] * rng.random(count)
    days: Codes = np.ceil(-ages * DAYS_PER_YEAR).astype(np.int32)
    # Everybody has a visit, and so is born on the last day of the window at the latest.
    return np.minimum(days, np.int32(WINDOW_DAYS - 1))


def _keys(count: int) -> pa.StringArray:
    digits = pa.array(np.arange(1, count + 1)).cast(pa.string())
    # Padded, so that keys sort as numbers do.
    padded = pc.utf8_lpad(digits, width=max(6, len(str(count))), padding="0")
    return pc.binary_join_element_wise("P", padded, "")


def _names(sex: Levels, cohort: npt.NDArray[np.int16], rng: np.random.Generator) -> pa.StringArray:
    lists = [
        names
        for one in (demographics.FEMALE, demographics.MALE)
        for names in demographics.GIVEN_NAMES[one]
    ]
    widest = max(map(len, lists))
    # All lists are one table: shorter ones end with weights of 0.
    weights = [
        np.pad(demographics.zipf(len(names), shift=8.0), (0, widest - len(names)))
        for names in lists
    ]
    given = [name for names in lists for name in (*names, *[""] * (widest - len(names)))]
    stratum = sex * len(demographics.GIVEN_NAMES[demographics.FEMALE]) + cohort
    drawn = stratum.astype(np.int32) * widest + demographics.WeightedChoice.of(weights).draw(
        stratum, rng
    )
    family = demographics.WeightedChoice.of(
        demographics.zipf(len(demographics.FAMILY_NAMES), shift=15.0)
    ).sample(len(sex), rng)
    return pc.binary_join_element_wise(
        pa.array(given).take(pa.array(drawn)),
        pa.array(demographics.FAMILY_NAMES).take(pa.array(family)),
        " ",
    )


def _phones(home: npt.NDArray[np.int16], rng: np.random.Generator) -> pa.StringArray:
    areas = (*demographics.EASTERN_AREAS, demographics.WESTERN_AREA)
    numbers = [f"{area}-555-01{last:02d}" for area in areas for last in range(100)]
    area = demographics.WeightedChoice.of(
        demographics.zipf(len(demographics.EASTERN_AREAS))
    ).sample(len(home), rng)
    area[np.array([code < "01400" for code in demographics.ZIPS])[home]] = len(
        demographics.EASTERN_AREAS
    )
    drawn = area * np.int16(100) + rng.integers(0, 100, len(home), dtype=np.int16)
    return pa.array(numbers).take(pa.array(drawn))


def _homes(
    count: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    choice = demographics.WeightedChoice.of(demographics.ZIP_WEIGHTS)
    homes = choice.sample(2 * count, rng).reshape(2, count)
    move = rng.integers(0, WINDOW_DAYS, count, dtype=np.int16)
    move[rng.random(count) >= MOVER_SHARE] = WINDOW_DAYS
    return homes, move


def _visit_counts(ages: Floats, rng: np.random.Generator) -> Ints:
    # exp(-sigma^2 / 2) makes the mean of the factor 1.
    rate = rng.lognormal(-(FRAILTY_SIGMA**2) / 2, FRAILTY_SIGMA, len(ages))
    rate *= MEAN_EXTRA_VISITS * np.interp(ages, *VISITS_BY_AGE)
    # Whoever had no visit would be in no table.
    return 1 + rng.poisson(rate)


def _conditions(
    ages: Floats, sex: Levels, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int16], Levels]:
    means = np.where(ages < CONDITIONS_BY_AGE[0][0], 0.0, np.interp(ages, *CONDITIONS_BY_AGE))
    count = np.minimum(rng.poisson(means), MOST_CONDITIONS).astype(np.int8)
    weights = demographics.code_weights(chronic=True)
    # No chronic code is had below age 2, and of a row of zeros nothing can be drawn; it is not
    # used.
    weights[weights.sum(axis=1) == 0, 0] = 1.0
    stratum = 2 * np.minimum(ages.astype(np.int16), demographics.OLDEST) + sex
    choice = demographics.WeightedChoice.of(weights)
    drawn = [choice.draw(stratum, rng) for _ in range(MOST_CONDITIONS)]
    return np.column_stack(drawn), count


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


@dataclass(frozen=True, eq=False)
class Visits:
    """One entry per visit in every field, ascending by day.

    Attributes
    ----------
    day
        Day of the visit, counted from the first day of the window.
    clinic
        Index of `CLINICS`.
    age
        Completed years at the visit.
    """

    person: Codes
    day: npt.NDArray[np.int16]
    clinic: Levels
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
    most = max(map(len, DEPARTMENTS))
    shares = [
        [share for _, share, _ in department] + [0.0] * (most - len(department))
        for department in DEPARTMENTS
    ]
    return Visits(
        person=person,
        day=day,
        clinic=clinic,
        age=age,
        home=home_on(day, person, people.homes, people.move),
        diagnosis=_diagnoses(people, person, age, rng),
        department=demographics.WeightedChoice.of(shares).draw(clinic, rng),
    )


def home_on(
    day: Integers, person: Integers, homes: npt.NDArray[np.int16], move: npt.NDArray[np.int16]
) -> npt.NDArray[np.int16]:
    """Index of the ZIP where each person lives on a day: ``homes`` and ``move`` of `People`."""
    home: npt.NDArray[np.int16] = homes[(day >= move[person]).astype(np.int8), person]
    return home


def _calendar(
    people: People, rng: np.random.Generator
) -> tuple[Codes, npt.NDArray[np.int16], Levels]:
    """Persons, days and clinics of the visits, ascending by day."""
    person = np.repeat(np.arange(len(people.sex), dtype=np.int32), people.visits)
    clinic = _clinics(people, person, rng)
    first = np.maximum(people.birth, 0)[person]
    day = (first + rng.random(len(person)) * (WINDOW_DAYS - first)).astype(np.int16)
    # Rounding may reach the end of the window, which is no day of it any more.
    np.minimum(day, WINDOW_DAYS - 1, out=day)
    order = np.argsort(day, kind="stable")
    return person[order], day[order], clinic[order]


def _clinics(people: People, person: Codes, rng: np.random.Generator) -> Levels:
    at_practice = rng.random(len(person), dtype=np.float32) >= people.hospital_share[person]
    clinic = at_practice.astype(np.int8)
    starts = np.cumsum(people.visits) - people.visits
    # Most persons are in both clinics, so that there is something to link.
    firsts = starts[people.visits > 1]
    other = rng.random(len(firsts)) < OTHER_CLINIC_SECOND
    clinic[firsts + 1] = clinic[firsts] ^ other
    return clinic


def _diagnoses(
    people: People, person: Codes, age: npt.NDArray[np.int16], rng: np.random.Generator
) -> npt.NDArray[np.int16]:
    stratum = 2 * np.minimum(age, demographics.OLDEST) + people.sex[person]
    diagnosis = demographics.WeightedChoice.of(demographics.code_weights(chronic=False)).draw(
        stratum, rng
    )
    count = people.condition_count[person]
    chronic = np.flatnonzero((rng.random(len(person)) < CHRONIC_VISIT_SHARE) & (count > 0))
    # Squared: the first condition is the most frequent reason.
    slot = (count[chronic] * rng.random(len(chronic)) ** 2).astype(np.int8)
    diagnosis[chronic] = people.conditions[person[chronic], slot]
    return diagnosis


def visit_table(
    people: People, visits: Visits, rows: npt.NDArray[np.intp], rng: np.random.Generator
) -> pa.Table:
    """The visits of ``rows``, ascending, all of one clinic, with their charges.

    They are an Arrow table.
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
            "zip": _labels(demographics.ZIPS, visits.home[rows]),
            "education": _education(people.education[person], visits.age[rows], rng),
            "icd9": _labels(demographics.CODES, visits.diagnosis[rows]),
            "department": _labels([name for name, *_ in departments], department),
            "charge": pa.array(np.round(charge, 2)),
        }
    )


def _labels(labels: Sequence[str], codes: Integers) -> pa.StringArray:
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


_REGISTRATION_KEY = 0x5F0A70
"""Keeps the registrations' draws apart from the children that a caller spawns of the same seed."""

_SCHEMA = Schema(
    person="patient",
    direct_identifiers=("name", "phone", "visit_date"),
    quasi_identifiers={
        "age": "numeric",
        "sex": "categorical",
        "zip": "numeric",
        "education": {"kind": "ordered", "order": EDUCATION},
    },
    sensitive=("icd9",),
    insensitive=("clinic", "department", "charge"),
)


@dataclass(frozen=True, eq=False)
class Clinics:
    """The visits of the same persons to two clinics.

    Attributes
    ----------
    hospital
        Visits to the general hospital, ascending by date of visit.
    practice
        Visits to the practice, ascending by date of visit.
    schema
        What each column of `visits` is. The tables of the clinics have the same columns but
        ``clinic``.
    """

    hospital: pa.Table
    practice: pa.Table
    schema: Schema
    people: People = field(repr=False)
    seed: np.random.SeedSequence = field(repr=False)

    @property
    def visits(self) -> pa.Table:
        """Both tables in one, ascending by date of visit, with the column ``clinic``.

        The column says ``hospital`` or ``practice``. Made anew by every call.
        """
        stacked = pa.concat_tables((self.hospital, self.practice))
        clinic = np.repeat(np.arange(2, dtype=np.int8), [len(self.hospital), len(self.practice)])
        days = stacked["visit_date"].to_numpy().astype("datetime64[D]").astype(np.int32)
        order = np.argsort(days, kind="stable")
        positions = pa.array(order)
        # Column by column: taking from the whole table would hold it three times.
        columns = {
            name: stacked[name].combine_chunks().take(positions) for name in stacked.column_names
        }
        return pa.table(columns).add_column(
            1, "clinic", pa.array(CLINICS).take(pa.array(clinic[order]))
        )


def generate_clinics(persons: int = 2_000, *, rng: np.random.Generator | int = 2020) -> Clinics:
    """Generate the visits of made-up persons to a hospital and a practice, 2015 to 2019.

    No value comes from a record about a person; given and family names are put together at
    random and telephone numbers are the fictitious 555-0100 to 555-0199. The same seed gives
    the same tables.

    Persons are drawn independently of each other:

    - Sex: 53 % female. Age when the window opens: uniform within nine bands up to 100 years
      (``people.AGE_BANDS``); 5 % are born within the window.
    - Name: family and given name by Zipf-Mandelbrot weights, 1 / (rank + 15) and
      1 / (rank + 8); given names by sex and cohort of birth (before 1950, to 1979, from 1980).
    - Phone: area code by region, number uniform; many persons share one.
    - ZIP: about 200 codes weighted by size. 8 % of persons move once, on a uniform day, to a
      ZIP drawn from the same weights.
    - Education: highest level by cohort; a record shows the level that the age at the visit
      allows (`Primary` stands for all below 15, `Doctorate` is from 27). 3 % of records miss
      it, at random.
    - Number of visits: 1 + Poisson(rate); the rate is 3 x a factor of age (0.6 to 1.7) x a
      lognormal factor with mean 1 and sigma 1.2: median 2, mean near 4, the largest of a
      million persons in the hundreds.
    - Chronic conditions: Poisson with a mean that grows with age (0.15 to 3), at most 3;
      drawn by age and sex.

    Visits, given the persons:

    - Date: uniform between birth or the start of the window and its end. Age: completed years.
    - Clinic: the hospital with a propensity of the person's own, Beta(2, 2); but the second
      visit drawn is at the other clinic than the first with probability 0.7.
    - Diagnosis: half of the visits of a person with chronic conditions are for one of these,
      mostly the first; else an acute code by age and sex. Groups of codes have a share that
      grows or falls with age; within a group weights follow Zipf's law
      (``diagnoses.GROUPS``).
    - Department: by fixed shares per clinic; charge: lognormal about the department's median
      with sigma 0.6, in dollars. Neither depends on the person.

    Parameters
    ----------
    persons
        How many persons, at least 1. A million persons make about four million visits.
    """
    count = _whole("parameter persons", persons, least=1)
    if not isinstance(rng, np.random.Generator):
        rng = np.random.default_rng(_whole("parameter rng, taken as a seed,", rng, least=0))
    people = draw_people(count, rng)
    visits = draw_visits(people, rng)
    hospital, practice = (
        visit_table(people, visits, np.flatnonzero(visits.clinic == clinic), rng)
        for clinic in range(len(CLINICS))
    )
    return Clinics(hospital, practice, _SCHEMA, people, _registration_seed(rng))


def _whole(subject: str, value: object, least: int) -> int:
    if not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(subject, f"must be a whole number of at least {least}")
    return int(value)


def _registration_seed(rng: np.random.Generator) -> np.random.SeedSequence:
    """A seed that depends on the generator's own; nothing is drawn from the generator."""
    own = rng.bit_generator.seed_seq
    # A generator without a sequence of seeds has nothing that another seed could be made of.
    if not isinstance(own, np.random.SeedSequence):
        return np.random.SeedSequence(_REGISTRATION_KEY)
    return np.random.SeedSequence(own.entropy, spawn_key=(*own.spawn_key, _REGISTRATION_KEY))


_HEADER = """\
# Visits of made-up patients to two clinics, as sfumato.examples.generate_clinics draws them.
# Each column of visits.csv has one role; hospital.csv and practice.csv lack the column clinic.
"""

_NOTES = {
    "patient": "the person; the same key in both clinics, as linkage would give it",
    "name": "names the person",
    "given_name": "names the person",
    "surname": "names the person",
    "date_of_birth": "singles out a person; release the age instead",
    "phone": "reaches the person",
    "visit_date": "a date of visit singles out a person; release the age instead",
    "age": "completed years at the visit; it grows between visits",
    "sex": "Female or Male",
    "zip": "five digits, neighbouring numbers are mostly neighbouring places",
    "education": "highest level so far; a few records miss it",
    "icd9": "diagnosis, ICD-9-CM; icd9.csv says what the codes mean",
    "clinic": "hospital or practice",
    "department": "does not depend on the person",
    "charge": "dollars; think again where bills are known outside",
}


def write_clinics(clinics: Clinics, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write the tables, the schema and the meaning of the codes into a folder.

    The files are ``hospital.csv``, ``practice.csv``, ``visits.csv``, ``schema.toml`` (with
    comments) and ``icd9.csv`` (code, description). All are written whole or none is; a file
    of the same name is replaced. Missing values are empty cells.

    Parameters
    ----------
    folder
        Where; made if it does not exist.
    """
    tables = {
        "hospital.csv": clinics.hospital,
        "practice.csv": clinics.practice,
        "visits.csv": clinics.visits,
    }
    return write_tables(tables, clinics.schema, _HEADER, folder)


def write_tables(
    tables: Mapping[str, pa.Table], schema: Schema, header: str, folder: str | os.PathLike[str]
) -> tuple[Path, ...]:
    """Write tables by file name, ``schema.toml`` with its header, and ``icd9.csv``."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError(
            f"output folder {place.name}",
            "must be a folder that exists or can be made",
            advice="choose another one",
        ) from None
    meanings = {
        "icd9": list(demographics.DESCRIPTIONS),
        "description": list(demographics.DESCRIPTIONS.values()),
    }
    with all_or_none():
        for name, table in tables.items():
            _write_csv(table, place / name, quoting="none")
        write_text(place / "schema.toml", f"{header}\n{dump_schema(schema, _NOTES)}")
        _write_csv(pa.table(meanings), place / "icd9.csv", quoting="needed")
    return tuple(place / name for name in (*tables, "schema.toml", "icd9.csv"))


def _write_csv(table: pa.Table, path: Path, *, quoting: str) -> None:
    options = csv.WriteOptions(quoting_style=quoting, quoting_header="none", batch_size=65_536)
    with atomic_path(path) as temporary:
        csv.write_csv(table, temporary, write_options=options)


_TABLE_3A_COLUMNS = ("admission_no", "name", "age", "gender", "zip", "disease")
_TABLE_3A = (
    (1001, "Ashley", 86, "Female", "20375", "Asthma"),
    (2001, "Ashley", 86, "Female", "20375", "Reflux"),
    (2002, "Bob", 85, "Male", "20375", "Reflux"),
    (1002, "Charlie", 69, "Male", "20048", "Pneumonia"),
    (1005, "Charlie", 70, "Male", "20048", "Pneumonia"),
    (1006, "Charlie", 71, "Male", "20048", "Pneumonia"),
    (2003, "Charlie", 71, "Male", "20048", "Gastritis"),
    (2005, "Charlie", 71, "Male", "20048", "Gastritis"),
    (2004, "Diana", 84, "Female", "20090", "Ulcer"),
    (2006, "Diana", 84, "Female", "20090", "Gastritis"),
    (1007, "Edward", 84, "Male", "20090", "Pneumonia"),
    (2007, "Edward", 84, "Male", "20090", "Gastritis"),
    (1008, "Fred", 78, "Male", "20400", "Pneumonia"),
    (2008, "Greg", 78, "Male", "20420", "Ulcer"),
    (1003, "Harry", 74, "Male", "20400", "Asthma"),
    (1004, "Harry", 75, "Male", "20400", "Bronchitis"),
    (1009, "Harry", 76, "Male", "20400", "Asthma"),
    (2009, "Harry", 74, "Male", "20400", "Ulcer"),
    (2010, "Harry", 76, "Male", "20400", "Ulcer"),
)


def worked_example() -> tuple[pa.Table, Schema]:
    """Table 3a of paper 003 (Kartal and Li 2020, Section 3) and its schema.

    19 made-up records of 8 persons in two clinics, in the order of the table. ZIP is text of
    five digits; age is an integer in years. The name says which person a record belongs to.
    """
    columns = zip(*_TABLE_3A, strict=True)
    table = pa.table(dict(zip(_TABLE_3A_COLUMNS, map(list, columns), strict=True)))
    schema = Schema(
        person="name",
        direct_identifiers=("admission_no",),
        quasi_identifiers={"age": "numeric", "gender": "categorical", "zip": "numeric"},
        sensitive=("disease",),
    )
    return table, schema
