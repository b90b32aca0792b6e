"""Hierarchies of a column's values, and the released values that they give."""

from sfumato.hierarchies.builders import (
    build_hierarchy,
    interval_hierarchy,
    leaf_order,
    prefix_hierarchy,
    read_hierarchy,
)
from sfumato.hierarchies.code_lists import CodeList, read_classification, read_leaves_csv
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy, public_blocks
from sfumato.hierarchies.released_values import (
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
from sfumato.hierarchies.skos import read_skos, write_skos

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
    "format_released",
    "interval_hierarchy",
    "leaf_order",
    "parse_released",
    "prefix_hierarchy",
    "public_blocks",
    "read_classification",
    "read_hierarchy",
    "read_leaves_csv",
    "read_skos",
    "write_skos",
]
