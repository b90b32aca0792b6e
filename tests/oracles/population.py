"""Measure a released file against a register, as an intruder would: from the cells alone.

Shares no code with sfumato.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class Class:
    """One released class: f persons of the file, F of the register lie in its cells."""

    persons: int
    population: int

    @property
    def share(self) -> Fraction:
        """f/F, F being no less than f."""
        return Fraction(self.persons, max(self.persons, self.population))


def lies_in(value: str, cell: str, order: list[str] | None, *, number: bool) -> bool:
    """Whether an original value, empty for missing, lies in a released cell."""
    if cell == "*" or value == cell:
        return True
    if value == "" or cell == "":
        return False
    if cell.startswith("{"):
        return value in next(csv.reader([cell[1:-1]], skipinitialspace=True))
    if not number and order is None:
        return False
    separator = " to " if " to " in cell else "-"
    if separator not in cell[1:]:
        return number and Fraction(value) == Fraction(cell)
    low, high = cell.split(separator)
    if number:
        return Fraction(low) <= Fraction(value) <= Fraction(high)
    assert order is not None
    return order.index(low) <= order.index(value) <= order.index(high)


def count_population(
    rows: list[dict[str, str]],
    register: list[dict[str, str]],
    kinds: dict[str, str | list[str]],
    person: str | None = None,
) -> list[Class]:
    """Of every released class, the register's persons all of whose records lie in its cells.

    Parameters
    ----------
    rows, register
        The released and the register's records.
    kinds
        Per quasi-identifier "number", "category", or the order of its categories.
    person
        The column of persons in both files; without it every record is one.
    """
    classes: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for number, row in enumerate(rows):
        key = tuple(row[name] for name in kinds)
        classes[key].add(row[person] if person else str(number))
    records: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for number, row in enumerate(register):
        records[row[person] if person else str(number)].add(tuple(row[name] for name in kinds))
    everybody = Counter(frozenset(looks) for looks in records.values())
    found: dict[tuple[int, str], set[frozenset[tuple[str, ...]]]] = {}

    def inside(place: int, cell: str) -> set[frozenset[tuple[str, ...]]]:
        if (place, cell) not in found:
            kind = list(kinds.values())[place]
            order = kind if isinstance(kind, list) else None
            values = {look[place] for looks in everybody for look in looks}
            fits = {each for each in values if lies_in(each, cell, order, number=kind == "number")}
            found[place, cell] = {
                looks for looks in everybody if all(look[place] in fits for look in looks)
            }
        return found[place, cell]

    counted = []
    for cells, persons in classes.items():
        there = set.intersection(*(inside(place, cell) for place, cell in enumerate(cells)))
        counted.append(Class(len(persons), sum(everybody[looks] for looks in there)))
    return counted


def marketer_risk(classes: list[Class]) -> Fraction:
    """λ of paper 004, Theorem 1."""
    return sum((each.share for each in classes), Fraction()) / sum(each.persons for each in classes)
