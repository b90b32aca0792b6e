"""Files as strangers keep them: six languages, their separators, dates, numbers, and what is wrong.

Each file comes with what two people would say of each of its columns, so that a proposed schema can
be held against it.
"""

from __future__ import annotations

import csv
import datetime as dt
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

Roles = frozenset[str]
PERSON, DIRECT = frozenset({"person"}), frozenset({"direct identifier"})
QUASI, SENSITIVE = frozenset({"quasi-identifier"}), frozenset({"sensitive"})
INSENSITIVE = frozenset({"insensitive"})
HEADERS = ("own", "own", "english", "drawn", "abbreviated")
"""How the columns of a file are called; twice as often in the language of its country."""
_LETTERS = np.array(list(string.ascii_lowercase))


@dataclass(frozen=True)
class Country:
    """What differs between the files of two countries.

    Attributes
    ----------
    women, men, surnames, streets, towns, jobs
        Words.
    street
        How street and number are written.
    postcode, phone
        Patterns: ``#`` stands for a digit, ``?`` for a capital.
    number
        The national number of a birth date and a draw; with its check digits.
    dates
        How days are written, as `datetime.date.strftime`.
    decimal, thousands
        Signs in numbers.
    sexes, marital, schools
        Words of the categories; the sexes in several spellings, female first.
    missing
        What stands for a missing value, beside nothing.
    headers
        How columns are called here, by what they hold.
    """

    women: str
    men: str
    surnames: str
    streets: str
    towns: str
    jobs: str
    street: str
    postcode: str
    phone: str
    number: Callable[[dt.date, np.random.Generator], str]
    dates: tuple[str, ...]
    decimal: str
    thousands: str
    sexes: tuple[str, ...]
    marital: str
    schools: str
    missing: tuple[str, ...]
    headers: Mapping[str, str]


@dataclass(frozen=True)
class MessyFile:
    """A file's cells, how they are written, and the truth.

    Attributes
    ----------
    columns
        The cells by column, in the order of the file.
    roles
        By column: the roles that people would give it, of which one is enough.
    held
        By column: what it was made of.
    delimiter, encoding
        How it is written.
    """

    columns: dict[str, list[str]]
    roles: dict[str, Roles]
    held: dict[str, str]
    delimiter: str
    encoding: str

    @property
    def person(self) -> str | None:
        """The column of the persons, in a file of several records each."""
        return next((name for name, roles in self.roles.items() if roles == PERSON), None)

    def write(self, path: Path) -> None:
        """Write it as CSV."""
        with path.open("w", encoding=self.encoding, newline="") as file:
            writer = csv.writer(file, delimiter=self.delimiter)
            writer.writerow(self.columns)
            writer.writerows(zip(*self.columns.values(), strict=True))


@dataclass
class _Draft:
    """A file in the making: its persons, whose record each is, and the columns so far."""

    country: Country
    rng: np.random.Generator
    persons: int
    person: np.ndarray[tuple[int], np.dtype[np.int64]]
    born: list[dt.date] = field(default_factory=list)
    female: list[bool] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=dict)
    roles: dict[str, Roles] = field(default_factory=dict)

    def pick(self, words: str, count: int, *, even: bool = False) -> list[str]:
        """Words drawn by a law of few frequent and many rare ones."""
        known = words.split("|")
        shares = np.ones(len(known)) if even else 1 / np.arange(1, len(known) + 1) ** 0.7
        places = self.rng.choice(len(known), count, p=shares / shares.sum())
        return [known[place] for place in places]

    def add(self, held: str, values: list[str], roles: Roles) -> None:
        """A column of one value a person, or one a record."""
        if len(values) == self.persons:
            values = [values[each] for each in self.person]
        self.cells[held], self.roles[held] = values, roles

    def filled(self, pattern: str, count: int) -> list[str]:
        """Patterns with their digits and capitals drawn."""
        made = []
        for _ in range(count):
            draw = iter(self.rng.integers(0, 2**31, len(pattern)).tolist())
            made.append("".join(_drawn(sign, next(draw)) for sign in pattern))
        return made

    def number(self, value: float, decimals: int) -> str:
        """A number as the country writes it."""
        text = f"{value:,.{decimals}f}" if self.country.thousands else f"{value:.{decimals}f}"
        signs = {",": self.country.thousands, ".": self.country.decimal}
        return "".join(signs.get(each, each) for each in text)


def _drawn(sign: str, draw: int) -> str:
    if sign == "#":
        return str(draw % 10)
    return string.ascii_uppercase[draw % 26] if sign == "?" else sign


