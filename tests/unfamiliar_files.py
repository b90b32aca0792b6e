"""Files of many kinds, with the roles that people would give their columns.

Headers are English, abbreviated, of other languages, or say nothing (``v1`` to ``v20``).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

STRICT = ("direct identifier", "quasi-identifier", "sensitive", "insensitive")
"""Roles, the most careful one first; households are left out as direct identifiers are."""


@dataclass(frozen=True)
class Truth:
    """What a column is.

    Attributes
    ----------
    roles
        The roles that people would give it, parted by ``|``, the usual one first.
    codes
        Whether it is numbers that only name categories.
    """

    roles: str
    codes: bool = False


@dataclass(frozen=True)
class MadeFile:
    """A file and what its columns are."""

    table: pa.Table
    truth: Mapping[str, Truth]
    keys: Mapping[str, str]


_P, _D, _H, _Q, _S = (
    Truth("person"), Truth("direct identifier"), Truth("household"), Truth("quasi-identifier"),
    Truth("sensitive"),
)  # fmt: skip
_QS, _C, _CS = (
    Truth("quasi-identifier|sensitive"), Truth("quasi-identifier", codes=True),
    Truth("sensitive|quasi-identifier", codes=True),
)  # fmt: skip
_Columns = dict[str, tuple[Truth, list[Any]]]

WORDS: dict[str, tuple[str, ...]] = {
    # key: English, abbreviated, two other languages
    "person": ("person_id", "pid", "id_personne", "personnr"),
    "household": ("household_id", "hhid", "id_menage", "haushalt_nr"),
    "region": ("region", "reg", "region", "bundesland"),
    "relation": ("relationship", "rel", "lien", "stellung"),
    "sex": ("sex", "sx", "sexe", "geschlecht"),
    "age": ("age", "ag", "age", "alter"),
    "age2": ("age_squared", "agesq", "age2", "alter_quadrat"),
    "income": ("income", "inc", "revenu", "einkommen"),
    "wage": ("wage", "wg", "salaire", "lohn"),
    "urban": ("urban", "urb", "urbain", "staedtisch"),
    "area": ("area_type", "dens", "densite", "siedlung"),
    "activity": ("activity_status", "act", "activite", "erwerb"),
    "user": ("user_id", "uid", "id_client", "kunden_nr"),
    "item": ("movie_id", "mid", "id_film", "film_nr"),
    "rating": ("rating", "rtg", "note", "bewertung"),
    "stamp": ("timestamp", "ts", "horodatage", "zeitstempel"),
    "birth": ("date_of_birth", "dob", "date_naissance", "geburtsdatum"),
    "arm": ("arm", "trt", "bras", "gruppe"),
    "visit": ("visit_date", "visdt", "date_visite", "besuchsdatum"),
    "end": ("end_date", "enddt", "date_fin", "enddatum"),
    "weight": ("weight_kg", "wt", "poids", "gewicht"),
    "systolic": ("systolic_bp", "sbp", "tension", "blutdruck"),
    "staff": ("employee_id", "empno", "matricule", "personalnr"),
    "office": ("office_code", "off", "bureau", "dienststelle"),
    "grade": ("pay_grade", "gr", "echelon", "stufe"),
    "hired": ("hire_date", "hdt", "date_embauche", "eintritt"),
    "occupation": ("occupation", "occ", "profession", "beruf"),
    "education": ("education", "edu", "diplome", "bildung"),
    "hours": ("hours_worked", "hrs", "heures", "stunden"),
    "north": ("reg_north", "r_n", "reg_nord", "land_nord"),
    "south": ("reg_south", "r_s", "reg_sud", "land_sued"),
    "east": ("reg_east", "r_e", "reg_est", "land_ost"),
    "record": ("record_no", "recno", "numero", "lfd_nr"),
    "mother_age": ("mother_age", "mage", "age_mere", "alter_mutter"),
    "place": ("municipality_code", "munic", "commune", "gemeinde"),
    "school": ("school_code", "sch", "ecole", "schule_nr"),
    "level": ("class_level", "lvl", "niveau", "klasse"),
    "maths": ("maths_mark", "mth", "note_maths", "mathe"),
    "reading": ("reading_mark", "rdg", "note_lecture", "lesen"),
}
_LANGUAGES = ("english", "abbreviated", "french", "german", "meaningless")


def _codes(rng: np.random.Generator, codes: list[int], n: int) -> list[int]:
    weights = rng.dirichlet(np.full(len(codes), 4.0))
    return [int(each) for each in rng.choice(codes, n, p=weights)]


def _ages(rng: np.random.Generator, n: int, low: int = 0, high: int = 95) -> list[int]:
    return [int(each) for each in np.clip(low + (high - low) * rng.beta(1.6, 2.2, n), low, high)]


def _days(rng: np.random.Generator, n: int, first: str, last: str) -> list[dt.date]:
    begin, end = (dt.date.fromisoformat(each).toordinal() for each in (first, last))
    return [dt.date.fromordinal(int(each)) for each in rng.integers(begin, end, n)]


def _incomes(rng: np.random.Generator, n: int, *, top: int | None = None) -> list[int]:
    found = np.round(np.exp(rng.normal(10.1, 0.45, n)), -1).astype(int)
    return [int(each) for each in (found if top is None else np.where(found > top / 2, top, found))]


def _household_survey(rng: np.random.Generator) -> _Columns:
    """People of households, as EU-SILC has them: codes of regions, of relations, of activities."""
    sizes = rng.choice([1, 2, 3, 4, 5], 260, p=[0.3, 0.3, 0.17, 0.15, 0.08])
    home = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    n = len(home)
    regions = _codes(rng, list(range(1, int(rng.integers(8, 19)))), len(sizes))
    areas = _codes(rng, [1, 2, 3], len(sizes))
    ages = _ages(rng, n)
    return {
        "household": (_H, home.tolist()),
        "region": (_C, [regions[each - 1] for each in home]),
        "area": (_C, [areas[each - 1] for each in home]),
        "relation": (_C, _codes(rng, list(range(10)), n)),
        "sex": (_C, _codes(rng, [1, 2], n)),
        "age": (_Q, ages),
        "activity": (_C, _codes(rng, list(range(1, 12)), n)),
        "income": (_QS, _incomes(rng, n)),
        **({"age2": (Truth("direct identifier|quasi-identifier"), [each**2 for each in ages])}
           if rng.random() < 0.5 else {}),
    }  # fmt: skip


def _film_ratings(rng: np.random.Generator) -> _Columns:
    """Opinions about films, with the moment of each as seconds since 1970."""
    visits = rng.integers(5, 60, 60)
    user = np.repeat(np.arange(1, 61) + 3 * int(rng.integers(0, 2)), visits)
    n = len(user)
    begin = int(rng.integers(950_000_000, 1_500_000_000))
    marks = np.array([1, 2, 3, 4, 5]) if rng.random() < 0.5 else np.arange(1, 11) / 2
    drawn = rng.choice(marks, n, p=rng.dirichlet(np.full(len(marks), 5.0)))
    per_user = {each: (int(rng.integers(1, 3)), int(rng.integers(18, 70))) for each in set(user)}
    return {
        "user": (_P, [int(each) for each in user]),
        "item": (Truth("direct identifier|sensitive|quasi-identifier"),
                 [int(each) for each in rng.zipf(1.3, n) % 1600 + 1]),
        "rating": (_S, drawn.tolist()),
        "stamp": (_Q, [int(each) for each in begin + rng.integers(0, 250 * 86_400, n)]),
        "sex": (_C, [per_user[each][0] for each in user]),
        "age": (_Q, [per_user[each][1] for each in user]),
    }  # fmt: skip


def _trial(rng: np.random.Generator) -> _Columns:
    """Visits of a trial; births may be read day first or month first, an end that did not come."""
    visits = rng.integers(3, 7, 90)
    who = np.repeat(np.arange(90), visits)
    n = len(who)
    births = [
        each.replace(day=min(each.day, 12)) for each in _days(rng, 90, "1935-01-01", "2001-01-01")
    ]
    sexes, arms = _codes(rng, [1, 2], 90), _codes(rng, [0, 1, 2], 90)
    ends = [each.isoformat() if rng.random() < 0.6 else "9999-12-31"
            for each in _days(rng, 90, "2019-01-01", "2021-01-01")]  # fmt: skip
    sign = "/.-"[int(rng.integers(3))]
    order = f"%d{sign}%m{sign}%Y" if rng.random() < 0.5 else f"%m{sign}%d{sign}%Y"
    return {
        "person": (_P, [f"S-{1000 + 7 * int(each)}" for each in who]),
        "birth": (Truth("asked"), [births[each].strftime(order) for each in who]),
        "sex": (_C, [sexes[each] for each in who]),
        "arm": (_CS, [arms[each] for each in who]),
        "visit": (_Q, [each.isoformat() for each in _days(rng, n, "2018-01-01", "2020-01-01")]),
        "end": (_Q, [ends[each] for each in who]),
        "weight": (_QS, np.round(rng.normal(78, 14, n), 1).tolist()),
        "systolic": (_QS, [int(each) for each in rng.normal(128, 15, n)]),
    }


def _payroll(rng: np.random.Generator) -> _Columns:
    """Staff of offices, with births that nobody knows and pay that is cut off at the top."""
    n = 500
    births = [each.isoformat() if rng.random() > 0.04 else "9999-12-31"
              for each in _days(rng, n, "1955-01-01", "1999-01-01")]  # fmt: skip
    return {
        "staff": (
            Truth("person|direct identifier"),
            rng.permutation(np.arange(20_000, 20_000 + n)).tolist(),
        ),
        "birth": (_Q, births),
        "sex": (_C, _codes(rng, [1, 2], n)),
        "office": (_C, _codes(rng, [10, 11, 12, 20, 21, 30, 31, 32, 40, 41, 50, 51, 60], n)),
        "grade": (Truth("quasi-identifier|sensitive"), _codes(rng, list(range(1, 16)), n)),
        "hired": (_Q, [each.isoformat() for each in _days(rng, n, "1995-01-01", "2022-01-01")]),
        "wage": (Truth("asked"), _incomes(rng, n, top=99_999)),
    }


def _labour_force(rng: np.random.Generator) -> _Columns:
    """A labour force survey: code numbers, dummies of one variable, incomes of five digits."""
    n = 600
    ages = _ages(rng, n, 15, 80)
    area = rng.choice(4, n, p=[0.35, 0.25, 0.2, 0.2])
    return {
        "record": (
            Truth("direct identifier|person"),
            list(range(n)) if rng.random() < 0.5 else list(range(1, n + 1)),
        ),
        "sex": (_C, _codes(rng, [1, 2], n)),
        "age": (_Q, ages),
        "age2": (Truth("direct identifier|quasi-identifier"), [each**2 for each in ages]),
        "education": (_C, _codes(rng, list(range(8)), n)),
        "occupation": (
            _C,
            _codes(
                rng, [11, 12, 13, 14, 21, 22, 23, 31, 32, 41, 51, 52, 61, 71, 72, 81, 91, 92], n
            ),
        ),
        "north": (Truth("quasi-identifier|direct identifier"), (area == 0).astype(int).tolist()),
        "south": (Truth("quasi-identifier|direct identifier"), (area == 1).astype(int).tolist()),
        "east": (Truth("quasi-identifier|direct identifier"), (area == 2).astype(int).tolist()),
        "hours": (_QS, [int(each) for each in np.clip(rng.normal(38, 11, n), 1, 98)]),
        "income": (_QS, [int(each) for each in rng.integers(10_000, 99_000, n)]),
    }


def _births(rng: np.random.Generator) -> _Columns:
    """A registry of births in one year: children, mothers, municipalities by code."""
    n = int(rng.integers(90, 110))
    year = int(rng.integers(2005, 2022))
    return {
        "record": (Truth("direct identifier|person"), list(range(n))),
        "birth": (
            _Q,
            [each.isoformat() for each in _days(rng, n, f"{year}-01-01", f"{year + 1}-01-01")],
        ),
        "sex": (_C, _codes(rng, [1, 2], n)),
        "mother_age": (_Q, _ages(rng, n, 16, 47)),
        "place": (
            _C,
            _codes(
                rng, [int(each) for each in rng.choice(np.arange(1101, 1199), 14, replace=False)], n
            ),
        ),
        "weight": (_QS, [int(each) for each in rng.normal(3400, 480, n)]),
    }


def _pupils(rng: np.random.Generator) -> _Columns:
    """Pupils of schools, with marks."""
    n = 450
    schools = _codes(rng, list(range(1, 31)), n)
    return {
        "person": (
            Truth("person|direct identifier"),
            rng.permutation(np.arange(7000, 7000 + n)).tolist(),
        ),
        "school": (_C, schools),
        "sex": (_C, _codes(rng, [0, 1], n)),
        "level": (Truth("quasi-identifier"), _codes(rng, [7, 8, 9, 10], n)),
        "maths": (_S, _codes(rng, [1, 2, 3, 4, 5, 6], n)),
        "reading": (_S, _codes(rng, [1, 2, 3, 4, 5, 6], n)),
        "birth": (
            _Q,
            [each.strftime("%d.%m.%Y") for each in _days(rng, n, "2005-01-01", "2010-01-01")],
        ),
    }


KINDS: dict[str, Callable[[np.random.Generator], _Columns]] = {
    "household survey": _household_survey, "film ratings": _film_ratings, "trial": _trial,
    "payroll": _payroll, "labour force": _labour_force, "births": _births, "pupils": _pupils,
}  # fmt: skip


def unfamiliar_file(kind: str, seed: int) -> MadeFile:
    """A file of a kind; the seed draws its values and, in turn, the language of its headers."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    language = _LANGUAGES[seed % len(_LANGUAGES)]
    names, columns = {}, KINDS[kind](rng)
    for place, key in enumerate(columns, 1):
        if language == "meaningless":
            names[key] = f"v{place}"
        else:
            names[key] = WORDS[key][_LANGUAGES.index(language)]
    table = pa.table({names[key]: values for key, (_, values) in columns.items()})
    return MadeFile(
        table, {names[key]: truth for key, (truth, _) in columns.items()},
        {name: key for key, name in names.items()},
    )  # fmt: skip


def judged(made: MadeFile) -> dict[str, str]:
    """By column: ``right``, ``asked``, ``careful`` (a stricter role than people's), ``wrong``."""
    from sfumato.schema import Kind
    from sfumato.table.schema_guess import guess_schema
    from sfumato.table.table_files import open_source

    guess = guess_schema(open_source(made.table))
    quasi = guess.answered().quasi_identifiers
    found = {}
    for name, truth in made.truth.items():
        role, wanted = guess.roles[name].role, truth.roles.split("|")
        right = role in wanted
        if right and truth.codes and name in quasi:
            right = quasi[name].kind is not Kind.NUMERIC
        strict = {"household": 0, "person": 0} | {r: i for i, r in enumerate(STRICT)}
        if name in guess.questions:
            found[name] = "asked"
        elif right:
            found[name] = "right"
        elif role in strict and wanted[0] in strict and strict[role] < strict[wanted[0]]:
            found[name] = "careful"
        else:
            found[name] = "wrong"
    return found
