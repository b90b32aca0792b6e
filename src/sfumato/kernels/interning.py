"""Number byte strings by first appearance, batch after batch, each kept once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernels.near_ids import NearIds

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class Interner:
    """The distinct strings so far, in a table of our own: O(bytes) for each batch.

    As long as they are numbers that lie close together, spelled behind one prefix or given as
    keys, each has its place in the table; after that a hash says where to look. Its twin is a
    dictionary from `bytes` to numbers.

    Parameters
    ----------
    widest
        Most integers between the lowest and the highest of numbers that lie close together.
    """

    def __init__(self, widest: int = 0) -> None:
        self._near: NearIds | None = NearIds(widest)
        self._slots = np.zeros(1 << 16, dtype=np.int64)
        self._keys = np.zeros((0, 2), dtype=np.int64)
        self._offsets = np.zeros(1 << 15, dtype=np.int64)
        self._data = np.zeros(1 << 18, dtype=np.uint8)
        self._known = 0

    def number(
        self,
        offsets: npt.NDArray[np.integer],
        data: Bytes,
        missing: npt.NDArray[np.bool_],
        keys: Ints | None = None,
    ) -> Codes:
        """The number of each string; -1 where it is missing.

        Parameters
        ----------
        offsets
            Where each string starts in ``data``, and where the last one ends.
        data
            The strings one after the other.
        missing
            Which strings are missing.
        keys
            The integers that the strings are the bytes of, where they are.
        """
        from sfumato.kernels import interning_loops, near_ids_loops

        near = self._near_keys(offsets, data, missing, keys)
        codes = np.empty(len(missing), dtype=np.int32)
        done = 0
        while True:
            if self._near is not None:
                done, self._known = near_ids_loops.number(
                    near,
                    offsets,
                    data,
                    missing,
                    done,
                    self._near.base,
                    self._near.table,
                    self._known,
                    self._offsets,
                    self._data,
                    codes,
                )
            else:
                done, self._known = interning_loops.number(
                    offsets,
                    data,
                    missing,
                    done,
                    self._slots,
                    self._known,
                    self._keys,
                    self._offsets,
                    self._data,
                    codes,
                )
            if done == len(codes):
                return codes
            self._make_room(int(offsets[done + 1] - offsets[done]))

    def strings(self) -> tuple[Ints, Bytes]:
        """Where each distinct string starts, and all of them one after the other."""
        offsets = self._offsets[: self._known + 1].copy()
        return offsets, self._data[: offsets[-1]].copy()

    def _near_keys(
        self,
        offsets: npt.NDArray[np.integer],
        data: Bytes,
        missing: npt.NDArray[np.bool_],
        keys: Ints | None,
    ) -> Ints:
        """The keys of the strings; a hash takes over from the first batch without them."""
        if self._near is None:
            return _NONE
        if keys is None:
            keys = self._near.keys(offsets, data, missing)
        if keys is not None and self._near.reach(keys, missing):
            return keys
        self._near = None
        known, letters = self.strings()
        self._known, self._keys = 0, np.zeros((len(self._offsets), 2), dtype=np.int64)
        self.number(known, letters, np.zeros(len(known) - 1, dtype=np.bool_))
        return _NONE

    def _make_room(self, longest: int) -> None:
        """Room for one more string of so many bytes, and for as many more as there are."""
        if self._near is None and 4 * self._known >= 3 * len(self._slots):
            from sfumato.kernels import interning_loops

            larger = np.zeros(2 * len(self._slots), dtype=np.int64)
            interning_loops.move(self._slots, larger)
            self._slots = larger
        self._offsets = _with_room(self._offsets, self._known + 2)
        if self._near is None:
            self._keys = _with_room(self._keys, len(self._offsets))
        self._data = _with_room(self._data, int(self._offsets[self._known]) + longest)


_NONE: Ints = np.empty(0, dtype=np.int64)


def _with_room(values: npt.NDArray[Any], wanted: int) -> npt.NDArray[Any]:
    if wanted <= len(values):
        return values
    larger = np.empty((max(2 * len(values), wanted), *values.shape[1:]), dtype=values.dtype)
    larger[: len(values)] = values
    return larger
