"""Build the hierarchy that a schema asks for, over the values of a column."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.intervals import interval_hierarchy
from sfumato.hierarchies.leaves_csv import read_leaves_csv
from sfumato.hierarchies.prefixes import prefix_hierarchy
from sfumato.schema import IntervalHierarchy, PrefixHierarchy
from sfumato.schema.model import HierarchySpec


def build_hierarchy(spec: HierarchySpec, labels: Sequence[str], column: str) -> Hierarchy:
    """Make the hierarchy over exactly these values, in this order.

    Parameters
    ----------
    spec
        A one-row-per-leaf CSV, prefixes of codes, or intervals.
    labels
        The distinct values of the column, in the order of its domain.
    column
        The column's name, for errors.

    Raises
    ------
    InputError
        If the file cannot be read or breaks a rule, if the specification does, or if a value
        has no leaf.
    """
    if isinstance(spec, PrefixHierarchy):
        return prefix_hierarchy(spec, labels, column)
    if isinstance(spec, IntervalHierarchy):
        return interval_hierarchy(spec, labels, column)
    subject = f"hierarchy of column '{column}' (file {Path(spec).name})"
    return read_leaves_csv(spec).restricted(labels, subject)


def leaf_order(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The leaves of a one-row-per-leaf CSV in the file's order, lowest first.

    Parameters
    ----------
    path
        The file, in UTF-8.

    Raises
    ------
    InputError
        If the file cannot be read or breaks a rule.
    """
    return read_leaves_csv(path).leaves
