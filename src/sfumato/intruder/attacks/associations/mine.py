"""Associations X -> Y between the cells of an earlier release (002, Eq. 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.core.errors import InputError
from sfumato.intruder.attacks.associations.meaning import Meaning, within
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Item = tuple[int, int]
"""Number of a column, and of a cell of it in the earlier release."""

LONGEST = 2
"""Cells in an antecedent, at most, where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class Association:
    """Who shows the cells of X mostly shows the cell Y.

    Attributes
    ----------
    antecedent
        X: cells of different columns, by column.
    consequent
        Y: a cell of another column.
    support
        Share of the released units that show X.
    confidence
        Share of these that show Y too.
    """

    antecedent: tuple[Item, ...]
    consequent: Item
    support: float
    confidence: float


@dataclass(frozen=True, eq=False)
class _Sets:
    """Frequent combinations of cells, and which classes show them."""

    items: list[tuple[Item, ...]]
    shown: sparse.csc_array


def mine(
    file: ReleasedFile,
    meanings: Sequence[Meaning],
    *,
    support: float,
    confidence: float,
    longest: int = LONGEST,
) -> tuple[Association, ...]:
    """The associations X -> Y of a release with enough support and confidence, surest first.

    A class shows a cell if its own is the same or lies in it, so that each level that the release
    shows counts. Cells that hold all values of the register say nothing and are left out. With c
    cells of a column on average, the combinations of n columns take O(classes) for each that is
    frequent, and O(frequent x c) products for the associations.

    Parameters
    ----------
    file
        The earlier release.
    meanings
        What its cells hold, by column; cells are numbered as there.
    support
        Least share of units that show X, in [0, 1].
    confidence
        Least share of these that show Y, in [0, 1].
    longest
        Cells in X, at most.

    Raises
    ------
    InputError
        If a share is none.
    """
    for name, share in (("support", support), ("confidence", confidence)):
        if not 0 <= share <= 1:
            raise InputError(f"parameter {name}", "must be a share", accepted="0 to 1")
    units = _units_of_classes(file)
    single = _single(file, meanings, units, support)
    found: list[Association] = []
    now = _merged(single.values())
    for length in range(1, longest + 1):
        for column, sets in single.items():
            found.extend(_between(now, column, sets, units, confidence))
        if length < longest:
            now = _longer(now, single, units, support)
    return tuple(sorted(found, key=lambda one: (-one.confidence, -one.support, one.antecedent)))


def _units_of_classes(file: ReleasedFile) -> Floats:
    """Units that show each class; one that shows several counts for each."""
    pairs = np.unique(np.column_stack([file.class_of, file.unit]), axis=0)
    return np.bincount(pairs[:, 0], minlength=file.classes).astype(np.float64)


def _single(
    file: ReleasedFile, meanings: Sequence[Meaning], units: Floats, support: float
) -> dict[int, _Sets]:
    """The cells of each column that enough units show and that say something."""
    by_name = {column.name: column for column in file.quasi_identifiers}
    found = {}
    for number, meaning in enumerate(meanings):
        if meaning.name not in by_name:
            continue
        own = by_name[meaning.name].codes[file.first_row]
        shows = within(meaning.earlier, meaning.earlier)[own]
        says = (meaning.earlier.sum(axis=1) < len(meaning.texts)) & meaning.earlier.any(axis=1)
        kept = np.flatnonzero(_often(units @ shows, units, support) & says)
        found[number] = _Sets(
            [((number, int(cell)),) for cell in kept], sparse.csc_array(shows[:, kept])
        )
    return found


def _between(
    left: _Sets, column: int, right: _Sets, units: Floats, confidence: float
) -> Iterator[Association]:
    """The associations from combinations to the cells of a column that they do not have."""
    free = [
        place for place, items in enumerate(left.items) if all(item[0] != column for item in items)
    ]
    if not free or not right.items:
        return
    weighted = sparse.csr_array(left.shown[:, free].T.astype(np.float64) * units)
    shown = np.asarray(weighted.sum(axis=1)).reshape(-1)
    both = (weighted @ right.shown.astype(np.float64)).tocoo()
    sure = both.data >= confidence * shown[both.coords[0]] * (1 - 1e-12)
    for row, place, count in zip(
        both.coords[0][sure].tolist(),
        both.coords[1][sure].tolist(),
        both.data[sure].tolist(),
        strict=True,
    ):
        yield Association(
            antecedent=left.items[free[row]],
            consequent=right.items[place][0],
            support=float(shown[row] / units.sum()),
            confidence=float(count / shown[row]),
        )


def _longer(left: _Sets, single: dict[int, _Sets], units: Floats, support: float) -> _Sets:
    """The frequent combinations with one more cell, of a later column."""
    found = []
    for column, right in single.items():
        before = [place for place, items in enumerate(left.items) if items[-1][0] < column]
        if not before or not right.items:
            continue
        one = left.shown[:, before].astype(np.float64)
        both = ((one.T * units) @ right.shown.astype(np.float64)).tocoo()
        often = _often(both.data, units, support)
        rows, places = both.coords[0][often], both.coords[1][often]
        shown = one[:, rows].multiply(right.shown[:, places].astype(np.float64))
        items = [
            left.items[before[row]] + right.items[place]
            for row, place in zip(rows.tolist(), places.tolist(), strict=True)
        ]
        found.append(_Sets(items, sparse.csc_array(shown).astype(np.bool_)))
    return _merged(found)


def _often(counts: Floats, units: Floats, support: float) -> npt.NDArray[np.bool_]:
    often: npt.NDArray[np.bool_] = (counts > 0) & (counts >= support * units.sum() * (1 - 1e-12))
    return often


def _merged(parts: Iterable[_Sets]) -> _Sets:
    some = [each for each in parts if each.items]
    if not some:
        return _Sets([], sparse.csc_array((0, 0), dtype=np.bool_))
    shown = sparse.csc_array(sparse.hstack([each.shown for each in some], format="csc"))
    return _Sets(list(chain.from_iterable(each.items for each in some)), shown)
