"""The numbers that Kartal and Li 2020 (paper 003) print."""

from __future__ import annotations

from collections.abc import Mapping
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


class Risks(NamedTuple):
    """MaxGIDR and AvgGIDR of one threshold, in percent."""

    max_gidr: float
    avg_gidr: float


TABLE_7_K: Mapping[float, Risks] = MappingProxyType(
    {
        2: Risks(100.00, 88.55),
        3: Risks(100.00, 82.07),
        5: Risks(100.00, 70.63),
        7: Risks(100.00, 62.57),
        10: Risks(100.00, 53.28),
        20: Risks(100.00, 36.63),
        50: Risks(76.67, 20.75),
    }
)
"""Table 7a: k-anonymity."""
TABLE_7_PID_K: Mapping[float, Risks] = MappingProxyType(
    {
        2: Risks(96.67, 59.26),
        3: Risks(94.29, 46.48),
        5: Risks(77.14, 34.09),
        7: Risks(76.74, 27.40),
        10: Risks(59.02, 21.56),
        20: Risks(45.59, 13.62),
        50: Risks(17.46, 7.03),
    }
)
"""Table 7b: PID-based K-anonymity."""
TABLE_7_G: Mapping[float, Risks] = MappingProxyType(
    {
        0.50: Risks(68.18, 44.11),
        0.67: Risks(54.17, 33.52),
        0.80: Risks(40.00, 23.54),
        0.86: Risks(33.33, 18.33),
        0.90: Risks(25.58, 14.16),
        0.95: Risks(16.45, 8.55),
        0.98: Risks(7.33, 4.25),
    }
)
"""Table 7c: g-balance."""
RECORDS, PATIENTS = 117_307, 29_531
"""Section 6: medical condition records and patients that remained."""
