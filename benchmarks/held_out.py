"""Populations that nobody looked at while the default estimator was made."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from populations import SEED, Columns, Draw, mostly, places, sexes


def _ages(persons: int, rng: Draw) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.clip(rng.gamma(4, 10, persons), 0, 105).astype(np.int64)


def _taxpayers(rng: Draw) -> Columns:
    persons = 80_000
    age = _ages(persons, rng)
    income = np.clip(np.exp(rng.normal(3 + 0.01 * age, 0.5)), 1, 300).astype(np.int64) // 3
    return [age, places(persons, 90, 0.8, rng), income, sexes(persons, rng)]


def _employees(rng: Draw) -> Columns:
    persons = 25_000
    job = places(persons, 200, 0.9, rng)
    age = np.clip(rng.normal(40, 12, persons), 16, 70).astype(np.int64)
    sex = (rng.random(persons) < job % 7 / 6).astype(np.int64)
    return [age, sex, job, mostly(job % 30, 0.7, 30, 0.5, rng)]


def _vaccinated(rng: Draw) -> Columns:
    persons = 400_000
    when, product = rng.integers(0, 14, persons), places(persons, 4, 1.0, rng)
    district = places(persons, 400, 0.7, rng)
    return [when, _ages(persons, rng), sexes(persons, rng), district, product]


def _survey(rng: Draw) -> Columns:
    persons = 15_000
    language = places(persons, 8, 0.6, rng)
    education = np.clip(rng.normal(3, 1.5, persons) + language / 8, 0, 6).astype(np.int64)
    household = np.clip(rng.poisson(1.5, persons), 0, 7).astype(np.int64)
    religion = mostly(language % 5, 0.6, 5, 0.5, rng)
    region = places(persons, 26, 0.6, rng)
    age = _ages(persons, rng) // 10
    return [age, sexes(persons, rng), education, region, household, religion, language]


def _prescriptions(rng: Draw) -> Columns:
    persons = 50_000
    drug = places(persons, 700, 1.1, rng)
    sex = mostly(drug % 2, 0.2, 2, 0.0, rng)
    return [_ages(persons, rng), sex, drug, places(persons, 60, 0.8, rng)]


def _one_factor(rng: Draw) -> Columns:
    persons = 120_000
    factor = rng.normal(0, 1, persons)
    scales = ((1, 1), (0.8, 0.6), (0.5, 1), (0.3, 1), (1, 0.3), (0, 1))
    return [
        np.clip((factor * own + rng.normal(0, 1, persons) * other) * 4 + 10, 0, 25).astype(np.int64)
        for own, other in scales
    ]


def _families(rng: Draw) -> Columns:
    persons = 30_000
    family = rng.integers(0, 9_000, persons)
    name, postcode = places(9_000, 2_500, 0.9, rng), places(9_000, 80, 0.6, rng)
    return [name[family], postcode[family], _ages(persons, rng) // 5, sexes(persons, rng)]


def _commuters(rng: Draw) -> Columns:
    persons = 60_000
    home = places(persons, 300, 0.7, rng)
    hour = np.clip(rng.normal(8, 1.5, persons), 0, 23).astype(np.int64)
    return [home, mostly(home, 0.4, 300, 0.9, rng), hour]


def _cars(rng: Draw) -> Columns:
    persons = 200_000
    make = places(persons, 400, 1.1, rng)
    year = np.clip(rng.exponential(7, persons) + make % 6, 0, 40).astype(np.int64)
    return [make, year, places(persons, 11, 1.0, rng), places(persons, 100, 0.8, rng)]


HELD_OUT: dict[str, Callable[[Draw], Columns]] = {
    "taxpayers: age, municipality, income, sex": _taxpayers,
    "employees: age, sex, job, industry": _employees,
    "vaccinated: month, age, sex, district, product": _vaccinated,
    "survey, 7 QIs": _survey,
    "prescriptions: age, sex, drug, district": _prescriptions,
    "one latent factor, 6 QIs": _one_factor,
    "families: name, postcode, age group, sex": _families,
    "commuters: home, work, hour": _commuters,
    "cars: make, year, colour, district": _cars,
}


def held_out() -> dict[str, Columns]:
    """All of them; each has draws of its own."""
    return {
        name: make(np.random.default_rng([SEED, 1_000 + number]))
        for number, (name, make) in enumerate(HELD_OUT.items())
    }
