"""Fixed 64-bit hashes that order what is otherwise equal, on every machine and in every engine.

The hash of a text is FNV-1a over its bytes in UTF-8, and then the finaliser of MurmurHash3
(``fmix64``). The hash of a tuple of integers begins with the basis of FNV-1a; each integer is
taken in as a byte is there, and the finaliser follows: ``h = fmix64((h ^ value) * prime)``. All
of it is arithmetic modulo 2**64, read as signed in the end. It must never change: the order of
persons who are otherwise equal, and so which classes a release has, depends on it. It is no
secret and protects nothing. Small inputs run the NumPy twin.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
import numpy.typing as npt

from sfumato.kernels import ties_twin
from sfumato.kernels.choose import worth_compiling
from sfumato.kernels.sorting import run_starts
from sfumato.kernels.ties_twin import BASIS, Bytes, Ints

SIGN = np.uint64(1 << 63)
EMPTY = int(BASIS.astype(np.int64))
"""The hash of the tuple without a value."""


def _loops(rows: int) -> ModuleType:
    if not worth_compiling(rows):
        return ties_twin
    from sfumato.kernels import ties_loops

    return ties_loops


def of_texts(offsets: npt.NDArray[np.integer], data: Bytes) -> Ints:
    """The hash of each text: O(bytes).

    Parameters
    ----------
    offsets
        Where each text starts in ``data``, and where the last one ends; shape (texts + 1,).
    data
        The texts in UTF-8, one after the other.
    """
    hashes: Ints = _loops(len(offsets)).of_texts(offsets, data)
    return hashes


def extended(ties: Ints, values: Ints) -> Ints:
    """The hashes of tuples of integers with one more integer each; O(tuples).

    Parameters
    ----------
    ties
        The hashes of the tuples before; `EMPTY` of the empty one.
    values
        The integer that each tuple takes in.
    """
    longer: Ints = _loops(len(ties)).extended(ties, values)
    return longer


def tie_order(ties: Ints) -> npt.NDArray[np.int32]:
    """Places by ascending tie, equal ones in their order: O(N log N).

    The upper bits of a tie and its place make one number, which NumPy sorts by vector
    instructions; the few neighbours whose upper bits agree are sorted again.
    """
    bits = np.uint64(len(ties).bit_length())
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
        some = np.sort(order[start:stop])
        order[start:stop] = some[np.argsort(ties[some], kind="stable")]
    return order
