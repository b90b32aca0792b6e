"""Which values of the domain each class's released cell may stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.release.options import Form
from sfumato.release.released import ReleasedColumn, Spread, held_of
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct cells of a released column, each as runs of values.

    The values are put in an order in which a cell is one run, or for sets a few: their own for
    ranges, that of the hierarchy for its labels.

    Attributes
    ----------
    of_class
        Index of each class's cell; shape (classes,).
    order
        The codes of the domain in the order of the runs; shape (domain size,).
    first_run
        Where the runs of each cell begin; shape (cells,). A cell has at least one run.
    start, stop
        Half-open ends of the runs, as places in ``order``; shape (runs,).
    """

    of_class: Ints
    order: Ints
    first_run: Ints
    start: Ints
    stop: Ints

    @property
    def leaves(self) -> Ints:
        """Number of values that each cell may stand for; 0 for a missing value."""
        return np.add.reduceat(self.stop - self.start, self.first_run)

    def shares(self, values: Floats) -> Floats:
        """Share of each cell's values that lie in each of several sets.

        Parameters
        ----------
        values
            1 where a code belongs to a set, else 0; shape (domain size, sets).

        Returns
        -------
        array
            Shape (cells, sets); 0 for a missing value.
        """
        before = np.zeros((len(self.order) + 1, values.shape[1]))
        np.cumsum(values[self.order], axis=0, out=before[1:])
        inside = before[self.stop] - before[self.start]
        if len(self.first_run) < len(self.start):
            runs = len(self.start)
            ends = np.append(self.first_run, runs)
            one = sparse.csr_array((np.ones(runs), np.arange(runs), ends), (len(ends) - 1, runs))
            inside = one @ inside
        return inside / np.maximum(self.leaves, 1)[:, None]

    @property
    def are_ranges(self) -> bool:
        """Whether each cell is one run of codes in their own order."""
        one_each = len(self.first_run) == len(self.start)
        return one_each and np.array_equal(self.order, np.arange(len(self.order)))

    def overlaps(self, low: Ints, high: Ints) -> Floats:
        """As `shares`, of sets that are all codes from ``low`` to ``high``, where `are_ranges`.

        Parameters
        ----------
        low, high
            Ends of each set; shape (sets,).
        """
        inside = np.minimum(self.stop[:, None], high + 1) - np.maximum(self.start[:, None], low)
        shares: Floats = np.maximum(inside, 0) / np.maximum(self.leaves, 1)[:, None]
        return shares

    def spread_evenly(self, mass: Ints) -> tuple[Floats, float]:
        """Spread what each class weighs evenly over the values of its cell.

        Parameters
        ----------
        mass
            Weight of each class; shape (classes,).

        Returns
        -------
        tuple
            Mass of each code, shape (domain size,), and the mass of missing values.
        """
        leaves = self.leaves
        cell_mass = np.bincount(self.of_class, weights=mass, minlength=len(leaves))
        runs = np.diff(np.append(self.first_run, len(self.start)))
        density = np.repeat(cell_mass / np.maximum(leaves, 1), runs)
        size = len(self.order)
        single = self.stop - self.start == 1
        wide = self.stop - self.start > 1
        change = np.zeros(size + 1)
        np.add.at(change, self.start[wide], density[wide])
        np.subtract.at(change, self.stop[wide], density[wide])
        placed = np.maximum(np.cumsum(change[:size]), 0.0)
        np.add.at(placed, self.start[single], density[single])
        by_code = np.empty(size)
        by_code[self.order] = placed
        return by_code, float(cell_mass[leaves == 0].sum())


def released_cells(
    column: CodedColumn, class_of: Codes, classes: int, form: Form, printed: ReleasedColumn
) -> Cells:
    """The cells that `sfumato.release.released.release_column` gives the classes.

    A range stands for all values between its ends (as do two bounds, and a mean, whose reader
    may know the ends), a set for its members, a hierarchy's label for the leaves under it,
    ``*`` for the domain.

    Parameters
    ----------
    column
        The quasi-identifier of the kept records.
    class_of
        Class of each kept record; shape (records,).
    classes
        Number of classes.
    form
        The form in which the values were released.
    printed
        The released column, which says for sets which classes have the same one.
    """
    held = held_of(column, class_of, classes)
    size = column.domain.size
    categorical = column.kind is Kind.CATEGORICAL
    if form is Form.SET and column.ends is None:
        return _sets(column, class_of, held, printed.text_of_class)
    if column.hierarchy is not None and (categorical or form is Form.HIERARCHY):
        return _under_ancestors(column, class_of, held)
    start, stop = held.lowest.astype(np.int64), held.highest.astype(np.int64) + 1
    if categorical:
        several = stop - start > 1
        start, stop = np.where(several, 0, start), np.where(several, size, stop)
    return _one_run_each(np.arange(size), start, stop, held)


def _one_run_each(order: Ints, start: Ints, stop: Ints, held: Spread) -> Cells:
    """Number the distinct runs; a mixed class may be anything, a missing value is nothing."""
    size = len(order)
    none = held.present == 0
    start = np.where(held.mixed | none, 0, start)
    stop = np.where(held.mixed, size, np.where(none, 0, stop))
    distinct, of_class = np.unique(start * (size + 1) + stop, return_inverse=True)
    return Cells(
        of_class.astype(np.int64),
        order,
        np.arange(len(distinct)),
        distinct // (size + 1),
        distinct % (size + 1),
    )


def _under_ancestors(column: CodedColumn, class_of: Codes, held: Spread) -> Cells:
    """Sorted from the root down, the leaves under every label are neighbours."""
    hierarchy = column.hierarchy
    assert hierarchy is not None
    levels, indices = hierarchy.lowest_common_ancestors(class_of, column.codes, len(held.present))
    order = np.lexsort(hierarchy.ancestors).astype(np.int64)
    start = np.zeros(len(levels), dtype=np.int64)
    stop = np.zeros(len(levels), dtype=np.int64)
    for level, above in enumerate(hierarchy.ancestors):
        here = (levels == level) & (held.present > 0)
        first = np.zeros(len(hierarchy.labels[level]), dtype=np.int64)
        first[above[order[::-1]]] = np.arange(len(order))[::-1]
        start[here] = first[indices[here]]
        stop[here] = start[here] + hierarchy.leaf_counts(level)[indices[here]]
    return _one_run_each(order, start, stop, held)


def _sets(column: CodedColumn, class_of: Codes, held: Spread, text_of_class: Codes) -> Cells:
    """A run for every member, read from one class of each set; one for ``*`` or missing."""
    size = column.domain.size
    _, example, of_class = np.unique(text_of_class, return_index=True, return_inverse=True)
    cell_of = np.full(len(text_of_class), -1)
    cell_of[example] = np.arange(len(example))
    mixed = held.mixed[example]
    owner = cell_of[class_of]
    listed = (column.codes != MISSING) & (owner >= 0) & ~mixed[owner]
    pairs = np.unique(owner[listed] * size + column.codes[listed])
    other = np.flatnonzero(mixed | (held.present[example] == 0))
    owner = np.concatenate([pairs // max(size, 1), other])
    start = np.concatenate([pairs % max(size, 1), np.zeros_like(other)])
    stop = np.concatenate([pairs % max(size, 1) + 1, np.where(mixed[other], size, 0)])
    by_cell = np.argsort(owner, kind="stable")
    runs = np.bincount(owner, minlength=len(example))
    return Cells(
        of_class.astype(np.int64),
        np.arange(size),
        np.cumsum(runs) - runs,
        start[by_cell],
        stop[by_cell],
    )
