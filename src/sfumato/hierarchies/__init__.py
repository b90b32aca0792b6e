"""Hierarchies of a column's values, and the released values that they give."""

from sfumato.hierarchies.build import build_hierarchy, leaf_order, read_hierarchy
from sfumato.hierarchies.classification_csv import read_classification
from sfumato.hierarchies.code_list import CodeList
from sfumato.hierarchies.contains import contains
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy
from sfumato.hierarchies.intervals import interval_hierarchy
from sfumato.hierarchies.leaves_csv import read_leaves_csv
from sfumato.hierarchies.prefixes import prefix_hierarchy
from sfumato.hierarchies.skos_read import read_skos
from sfumato.hierarchies.skos_write import write_skos
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
    "CodeList",
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
    "read_classification",
    "read_hierarchy",
    "read_leaves_csv",
    "read_skos",
    "write_skos",
]
