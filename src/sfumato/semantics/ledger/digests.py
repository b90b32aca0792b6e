"""Keyed digests of persons: who was in which tuple, told only to the holder of the key."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError

DIGEST_BYTES = 16
Names = npt.NDArray[np.bytes_]


@dataclass(frozen=True, eq=False)
class Members:
    """Which person of a release is in which tuple; it is never stored.

    Attributes
    ----------
    persons
        The identifier of a person, the same in every release; a person with several tuples is
        listed once for each.
    tuples
        The number of the tuple, shape (members,).
    """

    persons: Sequence[str | bytes | int]
    tuples: npt.NDArray[np.integer[Any]]

    def __repr__(self) -> str:
        """Without the persons."""
        return f"Members({len(self.persons)})"


@dataclass(frozen=True, eq=False)
class Digests:
    """The digests of a release.

    Attributes
    ----------
    persons
        128 bits of HMAC-SHA-256 of each person, ascending, type S16, shape (members,).
    tuples
        The number of the person's tuple, shape (members,).
    """

    persons: Names
    tuples: npt.NDArray[np.int32]

    def __len__(self) -> int:
        """Number of members."""
        return len(self.persons)

    def __repr__(self) -> str:
        """Without the digests."""
        return f"Digests({len(self)})"

    def tuples_of(self, persons: Names) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The tuples that persons had.

        Parameters
        ----------
        persons
            Their digests, type S16, shape (persons,), in any order.

        Returns
        -------
        tuple
            Pairs: index into `persons` (ascending), and number of the tuple; none of a person
            who was not in the release.
        """
        start = np.searchsorted(self.persons, persons, side="left")
        sizes = np.searchsorted(self.persons, persons, side="right") - start
        index = np.repeat(np.arange(len(persons), dtype=np.int64), sizes)
        within = np.arange(len(index)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return index, self.tuples[np.repeat(start, sizes) + within]


def digests_of(persons: Iterable[str | bytes | int], key: bytes) -> Names:
    """128 bits of HMAC-SHA-256 of each person's identifier, type S16.

    A number and its decimal digits as text have the same digest.

    Parameters
    ----------
    persons
        Identifiers.
    key
        The key, kept apart from what is made with it.
    """
    digest, sha256 = hmac.digest, hashlib.sha256
    joined = b"".join(
        digest(key, each if isinstance(each, bytes) else str(each).encode(), sha256)[:DIGEST_BYTES]
        for each in persons
    )
    return np.frombuffer(joined, dtype=f"S{DIGEST_BYTES}")


def digests_of_members(members: Members, tuples: int, key: bytes) -> Digests:
    """The digests of a release, ascending, so that they do not tell the order of its rows.

    Parameters
    ----------
    members
        Who is in which tuple.
    tuples
        Number of tuples of the release.
    key
        The key of persons.

    Raises
    ------
    InputError
        If the persons and tuples do not fit together.
    """
    numbers = np.asarray(members.tuples)
    fits = numbers.shape == (len(members.persons),) and numbers.dtype.kind in "iu"
    if not fits or (len(numbers) and not (numbers.min() >= 0 and numbers.max() < tuples)):
        raise InputError(
            "the members of a release",
            "must be a person and the number of a tuple each",
            found="another number of persons than of tuples, or a tuple that is none",
        )
    persons = digests_of(members.persons, key)
    first, second = persons.view(">u8").reshape(-1, 2).T
    order = np.lexsort((numbers, second, first))
    persons, sorted_numbers = persons[order], numbers[order].astype(np.int32)
    repeated = np.zeros(len(order), dtype=np.bool_)
    repeated[1:] = (persons[1:] == persons[:-1]) & (sorted_numbers[1:] == sorted_numbers[:-1])
    return Digests(persons[~repeated], sorted_numbers[~repeated])