def messy_file(
    seed: int, countries: Mapping[str, Country] | None = None, persons: int | None = None
) -> MessyFile:
    """A file of one country's persons.

    Parameters
    ----------
    seed
        Decides about everything.
    countries
        Those to draw from; the six of this module when not given.
    persons
        How many; 150 to 600 when not given.
    """
    rng = np.random.default_rng([seed, 22])
    known = COUNTRIES if countries is None else countries
    country = known[sorted(known)[seed % len(known)]]
    count = int(rng.integers(150, 600)) if persons is None else persons
    several = seed % 2 == 1
    times = rng.geometric(0.35, count) if several else np.ones(count, dtype=np.int64)
    draft = _Draft(country, rng, count, np.repeat(np.arange(count), times))
    _persons(draft, several=several)
    _places(draft)
    _numbers(draft)
    _events(draft, several=several)
    _others(draft)
    return _finished(draft, shuffled=bool(rng.random() < 0.5))


def _persons(draft: _Draft, *, several: bool) -> None:
    rng, count, country = draft.rng, draft.persons, draft.country
    draft.female = (rng.random(count) < 0.52).tolist()
    days = rng.triangular(0, 20_000, 36_500, count).astype(int).tolist()
    draft.born = [dt.date(2023, 6, 30) - dt.timedelta(each) for each in days]
    if several or rng.random() < 0.5:
        draft.add("person", _ids(draft), PERSON if several else PERSON | DIRECT)
    women, men = draft.pick(country.women, count), draft.pick(country.men, count)
    given = [w if f else m for w, m, f in zip(women, men, draft.female, strict=True)]
    surnames = draft.pick(country.surnames, count)
    spelt = str.upper if rng.random() < 1 / 3 else str.title
    form = rng.integers(4)
    if form == 0:
        draft.add("given", [spelt(each) for each in given], DIRECT)
        draft.add("surname", [spelt(each) for each in surnames], DIRECT)
    elif form == 1:
        both = zip(given, surnames, strict=True)
        draft.add("name", [spelt(f"{s}, {g}") for g, s in both], DIRECT)
    elif form == 2:
        both = zip(given, surnames, strict=True)
        draft.add("name", [spelt(f"{g} {s}") for g, s in both], DIRECT)
    _births(draft)
    if rng.random() < 0.9:
        one, other = np.array_split(np.array(country.sexes), 2)
        known = len(one) if rng.random() < 0.4 else 1
        records = [draft.female[each] for each in draft.person]
        drawn = rng.integers(0, known, len(records)).tolist()
        spelled = [str((one if f else other)[d]) for f, d in zip(records, drawn, strict=True)]
        draft.add("sex", spelled, QUASI)
    for held, words in (("marital", country.marital), ("school", country.schools)):
        if rng.random() < 0.5:
            draft.add(held, draft.pick(words, count), QUASI)
    if rng.random() < 0.4:
        draft.add("job", draft.pick(country.jobs, count), QUASI)


