"""Keys and texts as numbers: sorted, numbered by first appearance, hashed the same everywhere.

The hash of a text is FNV-1a over its bytes in UTF-8, and then the finaliser of MurmurHash3
(``fmix64``). The hash of a tuple of integers begins with the basis of FNV-1a; each integer is
taken in as a byte is there, and the finaliser follows: ``h = fmix64((h ^ value) * prime)``. All
of it is arithmetic modulo 2**64, read as signed in the end. It must never change: the order of
persons who are otherwise equal, and so which classes a release has, depends on it. It is no
secret and protects nothing.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

import sfumato.kernels._classes as _classes
from sfumato.kernels import loop_calls

DIRECT_SPACE = 1 << 16
"""Key spaces up to this size are looked up in a table with a place for every key."""
# Tables that fit a cache, on all processors, are three times as fast as sorting
# (docs/EVIDENCE.md).
PART_BITS = 7
"""Keys are divided into so many parts (as a power of 2) that the table of one fits a cache."""
CHUNKS = 8
"""Runs of records that are divided into parts at the same time."""
AHEAD = 64
"""Strings that the interner looks up side by side."""
FEW = 1 << 14
"""Keys that one hash table holds as fast as many do."""
BASIS = np.uint64(0xCBF29CE484222325)
"""The number with which the hash FNV-1a begins."""
SIGN = np.uint64(1 << 63)
EMPTY = int(BASIS.astype(np.int64))
"""The hash of the tuple without a value."""


def run_starts(*keys: npt.NDArray[np.integer]) -> loop_calls.Ints:
    """Where each run of neighbours that agree on all ``keys`` starts."""
    changed = np.ones(len(keys[0]), dtype=np.bool_)
    changed[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.flatnonzero(changed)


def number_by_first_appearance(keys: loop_calls.Ints, space: int) -> tuple[loop_calls.Codes, int]:
    """Give equal keys equal numbers 0, 1, 2, ... in the order in which they first appear.

    Takes O(records + space) with a direct table while the key space is at most
    twice the records, else O(records) expected in hash tables of 16 bytes a slot and at most four
    slots a record: one for few keys; many are divided by their hashes into parts that are looked
    up one by one on all processors. All ways give the same numbers.

    Parameters
    ----------
    keys
        Shape (records,), each in [0, space).

    Returns
    -------
    tuple
        The number of each record's key, shape (records,), and how many distinct keys there are.
    """
    keys = loop_calls.ints(keys)
    # Up to here clearing the table is few steps a record, and a look-up is one.
    if space <= max(2 * len(keys), DIRECT_SPACE):
        numbers, table = np.empty(len(keys), dtype=np.int32), np.full(space, -1, dtype=np.int32)
        return numbers, int(_classes.number_with_table(keys, table, numbers))
    numbers = np.empty(len(keys), dtype=np.int32)
    if len(keys) <= FEW:
        _first_rows(keys, np.arange(len(keys), dtype=np.int32), numbers)
    else:
        _first_rows_in_parts(keys, numbers)
    return numbers, int(_classes.number_first_rows(numbers))


def _first_rows(keys: loop_calls.Ints, rows: loop_calls.Codes, first: loop_calls.Codes) -> None:
    """Note at each row the first one that has its key; rows ascend."""
    # Two to four slots a key keep probes short; a power of 2 makes the remainder a mask.
    slots = np.zeros((2 << max(len(keys), 1).bit_length(), 2), dtype=np.int64)
    _classes.first_rows(keys, rows, slots, first)


def _first_rows_in_parts(keys: loop_calls.Ints, first: loop_calls.Codes) -> None:
    """The same for all rows, part by part on all processors."""
    edges = np.linspace(0, len(keys), CHUNKS + 1).astype(np.int64).tolist()
    counts = np.zeros((CHUNKS, 1 << PART_BITS), dtype=np.int64)
    chunks = list(zip(edges[:-1], edges[1:], counts, strict=True))
    loop_calls.in_threads(
        [partial(_classes.count_parts, keys, *c[:2], PART_BITS, c[2]) for c in chunks]
    )
    # Part by part, within a part chunk by chunk: rows of a part so ascend, as `_first_rows` needs.
    ends = np.cumsum(counts.T.ravel()).reshape(-1, CHUNKS)
    places = np.ascontiguousarray((ends - counts.T).T)
    part_keys, part_rows = np.empty_like(keys), np.empty(len(keys), dtype=np.int32)
    loop_calls.in_threads(
        [
            partial(_classes.scatter, keys, begin, end, PART_BITS, place, part_keys, part_rows)
            for (begin, end, _), place in zip(chunks, places, strict=True)
        ]
    )
    stops = [0, *ends[:, -1].tolist()]
    loop_calls.in_threads(
        [
            partial(_first_rows, part_keys[start:stop], part_rows[start:stop], first)
            for start, stop in pairwise(stops)
        ]
    )


class Interner:
    """The distinct strings so far, in a hash table of our own: O(bytes) for each batch."""

    _alike = False
    """Whether all strings get one hash: what must work, but happens by chance only."""

    def __init__(self) -> None:
        self._slots = np.zeros(1 << 16, dtype=np.int64)
        self._keys = np.zeros((1 << 15, 2), dtype=np.int64)
        self._offsets = np.zeros(1 << 15, dtype=np.int64)
        self._data = np.zeros(1 << 18, dtype=np.uint8)
        self._known = 0

    def number(
        self, offsets: loop_calls.Integers, data: loop_calls.Bytes, missing: loop_calls.Bools
    ) -> loop_calls.Codes:
        """The number of each string; -1 where it is missing.

        The offsets say where each starts in ``data``, and where the last one ends.
        """
        codes = np.empty(len(missing), dtype=np.int32)
        keys = np.empty((AHEAD, 5), dtype=np.int64)
        offsets, data, absent, done = (
            loop_calls.offsets_of(offsets),
            np.ascontiguousarray(data),
            loop_calls.flags(missing),
            0,
        )
        while True:
            done, self._known = _classes.number_strings(
                offsets,
                data,
                absent,
                done,
                self._slots,
                self._known,
                self._keys,
                self._offsets,
                self._data,
                keys,
                codes,
                alike=self._alike,
            )
            if done == len(codes):
                return codes
            # Linear probes grow long beyond three quarters.
            if 4 * self._known >= 3 * len(self._slots):
                larger = np.zeros(2 * len(self._slots), dtype=np.int64)
                _classes.move_slots(self._slots, larger)
                self._slots = larger
            # The string at which the loop stopped must fit, or the loop would stop there for ever.
            longest = int(offsets[done + 1] - offsets[done])
            self._offsets = _with_room(self._offsets, self._known + 2)
            self._keys = _with_room(self._keys, len(self._offsets))
            self._data = _with_room(self._data, int(self._offsets[self._known]) + longest)

    def strings(self) -> tuple[loop_calls.Ints, loop_calls.Bytes]:
        """Where each distinct string starts, and all of them one after the other."""
        offsets = self._offsets[: self._known + 1].copy()
        return offsets, self._data[: offsets[-1]].copy()


def _with_room(values: npt.NDArray[Any], wanted: int) -> npt.NDArray[Any]:
    if wanted <= len(values):
        return values
    # Doubled, so that copying costs O(1) for each string in the long run.
    larger = np.empty((max(2 * len(values), wanted), *values.shape[1:]), dtype=values.dtype)
    larger[: len(values)] = values
    return larger


def of_texts(offsets: loop_calls.Integers, data: loop_calls.Bytes) -> loop_calls.Ints:
    """The hash of each text: O(bytes).

    Parameters
    ----------
    offsets
        Where each text starts in ``data``, and where the last one ends; shape (texts + 1,).
    data
        The texts in UTF-8, one after the other.
    """
    return _classes.hashes_of_texts(loop_calls.offsets_of(offsets), np.ascontiguousarray(data))


@loop_calls.as_declared
def extended(ties: loop_calls.Ints, values: loop_calls.Ints) -> loop_calls.Ints:
    """The hashes of tuples, `EMPTY` for none, with one more integer each; O(tuples)."""
    return _classes.extended_hashes(ties, values)


def tie_order(ties: loop_calls.Ints) -> loop_calls.Codes:
    """Places by ascending tie, equal ones in their order: O(N log N).

    The upper bits of a tie and its place make one number, which NumPy sorts by vector
    instructions; the few neighbours whose upper bits agree are sorted again.
    """
    bits = np.uint64(len(ties).bit_length())
    # With the sign bit turned, unsigned order is the signed one.
    upper = (ties.view(np.uint64) ^ SIGN) >> bits << bits
    packed = upper | np.arange(len(ties), dtype=np.uint64)
    packed.sort()
    order = (packed & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int32)
    packed >>= bits
    alike = packed[1:] == packed[:-1]
    wrong = alike & (ties[order[1:]] != ties[order[:-1]]) if alike.any() else alike
    if not wrong.any():
        return order
    starts = run_starts(packed)
    run = np.unique(np.searchsorted(starts, np.flatnonzero(wrong), side="right") - 1)
    for start, stop in zip(starts[run], np.append(starts, len(ties))[run + 1], strict=True):
        # Back to the order of places, from which a stable sort leaves equal ties as they came.
        some = np.sort(order[start:stop])
        order[start:stop] = some[np.argsort(ties[some], kind="stable")]
    return order
