"""Number byte strings by first appearance, batch after batch, each kept once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class Interner:
    """The distinct strings so far, in a hash table of our own: O(bytes) for each batch.

    Its twin is a dictionary from `bytes` to numbers.
    """

    def __init__(self) -> None:
        self._slots = np.zeros(1 << 16, dtype=np.int64)
        self._keys = np.zeros((1 << 15, 2), dtype=np.int64)
        self._offsets = np.zeros(1 << 15, dtype=np.int64)
        self._data = np.zeros(1 << 18, dtype=np.uint8)
        self._known = 0

    def number(
        self, offsets: npt.NDArray[np.integer], data: Bytes, missing: npt.NDArray[np.bool_]
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
        """
        from sfumato.kernels import interning_loops

        codes = np.empty(len(missing), dtype=np.int32)
        keys = np.empty((interning_loops.AHEAD, 5), dtype=np.int64)
        so_far, done = np.empty(2, dtype=np.int64), 0
        while True:
            interning_loops.number(
                offsets,
                data,
                missing,
                done,
                self._slots,
                self._known,
                self._keys,
                self._offsets,
                self._data,
                keys,
                codes,
                so_far,
            )
            done, self._known = so_far.tolist()
            if done == len(codes):
                return codes
            if 4 * self._known >= 3 * len(self._slots):
                larger = np.zeros(2 * len(self._slots), dtype=np.int64)
                interning_loops.move(self._slots, larger)
                self._slots = larger
            longest = int(offsets[done + 1] - offsets[done])
            self._offsets = _with_room(self._offsets, self._known + 2)
            self._keys = _with_room(self._keys, len(self._offsets))
            self._data = _with_room(self._data, int(self._offsets[self._known]) + longest)

    def strings(self) -> tuple[Ints, Bytes]:
        """Where each distinct string starts, and all of them one after the other."""
        offsets = self._offsets[: self._known + 1].copy()
        return offsets, self._data[: offsets[-1]].copy()


def _with_room(values: npt.NDArray[Any], wanted: int) -> npt.NDArray[Any]:
    if wanted <= len(values):
        return values
    larger = np.empty((max(2 * len(values), wanted), *values.shape[1:]), dtype=values.dtype)
    larger[: len(values)] = values
    return larger
