"""How many people are alone with some columns, and what another column adds: at once, by hashes.

Each value of each column gets a random word of 64 bits, and a record the sum of the words of its
values: equal sums are equal values (Zobrist, *A new hashing method*, Wisconsin TR 88, 1970). Of n
different records any two share a sum by a chance of at most n**2 / 2**65: 2.4e-9 of 300,000,
2.7e-8 of a million. A column more or less is one sum or difference a record. Signed figures do not
come from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Codes, Integers, Words
from sfumato.core.errors import InputError
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.table.dependence import codes_of
from sfumato.table.table import Table

_SPACE = 1 << 64


class Alone(NamedTuple):
    """How many people have a record with values that no other person has in any record."""

    alone: int
    people: int


class CountedColumns:
    """The columns of a file, ready to count the people who are alone with some of them.

    Codes of -1, missing values, count as a value. Without persons each record is one.
    """

    def __init__(
        self,
        columns: Mapping[str, Integers],
        person: Integers | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        draw = rng or np.random.default_rng()
        self._codes: dict[str, Codes] = {}
        self._words: dict[str, Words] = {}
        for name, codes in columns.items():
            self._codes[name] = codes.astype(np.int32, copy=False)
            # The last word is that of missing values, whose code is -1.
            count = int(codes.max(initial=-1)) + 2
            self._words[name] = draw.integers(0, _SPACE, count, dtype=np.uint64, endpoint=False)
        self._records = len(next(iter(self._codes.values()), ()))
        self._person, self._first, self._fixed = _of_people(self._codes, person)
        self._chosen: frozenset[str] = frozenset()
        self._sums: Words = np.zeros(self._records, dtype=np.uint64)

    @classmethod
    def of(cls, table: Table) -> CountedColumns:
        """Those of an encoded file, but for the person column and direct identifiers."""
        columns: dict[str, Integers] = {
            identifier.name: identifier.codes for identifier in table.quasi_identifiers
        }
        for name in table.source.column_names:
            if name != table.schema.person and name not in columns:
                columns[name] = codes_of(table.source.column(name))
        one_each = table.persons == table.records
        return cls(columns, None if one_each else table.person)

    @classmethod
    def of_arrow(cls, data: pa.Table, person: str | None = None) -> CountedColumns:
        """Those of a file whose columns have no roles.

        A record without a person is one by itself.
        """
        columns = {name: codes_of(data.column(name)) for name in data.column_names}
        if person is None:
            return cls(columns)
        people = columns.pop(person)
        nameless = np.flatnonzero(people < 0)
        people[nameless] = people.max(initial=-1) + 1 + np.arange(len(nameless))
        return cls(columns, people)

    @property
    def people(self) -> int:
        """Number of people."""
        return self._records if self._person is None else len(self._first)

    def alone(self, columns: Iterable[str], coarser: Mapping[str, Integers] | None = None) -> Alone:
        """The people who are alone with what these columns say of them.

        Coarser values are given as the number of the group of each code, from 0.
        """
        chosen = self._check(columns)
        changed = {name: groups for name, groups in (coarser or {}).items() if name in chosen}
        sums = self._of(chosen - changed.keys())
        for name, groups in changed.items():
            own = np.append(groups, -1).astype(np.int64)  # a missing value stays one
            sums = sums + self._words[name][own][self._codes[name]]
        return Alone(self._count(sums, chosen), self.people)

    def effects(self, columns: Iterable[str]) -> dict[str, int]:
        """How many more people are alone with a column than without it, of every column.

        Of a column that is among them, beside the others; of another one, beside all of them.
        """
        chosen = self._check(columns)
        now = self.alone(chosen).alone
        sums, effects = self._of(chosen), {}
        for name in self._codes:
            if name in chosen:
                fewer = self._count(sums - self._words[name][self._codes[name]], chosen - {name})
                effects[name] = now - fewer
            else:
                more = self._count(sums + self._words[name][self._codes[name]], chosen | {name})
                effects[name] = more - now
        return effects

    def _check(self, columns: Iterable[str]) -> frozenset[str]:
        chosen = frozenset(columns)
        if not chosen <= self._codes.keys():
            raise InputError(
                "parameter columns",
                "must name columns of the file",
                found="another name",
                accepted=f"{len(self._codes)} names, not that of the person",
            )
        return chosen

    def _of(self, chosen: frozenset[str]) -> Words:
        """The sum of each record, from that of the columns that were asked for last."""
        for name in self._chosen ^ chosen:
            words = self._words[name][self._codes[name]]
            # Sums wrap around 2**64, so that a difference undoes a sum exactly.
            self._sums = self._sums + words if name in chosen else self._sums - words
        self._chosen = chosen
        return self._sums

    def _count(self, sums: Words, chosen: frozenset[str]) -> int:
        """The people who have a sum for themselves."""
        if self._person is None or chosen <= self._fixed:
            # One record of each person says all: then a sum that occurs once is a person.
            own = np.sort(sums[self._first] if self._person is not None else sums)
            differs = np.ones(len(own) + 1, dtype=np.bool_)
            np.not_equal(own[1:], own[:-1], out=differs[1:-1])
            return int((differs[1:] & differs[:-1]).sum())
        group, groups = number_by_first_appearance(sums.view(np.int64), _SPACE)
        one = np.empty(groups, dtype=np.int32)
        one[group] = self._person
        shared = np.zeros(groups, dtype=np.bool_)
        shared[group[one[group] != self._person]] = True
        alone = np.zeros(self.people, dtype=np.bool_)
        alone[one[~shared]] = True
        return int(alone.sum())


def _of_people(
    columns: Mapping[str, Codes], person: Integers | None
) -> tuple[Codes | None, Integers, frozenset[str]]:
    """The person of each record, a record of each, and the columns that say one thing of each."""
    if person is None:
        return None, np.empty(0, dtype=np.int64), frozenset(columns)
    _, first, number = np.unique(person, return_index=True, return_inverse=True)
    fixed = (name for name, codes in columns.items() if (codes[first][number] == codes).all())
    return number.astype(np.int32), first, frozenset(fixed)
