"""Persons who are easily taken for each other: twins, and juniors named after a senior."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from sfumato.examples.people import DAYS_PER_YEAR, People
from sfumato.examples.words import Words

RELATIONS = ("", "twin", "senior", "junior")
_TWIN, _SENIOR, _JUNIOR = 1, 2, 3
TWIN_DAYS = 90
"""Persons born so many days apart can be made twins; the later one gets the other's birthday."""
GENERATION = (20, 40)
"""Years between a senior and a junior."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Identities:
    """Who the persons are, as their documents say; one entry per person in every field.

    Attributes
    ----------
    given, surname, phone
        Texts.
    sex
        0 female, 1 male.
    birth
        Day of birth, counted from the first day of the window.
    homes
        Index of the ZIP before and after the move, shape (2, persons).
    move
        Day of the move.
    relation
        Index of `RELATIONS`.
    """

    given: Words
    surname: Words
    phone: Words
    sex: npt.NDArray[np.int8]
    birth: npt.NDArray[np.int32]
    homes: npt.NDArray[np.int16]
    move: npt.NDArray[np.int16]
    relation: npt.NDArray[np.int8]


def identities(
    people: People, twins: float, juniors: float, rng: np.random.Generator
) -> Identities:
    """The persons' identities, some of them made twins or seniors and juniors.

    Parameters
    ----------
    people
        All persons.
    twins
        Share of persons who are one of two twins.
    juniors
        Share of persons who are a senior or the junior.
    rng
        Source of randomness.
    """
    parts = pc.split_pattern(people.name, " ", max_splits=1)
    plain = Identities(
        given=Words.of(pc.list_element(parts, 0)),
        surname=Words.of(pc.list_element(parts, 1)),
        phone=Words.of(people.phone),
        sex=people.sex,
        birth=people.birth,
        homes=people.homes,
        move=people.move,
        relation=np.zeros(len(people.sex), np.int8),
    )
    return _with_juniors(_with_twins(plain, twins, rng), juniors, rng)


def _with_twins(who: Identities, share: float, rng: np.random.Generator) -> Identities:
    """Neighbours in the order of birth take one surname, birthday, address and telephone."""
    order = np.argsort(who.birth, kind="stable")
    first, second = order[0 : len(order) - 1 : 2], order[1::2]
    fit = (who.birth[second] - who.birth[first] <= TWIN_DAYS) & (
        who.given.codes[first] != who.given.codes[second]
    )
    first, second = _some(first[fit], second[fit], round(share * len(order) / 2), rng)
    birth = who.birth.copy()
    birth[second] = birth[first]
    return _at_one_address(
        replace(
            who,
            surname=who.surname.copied(second, first),
            birth=birth,
            relation=_marked(who.relation, (first, _TWIN), (second, _TWIN)),
        ),
        first,
        second,
    )


def _with_juniors(who: Identities, share: float, rng: np.random.Generator) -> Identities:
    """Persons take the full name, address and telephone of one a generation older."""
    wanted = round(share * len(who.sex) / 2)
    free = rng.permutation(np.flatnonzero(who.relation == 0))[: 4 * wanted]
    seniors, juniors = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for sex in range(2):
        one_sex = free[who.sex[free] == sex]
        older, younger = np.array_split(one_sex[np.argsort(who.birth[one_sex], kind="stable")], 2)
        earliest, latest = (
            np.searchsorted(who.birth[older], who.birth[younger] - years * DAYS_PER_YEAR)
            for years in reversed(GENERATION)
        )
        found = earliest < latest
        chosen = rng.integers(earliest[found], latest[found])
        places, who_takes = np.unique(chosen, return_index=True)
        seniors.append(older[places])
        juniors.append(younger[found][who_takes])
    first, second = _some(np.concatenate(seniors), np.concatenate(juniors), wanted, rng)
    return _at_one_address(
        replace(
            who,
            given=who.given.copied(second, first),
            surname=who.surname.copied(second, first),
            relation=_marked(who.relation, (first, _SENIOR), (second, _JUNIOR)),
        ),
        first,
        second,
    )


def _some(first: Ints, second: Ints, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """At most ``count`` of the pairs."""
    chosen = rng.permutation(len(first))[:count]
    return first[chosen], second[chosen]


def _at_one_address(who: Identities, first: Ints, second: Ints) -> Identities:
    """The second of each pair lives, moves and is called where the first is."""
    homes, move = who.homes.copy(), who.move.copy()
    homes[:, second], move[second] = homes[:, first], move[first]
    return replace(who, homes=homes, move=move, phone=who.phone.copied(second, first))


def _marked(relation: npt.NDArray[np.int8], *marks: tuple[Ints, int]) -> npt.NDArray[np.int8]:
    result = relation.copy()
    for persons, mark in marks:
        result[persons] = mark
    return result
