"""Sort by keys of whole numbers, by the processor's widest instructions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def fits(keys: int, space: int) -> bool:
    """Whether `sort_with_places` is fast: 63 bits hold a key and its place."""
    return (space << keys.bit_length()) < 1 << 63


def sort_with_places(keys: Ints, space: int) -> tuple[Ints, Ints]:
    """The keys ascending, and the places they come from, equal keys in their order: O(N log N).

    A key and its place make one number where 63 bits hold both. NumPy sorts numbers without
    places by vector instructions, several times as fast as ``np.argsort``, and the places come
    out of them again.

    Parameters
    ----------
    keys
        Each in [0, space).
    space
        Number of possible keys.
    """
    if not fits(len(keys), space):
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    bits = len(keys).bit_length()
    packed = keys << bits
    packed |= np.arange(len(keys))
    packed.sort()
    places = packed & ((1 << bits) - 1)
    packed >>= bits
    return packed, places


def run_starts(*keys: npt.NDArray[np.integer]) -> Ints:
    """Where each run of neighbours that agree on all ``keys`` starts."""
    changed = np.ones(len(keys[0]), dtype=np.bool_)
    changed[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.flatnonzero(changed)


def run_lengths(starts: Ints, total: int) -> Ints:
    """Length of each run, the last one ending at ``total``."""
    return np.diff(starts, append=total)
