"""Special uniques: persons who stand out by few quasi-identifiers already (SUDA)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from sfumato.core.arrays import Bools, Bytes, Codes, Ints
from sfumato.core.errors import InputError
from sfumato.core.measure import Position
from sfumato.engines.embedded.counts import group
from sfumato.risk import measure_table
from sfumato.risk.measure_table import minimal_unique_meaning, row

Bits = Bytes
Subset = tuple[int, ...]
MOST_SHOWN = 10
"""Persons of highest score whose rows are given."""


@dataclass(frozen=True, slots=True)
class SpecialUniques:
    """Minimal sample uniques: combinations of values that one person has, and no part of them.

    Elliot, Manning & Ford 2002. A unique is a combination of values of some quasi-identifiers
    that the records of one person only show; it is minimal when no part of it is one.

    Attributes
    ----------
    special_uniques
        Number of persons with a minimal unique on fewer than all quasi-identifiers.
    highest_where
        The persons of highest score, by a record each, and their scores.
    contribution
        Of the scores of all minimal uniques, the share of those that a column is part of; the
        shares add up to more than 1.
    """

    msu_size: int
    special_uniques: int
    minimal_uniques: Mapping[int, int]
    highest_suda_score: int
    highest_where: tuple[tuple[Position, int], ...]
    contribution: Mapping[str, float]

    def rows(self) -> list[measure_table.Row]:
        """The lines of a table."""
        where = self.highest_where[0][0] if self.highest_where else None
        return [
            row("special_uniques", measure_table.count(self.special_uniques)),
            *(
                measure_table.Row(
                    f"minimal_uniques_{size}",
                    measure_table.count(count),
                    minimal_unique_meaning(size),
                )
                for size, count in self.minimal_uniques.items()
            ),
            row("highest_suda_score", measure_table.count(self.highest_suda_score), where),
        ]

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "special_uniques": self.special_uniques,
            "msu_size": self.msu_size,
            "minimal_uniques": {str(size): n for size, n in self.minimal_uniques.items()},
            "highest_suda_score": self.highest_suda_score,
            "highest_where": [
                {"row": at.row, "equivalence_class": at.equivalence_class, "suda_score": score}
                for at, score in self.highest_where
            ],
            "contribution": dict(self.contribution),
        }


def special_uniques(
    columns: Mapping[str, Codes], person: Codes, class_of: Codes, msu_size: int = 3
) -> SpecialUniques:
    """Find all minimal sample uniques of up to ``msu_size`` quasi-identifiers, and score them.

    Level by level: a record that is covered by a unique on part of a combination is left out
    of the counting of that combination, and so are all records that agree with it. A minimal
    unique on k of d quasi-identifiers scores (d - k)(d - k - 1)...(d - M), M the smaller of
    ``msu_size`` and d - 1 (Elliot et al.; as in sdcMicro's suda2); a person's score is that of
    the record whose minimal uniques sum up highest. O(records) for each combination.

    Parameters
    ----------
    columns
        Codes of each quasi-identifier, from 0, -1 for missing, which is a value of its own;
        shape (records,) each.
    person
        Index of each record's person, from 0, shape (records,).
    class_of
        Class of each record, shape (records,).
    msu_size
        Most quasi-identifiers of a combination, 1 or more.
    """
    check_msu_size(msu_size)
    sizes = [int(codes.max()) + 1 for codes in columns.values()]
    rows = _distinct_rows([*columns.values(), person], [*sizes, int(person.max()) + 1])
    codes = [column[rows] for column in columns.values()]
    owner = person[rows]
    score, special = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=bool)
    number = dict.fromkeys(range(1, min(msu_size, len(codes)) + 1), 0)
    weight = np.zeros(len(codes), dtype=np.int64)
    for subset, found, count in _minimal(codes, sizes, owner, msu_size):
        worth = _worth(len(subset), len(codes), msu_size)
        score[found] += worth
        # Unique on all columns is an ordinary unique.
        special[found] |= len(subset) < len(codes)
        number[len(subset)] += count
        weight[list(subset)] += worth * count
    total = sum(_worth(size, len(codes), msu_size) * count for size, count in number.items())
    highest = _highest(score, owner)
    return SpecialUniques(
        msu_size=msu_size,
        special_uniques=len(np.unique(owner[special])),
        minimal_uniques=number,
        highest_suda_score=int(score.max()),
        highest_where=tuple(
            (Position(int(rows[at]) + 1, int(class_of[rows[at]]) + 1), int(score[at]))
            for at in highest
        ),
        contribution={
            name: float(one / total) if total else 0.0
            for name, one in zip(columns, weight.tolist(), strict=True)
        },
    )


def check_msu_size(msu_size: object) -> None:
    """Refuse a size of combinations that is no whole number above 0."""
    if isinstance(msu_size, bool) or not isinstance(msu_size, int) or msu_size < 1:
        raise InputError("parameter msu_size", "must be a whole number", accepted="1 or more")


def _distinct_rows(columns: Sequence[Codes], sizes: Sequence[int]) -> Ints:
    """The first row of each distinct combination of all columns, ascending."""
    # Records of a person that agree on everything are one,
    # or a person's repeats would cost and score twice.
    number, count = group(columns, sizes)
    first = np.empty(count, dtype=np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first


def _minimal(
    codes: Sequence[Codes], sizes: Sequence[int], owner: Codes, msu_size: int
) -> Iterator[tuple[Subset, Ints, int]]:
    """Of each combination, the rows with a minimal unique on it and how many these uniques are."""
    rows = len(owner)
    # A bit per record and subset: a level may have hundreds of subsets, over millions of records.
    covered: dict[Subset, Bits] = {(): np.packbits(np.zeros(rows, dtype=bool))}
    for size in range(1, min(msu_size, len(codes)) + 1):
        level: dict[Subset, Bits] = {}
        for subset in combinations(range(len(codes)), size):
            # Covered by a part is covered by the whole: what
            # has a smaller unique can have no minimal one here.
            parts = [covered[part] for part in combinations(subset, size - 1)]
            cover = np.bitwise_or.reduce(parts)
            left = np.flatnonzero(~np.unpackbits(cover, count=rows).astype(bool))
            if len(left):
                unique, count = _held_by_one(
                    [codes[at][left] for at in subset], [sizes[at] for at in subset], owner[left]
                )
                found = left[unique]
                marked = np.zeros(rows, dtype=bool)
                marked[found] = True
                cover = cover | np.packbits(marked)
                yield subset, found, count
            # Only the level before is needed, so that the others can be forgotten.
            level[subset] = cover
        covered = level


def _held_by_one(codes: Sequence[Codes], sizes: Sequence[int], owner: Codes) -> tuple[Bools, int]:
    """Which rows hold a combination that only one person holds, and how many of these it has."""
    number, count = group(codes, sizes)
    someone = np.empty(count, dtype=np.int32)
    someone[number] = owner
    several = np.zeros(count, dtype=bool)
    # The last writer stands for each combination; whoever differs from it shows a second person.
    several[number[owner != someone[number]]] = True
    return ~several[number], int(count - several.sum())


def _worth(size: int, columns: int, msu_size: int) -> int:
    return prod(columns - index for index in range(size, min(msu_size, columns - 1) + 1))


def _highest(score: Ints, owner: Codes) -> Ints:
    """A row of each of the persons of highest score, highest first, earlier rows first."""
    order = np.argsort(-score, kind="stable")
    # Who has no minimal unique does not stand out at all.
    order = order[score[order] > 0]
    _, first = np.unique(owner[order], return_index=True)
    return order[np.sort(first)[:MOST_SHOWN]]
