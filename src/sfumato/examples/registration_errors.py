"""What a clinic writes down of a person at registration, with the errors of a draws."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints, Levels
from sfumato.examples import demographics
from sfumato.examples.clinics import DAYS_PER_YEAR
from sfumato.examples.identities import Identities, TextColumn

OPERATIONS = ("substitute", "delete", "insert", "transpose")
OPERATION_SHARES = (0.40, 0.25, 0.15, 0.20)
"""How often a typo in a word is each of the operations."""
NEARBY_SHARE = 0.7
"""Share of the substituted or inserted letters that lie beside the right one on the keyboard."""

_UNITS = np.array([1, 10, 100, 1_000, 10_000, 100_000])
"""Of the digits of a date as one number, YYYYMMDD, that can be misread."""
# Dates without another one that is valid must end the draws.
_TRIES = 300
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_DIGITS = "1234567890"


def _keyboard() -> dict[str, str]:
    """Neighbours of each key: beside it in its row, and the two below and above."""
    neighbours: dict[str, set[str]] = {key: set() for key in _LETTERS + _DIGITS}
    pairs = [(a, b) for row in (*_ROWS, _DIGITS) for a, b in pairwise(row)]
    for row, below in pairwise(_ROWS):
        pairs += [*zip(row, below, strict=False), *zip(row[1:], below, strict=False)]
    for one, other in pairs:
        neighbours[one].add(other)
        neighbours[other].add(one)
    return {key: "".join(sorted(near)) for key, near in neighbours.items()}


NEIGHBOURS = _keyboard()
"""The keys beside each key of a keyboard, by key: letters beside letters, digits beside digits."""


def misspelt(words: list[str], rng: np.random.Generator) -> list[str]:
    """Each word, of two characters or more, with one typo; none is left as it was."""
    kinds = rng.choice(len(OPERATIONS), len(words), p=OPERATION_SHARES).tolist()
    places, letters, near = (rng.random(len(words)).tolist() for _ in range(3))
    return [
        _misspelt(word, OPERATIONS[kind], place, letter, nearby < NEARBY_SHARE)
        for word, kind, place, letter, nearby in zip(
            words, kinds, places, letters, near, strict=True
        )
    ]


def _misspelt(word: str, operation: str, place: float, letter: float, nearby: bool) -> str:
    text = word.lower()
    at = int(place * len(text))
    if operation == "transpose":
        swapped = _transposed(text, at)
        if swapped != text:
            return swapped.title()
        # Equal letters do not change by being swapped.
        operation = "substitute"
    if operation == "delete" and len(text) > 2:
        return (text[:at] + text[at + 1 :]).title()
    keys = NEIGHBOURS.get(text[at], "") if nearby else ""
    keys = (keys or _LETTERS).replace(text[at], "")
    key = keys[int(letter * len(keys))]
    end = at if operation == "insert" else at + 1
    return (text[:at] + key + text[end:]).title()


def _transposed(text: str, at: int) -> str:
    at = min(at, len(text) - 2)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def mistyped(numbers: list[str], digits: int, rng: np.random.Generator) -> list[str]:
    """Each text with one slip in its last digits: half of them transpose two, else a neighbour.

    Parameters
    ----------
    numbers
        Texts that end in digits, such as a ZIP or a telephone number.
    digits
        How many digits at the end can be hit, at least two.
    """
    swaps = (rng.random(len(numbers)) < 0.5).tolist()
    places, keys = (rng.random(len(numbers)).tolist() for _ in range(2))
    return [
        number[:-digits] + _mistyped(number[-digits:], swap, place, key)
        for number, swap, place, key in zip(numbers, swaps, places, keys, strict=True)
    ]


def _mistyped(digits: str, swap: bool, place: float, key: float) -> str:
    at = int(place * len(digits))
    swapped = _transposed(digits, at)
    if swap and swapped != digits:
        return swapped
    near = NEIGHBOURS[digits[at]]
    return digits[:at] + near[int(key * len(near))] + digits[at + 1 :]


def swapped_dates(days: Ints) -> Ints:
    """Each date, in days since 1970-01-01, with day and month exchanged where that can be."""
    year, month, day = _parts(days)
    possible = day <= 12
    return np.where(possible, _days(year, day, month), days)


def misread_dates(days: Ints, last: Ints, rng: np.random.Generator) -> Ints:
    """Each date with one of its digits replaced, the century's apart; valid and not late.

    A date to which no such other date exists is left as it was.

    Parameters
    ----------
    days
        Days since 1970-01-01.
    last
        Last day that each result may be, not before ``days``.
    """
    result = days.copy()
    todo = np.arange(len(days))
    year, month, day = _parts(days)
    number = year * 10_000 + month * 100 + day
    for _ in range(_TRIES):
        unit = _UNITS[rng.integers(0, len(_UNITS), len(todo))]
        own = number[todo]
        new = own + (rng.integers(0, 10, len(todo)) - own // unit % 10) * unit
        found = _days(new // 10_000, new // 100 % 100, new % 100)
        # A date that does not exist comes back as another one.
        again = _parts(found)
        valid = again[0] * 10_000 + again[1] * 100 + again[2] == new
        valid &= (found <= last[todo]) & (new != own)
        result[todo[valid]] = found[valid]
        todo = todo[~valid]
        if not len(todo):
            break
    return result


def _parts(days: Ints) -> tuple[Ints, ...]:
    """Year, month and day of the month."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    count = months.astype(np.int64)
    day = (dates - months.astype("datetime64[D]")).astype(np.int64) + 1
    return 1970 + count // 12, count % 12 + 1, day


