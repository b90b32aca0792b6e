"""The conditions of which there is a bitmap, and the bitmaps of a database."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.shared_options import Progress, silent
from sfumato.review.anonymity.bitmaps import Bitmaps, Key, Packer
from sfumato.review.anonymity.database import Database

FEW_VALUES = 256
"""An attribute with at most so many distinct values has a bitmap of each."""


class Kind(IntEnum):
    """What the records of a bitmap have in common; in brackets its two numbers."""

    MISSING = 0
    """They have no value."""
    HELD = 1
    """They have a value."""
    TWICE = 2
    """They have a value that at least two records have, as values are compared."""
    LENGTH = 3
    """Their value has so many characters (0, number)."""
    BAND = 4
    """Their value is in a rarity band (0, place of the band)."""
    CHARACTER = 5
    """Their value has a character at a place (place, number of the character)."""
    VALUE = 6
    """They have a value (0, number of the value); where there are few values."""
    STRATUM = 7
    """So many records have their value (0, logarithm to base 2, rounded down); where there
    are many values."""


def bitmaps_of(database: Database, progress: Progress | None = None) -> Bitmaps:
    """The bitmaps of a database: about 2 bytes per record and character, when packed.

    Parameters
    ----------
    database
        The records.
    progress
        Told how far it is.
    """
    packer, tell = Packer(), progress or silent
    for attribute in range(len(database.attributes)):
        tell("anonymity sets", attribute / len(database.attributes))
        for key, records in _of_attribute(database, attribute):
            packer.add(key, records)
    tell("anonymity sets", 1.0)
    return packer.packed()


def _of_attribute(
    database: Database, attribute: int
) -> Iterator[tuple[Key, npt.NDArray[np.integer]]]:
    """The bitmaps of one attribute: keys, and records ascending."""
    first, stop = database.base[attribute : attribute + 2].tolist()
    codes = database.codes[:, attribute]
    missing = codes < 0
    if missing.any():
        yield (attribute, Kind.MISSING, 0, 0), np.flatnonzero(missing)
    records = np.flatnonzero(~missing).astype(np.uint32)
    if not len(records):
        return
    yield (attribute, Kind.HELD, 0, 0), records
    values = codes[records] - np.int32(first)
    folded = database.folded_count[first:stop]
    twice = records[(folded >= 2)[values]]
    if len(twice):
        yield (attribute, Kind.TWICE, 0, 0), twice
    per_value: list[tuple[Kind, npt.NDArray[Any]]] = [
        (Kind.BAND, database.bands(folded).astype(np.uint8)),
        (Kind.LENGTH, np.diff(database.start[first : stop + 1]).astype(np.uint32)),
    ]
    if stop - first <= FEW_VALUES:
        per_value.append((Kind.VALUE, np.arange(first, stop, dtype=np.uint32)))
    else:
        count = np.bincount(values, minlength=stop - first)
        per_value.append((Kind.STRATUM, np.log2(count).astype(np.uint8)))
    for kind, numbers in per_value:
        for number, group in _grouped(numbers[values], records):
            yield (attribute, kind, 0, number), group
    yield from _of_places(database, attribute, values, records)


def _of_places(
    database: Database,
    attribute: int,
    values: npt.NDArray[np.int32],
    records: npt.NDArray[np.uint32],
) -> Iterator[tuple[Key, npt.NDArray[np.integer]]]:
    """The records that have a character at a place."""
    first, stop = database.base[attribute : attribute + 2].tolist()
    start = database.start[first : stop + 1]
    lengths = np.diff(start)
    for place in range(int(lengths.max())):
        reach = (lengths > place)[values]
        values, records = values[reach], records[reach]
        at = np.zeros(stop - first, database.characters.dtype)
        long = lengths > place
        at[long] = database.characters[start[:-1][long] + place]
        for number, group in _grouped(at[values], records):
            yield (attribute, Kind.CHARACTER, place, number), group


def _grouped(
    numbers: npt.NDArray[np.unsignedinteger[Any]], records: npt.NDArray[np.uint32]
) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
    """The records of each number, ascending."""
    if numbers.dtype.itemsize > 2 and len(numbers) and numbers.max() < 1 << 16:
        numbers = numbers.astype(np.uint16)  # sorted by counting
    order = np.argsort(numbers, kind="stable")
    ordered, records = numbers[order], records[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    stops = [*edges.tolist(), len(ordered)] if len(ordered) else []
    for begin, end in pairwise([0, *stops]):
        yield int(ordered[begin]), records[begin:end]
