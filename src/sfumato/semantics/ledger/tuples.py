"""The distinct generalised tuples of a release, as they were shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations.shown import Shown

Ints = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


class Value(NamedTuple):
    """A value as it was shown: the level of its hierarchy, and the label."""

    level: int
    label: str


@dataclass(frozen=True, eq=False)
class Tuples:
    """Distinct generalised tuples and how many individuals each stands for.

    They hold labels, not leaf codes: nothing below what was shown, and still readable when the
    code list has changed.

    Attributes
    ----------
    attributes
        Names of the columns.
    values
        The distinct values that each attribute shows.
    codes
        Index into the attribute's values, -1 for missing, shape (tuples, attributes).
    counts
        Individuals of each tuple, shape (tuples,).

    Raises
    ------
    InputError
        If the arrays do not fit together.
    """

    attributes: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    codes: Ints
    counts: Counts

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        whole = len(self.values) == len(self.attributes)
        whole = whole and self.codes.shape == (len(self.counts), len(self.attributes))
        if not whole or len(set(self.attributes)) < len(self.attributes):
            raise InputError(
                "the tuples of a release",
                "must have a code per attribute, and a count per tuple",
                found="arrays of other shapes, or an attribute twice",
            )
        for name, values, column in zip(self.attributes, self.values, self.codes.T, strict=True):
            if len(column) and not (column.min() >= -1 and column.max() < len(values)):
                raise InputError(
                    f"column '{name}'", "must have a value for each code", found="a code without"
                )

    def __len__(self) -> int:
        """Number of distinct tuples."""
        return len(self.counts)

    def shown(self, hierarchies: Mapping[str, Hierarchy]) -> Shown:
        """The tuples as leaf codes and levels, for the search for associations.

        The leaf is the first one below the label in the hierarchy: it stands for the label and
        says nothing about a person.

        Parameters
        ----------
        hierarchies
            The hierarchy of each attribute by its name, as it is now.

        Raises
        ------
        InputError
            If an attribute has no hierarchy, or a hierarchy lacks a label at its level.
        """
        codes = np.full(self.codes.shape, -1, dtype=np.int32)
        levels = np.zeros(self.codes.shape, dtype=np.int8)
        for place, name in enumerate(self.attributes):
            if name not in hierarchies:
                raise InputError(f"column '{name}'", "must have a hierarchy", found="none")
            column = self.codes[:, place]
            there = column >= 0
            leaves = _first_leaves(hierarchies[name], self.values[place], name)
            codes[there, place] = leaves[column[there]]
            above = np.array([value.level for value in self.values[place]], dtype=np.int8)
            levels[there, place] = above[column[there]]
        kept = {name: hierarchies[name] for name in self.attributes}
        return Shown(kept, codes, levels, self.counts)


def shown_tuples(
    hierarchies: Mapping[str, Hierarchy],
    codes: Ints,
    levels: npt.NDArray[np.integer[Any]],
    *,
    persons: npt.NDArray[np.integer[Any]] | None = None,
    counts: Counts | None = None,
) -> tuple[Tuples, Ints]:
    """Count the individuals of each distinct generalised tuple.

    Parameters
    ----------
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    codes, levels
        Leaf codes (-1 for missing, which the root shows as itself) and levels, shape (rows,
        attributes).
    persons
        The person of each row, shape (rows,); a person counts once for each tuple. Without it
        every row is an individual.
    counts
        Individuals of each row, in the place of `persons`, where rows are tuples already.

    Returns
    -------
    tuple
        The tuples, in the order of their values, and the tuple of each row, shape (rows,).
    """
    shown, values = [], []
    for place, hierarchy in enumerate(hierarchies.values()):
        column, distinct = _shown(hierarchy, codes[:, place], levels[:, place])
        shown.append(column)
        values.append(distinct)
    tuple_of, first = _distinct(shown, [len(each) for each in values], len(codes))
    table = np.stack([column[first] for column in shown], axis=1).astype(np.int32)
    sizes = _individuals(tuple_of, len(first), persons, counts)
    return Tuples(tuple(hierarchies), tuple(values), table, sizes), tuple_of.astype(np.int32)


def _shown(
    hierarchy: Hierarchy, codes: Ints, levels: npt.NDArray[np.integer[Any]]
) -> tuple[npt.NDArray[np.int64], tuple[Value, ...]]:
    """Index of the value that each cell shows, -1 for missing, and the distinct values."""
    widest = max(map(len, hierarchy.labels), default=1)
    above = levels.astype(np.int64)
    root = above == hierarchy.height
    there = (codes >= 0) & ~root
    keys = np.where(root, hierarchy.height * widest, -1)
    keys[there] = above[there] * widest + hierarchy.ancestors[above[there], codes[there]]
    distinct, index = np.unique(keys, return_inverse=True)
    missing = int(len(distinct) > 0 and distinct[0] < 0)
    values = tuple(
        Value(int(key // widest), hierarchy.labels[key // widest][key % widest])
        for key in distinct[missing:]
    )
    return index.astype(np.int64) - missing, values


def _distinct(
    columns: Sequence[npt.NDArray[np.int64]], sizes: Sequence[int], rows: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Number of each row's distinct combination, and the first row of each combination."""
    keys = np.zeros(rows, dtype=np.int64)
    first = np.zeros(min(rows, 1), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        _, first, keys = np.unique(
            keys * (size + 1) + column + 1, return_index=True, return_inverse=True
        )
    return keys, first


def _individuals(
    tuple_of: npt.NDArray[np.int64],
    tuples: int,
    persons: npt.NDArray[np.integer[Any]] | None,
    counts: Counts | None,
) -> Counts:
    if counts is not None:
        sizes = np.zeros(tuples, dtype=np.int64)
        np.add.at(sizes, tuple_of, counts)
        return sizes
    if persons is not None:
        _, people = np.unique(persons, return_inverse=True)
        pairs = np.unique(tuple_of * (int(people.max(initial=0)) + 1) + people)
        tuple_of = pairs // (int(people.max(initial=0)) + 1)
    return np.bincount(tuple_of, minlength=tuples).astype(np.int64)


def _first_leaves(hierarchy: Hierarchy, values: Sequence[Value], attribute: str) -> Ints:
    """The first leaf below each value."""
    below: dict[int, tuple[dict[str, int], Ints]] = {}
    for level in {value.level for value in values if value.level <= hierarchy.height}:
        names = {label: index for index, label in enumerate(hierarchy.labels[level])}
        used, first = np.unique(hierarchy.ancestors[level], return_index=True)
        leaves = np.full(len(hierarchy.labels[level]), -1, dtype=np.int32)
        leaves[used] = first
        below[level] = names, leaves
    found = np.full(len(values), -1, dtype=np.int32)
    for place, (level, label) in enumerate(values):
        names, leaves = below.get(level, ({}, found))
        if label in names:
            found[place] = leaves[names[label]]
    lacking = int((found < 0).sum())
    if lacking:
        raise InputError(
            f"hierarchy of column '{attribute}'",
            "must have every label that an earlier release showed, at its level",
            found=f"{lacking} of {len(found)} labels missing",
            advice="add the codes that were withdrawn, or read that release with its own list",
        )
    return found
