"""Populations of register-like kind, made in code, and Adult and INFORMS where they are at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

Column = npt.NDArray[np.int64]
Columns = list[Column]
Draw = np.random.Generator
SEED = 20_100_322


def zipf(values: int, exponent: float) -> npt.NDArray[np.float64]:
    weights = np.array([1.0 / rank**exponent for rank in range(1, values + 1)])
    shares: npt.NDArray[np.float64] = weights / weights.sum()
    return shares


def ages(persons: int, rng: Draw) -> Column:
    """Years of age: level up to 55, then falling to the hundreds."""
    pyramid = np.concatenate([np.full(56, 1.0), np.linspace(1, 0.02, 47)])
    return rng.choice(len(pyramid), persons, p=pyramid / pyramid.sum())


def places(persons: int, count: int, exponent: float, rng: Draw) -> Column:
    """The place of each person, the larger ones first."""
    return rng.choice(count, persons, p=zipf(count, exponent))


def mostly(usual: Column, often: float, values: int, exponent: float, rng: Draw) -> Column:
    """The usual value of each person's group with a probability, else any."""
    other = rng.choice(values, len(usual), p=zipf(values, exponent))
    return np.where(rng.random(len(usual)) < often, usual % values, other)


def sexes(persons: int, rng: Draw) -> Column:
    """0 or 1, as often."""
    return rng.integers(0, 2, persons)


