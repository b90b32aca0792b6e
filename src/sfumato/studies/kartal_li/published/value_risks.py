"""Tables 13-15 of Kartal and Li 2020: sensitive-attribute disclosure risk, in percent."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Risks(NamedTuple):
    """MaxGSAR and AvgGSAR of one threshold, in percent."""

    max_gsar: float
    avg_gsar: float


TABLE_13: Mapping[str, Mapping[tuple[float, float], Risks]] = MappingProxyType(
    {
        "l": MappingProxyType(
            {
                (0.50, 2): Risks(100.00, 35.39),
                (0.50, 3): Risks(100.00, 33.70),
                (0.50, 5): Risks(100.00, 31.24),
                (0.50, 10): Risks(100.00, 22.85),
                (0.50, 20): Risks(27.78, 12.78),
                (0.67, 2): Risks(80.00, 27.01),
                (0.67, 3): Risks(80.00, 26.83),
                (0.67, 5): Risks(80.00, 26.23),
                (0.67, 10): Risks(80.00, 21.49),
                (0.67, 20): Risks(27.78, 12.83),
                (0.80, 2): Risks(62.50, 20.88),
                (0.80, 3): Risks(62.50, 20.86),
                (0.80, 5): Risks(55.56, 20.75),
                (0.80, 10): Risks(55.56, 19.08),
                (0.80, 20): Risks(27.78, 12.83),
            }
        ),
        "h": MappingProxyType(
            {
                (0.50, 0.50): Risks(50.00, 32.26),
                (0.50, 0.33): Risks(31.58, 20.91),
                (0.50, 0.20): Risks(20.00, 15.35),
                (0.50, 0.10): Risks(10.00, 8.26),
                (0.50, 0.05): Risks(4.39, 3.88),
                (0.67, 0.50): Risks(50.00, 25.38),
                (0.67, 0.33): Risks(31.58, 20.58),
                (0.67, 0.20): Risks(20.00, 15.31),
                (0.67, 0.10): Risks(10.00, 8.25),
                (0.67, 0.05): Risks(4.39, 3.88),
                (0.80, 0.50): Risks(50.00, 20.84),
                (0.80, 0.33): Risks(31.58, 19.13),
                (0.80, 0.20): Risks(20.00, 14.91),
                (0.80, 0.10): Risks(10.00, 8.29),
                (0.80, 0.05): Risks(4.39, 3.88),
            }
        ),
    }
)
"""Table 13: patient data, by constraint, g* and l or h."""
TABLE_14: Mapping[str, Mapping[tuple[float, float], Risks]] = MappingProxyType(
    {
        "l": MappingProxyType(
            {
                (0.50, 2): Risks(66.67, 27.40),
                (0.50, 3): Risks(66.67, 27.40),
                (0.50, 5): Risks(66.67, 27.40),
                (0.50, 10): Risks(66.67, 27.40),
                (0.50, 20): Risks(66.67, 27.40),
                (0.67, 2): Risks(50.00, 19.70),
                (0.67, 3): Risks(50.00, 19.70),
                (0.67, 5): Risks(50.00, 19.70),
                (0.67, 10): Risks(50.00, 19.70),
                (0.67, 20): Risks(50.00, 19.70),
                (0.80, 2): Risks(30.00, 13.95),
                (0.80, 3): Risks(30.00, 13.95),
                (0.80, 5): Risks(30.00, 13.95),
                (0.80, 10): Risks(30.00, 13.95),
                (0.80, 20): Risks(30.00, 13.95),
            }
        ),
        "h": MappingProxyType(
            {
                (0.50, 0.50): Risks(50.00, 26.96),
                (0.50, 0.33): Risks(28.57, 18.68),
                (0.50, 0.20): Risks(20.00, 15.01),
                (0.50, 0.10): Risks(10.00, 7.28),
                (0.50, 0.05): Risks(4.84, 3.82),
                (0.67, 0.50): Risks(50.00, 19.70),
                (0.67, 0.33): Risks(28.57, 18.15),
                (0.67, 0.20): Risks(20.00, 14.91),
                (0.67, 0.10): Risks(10.00, 7.28),
                (0.67, 0.05): Risks(4.84, 3.82),
                (0.80, 0.50): Risks(30.00, 13.95),
                (0.80, 0.33): Risks(30.00, 13.95),
                (0.80, 0.20): Risks(20.00, 12.96),
                (0.80, 0.10): Risks(10.00, 7.28),
                (0.80, 0.05): Risks(4.84, 3.82),
            }
        ),
    }
)
"""Table 14: movie data, by constraint, g* and l or h."""
TABLE_15: Mapping[str, Mapping[tuple[float, float], Risks]] = MappingProxyType(
    {
        "l": MappingProxyType(
            {
                (0.50, 2): Risks(100.00, 34.19),
                (0.50, 3): Risks(75.00, 33.05),
                (0.50, 5): Risks(66.67, 26.21),
                (0.50, 10): Risks(27.38, 14.49),
                (0.50, 20): Risks(20.00, 10.08),
                (0.67, 2): Risks(75.00, 27.94),
                (0.67, 3): Risks(75.00, 27.78),
                (0.67, 5): Risks(50.00, 25.72),
                (0.67, 10): Risks(40.00, 17.19),
                (0.67, 20): Risks(20.00, 10.08),
                (0.80, 2): Risks(57.14, 22.21),
                (0.80, 3): Risks(57.14, 22.21),
                (0.80, 5): Risks(50.00, 21.75),
                (0.80, 10): Risks(33.33, 16.86),
                (0.80, 20): Risks(20.00, 10.08),
            }
        ),
        "h": MappingProxyType(
            {
                (0.50, 0.50): Risks(50.00, 31.59),
                (0.50, 0.33): Risks(30.77, 21.20),
                (0.50, 0.20): Risks(20.00, 15.37),
                (0.50, 0.10): Risks(10.00, 7.92),
                (0.50, 0.05): Risks(6.21, 6.21),
                (0.67, 0.50): Risks(50.00, 27.62),
                (0.67, 0.33): Risks(30.77, 21.20),
                (0.67, 0.20): Risks(20.00, 15.42),
                (0.67, 0.10): Risks(10.00, 8.63),
                (0.67, 0.05): Risks(6.21, 6.21),
                (0.80, 0.50): Risks(50.00, 22.13),
                (0.80, 0.33): Risks(30.77, 19.99),
                (0.80, 0.20): Risks(20.00, 15.42),
                (0.80, 0.10): Risks(10.00, 8.63),
                (0.80, 0.05): Risks(6.21, 6.21),
            }
        ),
    }
)
"""Table 15: bank data, by constraint, g* and l or h."""
