"""Candidates by distance, where a release shows means in place of ranges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from sfumato.intruder.knowledge.knowledge import KnownColumn
from sfumato.intruder.knowledge.numbers import measure_of, number_of
from sfumato.intruder.reading.cell import Anything, Exact, Missing
from sfumato.intruder.reading.released_file import ReadColumn

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def shows_means(shown: ReadColumn, known: KnownColumn) -> bool:
    """Whether a column shows single numbers with more decimals than any value that is known.

    Means of dates are rounded to dates and cannot be told from dates.

    Parameters
    ----------
    shown
        The quasi-identifier in the release.
    known
        The same one in the register.
    """
    if not np.isfinite(known.numbers).any():
        return False
    if not all(isinstance(cell, (Exact, Anything, Missing)) for cell in shown.cells):
        return False
    texts = [cell.text for cell in shown.cells if isinstance(cell, Exact)]
    return _decimals(texts) > _decimals([text for text in known.texts if text is not None])


def _decimals(texts: Sequence[str]) -> int:
    """The most decimal places of the numbers among texts, without zeros at their end."""
    numbers = (text for text in texts if "." in text and number_of(text) is not None)
    return max((len(text.partition(".")[2].rstrip("0")) for text in numbers), default=0)


def positions(
    pairs: Sequence[tuple[ReadColumn, KnownColumn]], class_rows: Ints, tuple_rows: Ints
) -> tuple[Floats, Floats]:
    """Where classes and combinations of known values lie, in standard deviations.

    What one side does not say is taken to be the average.

    Parameters
    ----------
    pairs
        The columns that show means, each with the same one of the register.
    class_rows
        A record of each class.
    tuple_rows
        A row of the register for each combination of known values.

    Returns
    -------
    tuple
        Of shapes (classes, columns) and (combinations, columns).
    """
    classes, tuples = [], []
    for column, values in pairs:
        numbers = values.numbers[values.codes[tuple_rows]]
        middle, spread = float(np.nanmean(numbers)), float(np.nanstd(numbers)) or 1.0
        means = [measure_of(c.text) if isinstance(c, Exact) else None for c in column.cells]
        shift = np.array([middle if mean is None else mean for mean in means])
        classes.append((shift[column.codes[class_rows]] - middle) / spread)
        tuples.append(np.nan_to_num(numbers - middle) / spread)
    return np.stack(classes, axis=1), np.stack(tuples, axis=1)


def nearest(
    block: Ints, fits_block: sparse.csr_array, classes: Floats, groups: Floats, units: Ints
) -> sparse.csr_array:
    """Which classes and groups of persons are near each other, shape (classes, groups).

    A group fits the class that is nearest to it, and a class the groups that are nearest to it,
    as many as it has units; both among those that the other columns allow. O(blocks x groups x
    log classes).

    Parameters
    ----------
    block
        The combination of cells in the other columns of each class, shape (classes,).
    fits_block
        Which groups these combinations allow, shape (blocks, groups).
    classes, groups
        Their positions.
    units
        Released units of each class, shape (classes,).
    """
    best = np.full(len(groups), np.inf)
    winner = np.full(len(groups), -1, dtype=np.int64)
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    by_block = np.split(np.argsort(block, kind="stable"), np.cumsum(np.bincount(block))[:-1])
    for number, members in enumerate(by_block):
        start, stop = fits_block.indptr[number], fits_block.indptr[number + 1]
        allowed = fits_block.indices[start:stop].astype(np.int64)
        if not len(allowed):
            continue
        distance, place = cKDTree(classes[members]).query(groups[allowed])
        closer = distance < best[allowed]
        best[allowed[closer]] = distance[closer]
        winner[allowed[closer]] = members[place[closer]]
        tree = cKDTree(groups[allowed])
        for count in np.unique(units[members]).tolist():
            these = members[units[members] == count]
            ranks = range(1, 1 + min(count, len(allowed)))
            near = np.asarray(tree.query(classes[these], k=ranks)[1])
            rows.append(np.repeat(these, near.shape[1]))
            columns.append(allowed[near.reshape(-1)])
    some = np.flatnonzero(winner >= 0)
    places = (np.concatenate([*rows, winner[some]]), np.concatenate([*columns, some]))
    shape = (len(classes), len(groups))
    found = sparse.csr_array((np.ones(len(places[0]), np.int32), places), shape=shape)
    found.sum_duplicates()
    found.sort_indices()
    return found.astype(np.bool_)
