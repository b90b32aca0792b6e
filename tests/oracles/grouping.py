"""Number the distinct keys of an array by first appearance: the readable twin, by sorting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
BLOCK = 1 << 16
"""Keys that are looked at together, so that what is made of them stays in a cache."""


def number_by_first_appearance(keys: Keys, space: int) -> tuple[Codes, int]:
    """Sort the keys, which are used up; of each, the first place says which number it gets."""
    fits = (space << len(keys).bit_length()) < 1 << 63  # a key and its place as one number
    places, begins = _packed(keys) if fits else _plain(keys)
    first = places[begins]
    is_first = np.zeros(len(keys), dtype=np.bool_)
    is_first[first] = True
    numbers = np.cumsum(is_first, dtype=np.int32)
    number = numbers[first] - np.int32(1)
    seen = -1
    for part in _parts(len(keys)):
        run = np.cumsum(begins[part]) + seen
        numbers[places[part]] = number[run]
        seen = run[-1]
    return numbers, len(first)


def _plain(keys: Keys) -> tuple[npt.NDArray[np.integer], Flags]:
    """Where the keys come from in ascending order, and where each begins there."""
    order = np.argsort(keys, kind="stable")
    begins = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[order[1:]], keys[order[:-1]], out=begins[1:])
    return order, begins


def _packed(keys: Keys) -> tuple[Codes, Flags]:
    """As `_plain`; sorted as numbers of key and place, the places then take their room."""
    bits = len(keys).bit_length()
    keys <<= bits
    for part in _parts(len(keys)):
        keys[part] |= np.arange(part.start, part.stop)
    keys.sort()
    places, begins = keys.view(np.int32)[: len(keys)], np.empty(len(keys), dtype=np.bool_)
    before = np.int64(-1)
    for part in _parts(len(keys)):
        own = keys[part] >> bits
        begins[part] = np.diff(own, prepend=before) != 0
        before = own[-1]
        places[part] = keys[part] & ((1 << bits) - 1)
    return places, begins


def _parts(length: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, length)) for start in range(0, length, BLOCK))
