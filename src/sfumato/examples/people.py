"""The persons behind the visits: who they are, where they live, how often they go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.examples.choice import WeightedChoice, zipf
from sfumato.examples.diagnoses import OLDEST, code_weights
from sfumato.examples.names import COHORT_ENDS, FAMILY_NAMES, FEMALE, GIVEN_NAMES, MALE
from sfumato.examples.places import EASTERN_AREAS, WESTERN_AREA, ZIP_WEIGHTS, ZIPS

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
    condition_count
        How many of them the person has.
    hospital_share
        Propensity to take a visit to the hospital, in [0, 1].
    """

    key: pa.StringArray
    name: pa.StringArray
    phone: pa.StringArray
    sex: npt.NDArray[np.int8]
    birth: npt.NDArray[np.int32]
    education: npt.NDArray[np.int16]
    homes: npt.NDArray[np.int16]
    move: npt.NDArray[np.int16]
    visits: npt.NDArray[np.int64]
    conditions: npt.NDArray[np.int16]
    condition_count: npt.NDArray[np.int8]
    hospital_share: npt.NDArray[np.float32]


def draw_people(count: int, rng: np.random.Generator) -> People:
    """Draw ``count`` persons, independent of each other.

    The distributions are those that `sfumato.examples.generate_clinics` states.
    """
    sex = (rng.random(count) >= FEMALE_SHARE).astype(np.int8)
    birth = _births(count, rng)
    years = FIRST_YEAR + birth / DAYS_PER_YEAR
    cohort = np.searchsorted(COHORT_ENDS, years, side="right").astype(np.int16)
    ages = np.maximum(-birth / DAYS_PER_YEAR, 0.0)
    homes, move = _homes(count, rng)
    conditions, condition_count = _conditions(ages, sex, rng)
    return People(
        key=_keys(count),
        name=_names(sex, cohort, rng),
        phone=_phones(homes[0], rng),
        sex=sex,
        birth=birth,
        education=WeightedChoice.of(EDUCATION_WEIGHTS).draw(cohort, rng),
        homes=homes,
        move=move,
        visits=_visit_counts(ages, rng),
        conditions=conditions,
        condition_count=condition_count,
        hospital_share=rng.beta(2.0, 2.0, count).astype(np.float32),
    )


def _births(count: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    low, high, share = np.array(AGE_BANDS).T
    band = WeightedChoice.of(share).draw(np.zeros(count, np.int8), rng)
    ages = low[band] + (high - low)[band] * rng.random(count)
    days: npt.NDArray[np.int32] = np.ceil(-ages * DAYS_PER_YEAR).astype(np.int32)
    return np.minimum(days, np.int32(WINDOW_DAYS - 1))


def _keys(count: int) -> pa.StringArray:
    digits = pa.array(np.arange(1, count + 1)).cast(pa.string())
    padded = pc.utf8_lpad(digits, width=max(6, len(str(count))), padding="0")
    return pc.binary_join_element_wise("P", padded, "")


def _names(
    sex: npt.NDArray[np.int8], cohort: npt.NDArray[np.int16], rng: np.random.Generator
) -> pa.StringArray:
    lists = [names for one in (FEMALE, MALE) for names in GIVEN_NAMES[one]]
    widest = max(map(len, lists))
    weights = [np.pad(zipf(len(names), shift=8.0), (0, widest - len(names))) for names in lists]
    given = [name for names in lists for name in (*names, *[""] * (widest - len(names)))]
    stratum = sex * len(GIVEN_NAMES[FEMALE]) + cohort
    drawn = stratum.astype(np.int32) * widest + WeightedChoice.of(weights).draw(stratum, rng)
    family = WeightedChoice.of(zipf(len(FAMILY_NAMES), shift=15.0)).draw(
        np.zeros(len(sex), np.int8), rng
    )
    return pc.binary_join_element_wise(
        pa.array(given).take(pa.array(drawn)), pa.array(FAMILY_NAMES).take(pa.array(family)), " "
    )


def _phones(home: npt.NDArray[np.int16], rng: np.random.Generator) -> pa.StringArray:
    areas = (*EASTERN_AREAS, WESTERN_AREA)
    numbers = [f"{area}-555-01{last:02d}" for area in areas for last in range(100)]
    area = WeightedChoice.of(zipf(len(EASTERN_AREAS))).draw(np.zeros(len(home), np.int8), rng)
    area[np.array([code < "01400" for code in ZIPS])[home]] = len(EASTERN_AREAS)
    drawn = area * np.int16(100) + rng.integers(0, 100, len(home), dtype=np.int16)
    return pa.array(numbers).take(pa.array(drawn))


def _homes(
    count: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    choice = WeightedChoice.of(ZIP_WEIGHTS)
    homes = choice.draw(np.zeros(2 * count, np.int8), rng).reshape(2, count)
    move = rng.integers(0, WINDOW_DAYS, count, dtype=np.int16)
    move[rng.random(count) >= MOVER_SHARE] = WINDOW_DAYS
    return homes, move


def _visit_counts(ages: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    rate = rng.lognormal(-(FRAILTY_SIGMA**2) / 2, FRAILTY_SIGMA, len(ages))
    rate *= MEAN_EXTRA_VISITS * np.interp(ages, *VISITS_BY_AGE)
    return 1 + rng.poisson(rate)


def _conditions(
    ages: npt.NDArray[np.float64], sex: npt.NDArray[np.int8], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
    means = np.where(ages < CONDITIONS_BY_AGE[0][0], 0.0, np.interp(ages, *CONDITIONS_BY_AGE))
    count = np.minimum(rng.poisson(means), MOST_CONDITIONS).astype(np.int8)
    weights = code_weights(chronic=True)
    weights[weights.sum(axis=1) == 0, 0] = 1.0
    stratum = 2 * np.minimum(ages.astype(np.int16), OLDEST) + sex
    choice = WeightedChoice.of(weights)
    drawn = [choice.draw(stratum, rng) for _ in range(MOST_CONDITIONS)]
    return np.column_stack(drawn), count
