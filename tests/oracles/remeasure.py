"""Measure a released file again, as an outsider would: from its cells alone, in plain Python.

Shares no code with sfumato.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path


@dataclass
class Remeasured:
    """What the cells of a file say about its classes."""

    records: int
    persons: int
    classes: int
    k: int
    pid_k: int
    g: Fraction
    max_gidr: Fraction
    avg_gidr: Fraction
    marketer: Fraction
    sample_uniques: int
    h: dict[str, Fraction]
    avg_gsar: dict[str, Fraction]
    l: dict[str, int]
    split_persons: int
    count_k: int
    exposed_persons: Fraction
    max_count_risk: Fraction
    avg_count_risk: Fraction


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with Path(path).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def remeasure(
    rows: list[dict[str, str]],
    quasi_identifiers: list[str],
    person: str | None = None,
    sensitive: tuple[str, ...] = (),
) -> Remeasured:
    """Group the rows by their released cells and count."""
    classes = defaultdict(list)
    for number, row in enumerate(rows):
        owner = row[person] if person else str(number)
        classes[tuple(row[name] for name in quasi_identifiers)].append((owner, row))
    counts = [Counter(owner for owner, _ in members) for members in classes.values()]
    sizes = [sum(count.values()) for count in counts]
    idr = [Fraction(max(count.values()), size) for count, size in zip(counts, sizes, strict=True)]
    gini = [
        1 - sum(Fraction(each, size) ** 2 for each in count.values())
        for count, size in zip(counts, sizes, strict=True)
    ]
    shares = {name: [_share(members, name) for members in classes.values()] for name in sensitive}
    homes = Counter(owner for count in counts for owner in count)
    return Remeasured(
        records=len(rows),
        persons=len(homes),
        classes=len(classes),
        k=min(sizes),
        pid_k=min(map(len, counts)),
        g=min(gini),
        max_gidr=max(idr),
        avg_gidr=sum(idr, Fraction()) / len(idr),
        marketer=Fraction(len(classes), sum(map(len, counts))),
        sample_uniques=sum(len(count) == 1 for count in counts),
        h={name: max(values) for name, values in shares.items()},
        avg_gsar={name: sum(values, Fraction()) / len(values) for name, values in shares.items()},
        l={
            name: min(len({row[name] for _, row in members} - {""}) for members in classes.values())
            for name in sensitive
        },
        split_persons=sum(number > 1 for number in homes.values()),
        **_counted([[(owner, owner) for owner, _ in members] for members in classes.values()]),
    )


def recount(
    rows: list[dict[str, str]], quasi_identifiers: list[str], pseudonym: str, owners: list[str]
) -> dict[str, int | Fraction]:
    """What pseudonyms give away to somebody who counts, by the persons who own the rows."""
    classes = defaultdict(list)
    for row, owner in zip(rows, owners, strict=True):
        classes[tuple(row[name] for name in quasi_identifiers)].append((owner, row[pseudonym]))
    return _counted(list(classes.values()))


def _counted(classes: list[list[tuple[str, str]]]) -> dict[str, int | Fraction]:
    """Of each class the owner and the pseudonym of every record."""
    sharing, risks, exposed = [], [], 0
    for members in classes:
        sizes = Counter(members)
        persons = {owner for owner, _ in sizes}
        by_size = defaultdict(list)
        for (owner, _), size in sizes.items():
            by_size[size].append(owner)
        sharing += [len(set(owners)) for owners in by_size.values()]
        for person in persons:
            mine = [owners for owners in by_size.values() if person in owners]
            risks.append(max(Fraction(owners.count(person), len(owners)) for owners in mine))
            exposed += any(set(owners) == {person} for owners in mine)
    return {
        "count_k": min(sharing),
        "exposed_persons": Fraction(exposed, len(risks)),
        "max_count_risk": max(risks),
        "avg_count_risk": sum(risks, Fraction()) / len(risks),
    }


def _share(members: list[tuple[str, dict[str, str]]], column: str) -> Fraction:
    having = defaultdict(set)
    for owner, row in members:
        if row[column]:
            having[row[column]].add(owner)
    most = max((len(owners) for owners in having.values()), default=0)
    return Fraction(most, len({owner for owner, _ in members}))