def _births(draft: _Draft) -> None:
    form = draft.rng.integers(6)
    written = str(draft.rng.choice(draft.country.dates))
    if form < 3:
        draft.add("birth", [each.strftime(written) for each in draft.born], QUASI)
    elif form == 3:
        draft.add("birth", [each.strftime("%Y%m%d") for each in draft.born], QUASI)
    elif form == 4:
        for part, sign in (("day", "%d"), ("month", "%m"), ("year", "%Y")):
            of_part = [str(int(each.strftime(sign))) for each in draft.born]
            draft.add(f"birth_{part}", of_part, QUASI | {"source of the recipe"})
    else:
        ages = [str((dt.date(2024, 1, 1) - each).days * 100 // 36525) for each in draft.born]
        draft.add("age", ages, QUASI)


def _ids(draft: _Draft) -> list[str]:
    numbers = draft.rng.permutation(10 * draft.persons)[: draft.persons] + 10_000
    form = draft.rng.integers(4)
    if form == 0:
        return [str(each) for each in numbers]
    if form == 1:
        return [f"P-{each:07d}" for each in numbers]
    if form == 2:
        return [f"{each * 2654435761 % 2**40:010x}" for each in numbers.tolist()]
    return draft.filled("??######", draft.persons)


def _places(draft: _Draft) -> None:
    rng, count, country = draft.rng, draft.persons, draft.country
    towns = country.towns.split("|")
    lives = rng.integers(0, len(towns), count)
    codes = draft.filled(country.postcode, 3 * len(towns))
    if rng.random() < 0.6:
        of_town = rng.integers(0, 3, count)
        draft.add(
            "postcode", [codes[3 * t + n] for t, n in zip(lives, of_town, strict=True)], QUASI
        )
    if rng.random() < 0.5:
        draft.add("town", [towns[each] for each in lives], QUASI)
    if rng.random() < 0.4:
        streets = draft.pick(country.streets, count, even=True)
        numbers = rng.integers(1, 180, count).tolist()
        both = zip(streets, numbers, strict=True)
        draft.add("street", [country.street.format(s, n) for s, n in both], DIRECT)


def _numbers(draft: _Draft) -> None:
    rng, count, country = draft.rng, draft.persons, draft.country
    if rng.random() < 0.4:
        numbers = [country.number(born, rng) for born in draft.born]
        draft.add("number", numbers, DIRECT)
    if rng.random() < 0.35:
        draft.add("phone", draft.filled(country.phone, count), DIRECT)
    if rng.random() < 0.35:
        users = ["".join(rng.choice(_LETTERS, rng.integers(4, 10))) for _ in range(count)]
        hosts = draft.pick("web.example|post.example|mail.example.org", count)
        draft.add("mail", [f"{u}@{h}" for u, h in zip(users, hosts, strict=True)], DIRECT)


def _events(draft: _Draft, *, several: bool) -> None:
    rng, country, records = draft.rng, draft.country, len(draft.person)
    if rng.random() < 0.5:
        draft.add("record", [str(each + 1) for each in rng.permutation(records)], DIRECT)
    if several or rng.random() < 0.5:
        days = (dt.date(2019, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 1800, records))
        written = str(rng.choice(country.dates))
        visits = [each.strftime(written) for each in days]
        draft.add("visit", visits, QUASI)
    if several or rng.random() < 0.6:
        codes = [f"{c}{n:02d}" for c in "ABCEFGIJKMNRS" for n in range(0, 90, 7)]
        ended = [f"{each}.{i % 9}" if i % 3 else each for i, each in enumerate(codes)]
        draft.add("diagnosis", draft.pick("|".join(rng.permutation(ended)), records), SENSITIVE)
    if rng.random() < 0.35:
        letters = zip("ABCDGHJMNRSVAB", "ABCDXABCDXABCD", "ABCEXABCEXABCE", strict=True)
        groups = [f"{a}{n:02d}{b}{c}{n:02d}" for n, (a, b, c) in enumerate(letters, 1)]
        draft.add("drug", draft.pick("|".join(groups), records), SENSITIVE)
    for place in range(int(rng.integers(0, 5))):
        size = float(rng.choice([1.2, 5.5, 42.0, 140.0]))
        drawn = rng.gamma(9, size / 9, records)
        draft.add(f"lab{place}", [draft.number(each, 1 if size > 20 else 2) for each in drawn],
                  SENSITIVE)  # fmt: skip
    if rng.random() < 0.3:
        drawn = np.exp(rng.normal(7, 1.3, records))
        costs = [draft.number(each, 2) for each in drawn]
        draft.add("cost", costs, SENSITIVE | INSENSITIVE)
    if rng.random() < 0.4:
        drawn = rng.normal(78, 15, records).clip(35, 180)
        unit = " kg" if rng.random() < 0.3 else ""
        weights = [draft.number(each, 1) + unit for each in drawn]
        draft.add("weight", weights, SENSITIVE | QUASI)
    if rng.random() < 0.3:
        draft.add("smoker", draft.pick("0|1", records), QUASI | SENSITIVE)
    if rng.random() < 0.2:
        draft.add("note", _notes(draft, records), DIRECT)
    if rng.random() < 0.2:
        draft.add("version", ["2.1"] * records, INSENSITIVE)
    if rng.random() < 0.2:
        draft.add("empty", [""] * records, INSENSITIVE)


def _others(draft: _Draft) -> None:
    """What some files have beside: a few of many columns."""
    rng, count, records, country = draft.rng, draft.persons, len(draft.person), draft.country

    def whole(low: int, high: int, number: int) -> list[str]:
        return [str(each) for each in rng.integers(low, high, number)]

    def ages() -> list[str]:
        return [f"{each}-{each + 9}" for each in (10 * rng.integers(0, 9, count)).tolist()]

    def pressures() -> list[str]:
        high, low = rng.normal(130, 15, records), rng.normal(82, 9, records)
        return [f"{a:.0f}/{b:.0f}" for a, b in zip(high, low, strict=True)]

    def moments() -> list[str]:
        starts = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
        drawn = rng.integers(0, 60 * 24 * 900, records).tolist()
        return [f"{starts + dt.timedelta(minutes=each):%Y-%m-%d %H:%M}" for each in drawn]

    def plates() -> list[str]:
        return draft.filled("??-###-??", count)

    def heights() -> list[str]:
        return [f"{each:.0f}" for each in rng.normal(170, 9, count)]

    def incomes() -> list[str]:
        return [str(each) for each in (np.exp(rng.normal(10.3, 0.6, count)) // 1).astype(int)]

    def doctors() -> list[str]:
        staff = [f"Dr. {each}" for each in draft.pick(country.surnames, 25, even=True)]
        return [staff[each] for each in rng.integers(0, 25, records)]

    def doses() -> list[str]:
        return [f"{each} mg" for each in rng.choice([5, 10, 20, 50, 100, 250, 500], records)]

    kinds: dict[str, tuple[Callable[[], list[str]], Roles]] = {
        "age_group": (ages, QUASI),
        "blood_pressure": (pressures, SENSITIVE | QUASI),
        "blood_group": (lambda: draft.pick("A+|0+|B+|AB+|A-|0-|B-|AB-", count), QUASI | SENSITIVE),
        "ward": (lambda: draft.pick("I|II|III|IV", records), QUASI | SENSITIVE | INSENSITIVE),
        "doctor": (doctors, DIRECT),
        "household": (lambda: whole(1, max(2, count * 2 // 5), count), DIRECT | {"household"}),
        "uuid": (lambda: draft.filled("########-####-4###-8###-############", records), DIRECT),
        "plate": (plates, DIRECT),
        "network": (lambda: draft.filled("10.1#.1#.2#", count), DIRECT),
        "link": (lambda: [f"https://a.example/{n}" for n in whole(0, 10**8, records)], DIRECT),
        "moment": (moments, QUASI),
        "height": (heights, QUASI | SENSITIVE),
        "income": (incomes, QUASI | SENSITIVE),
        "children": (lambda: [str(n) for n in rng.poisson(1.3, count)], QUASI),
        "birthplace": (lambda: draft.pick(country.towns, count), QUASI),
        "site": (lambda: [f"S{n:03d}" for n in rng.integers(1, 13, records)],
                 QUASI | SENSITIVE | INSENSITIVE | DIRECT),
        "dose": (doses, SENSITIVE | QUASI),
        "share": (lambda: [draft.number(n, 1) + " %" for n in rng.uniform(0, 100, records)],
                  SENSITIVE | INSENSITIVE),
        "score": (lambda: whole(0, 11, records), QUASI | SENSITIVE),
        "sex_code": (lambda: [str(2 - female) for female in draft.female], QUASI),
        "loinc": (lambda: draft.pick("718-7|2345-7|4548-4|2160-0|2951-2|6690-2|789-8|1742-6|1920-8"
                                     "|3016-3|2085-9|2571-8", records), SENSITIVE | QUASI),
        "answer": (lambda: draft.pick("yes|no", records), QUASI | SENSITIVE),
    }  # fmt: skip
    for held in rng.permutation(sorted(kinds))[: int(rng.integers(0, 7))].tolist():
        make, roles = kinds[held]
        draft.add(held, make(), roles)


def _notes(draft: _Draft, records: int) -> list[str]:
    words = (draft.country.jobs + "|" + draft.country.schools + "|" + draft.country.streets).split(
        "|"
    )
    return [" ".join(draft.rng.choice(words, draft.rng.integers(7, 14))) for _ in range(records)]


_WHOLE = {"person", "record", "version", "empty", "note", "sex", "smoker"}
"""Columns that nothing is missing from."""


def _finished(draft: _Draft, *, shuffled: bool) -> MessyFile:
    """The file with what goes missing, what is misspelt, and names for its columns."""
    rng, country = draft.rng, draft.country
    for held, cells in draft.cells.items():
        if held in _WHOLE or rng.random() < 0.5:
            continue
        mark = str(rng.choice(["", *country.missing]))
        if held in {"age", "weight"} or held.startswith("lab"):
            mark = str(rng.choice([mark, "-9", "999"]))
        lost = set(np.flatnonzero(rng.random(len(cells)) < rng.choice([0.01, 0.06])).tolist())
        draft.cells[held] = [mark if i in lost else each for i, each in enumerate(cells)]
    if rng.random() < 0.3:
        for held in ("town", "marital", "job"):
            if held in draft.cells:
                drawn = rng.random(len(draft.person)) < 0.05
                draft.cells[held] = [
                    each.upper() + " " if other else each
                    for each, other in zip(draft.cells[held], drawn, strict=True)
                ]
    mode = str(rng.choice(HEADERS))
    names = {held: _header(held, mode, country, rng) for held in draft.cells}
    order = list(draft.cells)
    if shuffled:
        order = [order[place] for place in rng.permutation(len(order))]
    rows = (
        rng.permutation(len(draft.person)) if rng.random() < 0.5 else np.arange(len(draft.person))
    )
    signs = [";", "\t", "|"] if country.decimal == "," else [",", ";", "\t", "|"]
    return MessyFile(
        columns={names[held]: [draft.cells[held][row] for row in rows] for held in order},
        roles={names[held]: draft.roles[held] for held in order},
        held={names[held]: held for held in order},
        delimiter=str(rng.choice(signs)),
        encoding=str(rng.choice(["utf-8", "utf-8-sig"])),
    )


def _header(held: str, mode: str, country: Country, rng: np.random.Generator) -> str:
    if mode == "drawn":
        return "".join(rng.choice(_LETTERS, 3)) + str(rng.integers(10_000))
    base, digits = held.rstrip(string.digits), held[len(held.rstrip(string.digits)) :]
    word = country.headers.get(base, held) if mode == "own" else _ENGLISH.get(base, base)
    if mode == "abbreviated":
        consonants = "".join(each for each in word if each not in "aeiou_ ")
        return f"{consonants[:4].upper()}{digits or '_'}{base[:1]}{len(base)}"
    return word + digits


def renamed(made: MessyFile) -> MessyFile:
    """The same file with English headers, or upper case ones where it has these already."""
    names = {}
    for name, held in made.held.items():
        base = held.rstrip(string.digits)
        new = _ENGLISH.get(base, base) + held[len(base) :]
        names[name] = new if new not in made.columns else f"{new.upper()}_2"
    return replace(
        made,
        columns={names[name]: cells for name, cells in made.columns.items()},
        roles={names[name]: each for name, each in made.roles.items()},
        held={names[name]: each for name, each in made.held.items()},
    )


_ENGLISH = {
    "person": "patient_id", "given": "first_name", "surname": "last_name", "name": "full_name",
    "birth": "date_of_birth", "birth_day": "birth_day", "birth_month": "birth_month",
    "birth_year": "birth_year", "marital": "marital_status", "school": "education",
    "job": "occupation", "town": "city", "street": "address", "number": "national_id",
    "mail": "email", "record": "record_id", "visit": "visit_date", "diagnosis": "icd10",
    "drug": "atc_code", "lab": "lab_result_", "cost": "cost", "note": "comment",
}  # fmt: skip


def _digits(rng: np.random.Generator, count: int) -> list[int]:
    return [int(each) for each in rng.integers(0, 10, count)]


def _joined(digits: list[int]) -> str:
    return "".join(map(str, digits))


def _nhs_number(_: dt.date, rng: np.random.Generator) -> str:
    """Of England: the tenth digit by weights 10 to 2, modulo 11."""
    while True:
        digits = [9, *_digits(rng, 8)]
        check = -sum(d * w for d, w in zip(digits, range(10, 1, -1), strict=True)) % 11
        if check < 10:
            return _joined([*digits, check])


def _tax_number(_: dt.date, rng: np.random.Generator) -> str:
    """Of Germany: eleven digits, one of the first ten twice; ISO 7064, Mod 11, 10."""
    digits = rng.permutation(np.arange(1, 10)).tolist()
    digits.append(digits[int(rng.integers(9))])
    product = 10
    for digit in digits:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return _joined([*digits, (11 - product) % 10])


def _nir(born: dt.date, rng: np.random.Generator) -> str:
    """Of France: sex, year, month, place, order, and 97 less the rest of the division by 97."""
    head = f"{rng.integers(1, 3)}{born:%y%m}{rng.integers(1, 96):02d}"
    head += f"{rng.integers(1, 900):03d}{rng.integers(1, 999):03d}"
    return f"{head}{97 - int(head) % 97:02d}"


def _bsn(_: dt.date, rng: np.random.Generator) -> str:
    """Of the Netherlands: nine digits, weights 9 to 2 and -1, modulo 11."""
    while True:
        digits = [int(rng.integers(1, 10)), *_digits(rng, 7)]
        check = sum(d * w for d, w in zip(digits, range(9, 1, -1), strict=True)) % 11
        if check < 10:
            return _joined([*digits, check])


def _personnummer(born: dt.date, rng: np.random.Generator) -> str:
    """Of Sweden: birth date, serial number, check digit of Luhn."""
    digits = [int(each) for each in f"{born:%y%m%d}"] + _digits(rng, 3)
    doubled = [d * 2 if i % 2 == 0 else d for i, d in enumerate(digits)]
    total = sum(each // 10 + each % 10 for each in doubled)
    return f"{born:%y%m%d}-{_joined(digits[6:])}{-total % 10}"


def _dni(_: dt.date, rng: np.random.Generator) -> str:
    """Of Spain: eight digits and the letter of the rest of their division by 23."""
    number = int(rng.integers(10_000_000, 99_999_999))
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


COUNTRIES: dict[str, Country] = {
    "de": Country(
        women="Anna|Maria|Ursula|Sabine|Petra|Monika|Renate|Karin|Lena|Julia|Katharina|Heike|"
        "Gisela|Claudia|Birgit|Brigitte|Ingrid|Helga|Lea|Emma|Mia|Greta|Wiebke|Swantje",
        men="Peter|Michael|Thomas|Andreas|Wolfgang|Klaus|Jürgen|Günter|Stefan|Christian|Uwe|"
        "Werner|Horst|Frank|Dieter|Manfred|Lukas|Jonas|Finn|Ben|Torsten|Eike|Ansgar",
        surnames="Müller|Schmidt|Schneider|Fischer|Weber|Meyer|Wagner|Becker|Schulz|Hoffmann|"
        "Schäfer|Koch|Bauer|Richter|Klein|Wolf|Schröder|Neumann|Schwarz|Zimmermann|Braun|Krüger|"
        "Hofmann|Hartmann|Lange|Schmitt|Werner|Krause|Meier|Lehmann|Köhler|Kaiser|Fuchs|Peters|"
        "Scholz|Möller|Weiß|Jung|Hahn|Vogel|Friedrich|Keller|Günther|Frank|Berger|Winkler",
        streets="Hauptstraße|Bahnhofstraße|Gartenweg|Schulstraße|Am Markt|Lindenallee|Kirchplatz|"
        "Bergstraße|Dorfstraße|Birkenweg|Goethestraße|Schillerstraße|Mühlenweg|Ringstraße",
        towns="Hamburg|München|Köln|Bremen|Leipzig|Essen|Dresden|Hannover|Kiel|Mainz|Ulm|Jena",
        jobs="Lehrerin|Ingenieur|Kaufmann|Pflegekraft|Rentner|Student|Schlosser|Verkäuferin",
        street="{} {}", postcode="#####", phone="01## #######", number=_tax_number,
        dates=("%d.%m.%Y", "%d.%m.%y", "%Y-%m-%d"), decimal=",", thousands=".",
        sexes=("w", "W", "weiblich", "m", "M", "männlich"),
        marital="ledig|verheiratet|geschieden|verwitwet",
        schools="Hauptschule|Realschule|Abitur|Studium|ohne Abschluss",
        missing=("k.A.", "unbekannt", "-"),
        headers={"person": "Fallnummer", "given": "Vorname", "surname": "Nachname",
                 "name": "Versicherter", "birth": "Geburtsdatum", "birth_day": "Geb_Tag",
                 "birth_month": "Geb_Monat", "birth_year": "Geb_Jahr", "age": "Alter",
                 "sex": "Geschlecht", "marital": "Familienstand", "school": "Bildung",
                 "job": "Beruf", "postcode": "PLZ", "town": "Ort", "street": "Anschrift",
                 "number": "Steuer-ID", "phone": "Telefon", "mail": "E-Mail", "record": "lfd",
                 "visit": "Aufnahme", "diagnosis": "Diagnose", "drug": "Medikament",
                 "lab": "Laborwert", "cost": "Kosten", "weight": "Gewicht", "smoker": "Raucher",
                 "note": "Bemerkung"},
    ),
    "en": Country(
        women="Mary|Susan|Margaret|Sarah|Emma|Olivia|Amelia|Isla|Ava|Emily|Jessica|Karen|Linda|"
        "Patricia|Elizabeth|Helen|Julie|Alison|Chloe|Grace|Poppy|Tamsin|Morwenna",
        men="John|David|Michael|Paul|Andrew|Peter|James|Robert|Oliver|George|Harry|Noah|Jack|"
        "Leo|Oscar|Charlie|William|Thomas|Kevin|Brian|Ian|Nigel|Alistair|Piers",
        surnames="Smith|Jones|Taylor|Brown|Williams|Wilson|Johnson|Davies|Patel|Robinson|Wright|"
        "Thompson|Evans|Walker|White|Roberts|Green|Hall|Thomas|Clarke|Jackson|Wood|Harris|Edwards|"
        "Turner|Martin|Cooper|Hill|Ward|Hughes|Moore|Clark|King|Harrison|Lewis|Baker|Lee|Allen|"
        "Morris|Khan|Scott|Watson|Davis|Parker|James|Bennett|Young|Phillips|Richardson|Mitchell",
        streets="High Street|Station Road|Main Street|Church Lane|Park Road|London Road|Mill Lane|"
        "Victoria Road|Green Lane|Manor Road|Queens Road|Kings Avenue|The Crescent|Grange Close",
        towns="Leeds|Bristol|York|Exeter|Norwich|Derby|Luton|Bath|Preston|Hull|Dover|Truro",
        jobs="teacher|engineer|nurse|retired|student|driver|clerk|sales assistant|farmer",
        street="{1} {0}", postcode="??# #??", phone="07### ######", number=_nhs_number,
        dates=("%d/%m/%Y", "%Y-%m-%d", "%d %b %Y"), decimal=".", thousands="",
        sexes=("F", "f", "female", "M", "m", "male"), marital="single|married|divorced|widowed",
        schools="none|GCSE|A-level|degree|postgraduate", missing=("NA", "unknown", "."), headers={},
    ),
    "es": Country(
        women="María|Carmen|Ana|Isabel|Dolores|Pilar|Josefa|Teresa|Lucía|Laura|Marta|Elena|Paula|"
        "Sara|Cristina|Rosario|Mercedes|Nuria|Inés|Ainhoa|Begoña",
        men="Antonio|José|Manuel|Francisco|Juan|David|Javier|Daniel|Jesús|Carlos|Alejandro|Miguel|"
        "Rafael|Pedro|Pablo|Sergio|Fernando|Jorge|Luis|Iker|Unai|Jordi",
        surnames="García|Rodríguez|González|Fernández|López|Martínez|Sánchez|Pérez|Gómez|Martín|"
        "Jiménez|Ruiz|Hernández|Díaz|Moreno|Muñoz|Álvarez|Romero|Alonso|Gutiérrez|Navarro|Torres|"
        "Domínguez|Vázquez|Ramos|Gil|Ramírez|Serrano|Blanco|Molina|Morales|Suárez|Ortega|Delgado",
        streets="Calle Mayor|Calle Real|Avenida de España|Plaza Nueva|Calle del Sol|Paseo Marítimo|"
        "Calle de la Iglesia|Avenida de la Constitución|Camino Viejo|Calle San Juan|Ronda Norte",
        towns="Madrid|Sevilla|Valencia|Zaragoza|Murcia|Bilbao|Vigo|Gijón|Burgos|Cádiz|Lugo",
        jobs="maestra|ingeniero|enfermera|jubilado|estudiante|camarero|agricultor|abogada",
        street="{}, {}", postcode="#####", phone="6## ### ###", number=_dni,
        dates=("%d/%m/%Y", "%d-%m-%Y"), decimal=",", thousands=".",
        sexes=("M", "m", "mujer", "H", "h", "hombre"),
        marital="soltero|casado|divorciado|viudo",
        schools="sin estudios|primaria|secundaria|bachillerato|universidad",
        missing=("ND", "s/d", "-"),
        headers={"person": "nhc", "given": "nombre", "surname": "apellidos",
                 "name": "nombre_completo", "birth": "fecha_nacimiento", "birth_day": "dia_nac",
                 "birth_month": "mes_nac", "birth_year": "anio_nac", "age": "edad", "sex": "sexo",
                 "marital": "estado_civil", "school": "estudios", "job": "profesion",
                 "postcode": "cp", "town": "municipio", "street": "domicilio", "number": "dni",
                 "phone": "telefono", "mail": "correo", "record": "orden", "visit": "fecha_ingreso",
                 "diagnosis": "diagnostico", "drug": "farmaco", "lab": "analitica",
                 "cost": "coste", "weight": "peso", "smoker": "fumador", "note": "observaciones"},
    ),
    "fr": Country(
        women="Marie|Jeanne|Françoise|Monique|Catherine|Nathalie|Isabelle|Sylvie|Martine|Nicole|"
        "Camille|Léa|Manon|Chloé|Inès|Louise|Jade|Élodie|Aurélie|Solène|Maëlys",
        men="Jean|Pierre|Michel|André|Philippe|René|Louis|Alain|Jacques|Bernard|Nicolas|Julien|"
        "Lucas|Hugo|Théo|Gabriel|Arthur|Guillaume|Loïc|Yann|Gaël",
        surnames="Martin|Bernard|Thomas|Petit|Robert|Richard|Durand|Dubois|Moreau|Laurent|Simon|"
        "Michel|Lefebvre|Leroy|Roux|David|Bertrand|Morel|Fournier|Girard|Bonnet|Dupont|Lambert|"
        "Fontaine|Rousseau|Vincent|Muller|Lefèvre|Faure|André|Mercier|Blanc|Guérin|Boyer|Garnier",
        streets="rue de la Paix|rue Victor Hugo|avenue Foch|place de l'Église|rue des Écoles|"
        "boulevard Voltaire|impasse des Lilas|chemin du Moulin|rue du Stade|allée des Tilleuls",
        towns="Paris|Lyon|Lille|Nantes|Rennes|Brest|Tours|Dijon|Metz|Pau|Nîmes|Angers",
        jobs="enseignante|ingénieur|infirmière|retraité|étudiant|ouvrier|agriculteur|cadre",
        street="{1} {0}", postcode="#####", phone="06 ## ## ## ##", number=_nir,
        dates=("%d/%m/%Y", "%d/%m/%y", "%d-%m-%Y"), decimal=",", thousands="",
        sexes=("F", "f", "femme", "H", "h", "homme"),
        marital="célibataire|marié|divorcé|veuf",
        schools="aucun|brevet|baccalauréat|licence|master", missing=("NR", "inconnu", "?"),
        headers={"person": "num_patient", "given": "prenom", "surname": "nom_famille",
                 "name": "identite", "birth": "date_naissance", "birth_day": "jour_naiss",
                 "birth_month": "mois_naiss", "birth_year": "annee_naiss", "sex": "sexe",
                 "marital": "situation", "school": "diplome", "job": "metier",
                 "postcode": "code_postal", "town": "commune", "street": "adresse",
                 "number": "nir", "phone": "tel", "mail": "courriel", "record": "ligne",
                 "visit": "date_entree", "diagnosis": "diagnostic", "drug": "medicament",
                 "lab": "dosage", "cost": "montant", "weight": "poids", "smoker": "fumeur",
                 "note": "commentaire"},
    ),
    "nl": Country(
        women="Johanna|Maria|Anna|Wilhelmina|Cornelia|Emma|Sophie|Julia|Sanne|Lotte|Femke|Fleur|"
        "Anouk|Marieke|Ingrid|Truus|Willemijn|Jolanda|Saskia|Annemiek",
        men="Jan|Johannes|Hendrik|Pieter|Cornelis|Willem|Daan|Sem|Bram|Thijs|Lars|Jeroen|Kees|"
        "Gerrit|Bas|Sander|Ruben|Joost|Maarten|Sjoerd",
        surnames="de Jong|Jansen|de Vries|van den Berg|Bakker|van Dijk|Visser|Janssen|Smit|Meijer|"
        "de Boer|Mulder|de Groot|Bos|Vos|Peters|Hendriks|van Leeuwen|Dekker|Brouwer|de Wit|"
        "Dijkstra|Smits|de Graaf|van der Meer|Kok|Jacobs|Vermeulen|van den Heuvel|van der Veen",
        streets="Dorpsstraat|Kerkstraat|Molenweg|Schoolstraat|Stationsweg|Julianalaan|Markt|"
        "Beatrixstraat|Eikenlaan|Prins Hendrikkade|Nieuwstraat|Oranjeplein",
        towns="Utrecht|Leiden|Delft|Breda|Zwolle|Assen|Gouda|Tilburg|Hoorn|Venlo|Almere",
        jobs="docent|ingenieur|verpleegkundige|gepensioneerd|student|monteur|boer|winkelier",
        street="{} {}", postcode="#### ??", phone="06-########", number=_bsn,
        dates=("%d-%m-%Y", "%Y-%m-%d", "%d-%m-%y"), decimal=",", thousands="",
        sexes=("V", "v", "vrouw", "M", "m", "man"),
        marital="ongehuwd|gehuwd|gescheiden|verweduwd", schools="geen|vmbo|havo|vwo|hbo|wo",
        missing=("onbekend", "nvt", "-"),
        headers={"person": "patientnr", "given": "voornaam", "surname": "achternaam",
                 "name": "naam", "birth": "geboortedatum", "birth_day": "geb_dag",
                 "birth_month": "geb_maand", "birth_year": "geb_jaar", "age": "leeftijd",
                 "sex": "geslacht", "marital": "burgerlijke_staat", "school": "opleiding",
                 "job": "beroep", "postcode": "postcode", "town": "woonplaats", "street": "adres",
                 "number": "bsn", "phone": "telefoon", "mail": "email", "record": "volgnr",
                 "visit": "opname", "diagnosis": "diagnose", "drug": "middel", "lab": "bepaling",
                 "cost": "bedrag", "weight": "gewicht", "smoker": "roker", "note": "opmerking"},
    ),
    "sv": Country(
        women="Anna|Eva|Karin|Maria|Kristina|Lena|Emma|Sara|Ingrid|Birgitta|Elsa|Alice|Maja|Ebba|"
        "Astrid|Linnéa|Saga|Gunilla|Kerstin|Margareta|Agneta",
        men="Lars|Erik|Anders|Per|Mikael|Johan|Karl|Nils|Olof|Lennart|Gustav|Oskar|Hugo|Axel|"
        "Magnus|Björn|Göran|Sven|Åke|Håkan",
        surnames="Andersson|Johansson|Karlsson|Nilsson|Eriksson|Larsson|Olsson|Persson|Svensson|"
        "Gustafsson|Pettersson|Jonsson|Jansson|Hansson|Bengtsson|Jönsson|Lindberg|Jakobsson|"
        "Magnusson|Lindström|Olofsson|Lindqvist|Lindgren|Berg|Axelsson|Bergström|Lundberg|Lind",
        streets="Storgatan|Kyrkogatan|Skolvägen|Drottninggatan|Järnvägsgatan|Ringvägen|Björkvägen|"
        "Parkgatan|Södra vägen|Strandvägen|Granvägen|Torget",
        towns="Uppsala|Lund|Umeå|Gävle|Borås|Växjö|Kalmar|Falun|Luleå|Visby|Örebro",
        jobs="lärare|ingenjör|sjuksköterska|pensionär|student|snickare|bonde|säljare",
        street="{} {}", postcode="### ##", phone="07#-### ## ##", number=_personnummer,
        dates=("%Y-%m-%d", "%y%m%d", "%d/%m/%Y"), decimal=",", thousands="",
        sexes=("K", "k", "kvinna", "M", "m", "man"), marital="ogift|gift|skild|änka",
        schools="ingen|grundskola|gymnasium|högskola", missing=("okänd", "uppgift saknas", "-"),
        headers={"person": "lopnr", "given": "fornamn", "surname": "efternamn", "name": "namn",
                 "birth": "fodelsedatum", "birth_day": "fodd_dag", "birth_month": "fodd_manad",
                 "birth_year": "fodd_ar", "age": "alder", "sex": "kon", "marital": "civilstand",
                 "school": "utbildning", "job": "yrke", "postcode": "postnr", "town": "ort",
                 "street": "gatuadress", "number": "personnummer", "phone": "telefon",
                 "mail": "epost", "record": "rad", "visit": "inskrivning", "diagnosis": "diagnos",
                 "drug": "lakemedel", "lab": "provsvar", "cost": "kostnad", "weight": "vikt",
                 "smoker": "rokare", "note": "anteckning"},
    ),
}  # fmt: skip
