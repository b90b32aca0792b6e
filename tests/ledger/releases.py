"""Releases of made-up people for the tests of the memory, and an attack that shares no code."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato.ledger.release_ledger import ReleaseLedger

ANY = sf.Limits(found=1, person=1, learned=1)
"""Under which every release is ready: what the ledger refuses here is for earlier ones."""
PROMISES = (sf.GBalance(0.93), sf.HAffiliation(0.9))


def people(persons: int = 600, seed: int = 0) -> pd.DataFrame:
    """Visits of made-up people: one to four each, with a code that changes."""
    rng = np.random.default_rng(seed)
    visits = rng.integers(1, 5, persons)
    of = np.repeat(np.arange(persons), visits)
    return pd.DataFrame(
        {
            "person": [f"P{each:05d}" for each in of],
            "birth_year": rng.integers(1930, 2005, persons)[of],
            "sex": rng.choice(["F", "M"], persons)[of],
            "income": rng.integers(10, 200, persons)[of],
            "area": rng.choice([f"A{n:02d}" for n in range(20)], persons)[of],
            "code": rng.choice([f"C{n:03d}" for n in range(60)], len(of)),
        }
    )


FIRST = {"birth_year": "numeric", "sex": "categorical"}
SECOND = {"income": "numeric", "area": "categorical"}


def released(data: pd.DataFrame, known: dict[str, str], **options: Any) -> Any:
    """A release by promises, of the quasi-identifiers that are named and the code."""
    schema = sf.Schema(
        person="person",
        quasi_identifiers=known,
        sensitive=["code"],
        accepted=options.pop("accepted", {}),
    )
    promises = options.pop("promises", PROMISES)
    options.setdefault("seed", 1)
    return sf.anonymize(data[["person", *known, "code"]], schema, *promises, **options)


def opened(folder: Path, **options: Any) -> ReleaseLedger:
    """The ledger of a test."""
    keys = folder / "keys"
    return ReleaseLedger.open(folder / "book" / "l.sqlite", keys, **{"make": True, **options})


def draft(release: Any, folder: Path, name: str, ledger: ReleaseLedger) -> int:
    """Write a release into a folder of its own; the number of its draft."""
    (folder / name).mkdir()
    replace(release, limits=ANY).write(folder / name / f"{name}.csv", memory=ledger)
    return ledger.remembered()[-1].number


def found_by_stranger(
    data: pd.DataFrame, first: pd.DataFrame, second: pd.DataFrame, person: str, column: str
) -> float:
    """Share of persons found who knows everybody's values and joins two files by one column.

    Files as they were written, nothing else; the persons of `data` in the order of their ids.
    A pseudonym of the first file fits a person where its cells hold the person's values and some
    pseudonym of the second file, whose cells hold them too, has the same values in the column. One
    is taken of whose values the largest share in the second file is where the person's cells are.
    """
    truth = data.groupby(person)[column].apply(lambda each: tuple(sorted(map(str, each))))
    every = data.drop_duplicates(person).set_index(person)
    one, two = _histories(first, person, column), _histories(second, person, column)
    shows = Counter(history for each in two.values() for _, history in each)
    total = 0.0
    for name, values in every.iterrows():
        mine = Counter(history for _, history in _fitting(one, values))
        theirs = Counter(history for _, history in _fitting(two, values))
        odds = {h: theirs[h] / shows[h] for h in mine if theirs[h]}
        likeliest = [h for h in odds if odds[h] >= max(odds.values()) * (1 - 1e-9)]
        # Of those who are as likely one is taken at random.
        total += truth[name] in likeliest and 1 / sum(mine[h] for h in likeliest)
    return total / len(every)


def _histories(
    file: pd.DataFrame, person: str, column: str
) -> dict[tuple[tuple[str, str], ...], list[tuple[str, tuple[str, ...]]]]:
    cells = [name for name in file.columns if name not in (person, column)]
    found: dict[Any, list[Any]] = defaultdict(list)
    for pseudonym, rows in file.groupby(person, sort=False):
        key = tuple((name, str(rows[name].iloc[0])) for name in cells)
        found[key].append((pseudonym, tuple(sorted(map(str, rows[column])))))
    return found


def _fitting(file: Any, values: pd.Series) -> list[Any]:
    fits = [key for key in file if all(_holds(cell, values[name]) for name, cell in key)]
    return [each for key in fits for each in file[key]]


def _holds(cell: str, value: object) -> bool:
    if cell == "*" or cell == str(value):
        return True
    ends = re.fullmatch(r"(-?[\d.]+)(?:-| to )(-?[\d.]+)", cell)
    if ends is not None:
        return float(ends[1]) <= float(str(value)) <= float(ends[2])
    if isinstance(value, int | float) and re.fullmatch(r"-?[\d.]+", cell):
        return float(cell) == float(value)
    return cell.startswith("{") and str(value) in cell.strip("{}").split(", ")
