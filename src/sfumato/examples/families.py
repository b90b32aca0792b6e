"""Persons in households, in several files and with errors, and whose each record is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.examples.demographics import FAMILY_NAMES, GIVEN_NAMES

Ints = npt.NDArray[np.int64]
Texts = npt.NDArray[np.object_]

_EPOCH = np.datetime64("1970-01-01", "D")


@dataclass(frozen=True, slots=True)
class FamilyOptions:
    """What the files are like; shares lie in [0, 1].

    Attributes
    ----------
    households
        Number of households.
    sizes
        Share of the households of one member, of two, and so on.
    files
        Number of files.
    overlap
        Share of the households that every file holds; each other one is in one file.
    absent
        Share of the persons of a household whom a file that holds it lacks.
    duplicates
        Mean number of further records of a person in a file, Poisson distributed.
    errors
        Share of the values of a record that are misspelt, one letter or digit of them.
    missing
        Share of the values of a record that are missing.
    twins
        Share of the persons of a household with three or more who are born with the one before.
    renamed, moved
        Share of the records whose person has another surname, or another address.
    """

    households: int = 1000
    sizes: tuple[float, ...] = (0.3, 0.3, 0.16, 0.16, 0.06, 0.02)
    files: int = 2
    overlap: float = 0.8
    absent: float = 0.03
    duplicates: float = 0.0
    errors: float = 0.04
    missing: float = 0.02
    twins: float = 0.03
    renamed: float = 0.02
    moved: float = 0.05


def generate_families(
    options: FamilyOptions, rng: np.random.Generator
) -> tuple[dict[str, pa.Table], Ints]:
    """Files of persons who live together, and the person of each record, file after file.

    Members of a household share surname, street, house number, postcode and telephone; two are
    of one age, the others 20 to 40 years younger. No value comes from a record about a person.

    Parameters
    ----------
    options
        What the files are like.
    rng
        Source of randomness.

    Returns
    -------
    tuple
        The tables by name, and the number of the person of each of their records.
    """
    size = rng.choice(len(options.sizes), options.households, p=np.array(options.sizes)) + 1
    home = np.repeat(np.arange(options.households), size)
    place = np.concatenate([np.arange(each) for each in size])
    person = _persons(home, place, options, rng)
    where = rng.integers(0, options.files, options.households)
    everywhere = rng.random(options.households) < options.overlap
    tables, truth = {}, []
    for number in range(options.files):
        there = (everywhere | (where == number))[home] & (rng.random(len(home)) >= options.absent)
        rows = np.flatnonzero(there)
        rows = rng.permutation(np.repeat(rows, 1 + rng.poisson(options.duplicates, len(rows))))
        tables[f"file_{number + 1}"] = _recorded(person, rows, options, rng)
        truth.append(rows)
    return tables, np.concatenate(truth).astype(np.int64)


def _persons(
    home: Ints, place: Ints, options: FamilyOptions, rng: np.random.Generator
) -> dict[str, Texts]:
    """What is true of each person."""
    count, homes = len(home), int(home[-1]) + 1
    sex = rng.integers(0, 2, count)
    given = np.empty(count, dtype=object)
    for each in (0, 1):
        own, names = np.flatnonzero(sex == each), [n for part in GIVEN_NAMES[each] for n in part]
        given[own] = rng.choice(np.array(names, dtype=object), len(own), p=_zipf(len(names)))
    oldest = rng.integers(-14_000, 3_000, homes)[home]
    younger = rng.integers(20 * 365, 40 * 365, count)
    birth = oldest + np.where(place < 2, rng.integers(0, 2_500, count) * place, younger)
    twin = np.flatnonzero((place > 2) & (rng.random(count) < options.twins * 3))
    birth[twin] = birth[twin - 1]
    streets = rng.integers(0, max(homes // 12, 3), homes)[home]
    family: Texts = np.array(FAMILY_NAMES, dtype=object)
    return {
        "given_name": given,
        "surname": rng.choice(family, homes, p=_zipf(len(family)))[home],
        "birth_date": (_EPOCH + birth.astype("m8[D]")).astype(str).astype(object),
        "sex": np.array(["female", "male"], dtype=object)[sex],
        "street": (
            family[streets % len(family)] + " " + family[streets // 7 % len(family)] + " road"
        ),
        "house_number": rng.integers(1, 99, homes)[home].astype(str).astype(object),
        "postcode": (1000 + streets // 3).astype(str).astype(object),
        "phone": rng.integers(10**8, 10**9, homes)[home].astype(str).astype(object),
    }


def _recorded(
    person: dict[str, Texts], rows: Ints, options: FamilyOptions, rng: np.random.Generator
) -> pa.Table:
    """Records of some persons, with errors."""
    values = {name: column[rows].copy() for name, column in person.items()}
    count = len(rows)
    renamed, moved = rng.random(count) < options.renamed, rng.random(count) < options.moved
    values["surname"][renamed] = rng.choice(np.array(FAMILY_NAMES, dtype=object), renamed.sum())
    other = rng.integers(0, len(person["street"]), int(moved.sum()))
    for name in ("street", "house_number", "postcode", "phone"):
        values[name][moved] = person[name][other]
    for name, column in values.items():
        for row in np.flatnonzero(rng.random(count) < options.errors).tolist():
            column[row] = _misspelt(column[row], rng) if name != "sex" else "female"
        column[rng.random(count) < options.missing] = None
    return pa.table(
        {name: pa.array(column.tolist(), pa.string()) for name, column in values.items()}
    )


def _misspelt(text: str, rng: np.random.Generator) -> str:
    """The text with one letter or digit changed, lost, or swapped with the next one."""
    places = [i for i, character in enumerate(text) if character.isalnum()]
    at = int(rng.choice(places[1:] or places))
    own = text[at]
    letters: Sequence[str] = "0123456789" if own.isdigit() else "abcdefghijklmnopqrstuvwxyz"
    way = rng.integers(0, 3)
    if way == 0 and not own.isdigit():
        return text[:at] + text[at + 1 :]
    if way == 1 and at + 1 < len(text) and text[at + 1].isalnum():
        return text[:at] + text[at + 1] + own + text[at + 2 :]
    return text[:at] + str(rng.choice(list(letters))) + text[at + 1 :]


def _zipf(count: int) -> npt.NDArray[np.float64]:
    """Shares that fall with the rank, as those of names do."""
    share = 1 / (np.arange(count) + 8.0)
    return np.asarray(share / share.sum())
