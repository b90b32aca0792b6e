"""The worked example of Kartal and Li 2020: Sections 2, 4 and 5, Table 3b and Figure 2."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class FirstCut(NamedTuple):
    """One attribute's numbers for the first cut (Sections 4 and 5)."""

    g_change: float
    variance: float
    ratio: float


FIRST_CUT = MappingProxyType(
    {
        "age": FirstCut(0.1707, 0.1202, 1.420),
        "gender": FirstCut(0.1252, 0.1662, 0.753),
        "zip": FirstCut(0.1802, 0.1959, 0.920),
    }
)

NODES = MappingProxyType(
    {
        "D": (0.82, 0.375),
        "t1": (0.5, 0.5),
        "t2": (0.747, 0.5),
        "t21": (0.5, 0.5),
        "t22": (0.72, 0.5),
    }
)
"""g and h of the nodes of Figure 2, as Sections 4 and 5 print them."""

TABLE_3B_GROUPS = (
    ("Ashley", "Bob"),
    ("Charlie",),
    ("Diana", "Edward"),
    ("Fred", "Greg", "Harry"),
)
"""The patients of the four QI-groups of Table 3b."""
TABLE_3B_GIDR = (None, 1.0, 0.5, 5 / 7)
"""Section 2 and Section 3: 100 % for Charlie, 2/4 for Diana and Edward, 5/7 for Harry."""
TABLE_3B_H = (None, 1.0, 1.0, 0.667)
"""Section 2: one patient has both diseases; both have gastritis; 66.7 % have ulcers."""
