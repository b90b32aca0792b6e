"""Fixed hashes that order what is otherwise equal, in NumPy: an oracle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
BASIS = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
"""The numbers of the hash FNV-1a."""
FIRST = np.uint64(0xFF51AFD7ED558CCD)
SECOND = np.uint64(0xC4CEB9FE1A85EC53)
SHIFT = np.uint64(33)
"""The numbers of the finaliser of MurmurHash3."""


def mixed(words: Words) -> Words:
    """The finaliser of MurmurHash3: every bit depends on all bits."""
    words = (words ^ (words >> SHIFT)) * FIRST
    words = (words ^ (words >> SHIFT)) * SECOND
    return words ^ (words >> SHIFT)


def of_texts(offsets: npt.NDArray[np.integer], data: Bytes) -> Ints:
    """The hash of each text, one byte of all texts at a time; see ``ties.of_texts``."""
    lengths = np.diff(offsets)
    longest_first = np.argsort(-lengths, kind="stable")
    starts = offsets[:-1][longest_first]
    ends = np.cumsum(np.bincount(lengths)[::-1])[::-1]
    hashes = np.full(len(lengths), BASIS)
    for place in range(len(ends) - 1):
        longer = int(ends[place + 1])
        letters = data[starts[:longer] + place].astype(np.uint64)
        hashes[:longer] = (hashes[:longer] ^ letters) * PRIME
    ties = np.empty(len(lengths), dtype=np.int64)
    ties[longest_first] = mixed(hashes).view(np.int64)
    return ties


def extended(ties: Ints, values: Ints) -> Ints:
    """The hashes of tuples with one more value each; see ``ties.extended``."""
    return mixed((ties.view(np.uint64) ^ values.view(np.uint64)) * PRIME).view(np.int64)
