"""Ids of persons that say nothing about them, and that stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.core.secret_keys import keyed_pseudonyms, random_pseudonyms
from sfumato.linkage.pairs.table import named_records
from sfumato.linkage.persons.follow import Followed, follow
from sfumato.linkage.values import Ints, Records


@dataclass(frozen=True, eq=False)
class PersonIds:
    """The persons' ids.

    Attributes
    ----------
    ids
        Id of the person of each record; shape (records,).
    followed
        What became of the persons of an earlier linkage; ``None`` without one.
    names
        Ids by the numbers in ``followed``.
    """

    ids: pa.Array
    followed: Followed | None
    names: tuple[str, ...]


def name_persons(
    records: Records,
    person: np.ndarray,
    rng: np.random.Generator,
    *,
    key: bytes | None = None,
    previous: Sequence[str | None] | None = None,
) -> PersonIds:
    """Give each person an id: one of before, a random one, or one under a key.

    A keyed id is made of the person's first record, so it is the same in every run in which that
    is the first one.

    Parameters
    ----------
    records
        The records.
    person
        Number of each record's person.
    rng
        Source of randomness.
    key
        Secret for keyed ids; random ones without it.
    previous
        Id of the person of each record in an earlier linkage, ``None`` for new records.

    Raises
    ------
    InputError
        If the key is too short.
    """
    followed, names = None, []
    number = person.astype(np.int64)
    if previous is not None:
        names = list(dict.fromkeys(each for each in previous if each is not None))
        code = {name: place for place, name in enumerate(names)}
        old = np.array([-1 if each is None else code[each] for each in previous], np.int64)
        followed = follow(old, number, next_id=len(names))
        number = followed.person
    count = int(number.max(initial=-1)) + 1 - len(names)
    if key is None:
        names += _others(count, rng, names)
    else:
        names += _keyed(records, number, len(names), key, names)
    return PersonIds(pa.array(names, pa.string()).take(pa.array(number)), followed, tuple(names))


def _others(count: int, rng: np.random.Generator, taken: Sequence[str]) -> list[str]:
    """Random ids that nobody has."""
    drawn = random_pseudonyms(count, rng)
    while not set(drawn).isdisjoint(taken):
        drawn = random_pseudonyms(count, rng)
    return drawn


def _keyed(
    records: Records, number: Ints, start: int, key: bytes, taken: Sequence[str]
) -> list[str]:
    """Keyed ids of the persons from a number on; another one where somebody has it."""
    persons, first = np.unique(number, return_index=True)
    source, ids = named_records(records, first[persons >= start])
    texts = list(zip(source.to_pylist(), ids.to_pylist(), strict=True))
    made = keyed_pseudonyms([f"{one}\0{other}" for one, other in texts], key)
    used = set(taken)
    for place, (one, other) in enumerate(texts):
        again = 0
        while made[place] in used:
            again += 1
            made[place] = keyed_pseudonyms([f"{one}\0{other}\0{again}"], key)[0]
        used.add(made[place])
    return made
