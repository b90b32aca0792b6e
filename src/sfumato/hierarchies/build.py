"""Build the hierarchy that a schema asks for, over the values of a column."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sfumato.hierarchies.classification_csv import is_classification, read_classification
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.intervals import interval_hierarchy
from sfumato.hierarchies.leaves_csv import read_leaves_csv
from sfumato.hierarchies.prefixes import prefix_hierarchy
from sfumato.hierarchies.skos_read import read_skos
from sfumato.schema import IntervalHierarchy, PrefixHierarchy
from sfumato.schema.model import HierarchySpec

TURTLE = (".ttl", ".turtle")
"""How the names of files in Turtle end."""


def build_hierarchy(spec: HierarchySpec, labels: Sequence[str], column: str) -> Hierarchy:
    """Make the hierarchy over exactly these values, in this order.

    Parameters
    ----------
    spec
        A file (see `read_hierarchy`), prefixes of codes, or intervals.
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
    return read_hierarchy(spec).restricted(labels, subject)


def read_hierarchy(path: str | os.PathLike[str]) -> Hierarchy:
    """Read a hierarchy's file by what it is.

    Parameters
    ----------
    path
        SKOS in Turtle (``.ttl``, ``.turtle``), a classification (a CSV with its header), or a
        one-row-per-leaf CSV.

    Raises
    ------
    InputError
        If the file cannot be read or breaks a rule.
    """
    file = Path(path)
    if file.suffix.lower() in TURTLE:
        return read_skos(file).hierarchy
    if is_classification(_first_line(file)):
        return read_classification(file).hierarchy
    return read_leaves_csv(file)


def _first_line(path: Path) -> str:
    """The first line; empty where the file cannot be read, which its reader will say."""
    try:
        with path.open("rb") as stream:
            return stream.readline(1000).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""


def leaf_order(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The leaves of a hierarchy's file in the file's order, lowest first.

    Parameters
    ----------
    path
        The file; see `read_hierarchy`.

    Raises
    ------
    InputError
        If the file cannot be read or breaks a rule.
    """
    return read_hierarchy(path).leaves
