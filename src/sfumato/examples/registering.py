"""What a clinic writes down of a person at registration, with the errors of a counter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.examples.choice import WeightedChoice, zipf
from sfumato.examples.mistakes import misread_dates, misspelt, mistyped, swapped_dates
from sfumato.examples.names import FAMILY_NAMES, FEMALE
from sfumato.examples.nicknames import NICKNAMES
from sfumato.examples.people import DAYS_PER_YEAR
from sfumato.examples.places import ZIP_WEIGHTS, ZIPS
from sfumato.examples.relatives import Identities
from sfumato.examples.words import Words

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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
    nickname
        A short form, of the given names that have one.
    changed_surname
        Another surname, of women from 18; a quarter of them both names with a hyphen.
    swapped_names
        Given name and surname exchanged.
    swapped_date
        Day and month of birth exchanged, of the dates that stay dates and become others.
    misread_date
        One digit of the date of birth another one; a valid date still.
    moved
        The ZIP of another home.
    changed_phone
        Another telephone.
    wrong_sex
        The other sex.
    missing_given_name, missing_date, missing_zip, missing_phone
        Nothing written.
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
class Written:
    """What is written down; one entry per registration in every field.

    Attributes
    ----------
    given, surname, zip, phone
        Texts.
    sex
        0 female, 1 male.
    birth
        Days since 1970-01-01.
    birth_missing
        Whether no date of birth is written.
    errors
        Per error, whether the registration has it, by name of the rate in the order of
        `ErrorRates`; only those that change what is written.
    """

    given: Words
    surname: Words
    zip: Words
    phone: Words
    sex: npt.NDArray[np.int8]
    birth: Ints
    birth_missing: Bools
    errors: dict[str, Bools]


def written(
    who: Identities,
    person: Ints,
    day: Ints,
    start: int,
    rates: ErrorRates,
    rng: np.random.Generator,
) -> Written:
    """Write down persons at their registrations.

    Parameters
    ----------
    who
        All persons.
    person, day
        Whom each registration is of, and its day counted from the first of the window.
    start
        The first day of the window, in days since 1970-01-01.
    rates
        How often which error comes.
    rng
        Source of randomness.
    """
    counter = _Counter(len(person), rates, rng)
    age = (day - who.birth[person]) / DAYS_PER_YEAR
    given, surname = _names(counter, who, person, age)
    home = who.homes[(day >= who.move[person]).astype(np.int8), person]
    birth, birth_missing = _dates(counter, who.birth[person].astype(np.int64) + start, day + start)
    sex = who.sex[person].copy()
    sex[counter.rows("wrong_sex")] ^= 1
    return Written(
        given=given,
        surname=surname,
        zip=_zips(counter, Words(list(ZIPS), home.astype(np.int64))),
        phone=_phones(counter, who.phone.take(person), len(person)),
        sex=sex,
        birth=birth,
        birth_missing=birth_missing,
        errors={name: counter.errors[name] for name in vars(rates) if name in counter.errors},
    )


class _Counter:
    """Draws who errs, and remembers it."""

    def __init__(self, count: int, rates: ErrorRates, rng: np.random.Generator) -> None:
        self.count, self.rates, self.rng = count, rates, rng
        self.errors: dict[str, Bools] = {}

    def rows(self, error: str, among: Bools | None = None) -> Ints:
        """The registrations with an error, drawn among those that can have it."""
        hit = self.rng.random(self.count, dtype=np.float32) < getattr(self.rates, error)
        self.errors[error] = hit if among is None else hit & among
        return np.flatnonzero(self.errors[error])


def _names(
    counter: _Counter, who: Identities, person: Ints, age: npt.NDArray[np.float64]
) -> tuple[Words, Words]:
    rng = counter.rng
    given, surname = who.given.take(person), who.surname.take(person)
    rows = counter.rows("nickname", given.marks(NICKNAMES.__contains__))
    which = rng.random(len(rows)).tolist()
    short = [NICKNAMES[name] for name in given.at(rows)]
    given = given.changed(
        rows, [names[int(each * len(names))] for names, each in zip(short, which, strict=True)]
    )
    other = _other_surnames(who, rng).take(person)
    can = (who.sex[person] == FEMALE) & (age >= 18) & surname.differs(other)
    rows = counter.rows("changed_surname", can)
    both = (rng.random(len(rows)) < 0.25).tolist()
    surname = surname.changed(
        rows,
        [
            f"{own}-{new}" if hyphen else new
            for own, new, hyphen in zip(surname.at(rows), other.at(rows), both, strict=True)
        ],
    )
    rows = counter.rows("missing_given_name")
    given = given.without(rows)
    rows = counter.rows("typo_given_name", given.codes >= 0)
    given = given.changed(rows, misspelt(given.at(rows), rng))
    rows = counter.rows("typo_surname")
    surname = surname.changed(rows, misspelt(surname.at(rows), rng))
    rows = counter.rows("swapped_names", given.differs(surname))
    return given.swapped(surname, rows)


def _other_surnames(who: Identities, rng: np.random.Generator) -> Words:
    """A surname for each person that is hers at other times, the same at every registration."""
    choice = WeightedChoice.of(zipf(len(FAMILY_NAMES), shift=15.0))
    drawn = choice.draw(np.zeros(len(who.sex), np.int8), rng)
    return Words(list(FAMILY_NAMES), drawn.astype(np.int64))


def _dates(counter: _Counter, birth: Ints, day: Ints) -> tuple[Ints, Bools]:
    result = birth.copy()
    swapped = swapped_dates(birth)
    counter.rows("missing_date")
    there = ~counter.errors["missing_date"]
    rows = counter.rows("swapped_date", there & (swapped != birth) & (swapped <= day))
    result[rows] = swapped[rows]
    rows = counter.rows("misread_date", there & ~counter.errors["swapped_date"])
    result[rows] = misread_dates(birth[rows], day[rows], counter.rng)
    return result, ~there


def _zips(counter: _Counter, zips: Words) -> Words:
    choice = WeightedChoice.of(ZIP_WEIGHTS)
    other = choice.draw(np.zeros(len(zips.codes), np.int8), counter.rng).astype(np.int64)
    rows = counter.rows("missing_zip")
    zips = zips.without(rows)
    rows = counter.rows("moved", (zips.codes >= 0) & (zips.codes != other))
    zips = zips.recoded(rows, other[rows])
    rows = counter.rows("typo_zip", zips.codes >= 0)
    return zips.changed(rows, mistyped(zips.at(rows), 5, counter.rng))


def _phones(counter: _Counter, phones: Words, count: int) -> Words:
    rng = counter.rng
    rows = counter.rows("missing_phone")
    phones = phones.without(rows)
    other = rng.integers(0, len(phones.texts), count)
    rows = counter.rows("changed_phone", (phones.codes >= 0) & (phones.codes != other))
    phones = phones.recoded(rows, other[rows])
    rows = counter.rows("typo_phone", phones.codes >= 0)
    return phones.changed(rows, mistyped(phones.at(rows), 2, rng))
