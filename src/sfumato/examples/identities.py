"""Who the persons are by their documents; twins, and juniors named after a senior, among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Codes, Ints, Levels
from sfumato.examples.clinics import DAYS_PER_YEAR, People, home_on

Rows = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Texts by code: each text once, for many rows have the same.

    Attributes
    ----------
    texts
        The texts; one may come twice.
    codes
        Per row, the position of its text; -1 where it is missing.
    """

    texts: list[str]
    codes: Ints

    @classmethod
    def of(cls, column: pa.Array | pa.ChunkedArray) -> TextColumn:
        """Give a code to each text of a column without missing values."""
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        encoded = array.dictionary_encode()
        return cls(encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64))

    def take(self, rows: Rows) -> TextColumn:
        """The texts of some rows."""
        return replace(self, codes=self.codes[rows])

    def at(self, rows: Rows) -> list[str]:
        """The texts of some rows, none of them missing, as a list."""
        return [self.texts[code] for code in self.codes[rows].tolist()]

    def changed(self, rows: Rows, texts: list[str]) -> TextColumn:
        """The column with other texts in some rows."""
        changed = self.recoded(rows, len(self.texts) + np.arange(len(texts)))
        return replace(changed, texts=[*self.texts, *texts])

    def recoded(self, rows: Rows, codes: Ints | int) -> TextColumn:
        """The column with other codes in some rows."""
        own = self.codes.copy()
        own[rows] = codes
        return replace(self, codes=own)

    def copied(self, rows: Rows, sources: Rows) -> TextColumn:
        """The column with the texts of other rows in some rows."""
        return self.recoded(rows, self.codes[sources])

    def without(self, rows: Rows) -> TextColumn:
        """The column with nothing in some rows."""
        return self.recoded(rows, -1)

    def differs(self, other: TextColumn) -> Bools:
        """Of each row, whether both columns have a text and not the same."""
        unequal = pc.not_equal(self.to_arrow(), other.to_arrow())
        return np.asarray(pc.fill_null(unequal, False).to_numpy(zero_copy_only=False))

    def marks(self, holds: Callable[[str], bool]) -> Bools:
        """Of each row, whether its text is there and has a property."""
        # The last entry is that of -1, a missing text.
        known = np.array([*map(holds, self.texts), False], dtype=np.bool_)
        return known[self.codes]

    def swapped(self, other: TextColumn, rows: Rows) -> tuple[TextColumn, TextColumn]:
        """Both columns with their texts exchanged in some rows."""
        texts = [*self.texts, *other.texts]
        mine = self.codes.copy()
        theirs = np.where(other.codes < 0, -1, other.codes + len(self.texts))
        mine[rows], theirs[rows] = theirs[rows], mine[rows].copy()
        return TextColumn(texts, mine), TextColumn(texts, theirs)

    def to_arrow(self) -> pa.StringArray:
        """The column as Arrow text."""
        return pa.array(self.texts, pa.string()).take(pa.array(self.codes, mask=self.codes < 0))


RELATIONS = ("", "twin", "senior", "junior")
_TWIN, _SENIOR, _JUNIOR = 1, 2, 3
TWIN_DAYS = 90
"""Persons born so many days apart can be made twins; the later one gets the other's birthday."""
GENERATION = (20, 40)
"""Years between a senior and a junior."""


@dataclass(frozen=True, eq=False)
class Identities:
    """Who the persons are, as their documents say; one entry per person in every field.

    Attributes
    ----------
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

    given: TextColumn
    surname: TextColumn
    phone: TextColumn
    sex: Levels
    birth: Codes
    homes: npt.NDArray[np.int16]
    move: npt.NDArray[np.int16]
    relation: Levels

    def home_on(self, day: Ints, person: Ints) -> npt.NDArray[np.int16]:
        """Index of the ZIP where each person lives on a day, counted as ``birth``."""
        return home_on(day, person, self.homes, self.move)


def identities(
    people: People, twins: float, juniors: float, rng: np.random.Generator
) -> Identities:
    """The persons' identities, some of them made twins or seniors and juniors.

    Parameters
    ----------
    twins
        Share of persons who are one of two twins.
    juniors
        Share of persons who are a senior or the junior.
    """
    parts = pc.split_pattern(people.name, " ", max_splits=1)
    plain = Identities(
        given=TextColumn.of(pc.list_element(parts, 0)),
        surname=TextColumn.of(pc.list_element(parts, 1)),
        phone=TextColumn.of(people.phone),
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
    # Every second one: nobody is in two pairs.
    first, second = order[0 : len(order) - 1 : 2], order[1::2]
    # Twins with one given name could not be told apart by anybody.
    fit = (who.birth[second] - who.birth[first] <= TWIN_DAYS) & (
        who.given.codes[first] != who.given.codes[second]
    )
    first, second = _sampled_pairs(first[fit], second[fit], round(share * len(order) / 2), rng)
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
    # More than are wanted: not everybody has somebody a generation older.
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
        # A senior has one junior.
        places, takers = np.unique(chosen, return_index=True)
        seniors.append(older[places])
        juniors.append(younger[found][takers])
    first, second = _sampled_pairs(np.concatenate(seniors), np.concatenate(juniors), wanted, rng)
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


def _sampled_pairs(
    first: Ints, second: Ints, count: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """At most ``count`` of the pairs."""
    chosen = rng.permutation(len(first))[:count]
    return first[chosen], second[chosen]


def _at_one_address(who: Identities, first: Ints, second: Ints) -> Identities:
    """The second of each pair lives, moves and is called where the first is."""
    homes, move = who.homes.copy(), who.move.copy()
    homes[:, second], move[second] = homes[:, first], move[first]
    return replace(who, homes=homes, move=move, phone=who.phone.copied(second, first))


def _marked(relation: Levels, *marks: tuple[Ints, int]) -> Levels:
    result = relation.copy()
    for persons, mark in marks:
        result[persons] = mark
    return result
