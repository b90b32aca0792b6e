"""What intruders find, person by person and pair by pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from sfumato.risk.shown_file import BANDS
from sfumato.table.table import MISSING


class Record(NamedTuple):
    """A record as it is released; cells by column, dates as days; the stay that it stands under."""

    person: int
    pseudonym: int
    class_of: int
    cells: dict[str, int]
    table: int = 0
    stay: int = MISSING


Unit = list[Record]
Fits = Callable[[Record, Record, Record, Record], bool]
"""Whether two known records may be two others; of one alone nothing is known but that it is one."""


def units(records: Sequence[Record]) -> list[Unit]:
    """The records of each pseudonym in its class."""
    found: dict[tuple[int, int], Unit] = defaultdict(list)
    for each in records:
        found[each.class_of, each.pseudonym].append(each)
    return list(found.values())


def crowd(unit: Unit, bands: bool) -> tuple[int, ...]:
    """The class of a unit, and the bands of its numbers of records by table."""
    many = [sum(each.table == table for each in unit) for table in (0, 1)]
    return unit[0].class_of, *(sum(each <= own for each in BANDS) for own in many if bands)


def found(records: Sequence[Record], *, bands: bool) -> tuple[float, float]:
    """Mean over people, and the largest, of the chance to be found by class (and band)."""
    every, best = units(records), defaultdict(float)
    for unit in every:
        alike = [each for each in every if crowd(each, bands) == crowd(unit, bands)]
        own = sum(each[0].person == unit[0].person for each in alike)
        best[unit[0].person] = max(best[unit[0].person], own / len(alike))
    return sum(best.values()) / len(best), max(best.values())


def by_two(
    records: Sequence[Record], columns: Sequence[str], fits: Fits | None = None
) -> dict[int, float]:
    """The chance of each person to be found by any two records, by the best of the units.

    A record of which nothing is shown tells nothing. Records of a table that never has the columns
    are not known; two of one stay are found in one stay.
    """
    every, best = units(records), defaultdict(float)
    several = len({each.person for each in records}) < len(records)
    tables = {each.table for each in records if any(each.cells[n] != MISSING for n in columns)}

    def telling(unit: Unit) -> Unit:
        return [each for each in unit if any(each.cells[name] != MISSING for name in columns)]

    def value(record: Record) -> tuple[int, ...]:
        return tuple(record.cells[name] for name in columns)

    def shows(unit: Unit, known: Unit) -> bool:
        own = telling(unit)
        if fits is not None and len(known) < 2:
            return len(own) >= len(known)
        if fits is None:
            stays = {each.stay for each in known}
            tied = len(known) == 2 and len(stays) == 1 and MISSING not in stays
            wanted = Counter(map(value, known))
            groups = [
                [r for r in own if r.stay == stay] for stay in {r.stay for r in own} - {MISSING}
            ]
            return any(
                all(Counter(map(value, group))[each] >= many for each, many in wanted.items())
                for group in (groups if tied else [own])
            )
        pairs = ((one, other) for one in own for other in own if one is not other)
        return any(fits(*known, one, other) for one, other in pairs)

    for unit in every:
        alike = [each for each in every if crowd(each, several) == crowd(unit, several)]
        chances = []
        mine = [each for each in unit if each.table in tables]
        for known in combinations(mine, min(2, len(mine))):
            candidates = [each for each in alike if shows(each, telling([*known]))]
            own = sum(each[0].person == unit[0].person for each in candidates)
            chances.append(own / len(candidates))
        person = unit[0].person
        best[person] = max(best[person], sum(chances) / len(chances))
    return dict(best)


def learned(records: Sequence[Record], column: str, *, bands: bool) -> tuple[float, float]:
    """Share of people guessed rightly by their crowd, and of whom a rarer value is certain.

    Of several tables people without a row of the column's are left out.
    """
    tables = {each.table for each in records if each.cells[column] != MISSING}
    every = [unit for unit in units(records) if any(each.table in tables for each in unit)]
    if not every:
        return 0.0, 0.0
    values = [{each.cells[column] for each in unit} - {MISSING} for unit in every]
    often = Counter(each for own in values for each in own)
    commonest = min(often, key=lambda each: (-often[each], each), default=None)
    right, certain = defaultdict(list), defaultdict(bool)
    for unit, own in zip(every, values, strict=True):
        alike = [
            mine
            for each, mine in zip(every, values, strict=True)
            if crowd(each, bands) == crowd(unit, bands)
        ]
        votes = Counter(each for mine in alike for each in mine)
        guess = max(votes, key=lambda each: (votes[each], each), default=None)
        right[unit[0].person].append(guess in own)
        if any(many == len(alike) and each != commonest for each, many in votes.items()):
            certain[unit[0].person] = True
    people = len(right)
    return sum(sum(each) / len(each) for each in right.values()) / people, len(certain) / people
