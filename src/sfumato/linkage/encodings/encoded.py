"""Encodings of a source's records, all that leaves its owner's house."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.errors import InputError

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Bit patterns of records under one key.

    Attributes
    ----------
    ids
        The owner's ids of the records, as text.
    bits
        The encodings, eight bits a byte, the first bit the highest; shape (records, length / 8).
    key_check
        Equal for the same secret; no key.
    spec_check
        Equal for the same specification under the same secret; it tells nothing else of it.
    """

    ids: pa.StringArray
    bits: npt.NDArray[np.uint8]
    key_check: str
    spec_check: str

    def __len__(self) -> int:
        """Number of records."""
        return len(self.bits)

    @property
    def length(self) -> int:
        """Bits of an encoding."""
        return int(self.bits.shape[1]) * 8

    @property
    def words(self) -> Words:
        """The same in words of 64 bits; shape (records, length / 64)."""
        return np.ascontiguousarray(self.bits).view(np.uint64)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of bits set in each encoding."""
        return np.asarray(np.bitwise_count(self.words).sum(axis=1, dtype=np.int64))


def check_comparable(one: Encoded, other: Encoded, names: str = "the two encodings") -> None:
    """Refuse to compare what was encoded differently or under different keys.

    Parameters
    ----------
    one, other
        Encodings of two sources.
    names
        How errors call them.

    Raises
    ------
    InputError
        If specifications or keys differ.
    """
    if one.key_check != other.key_check:
        raise InputError(
            names,
            "must have been made under the same key",
            found="different keys",
            advice="let the owners compare their keys and encode again",
        )
    if one.spec_check != other.spec_check or one.length != other.length:
        raise InputError(
            names,
            "must have been made with the same specification",
            found="different ones",
            advice="give all owners the same file and encode again",
        )
