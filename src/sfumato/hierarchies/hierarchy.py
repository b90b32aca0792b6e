"""A hierarchy in array form: levels, ancestors, lowest common ancestors and distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.core.arrays import Codes, Integers, Ints
from sfumato.core.errors import InputError

ROOT = "*"
"""The label above everything, where a hierarchy names none of its own."""
LEAST = 4
"""Fewest values of a block. Where n people have m values at random, and at least two of them, a
given one is one person's alone with probability n (m - 1)^(n - 1) / (m^n - m): for two people 1 of
two values, 2/3 of three, 1/2 of four, and less for more people of four."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Generalisations of a column's values in array form.

    Attributes
    ----------
    leaves
        The most detailed labels, aligned with the codes of the column's domain.
    labels
        The distinct labels of each level; ``labels[0]`` are the leaves and the last level has
        one label, the root. A label may occur at several levels (ragged hierarchies).
    ancestors
        Index into ``labels[level]`` of each leaf's ancestor, shape (levels, leaves). Leaves
        that share an ancestor share all ancestors above it.
    floor
        The lowest level that a class is shown at.
    """

    leaves: tuple[str, ...] = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    ancestors: Codes
    floor: int = 0

    @classmethod
    def from_columns(
        cls, columns: Sequence[Sequence[str]], subject: str, lines: Sequence[int] | None = None
    ) -> Hierarchy:
        """Build a hierarchy from one column of labels per level.

        A root ``*`` is added where the last column is not one single label. Rows that repeat a
        leaf with the same ancestors count once.

        Parameters
        ----------
        columns
            The labels of each level, most detailed first, all of one length; row ``i`` of every
            column speaks about one leaf.
        subject
            What an error is about: ``"hierarchy file age.csv"``.
        lines
            The line of the file that each row comes from, for errors; 1, 2, ... without it.
        """
        encoded = [_encode(column) for column in columns]
        # One leaf alone is no root: without a level above it could not be hidden.
        if len(encoded) == 1 or len(encoded[-1][0]) != 1:
            encoded.append(((ROOT,), np.zeros(len(columns[0]), dtype=np.int32)))
        for level in range(len(encoded) - 1):
            _check_nesting(encoded[level][1], encoded[level + 1][1], level, subject, lines)
        labels = tuple(names for names, _ in encoded)
        # Codes are by first appearance, so that leaves keep the order of the file.
        first = np.unique(encoded[0][1], return_index=True)[1]
        ancestors = np.stack([codes[first] for _, codes in encoded])
        return cls(labels[0], labels, ancestors)

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return len(self.labels) - 1

    @cached_property
    def positions(self) -> dict[str, int]:
        """The index of each leaf."""
        return {leaf: index for index, leaf in enumerate(self.leaves)}

    def label(self, level: int, index: int) -> str:
        """The label with this index at this level (0 for the leaves)."""
        return self.labels[level][index]

    def leaf_counts(self, level: int) -> Ints:
        """Number of leaves below each label of a level, shape (labels of the level,)."""
        counts = np.bincount(self.ancestors[level], minlength=len(self.labels[level]))
        return counts.astype(np.int64, copy=False)

    def is_below(self, leaf: str, label: str) -> bool:
        """Whether ``label`` is the leaf itself or its ancestor at any level."""
        position = self.positions.get(leaf)
        if position is None:
            return False
        return any(
            names[index] == label
            for names, index in zip(self.labels, self.ancestors[:, position], strict=True)
        )

    def lowest_common_ancestors(
        self, class_of: Integers, codes: Codes, classes: int
    ) -> tuple[Codes, Codes]:
        """The lowest ancestor that all values of a class share, for every class.

        None lies below the ``floor``.

        Every cell is compared, level by level, with one cell of its class; by nesting, the
        cells that still differ at a level are among those that differed below it.

        Parameters
        ----------
        class_of
            The class of each cell, shape (cells,).
        codes
            The leaf of each cell, shape (cells,); -1 (missing) is ignored.

        Returns
        -------
        tuple
            Per class the level and the index into ``labels[level]``, each of shape (classes,);
            level 0 and index -1 for a class without any value.
        """
        levels = np.zeros(classes, dtype=np.int32)
        one = np.full(classes, -1, dtype=np.int32)
        present = codes >= 0
        groups, leaves = (class_of, codes) if present.all() else (class_of[present], codes[present])
        # Any value of a class will do to compare the others with: the last one written stays.
        one[groups] = leaves
        for ancestors in self.ancestors:
            differs = ancestors[leaves] != ancestors[one[groups]]
            groups, leaves = groups[differs], leaves[differs]
            if not len(groups):
                break
            apart = np.zeros(classes, dtype=np.bool_)
            apart[groups] = True
            levels += apart
        # A class without any value shows nothing, and needs no floor.
        np.maximum(levels, np.where(one >= 0, self.floor, 0), out=levels, casting="unsafe")
        index = np.where(one >= 0, self.ancestors[levels, one], -1) if self.leaves else one
        return levels, index.astype(np.int32, copy=False)

    def restricted(self, labels: Sequence[str], subject: str) -> Hierarchy:
        """The hierarchy over these leaves only, in this order."""
        found = [self.positions.get(label, -1) for label in labels]
        missing = found.count(-1)
        if missing:
            raise InputError(
                subject,
                "must have a leaf for every value of the column",
                found=f"{missing} of {len(found)} distinct values without a leaf",
                advice="add a line for each of them, in the spelling of the data, "
                "or declare them as missing in the schema",
            )
        kept = self.ancestors[:, found] if found else self.ancestors[:, :0]
        names, ancestors = [], np.empty(kept.shape, dtype=np.int32)
        for level, codes in enumerate(kept):
            used, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
            rank = np.empty(len(used), dtype=np.int32)
            by_appearance = np.argsort(first)
            rank[by_appearance] = np.arange(len(used), dtype=np.int32)
            names.append(tuple(self.labels[level][index] for index in used[by_appearance]))
            ancestors[level] = rank[inverse]
        # A column without values has no labels left, but its root stays.
        names[-1] = self.labels[-1]
        return Hierarchy(names[0], tuple(names), ancestors)


def _encode(column: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """The distinct labels by first appearance, and each row's index into them."""
    index: dict[str, int] = {}
    codes = np.fromiter(
        (index.setdefault(label, len(index)) for label in column), dtype=np.int32, count=len(column)
    )
    return tuple(index), codes


