"""Arrays of an entry as bytes, in pieces that SQLite can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

PIECE_BYTES = 1 << 25
"""Bytes of a piece; SQLite holds up to a thousand million in one cell."""


@dataclass(frozen=True, eq=False)
class Part:
    """An array of an entry.

    Attributes
    ----------
    name
        What it is: ``"counts"``.
    array
        The values, little endian.
    """

    name: str
    array: npt.NDArray[Any]

    @classmethod
    def of(cls, name: str, array: npt.NDArray[Any]) -> Part:
        """A part of an array of any byte order and layout."""
        return cls(name, np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")))

    @property
    def content(self) -> memoryview:
        """The bytes of the values."""
        return self.array.reshape(-1).view(np.uint8).data

    def described(self) -> dict[str, object]:
        """What the entry says, and signs, about it."""
        return {
            "dtype": self.array.dtype.str,
            "shape": list(self.array.shape),
            "sha256": hashlib.sha256(self.content).hexdigest(),
        }

    def pieces(self) -> Iterator[memoryview]:
        """The bytes, piece by piece; one empty piece of an empty array."""
        content = self.content
        for start in range(0, max(len(content), 1), PIECE_BYTES):
            yield content[start : start + PIECE_BYTES]


def is_whole(pieces: Iterable[bytes], described: Mapping[str, Any]) -> bool:
    """Whether these bytes are those of the part that was signed."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest() == described.get("sha256")


def array_of(pieces: Sequence[bytes], described: Mapping[str, Any]) -> npt.NDArray[Any]:
    """The array that a part holds; it cannot be written to."""
    content = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    return np.frombuffer(content, dtype=np.dtype(described["dtype"])).reshape(described["shape"])
