"""The generator of two clinics' visits: made-up patients with realistic risks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.examples.people import EDUCATION, People, draw_people
from sfumato.examples.visits import CLINICS, draw_visits, visit_table
from sfumato.schema import Schema

_MORE = 0x5F0A70
"""Tells what is drawn later from the children that a caller spawns of the same seed."""

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
    people
        The persons behind the visits.
    seed
        Of what is drawn later about the same persons.
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
    rng
        Source of randomness, or a seed.

    Raises
    ------
    InputError
        If ``persons`` is not a whole number of at least 1, or a seed is negative.
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
    return Clinics(hospital, practice, _SCHEMA, people, _seed_of_more(rng))


def _whole(subject: str, value: object, least: int) -> int:
    if not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(subject, f"must be a whole number of at least {least}")
    return int(value)


def _seed_of_more(rng: np.random.Generator) -> np.random.SeedSequence:
    """A seed that depends on the generator's own; nothing is drawn from the generator."""
    own = rng.bit_generator.seed_seq
    if not isinstance(own, np.random.SeedSequence):
        return np.random.SeedSequence(_MORE)
    return np.random.SeedSequence(own.entropy, spawn_key=(*own.spawn_key, _MORE))