def _check_nesting(
    codes: Codes, above: Codes, level: int, subject: str, lines: Sequence[int] | None
) -> None:
    """Refuse rows that share a label at ``level`` and differ at the level above it."""
    first = np.unique(codes, return_index=True)[1]
    broken = np.flatnonzero(above[first][codes] != above)
    if not len(broken):
        return
    pair = (int(first[codes[broken[0]]]), int(broken[0]))
    one, other = pair if lines is None else (lines[pair[0]], lines[pair[1]])
    shared = "name the same leaf" if level == 0 else f"agree in column {level + 1}"
    raise InputError(
        subject,
        "must be nested: rows that share a label share all labels to its right",
        found=f"lines {one} and {other}, which {shared} and differ in column {level + 2}",
        advice="give both lines the same labels there, or tell the shared label apart",
    )


def public_blocks(leaves: Sequence[str], groups: Hierarchy | None = None) -> Hierarchy:
    """Blocks of neighbours of at least `LEAST` values, halved from the root down.

    The order is that of the values, or of the groups of a hierarchy; a block ends where the largest
    group does, and of several such places at the one nearest its middle. Which values somebody has
    decides nothing. O(leaves x levels).
    """
    size = len(leaves)
    above = np.arange(size)[np.newaxis] if groups is None else groups.ancestors
    # By the top level first: leaves of a group lie side by side, those of its subgroups within.
    order = np.lexsort(above)
    # At how many levels neighbours differ: the more, the larger the groups that end there.
    apart = (above[:, order[1:]] != above[:, order[:-1]]).sum(axis=0)
    starts = [np.zeros(min(size, 1), dtype=np.int64)]
    while True:
        ends = np.append(starts[-1][1:], size)
        # Both halves need `LEAST` values.
        wide = np.flatnonzero(ends - starts[-1] >= 2 * LEAST)
        if not len(wide):
            break
        new = [
            _middle(apart, first, last)
            for first, last in zip(starts[-1][wide].tolist(), ends[wide].tolist(), strict=True)
        ]
        starts.append(np.union1d(starts[-1], new))
    ancestors = np.empty((len(starts) + 1, size), dtype=np.int32)
    ancestors[0] = np.arange(size)
    for level, begin in enumerate(reversed(starts), start=1):
        ancestors[level, order] = np.searchsorted(begin, np.arange(size), side="right") - 1
    names = [tuple(leaves[order[each]] for each in begin) for begin in starts[:0:-1]]
    return Hierarchy(tuple(leaves), (tuple(leaves), *names, (ROOT,)), ancestors)


