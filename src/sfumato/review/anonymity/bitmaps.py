"""Bitmaps over the records, kept packed and unpacked when they are asked for."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

Records = npt.NDArray[np.uint32]
_Scalar = TypeVar("_Scalar", bound=np.generic)
Key = tuple[int, int, int, int]
"""Attribute, kind of condition (`conditions`), and two numbers that the kind explains."""
CACHED_BYTES = 256 << 20
"""Packed size of the unpacked bitmaps that are kept."""


def bitmap_of(records: npt.NDArray[np.integer]) -> BitMap:
    """The bitmap of some records.

    Parameters
    ----------
    records
        Numbers of records.
    """
    numbers = array("I")
    numbers.frombytes(np.ascontiguousarray(records, np.uint32).view(np.uint8).data)
    return BitMap(numbers)


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """The same array, protected: one kind of array compiles a loop once.

    Parameters
    ----------
    array
        Any.
    """
    array.setflags(write=False)
    return array


def records_of(bitmap: BitMap) -> Records:
    """The records of a bitmap, ascending.

    Parameters
    ----------
    bitmap
        Any.
    """
    return np.frombuffer(bitmap.to_array(), np.uint32)


class Packer:
    """Packs bitmaps one after the other."""

    def __init__(self) -> None:
        self._keys: list[Key] = []
        self._ends = [0]
        self._sizes: list[int] = []
        self._data = bytearray()

    def add(self, key: Key, records: npt.NDArray[np.integer]) -> None:
        """Pack the bitmap of some records.

        Parameters
        ----------
        key
            What they have in common.
        records
            Numbers of records, ascending.
        """
        bitmap = bitmap_of(records)
        bitmap.run_optimize()
        self._data += bitmap.serialize()
        self._keys.append(key)
        self._ends.append(len(self._data))
        self._sizes.append(len(records))

    def packed(self) -> Bitmaps:
        """All bitmaps so far."""
        return Bitmaps(
            np.array(self._keys, np.int64).reshape(-1, 4),
            np.array(self._ends, np.int64),
            np.array(self._sizes, np.int64),
            np.frombuffer(self._data, np.uint8),
        )


class Bitmaps:
    """Packed bitmaps by key, of which those used last are kept unpacked.

    Parameters
    ----------
    keys
        Shape (bitmaps, 4).
    ends
        Where each begins and ends in `data`; shape (bitmaps + 1,).
    sizes
        Number of records of each.
    data
        The packed bitmaps, one after the other.
    """

    def __init__(
        self,
        keys: npt.NDArray[np.int64],
        ends: npt.NDArray[np.int64],
        sizes: npt.NDArray[np.int64],
        data: npt.NDArray[np.uint8],
    ) -> None:
        self.keys, self.ends, self.sizes, self.data = keys, ends, sizes, data
        self._place: dict[Key, int] = {
            (a, kind, x, y): place for place, (a, kind, x, y) in enumerate(keys.tolist())
        }
        self._size: list[int] = sizes.tolist()
        self._kept = Kept(CACHED_BYTES)

    def __contains__(self, key: Key) -> bool:
        """Whether any record is in the bitmap."""
        return key in self._place

    def size(self, key: Key) -> int:
        """Number of records of a bitmap, 0 where there is none.

        Parameters
        ----------
        key
            Which.
        """
        place = self._place.get(key)
        return 0 if place is None else self._size[place]

    def get(self, key: Key) -> BitMap:
        """A bitmap, not to be changed; empty where there is none.

        Parameters
        ----------
        key
            Which.
        """
        place = self._place.get(key)
        if place is None:
            return BitMap()
        found = self._kept.get(place)
        if found is None:
            start, stop = self.ends[place : place + 2].tolist()
            found = BitMap.deserialize(self.data[start:stop].tobytes())
            self._kept.keep(place, found, stop - start)
        return found

    def grouped(self) -> dict[tuple[int, int, int], list[Key]]:
        """Keys that differ in their last number only, those of fewest records first."""
        result: dict[tuple[int, int, int], list[Key]] = {}
        for key in sorted(self._place, key=self.size):
            result.setdefault(key[:3], []).append(key)
        return result


class Kept:
    """The bitmaps used last, up to a size in bytes.

    Parameters
    ----------
    room
        How many bytes are kept.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._used = 0
        self._bitmaps: OrderedDict[Hashable, tuple[BitMap, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> BitMap | None:
        """What is kept under a key.

        Parameters
        ----------
        key
            Which.
        """
        with self._lock:
            found = self._bitmaps.get(key)
            if found is None:
                return None
            self._bitmaps.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, bitmap: BitMap, size: int) -> None:
        """Keep a bitmap, and let go of those used longest ago.

        Parameters
        ----------
        key
            Its key.
        bitmap
            The bitmap.
        size
            Its bytes.
        """
        with self._lock:
            if key in self._bitmaps:
                return
            self._bitmaps[key] = bitmap, size
            self._used += size
            while self._used > self._room and len(self._bitmaps) > 1:
                _, (_, freed) = self._bitmaps.popitem(last=False)
                self._used -= freed