def _days(year: Ints, month: Ints, day: Ints) -> Ints:
    """Days since 1970-01-01; months and days that do not exist run on into later ones."""
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    return np.asarray(months.astype("datetime64[D]").astype(np.int64) + day - 1, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class ErrorRates:
    """How often registrations err; every error comes independently of the others.

    Attributes
    ----------
    twins
        Share of persons who are one of two twins: same surname, date of birth and address.
    juniors
        Share of persons who are a senior or a junior: same full name and address, born 20 to
        40 years apart.
    registered_twice
        Share, of the persons with at least two visits to a clinic, registered there twice.
    typo_given_name, typo_surname, typo_zip, typo_phone
        One slip of the hand: a letter substituted, left out or put in, or two transposed; in
        numbers a digit substituted or two transposed.
    changed_surname
        Another surname, of women from 18; a quarter of them both names with a hyphen.
    swapped_date
        Day and month of birth exchanged, of the dates that stay dates and become others.
    misread_date
        One digit of the date of birth another one; a valid date still.
    """

    twins: float = 0.02
    juniors: float = 0.01
    registered_twice: float = 0.03
    typo_given_name: float = 0.03
    typo_surname: float = 0.04
    typo_zip: float = 0.01
    typo_phone: float = 0.02
    nickname: float = 0.08
    changed_surname: float = 0.04
    swapped_names: float = 0.01
    swapped_date: float = 0.01
    misread_date: float = 0.02
    moved: float = 0.05
    changed_phone: float = 0.08
    wrong_sex: float = 0.003
    missing_given_name: float = 0.005
    missing_date: float = 0.01
    missing_zip: float = 0.01
    missing_phone: float = 0.10


@dataclass(frozen=True, eq=False)
class Entries:
    """What is written down; one entry per registration in every field.

    Attributes
    ----------
    sex
        0 female, 1 male.
    birth
        Days since 1970-01-01.
    errors
        Per error, whether the registration has it, by name of the rate in the order of
        `ErrorRates`; only those that change what is written.
    """

    given: TextColumn
    surname: TextColumn
    zip: TextColumn
    phone: TextColumn
    sex: Levels
    birth: Ints
    birth_missing: Bools
    errors: dict[str, Bools]


def register(
    who: Identities,
    person: Ints,
    day: Ints,
    start: int,
    rates: ErrorRates,
    rng: np.random.Generator,
) -> Entries:
    """Write down persons at their registrations.

    Parameters
    ----------
    person, day
        Whom each registration is of, and its day counted from the first of the window.
    start
        The first day of the window, in days since 1970-01-01.
    """
    draws = _ErrorDraws(len(person), rates, rng)
    age = (day - who.birth[person]) / DAYS_PER_YEAR
    given, surname = _names(draws, who, person, age)
    birth, birth_missing = _dates(draws, who.birth[person].astype(np.int64) + start, day + start)
    sex = who.sex[person].copy()
    sex[draws.rows("wrong_sex")] ^= 1
    return Entries(
        given=given,
        surname=surname,
        zip=_zips(
            draws, TextColumn(list(demographics.ZIPS), who.home_on(day, person).astype(np.int64))
        ),
        phone=_phones(draws, who.phone.take(person), len(person)),
        sex=sex,
        birth=birth,
        birth_missing=birth_missing,
        errors={name: draws.errors[name] for name in vars(rates) if name in draws.errors},
    )


class _ErrorDraws:
    """Draws which registrations err, and keeps which did."""

    def __init__(self, count: int, rates: ErrorRates, rng: np.random.Generator) -> None:
        self.count, self.rates, self.rng = count, rates, rng
        self.errors: dict[str, Bools] = {}

    def rows(self, error: str, among: Bools | None = None) -> Ints:
        """The registrations with an error, drawn among those that can have it."""
        # Drawn for all: the rate of one error leaves the draws of the others as they are.
        hit = self.rng.random(self.count, dtype=np.float32) < getattr(self.rates, error)
        self.errors[error] = hit if among is None else hit & among
        return np.flatnonzero(self.errors[error])


def _names(
    draws: _ErrorDraws, who: Identities, person: Ints, age: Floats
) -> tuple[TextColumn, TextColumn]:
    rng = draws.rng
    given, surname = who.given.take(person), who.surname.take(person)
    rows = draws.rows("nickname", given.marks(demographics.NICKNAMES.__contains__))
    which = rng.random(len(rows)).tolist()
    short = [demographics.NICKNAMES[name] for name in given.at(rows)]
    given = given.changed(
        rows, [names[int(each * len(names))] for names, each in zip(short, which, strict=True)]
    )
    other = _other_surnames(who, rng).take(person)
    can = (who.sex[person] == demographics.FEMALE) & (age >= 18) & surname.differs(other)
    rows = draws.rows("changed_surname", can)
    both = (rng.random(len(rows)) < 0.25).tolist()
    surname = surname.changed(
        rows,
        [
            f"{own}-{new}" if hyphen else new
            for own, new, hyphen in zip(surname.at(rows), other.at(rows), both, strict=True)
        ],
    )
    rows = draws.rows("missing_given_name")
    given = given.without(rows)
    # What is missing has no typo.
    rows = draws.rows("typo_given_name", given.codes >= 0)
    given = given.changed(rows, misspelt(given.at(rows), rng))
    rows = draws.rows("typo_surname")
    surname = surname.changed(rows, misspelt(surname.at(rows), rng))
    rows = draws.rows("swapped_names", given.differs(surname))
    return given.swapped(surname, rows)


def _other_surnames(who: Identities, rng: np.random.Generator) -> TextColumn:
    """A surname for each person that is hers at other times, the same at every registration."""
    choice = demographics.WeightedChoice.of(
        demographics.zipf(len(demographics.FAMILY_NAMES), shift=15.0)
    )
    drawn = choice.sample(len(who.sex), rng)
    return TextColumn(list(demographics.FAMILY_NAMES), drawn.astype(np.int64))


def _dates(draws: _ErrorDraws, birth: Ints, day: Ints) -> tuple[Ints, Bools]:
    result = birth.copy()
    swapped = swapped_dates(birth)
    draws.rows("missing_date")
    there = ~draws.errors["missing_date"]
    # Nobody is registered before being born.
    rows = draws.rows("swapped_date", there & (swapped != birth) & (swapped <= day))
    result[rows] = swapped[rows]
    rows = draws.rows("misread_date", there & ~draws.errors["swapped_date"])
    result[rows] = misread_dates(birth[rows], day[rows], draws.rng)
    return result, ~there


def _zips(draws: _ErrorDraws, zips: TextColumn) -> TextColumn:
    choice = demographics.WeightedChoice.of(demographics.ZIP_WEIGHTS)
    other = choice.sample(len(zips.codes), draws.rng).astype(np.int64)
    rows = draws.rows("missing_zip")
    zips = zips.without(rows)
    rows = draws.rows("moved", (zips.codes >= 0) & (zips.codes != other))
    zips = zips.recoded(rows, other[rows])
    rows = draws.rows("typo_zip", zips.codes >= 0)
    return zips.changed(rows, mistyped(zips.at(rows), 5, draws.rng))


def _phones(draws: _ErrorDraws, phones: TextColumn, count: int) -> TextColumn:
    rng = draws.rng
    rows = draws.rows("missing_phone")
    phones = phones.without(rows)
    other = rng.integers(0, len(phones.texts), count)
    rows = draws.rows("changed_phone", (phones.codes >= 0) & (phones.codes != other))
    phones = phones.recoded(rows, other[rows])
    rows = draws.rows("typo_phone", phones.codes >= 0)
    return phones.changed(rows, mistyped(phones.at(rows), 2, rng))
