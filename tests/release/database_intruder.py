"""A foreign program: reads the files of a released database, and looks for people in them.

It shares no code with what makes a release. It knows everybody's quasi-identifiers, in which
tables and with which codes two of a person's rows are, and whether they are of one stay.
"""

from __future__ import annotations

import csv
import itertools
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

Row = dict[str, str]


def read(folder: Path) -> dict[str, list[Row]]:
    """The tables of a folder."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as file:
            found[path.stem] = list(csv.DictReader(file))
    return found


def fits(value: str, cell: str) -> bool:
    """Whether a released cell may stand for a value: itself, a range, a set, anything."""
    if cell in ("*", value):
        return True
    if cell.startswith("{"):
        return value in [each.strip() for each in cell[1:-1].split(",")]
    low, sign, high = cell.partition("-")
    return bool(sign and low.isdigit() and high.isdigit() and int(low) <= int(value) <= int(high))


def histories(
    tables: dict[str, list[Row]], names: dict[str, str], codes: dict[str, str]
) -> dict[str, list[tuple[str, str, str]]]:
    """By person, each row as its table, its code and its stay.

    Parameters
    ----------
    names
        What the tables of people and of stays, and their keys, are called.
    codes
        By table, the column of codes.
    """
    person, stay = names["person"], names["stay"]
    owner = {row[stay]: row[person] for row in tables[names["stays"]]}
    found = defaultdict(list)
    for row in tables[names["people"]]:
        found[row[person]] = []
    for table, column in codes.items():
        for row in tables[table]:
            whose = row.get(person) or owner[row[stay]]
            if row[column] or table == names["stays"]:
                found[whose].append((table, row[column] or "*", row.get(stay, "")))
    return dict(found)


def broken(tables: dict[str, list[Row]], references: dict[tuple[str, str], str], keys) -> int:
    """Number of cells that refer to a record that is not there."""
    there = {table: {row[key] for row in tables[table]} for table, key in keys.items()}
    return sum(
        bool(row[column]) and row[column] not in there[to]
        for (table, column), to in references.items()
        for row in tables[table]
    )


def found_by_two(
    before: dict[str, list[Row]],
    after: dict[str, list[Row]],
    names: dict[str, str],
    codes: dict[str, str],
    quasi: list[str],
    *,
    seed: int,
    people: int = 150,
) -> float:
    """Mean over people of the chance to be found by two of their events, drawn at random.

    A reader knows how a class writes a code: as it is where any row of the class shows it, else
    as ``*``; and who has two rows that fit, of one stay where the two are known to be of one.
    """
    rng = random.Random(seed)
    told, shown = histories(before, names, codes), histories(after, names, codes)
    key = names["person"]
    classes: dict[Any, list[str]] = defaultdict(list)
    for row in after[names["people"]]:
        classes[tuple(row[each] for each in quasi)].append(row[key])
    visible = {
        cells: {(table, code) for person in members for table, code, _ in shown[person]}
        for cells, members in classes.items()
    }
    targets = rng.sample(before[names["people"]], min(people, len(before[names["people"]])))
    chances = []
    for target in targets:
        own = told[target[key]]
        cells_that_fit = [
            cells
            for cells in classes
            if all(fits(target[q], cell) for q, cell in zip(quasi, cells, strict=True))
        ]
        different = {(table, code) for table, code, _ in own}
        if len(different) < 2:
            known, of_one_stay = [*different], False
        else:
            known = rng.sample(sorted(different), 2)
            stays = [{s for t, c, s in own if (t, c) == each and s} for each in known]
            of_one_stay = bool(stays[0] & stays[1])
        candidates = 0
        for cells in cells_that_fit:
            written = [each if each in visible[cells] else (each[0], "*") for each in known]
            candidates += sum(
                _has(shown[person], written, of_one_stay) for person in classes[cells]
            )
        chances.append(1 / max(candidates, 1))
    return sum(chances) / len(chances)


def _has(rows: list[tuple[str, str, str]], known: list[tuple[str, str]], of_one_stay: bool) -> bool:
    """Whether a person has a row of its own for each known event."""
    for chosen in itertools.permutations(range(len(rows)), len(known)):
        picked = [rows[place] for place in chosen]
        if all((t, c) == each for (t, c, _), each in zip(picked, known, strict=True)) and (
            not of_one_stay or (len({s for _, _, s in picked}) == 1 and picked[0][2])
        ):
            return True
    return False


def remeasured_tables(
    tables: dict[str, list[Row]],
) -> tuple[dict[str, float], dict[str, int], dict[str, float]]:
    """h, l and t of the codes of each event table, by classes of the table of people.

    h is the largest share of people who share a value, of those of a class who have rows of the
    table; l the fewest values of a class in which anybody has; t the largest distance of the
    values of a class, over rows, from those of the table.
    """
    classes = {
        row["patient"]: (row["birth_year"], row["sex"], row["zip"]) for row in tables["patients"]
    }
    owner = {row["admission"]: row["patient"] for row in tables["admissions"]}
    h, l, t = {}, {}, {}
    for name, column in (("diagnoses", "icd"), ("labs", "test"), ("admissions", "ward")):
        people: dict[Any, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        rows: dict[Any, list[str]] = defaultdict(list)
        for row in tables[name]:
            person = row.get("patient") or owner[row["admission"]]
            people[classes[person]][person].add(row[column])
            rows[classes[person]].append(row[column])
        every = [value for own in rows.values() for value in own]
        values = sorted({*every})
        place = f"{name}.{column}"
        h[place] = max(
            max(sum(value in own for own in there.values()) for value in values) / len(there)
            for there in people.values()
        )
        l[place] = min(len({*own}) for own in rows.values())
        t[place] = max(
            sum(abs(own.count(v) / len(own) - every.count(v) / len(every)) for v in values) / 2
            for own in rows.values()
        )
    return h, l, t
