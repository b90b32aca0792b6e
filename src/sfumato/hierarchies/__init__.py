"""Hierarchies of a column's values, and the released values that they give."""

from sfumato.hierarchies.build import build_hierarchy, leaf_order
from sfumato.hierarchies.contains import contains
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy
from sfumato.hierarchies.intervals import interval_hierarchy
from sfumato.hierarchies.leaves_csv import read_leaves_csv
from sfumato.hierarchies.prefixes import prefix_hierarchy
from sfumato.hierarchies.values import (
    Anything,
    AtLeast,
    AtMost,
    Exact,
    Missing,
    OneOf,
    Range,
    Released,
    format_released,
    parse_released,
)

__all__ = [
    "ROOT",
    "Anything",
    "AtLeast",
    "AtMost",
    "Exact",
    "Hierarchy",
    "Missing",
    "OneOf",
    "Range",
    "Released",
    "build_hierarchy",
    "contains",
    "format_released",
    "interval_hierarchy",
    "leaf_order",
    "parse_released",
    "prefix_hierarchy",
    "read_leaves_csv",
]
