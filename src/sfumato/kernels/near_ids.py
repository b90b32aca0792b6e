"""A place in a table for each id that counts, such as 17, or P00017."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class NearIds:
    """A table over the range of the ids so far, which must not be wider than a limit.

    Parameters
    ----------
    widest
        Most integers between the lowest and the highest.
    """

    def __init__(self, widest: int) -> None:
        self._widest = widest
        self._prefix: Bytes | None = None
        self.base = 0
        self.table: Codes = np.zeros(0, dtype=np.int32)

    def keys(
        self, offsets: npt.NDArray[np.integer], data: Bytes, missing: npt.NDArray[np.bool_]
    ) -> Ints | None:
        """An integer for each string; ``None`` where they are not a prefix and a number each.

        Parameters
        ----------
        offsets, data, missing
            As for `sfumato.kernels.interning.Interner.number`.
        """
        from sfumato.kernels import near_ids_loops

        if self._prefix is None:
            if missing.all():
                return np.zeros(len(missing), dtype=np.int64)
            first = int(np.argmin(missing))
            self._prefix = _before_digits(data[offsets[first] : offsets[first + 1]])
        keys = np.zeros(len(missing), dtype=np.int64)
        fit = near_ids_loops.spelled(offsets, data, missing, self._prefix, keys)
        return keys if fit else None

    def reach(self, keys: Ints, missing: npt.NDArray[np.bool_]) -> bool:
        """Make room for more keys, if they lie close enough to those before.

        The table at least doubles, so that ids that ascend through a file cost no more than any.

        Parameters
        ----------
        keys
            The keys.
        missing
            Which of them stand for nothing.
        """
        from sfumato.kernels import near_ids_loops

        low, high = near_ids_loops.bounds(keys, missing)
        if low > high:
            return True
        size = len(self.table)
        start = min(low, self.base) if size else low
        end = max(high + 1, self.base + size) if size else high + 1
        if end - start > self._widest:
            return False
        if end - start > size:
            wide = max(end - start, min(2 * size, self._widest))
            start = start if not size or start == self.base else end - wide
            table = np.zeros(wide, dtype=np.int32)
            table[self.base - start :][:size] = self.table
            self.base, self.table = start, table
        return True


def _before_digits(string: Bytes) -> Bytes:
    others = np.flatnonzero((string < ord("0")) | (string > ord("9")))
    return string[: others[-1] + 1 if len(others) else 0].copy()