def _middle(apart: Ints, first: int, last: int) -> int:
    """Where a block is cut: between its largest groups, as near its middle as that allows."""
    places = np.arange(first + LEAST, last - LEAST + 1)
    largest = places[apart[places - 1] == apart[places - 1].max()]
    # Doubled, the middle is a whole number, and of two places equally near the lower one is taken.
    return int(largest[np.argmin(np.abs(2 * largest - first - last))])


def generalised(hierarchy: Hierarchy, codes: Codes, levels: int | Integers) -> Codes:
    """The ancestor of each leaf at a level: its index into the labels of all levels.

    Those are the labels of level 0, then of level 1, and so on, as `all_labels` gives them, so
    that values at several levels have numbers of their own.

    Parameters
    ----------
    hierarchy, codes
        The hierarchy, and leaves of it, -1 for missing; shape (records,).
    levels
        One level for all, or one per record, shape (records,).

    Returns
    -------
    numpy.ndarray
        Shape (records,); -1 for a missing value below the root.
    """
    first = np.cumsum([0, *(len(labels) for labels in hierarchy.labels[:-1])])
    table = np.column_stack(
        [
            hierarchy.ancestors + first[:, np.newaxis].astype(np.int32),
            np.full(len(first), -1, dtype=np.int32),
        ]
    )
    # At the root a missing value is as hidden as any other.
    table[-1, -1] = first[-1]
    found: Codes
    if isinstance(levels, int):
        found = table[levels][codes]
    else:
        found = table.ravel()[levels.astype(np.int64) * table.shape[1] + codes % table.shape[1]]
    return found


def all_labels(hierarchy: Hierarchy) -> tuple[str, ...]:
    """The labels of all levels, the leaves first."""
    return tuple(label for labels in hierarchy.labels for label in labels)


def steps_raised(hierarchy: Hierarchy) -> Codes:
    """Steps from each leaf up to its ancestor at each level; shape (levels, leaves).

    The last row has the steps to the root. A level at which a branch repeats its label over the
    same leaves is no step: a code that stands alone below the root is one step away from it,
    however deep other branches are.
    """
    steps = np.zeros(hierarchy.ancestors.shape, dtype=np.int32)
    for level in range(1, len(steps)):
        above, below = hierarchy.ancestors[level], hierarchy.ancestors[level - 1]
        names = np.array(hierarchy.labels[level], dtype=object)
        under = np.array(hierarchy.labels[level - 1], dtype=object)
        same = (names[above] == under[below]).astype(np.bool_)
        # A label that gains leaves says less than before, although it reads the same.
        same &= hierarchy.leaf_counts(level)[above] == hierarchy.leaf_counts(level - 1)[below]
        steps[level] = steps[level - 1] + ~same
    return steps


def common_levels(hierarchy: Hierarchy, one: Codes, other: Codes) -> Codes:
    """The level of the lowest ancestor that each pair of leaves shares; shape (pairs,).

    It is 0 where both are the same leaf.
    """
    apart = hierarchy.ancestors[:, one] != hierarchy.ancestors[:, other]
    # By nesting two leaves differ at all levels below their common ancestor and at none above.
    levels: Codes = apart.sum(axis=0, dtype=np.int32)
    return levels


def distances(hierarchy: Hierarchy, one: Codes, other: Codes) -> Codes:
    """Steps between each pair of leaves, over their lowest common ancestor; shape (pairs,)."""
    level = common_levels(hierarchy, one, other)
    raised = steps_raised(hierarchy)
    apart: Codes = raised[level, one] + raised[level, other]
    return apart