def _birth_date(persons: int, count: int, rng: Draw) -> Columns:
    """Date of birth, sex, postcode; the young live in the large places."""
    age = ages(persons, rng)
    place = places(persons, count, 0.9, rng)
    place = np.where((age < 35) & (rng.random(persons) < 0.3), place // 4, place)
    return [age * 366 + rng.integers(0, 365, persons), sexes(persons, rng), place]


def birth_year(persons: int, count: int, rng: Draw) -> Columns:
    """Year of birth, sex, municipality, ethnicity; ethnicities live in clusters."""
    place = places(persons, count, 1.0, rng)
    ethnicity = mostly(place // 7, 0.35, 9, 1.6, rng)
    return [ages(persons, rng), sexes(persons, rng), place, ethnicity]


def birth_month(persons: int, rng: Draw) -> Columns:
    """Month of birth, sex, municipality, marital status; status goes with age."""
    age = ages(persons, rng)
    status = np.where(age < 18, 0, np.clip((age + rng.normal(0, 18, persons)) // 22, 0, 4))
    month = age * 12 + rng.integers(0, 12, persons)
    return [month, sexes(persons, rng), places(persons, 350, 0.8, rng), status.astype(np.int64)]


def census(persons: int, columns: int, rng: Draw) -> Columns:
    """Age, sex, region, education, occupation, marital status, industry, citizenship."""
    age, sex = ages(persons, rng), sexes(persons, rng)
    region = places(persons, 20, 0.4, rng)
    level = rng.normal(4, 2, persons) + (age > 25) - 0.4 * (age // 30) + 0.05 * region
    education = np.where(age < 15, 0, np.clip(level, 1, 10)).astype(np.int64)
    usual = education * 2 + sex
    job = np.where(age < 18, 0, 1 + mostly(usual, 0.5, 24, 0.9, rng))
    status = np.where(age < 20, 0, np.clip(rng.normal(age / 20, 1, persons), 0, 4))
    industry = np.where(job == 0, 0, 1 + mostly(job * 5, 0.6, 15, 0.7, rng))
    citizenship = mostly(region, 0.03, 45, 2.3, rng)
    made = [age, sex, region, education, job, status.astype(np.int64), industry, citizenship]
    return made[:columns]


def hospital(rng: Draw) -> Columns:
    """Discharges: age, sex, region, diagnosis, days of stay."""
    persons = 60_000
    age, sex = ages(persons, rng), sexes(persons, rng)
    diagnosis = mostly(age // 8 * 7 + sex, 0.3, 150, 1.1, rng)
    days = np.minimum(rng.geometric(1 / (2 + diagnosis % 9)), 60)
    return [age, sex, places(persons, 30, 0.6, rng), diagnosis, days]


def _births(rng: Draw) -> Columns:
    """Births: mother's age, weeks, weight in 100 g, hospital, month."""
    persons = 40_000
    weeks = np.clip(np.round(rng.gumbel(-39.9, 1.3, persons) * -1), 23, 43)
    weight = np.round(33 + 1.6 * (weeks - 39) + rng.normal(0, 4, persons))
    mother = np.clip(np.round(rng.normal(30, 5.5, persons)), 14, 50)
    hospital = places(persons, 25, 0.7, rng)
    columns = [mother - 14, weeks - 23, np.clip(weight, 4, 55), hospital]
    return [column.astype(np.int64) for column in columns] + [rng.integers(0, 12, persons)]


def _cancer(rng: Draw) -> Columns:
    """Cancer register: age in five years, sex, site, year of diagnosis, district."""
    persons = 30_000
    age = np.clip(rng.normal(67, 13, persons), 0, 99).astype(np.int64) // 5
    sex = sexes(persons, rng)
    site = mostly(sex * 3 + age // 7, 0.25, 80, 1.2, rng)
    return [age, sex, site, rng.integers(0, 6, persons), places(persons, 40, 0.6, rng)]


def _schools(rng: Draw) -> Columns:
    """Pupils: month of birth, sex, school; a school has a few years."""
    persons = 10_000
    school = places(persons, 35, 0.4, rng)
    year = school % 3 * 4 + rng.integers(0, 4, persons)
    return [year * 12 + rng.integers(0, 12, persons), sexes(persons, rng), school]


def _streets(rng: Draw) -> Columns:
    """Street, ethnicity of the household, age in five years, sex."""
    persons = 60_000
    household = rng.choice(24_000, persons, p=zipf(24_000, 0.15))
    ethnicity = rng.choice(10, 24_000, p=zipf(10, 1.3))[household]
    return [household // 30, ethnicity, ages(persons, rng) // 5, sexes(persons, rng)]


def _small(rng: Draw) -> Columns:
    """Ten thousand persons of five quasi-identifiers."""
    return [column[:10_000] for column in census(20_000, 5, rng)]


def _insured(rng: Draw) -> Columns:
    """Insured persons: year of birth, sex, county, three flags of chronic disease."""
    persons = 150_000
    age = ages(persons, rng)
    flags = [(rng.random(persons) < age / 250 * share).astype(np.int64) for share in (1, 0.4, 0.1)]
    return [age, sexes(persons, rng), places(persons, 60, 0.7, rng), *flags]


def _weighted(weights: npt.NDArray[np.float64], persons: int, rng: Draw) -> Columns:
    return [rng.choice(len(weights), persons, p=weights / weights.sum())]


def _latent(rng: Draw) -> Columns:
    """Six quasi-identifiers that are independent within twelve kinds of persons."""
    persons, kinds = 40_000, 12
    kind = rng.choice(kinds, persons, p=zipf(kinds, 0.8))
    columns = []
    for values in (80, 2, 40, 12, 9, 6):
        shares = rng.dirichlet(np.full(values, 0.25), kinds).cumsum(axis=1)
        chosen = (rng.random((persons, 1)) > shares[kind]).sum(axis=1)
        columns.append(np.minimum(chosen, values - 1))
    return columns


def _copula(rng: Draw) -> Columns:
    """Ordered columns whose normal scores are correlated."""
    persons, values = 40_000, (90, 40, 20, 15, 6)
    load = rng.uniform(0.3, 0.9, len(values))
    factor = rng.normal(size=(persons, 1))
    scores = load * factor + np.sqrt(1 - load**2) * rng.normal(size=(persons, len(values)))
    ranks = np.argsort(np.argsort(scores, axis=0), axis=0) / persons
    return [(ranks[:, place] ** 1.3 * count).astype(np.int64) for place, count in enumerate(values)]


def _parity(rng: Draw) -> Columns:
    """The last column is the parity of the others: no pair tells anything of it."""
    columns = [rng.integers(0, 12, 30_000) for _ in range(4)]
    return [*columns, np.sum(columns, axis=0) % 2]


def alike(persons: int, share: float, homes: int, count: int, rng: Draw) -> Columns:
    """A share of the persons live in homes or barracks, nearly alike; the others anywhere."""
    inside = rng.random(persons) < share
    home = places(persons, homes, 0.5, rng)
    age = np.where(inside, 20 + home % 60 + rng.integers(0, 3, persons), ages(persons, rng))
    place = np.where(inside, home, rng.integers(0, count, persons))
    return [age, place, np.where(inside, home % 2, sexes(persons, rng))]


def _areas(rng: Draw) -> tuple[Columns, Column]:
    """Four hundred areas that differ in age and origin, twenty to a region."""
    persons, areas = 60_000, 400
    size = rng.gamma(2, 1, areas)
    area = rng.choice(areas, persons, p=size / size.sum())
    age = np.clip(rng.normal(rng.normal(45, 12, areas)[area], 14), 0, 99).astype(np.int64)
    shares = rng.dirichlet(np.full(10, 0.3), areas).cumsum(axis=1)
    origin = np.minimum((rng.random((persons, 1)) > shares[area]).sum(axis=1), 9)
    return [age, sexes(persons, rng), origin, rng.integers(0, 40, persons), area // 20], area


def _practices(rng: Draw) -> tuple[Columns, Column]:
    """Patients of practices, most of which see diagnoses of one specialty."""
    persons, practices = 40_000, 250
    practice = rng.integers(0, practices, persons)
    own = rng.integers(0, 12, practices)[practice] * 20 + rng.integers(0, 20, persons)
    any_ = rng.integers(0, 240, persons)
    diagnosis = np.where(rng.random(persons) < 0.6, own, any_)
    return [rng.integers(18, 90, persons), sexes(persons, rng), diagnosis], practice


def _homes(rng: Draw) -> tuple[Columns, Column]:
    """Members of a household share street and origin."""
    homes = 12_000
    street, origin = rng.integers(0, 500, homes), rng.choice(12, homes, p=zipf(12, 1.0))
    home = np.repeat(np.arange(homes), 1 + rng.binomial(4, 0.35, homes))
    head = np.clip(rng.normal(50, 17, homes), 20, 95)
    age = np.clip(rng.normal(head[home] - 10, 15), 0, 99).astype(np.int64)
    return [age, sexes(len(home), rng), street[home], origin[home]], home


CLUSTERED: dict[str, Callable[[Draw], tuple[Columns, Column, float]]] = {
    "areas": lambda rng: (*_areas(rng), 1.0),
    "areas, in two stages": lambda rng: (*_areas(rng), 0.3),
    "practices": lambda rng: (*_practices(rng), 1.0),
    "households drawn whole": lambda rng: (*_homes(rng), 1.0),
}
"""Populations with the clusters that are drawn, and the share of their persons who are."""
GENERATED: dict[str, Callable[[Draw], Columns]] = {
    "date of birth, sex, postcode": lambda rng: _birth_date(120_000, 250, rng),
    "the same, 1,000,000 persons": lambda rng: _birth_date(1_000_000, 2_500, rng),
    "year of birth, municipality, ethnicity": lambda rng: birth_year(200_000, 800, rng),
    "month of birth, marital status": lambda rng: birth_month(300_000, rng),
    "year of birth, sex, region": lambda rng: birth_year(100_000, 16, rng)[:3],
    "insured persons": _insured,
    "census, 5 QIs": lambda rng: census(50_000, 5, rng),
    "census, 8 QIs": lambda rng: census(50_000, 8, rng),
    "census, 10,000 persons": _small,
    "hospital discharges": hospital,
    "births": _births,
    "cancer register": _cancer,
    "schools": _schools,
    "streets and households": _streets,
    "lognormal classes": lambda rng: _weighted(rng.lognormal(0, 1.5, 50_000), 150_000, rng),
    "Pareto classes": lambda rng: _weighted(rng.pareto(1.3, 40_000) + 0.01, 100_000, rng),
    "latent classes": _latent,
    "copula": _copula,
    "parity": _parity,
    "equal classes": lambda rng: [rng.integers(0, 6_000, 20_000)],
    "a fifth in homes": lambda rng: alike(30_000, 0.2, 80, 500, rng),
    "four fifths in homes": lambda rng: alike(30_000, 0.8, 80, 500, rng),
    "barracks": lambda rng: alike(40_000, 0.6, 12, 800, rng),
    "small homes": lambda rng: alike(24_000, 0.5, 600, 600, rng),
}

ADULT = {
    "Adult, 4 QIs": ("age", "education", "race", "sex"),
    "Adult, 6 QIs": ("age", "education", "race", "sex", "marital-status", "workclass"),
    "Adult, 8 QIs": (
        "age", "education", "race", "sex", "marital-status", "workclass", "native-country",
        "salary-class",
    ),
}  # fmt: skip
INFORMS = {
    "INFORMS, birth month, sex, race": ("DOBMM", "DOBYY", "SEX", "RACEX"),
    "INFORMS, birth year, education": ("DOBYY", "SEX", "RACEX", "EDUCYEAR", "marry", "poverty"),
}


def generated(name: str) -> Columns:
    """One of `GENERATED`; each has draws of its own."""
    return GENERATED[name](np.random.default_rng([SEED, list(GENERATED).index(name)]))


def public(folder: Path) -> dict[str, Columns]:
    """Adult and INFORMS, where the folder of the public data sets holds them."""
    found: dict[str, Columns] = {}
    adult, informs = folder / "adult" / "adult.csv", folder / "informs"
    if adult.is_file():
        found |= _coded(pd.read_csv(adult, sep=";"), ADULT)
    if informs.is_dir():
        frame = pd.read_parquet(informs / "demographics_2005.parquet")
        found |= _coded(frame, INFORMS)
    return found


def _coded(frame: pd.DataFrame, sets: dict[str, tuple[str, ...]]) -> dict[str, Columns]:
    return {
        name: [np.unique(frame[column].astype(str), return_inverse=True)[1] for column in columns]
        for name, columns in sets.items()
    }
