"""Hold every class against every combination of known values, 64 combinations at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.core.errors import InputError
from sfumato.intruder.candidates.fitting import ValuesOf
from sfumato.intruder.knowledge.knowledge import KnownColumn
from sfumato.intruder.reading.released_file import ReadColumn

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
WORD = 64
MOST_WORDS = 1 << 24
"""Words of bit sets that are kept for a column, 128 MB."""
MOST_PAIRS = 50_000_000
"""Pairs of a class and a combination that fit, at most: the attacks take some 100 bytes of each."""
SHARED = 4
"""Classes that share a cell, on average, in a column that is held against all combinations."""


def cross(
    pairs: Sequence[tuple[ReadColumn, KnownColumn]], class_rows: Ints, tuple_rows: Ints
) -> sparse.csr_array:
    """Which combinations of known values fit which class, shape (classes, combinations).

    Every cell has the set of the combinations that it allows, as bits; the classes are gone
    through in the order of their cells, so that classes that share cells share the
    intersections. Columns in which hardly any class shares its cell with another come last and
    are looked up for what is left. O(classes x combinations / 64) beside O(shared cells x
    combinations) for the sets, and the pairs that are left.

    Parameters
    ----------
    pairs
        The quasi-identifiers of the release, each with the same one of the register.
    class_rows
        A record of each class.
    tuple_rows
        A row of the register for each combination of known values.

    Raises
    ------
    InputError
        If more than `MOST_PAIRS` fit, as where most values are unknown.
    """
    often, rarely = _by_sharing(pairs, tuple_rows, len(class_rows))
    cells = np.zeros((len(often) + len(rarely), len(class_rows)), dtype=np.int64)
    for place, column in enumerate(often + rarely):
        cells[place] = column.codes[class_rows]
    sequence = np.lexsort(cells[: len(often)][::-1]) if often else np.arange(len(class_rows))
    stack: list[Words] = [_packed(np.ones(len(tuple_rows), dtype=np.bool_))]
    before: list[int] = []
    found: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)] * len(class_rows)
    fitting = 0
    for number, codes in zip(sequence.tolist(), cells.T[sequence].tolist(), strict=True):
        shared = _shared(before, codes[: len(often)])
        del stack[shared + 1 :]
        for place in range(shared, len(often)):
            stack.append(stack[-1] & often[place].bits(codes[place]))
        before = codes[: len(often)]
        left = _places(stack[-1])
        for column, cell in zip(rarely, codes[len(often) :], strict=True):
            left = left[column.allows(cell, left)]
        found[number] = left
        fitting += len(left)
        if fitting > MOST_PAIRS:
            raise _too_many()
    lengths = np.array([len(each) for each in found], dtype=np.int64)
    places = np.concatenate([*found, np.empty(0, np.int32)])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    shape = (len(class_rows), len(tuple_rows))
    return sparse.csr_array((np.ones(len(places), np.bool_), places, starts), shape=shape)


def _too_many() -> InputError:
    return InputError(
        "what the intruder knows",
        "must tell persons apart",
        found=f"more than {MOST_PAIRS:,} pairs of a class and somebody who fits it",
        advice="let more be known (knows, missing), or run only the attack probabilistic",
    )


def _shared(one: list[int], other: list[int]) -> int:
    """How many codes two classes share from the first on."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


class _Column:
    """A quasi-identifier on both sides.

    ``bits`` and ``allows`` say which combinations a cell allows: all of them as bits that are
    kept for the next class, or those at some places.
    """

    def __init__(self, shown: ReadColumn, known: KnownColumn, tuple_rows: Ints) -> None:
        self.cells = shown.cells
        self.codes = shown.codes
        self._values = ValuesOf(known)
        self._known = known.codes[tuple_rows]
        self._kept: dict[int, Words] = {}
        self._most = max(1, MOST_WORDS // (len(tuple_rows) // WORD + 1))

    def bits(self, cell: int) -> Words:
        words = self._kept.get(cell)
        if words is None:
            words = _packed(self._values.allowed(self.cells[cell])[self._known])
            if len(self._kept) >= self._most:
                self._kept.pop(next(iter(self._kept)))
            self._kept[cell] = words
        return words

    def allows(self, cell: int, places: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        return self._values.allowed(self.cells[cell], self._known[places])


def _by_sharing(
    pairs: Sequence[tuple[ReadColumn, KnownColumn]], tuple_rows: Ints, classes: int
) -> tuple[list[_Column], list[_Column]]:
    """The columns whose cells many classes share, and the others; fewest cells first."""
    columns = [_Column(*pair, tuple_rows) for pair in pairs]
    columns.sort(key=lambda column: len(column.cells))
    often = [column for column in columns if len(column.cells) * SHARED <= classes]
    return often, columns[len(often) :]


def _packed(flags: npt.NDArray[np.bool_]) -> Words:
    padded = np.zeros(-(-len(flags) // WORD) * WORD, dtype=np.bool_)
    padded[: len(flags)] = flags
    return np.packbits(padded, bitorder="little").view(np.dtype("<u8"))


def _places(words: Words) -> npt.NDArray[np.int32]:
    """The places of the bits that are set, ascending."""
    used = np.flatnonzero(words)
    bits = np.unpackbits(words[used].view(np.uint8), bitorder="little")
    at = np.flatnonzero(bits)
    return (used[at // WORD] * WORD + at % WORD).astype(np.int32)
