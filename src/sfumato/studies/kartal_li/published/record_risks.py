"""Tables 7-9 of Kartal and Li 2020: individual-record disclosure risk, in percent."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Risks(NamedTuple):
    """MaxGIDR and AvgGIDR of one threshold, in percent."""

    max_gidr: float
    avg_gidr: float


TABLE_7: Mapping[str, Mapping[float, Risks]] = MappingProxyType(
    {
        "k": MappingProxyType(
            {
                2: Risks(100.00, 88.55),
                3: Risks(100.00, 82.07),
                5: Risks(100.00, 70.63),
                7: Risks(100.00, 62.57),
                10: Risks(100.00, 53.28),
                20: Risks(100.00, 36.63),
                50: Risks(76.67, 20.75),
            }
        ),
        "pid_k": MappingProxyType(
            {
                2: Risks(96.67, 59.26),
                3: Risks(94.29, 46.48),
                5: Risks(77.14, 34.09),
                7: Risks(76.74, 27.40),
                10: Risks(59.02, 21.56),
                20: Risks(45.59, 13.62),
                50: Risks(17.46, 7.03),
            }
        ),
        "g_balance": MappingProxyType(
            {
                0.50: Risks(68.18, 44.11),
                0.67: Risks(54.17, 33.52),
                0.80: Risks(40.00, 23.54),
                0.86: Risks(33.33, 18.33),
                0.90: Risks(25.58, 14.16),
                0.95: Risks(16.45, 8.55),
                0.98: Risks(7.33, 4.25),
            }
        ),
    }
)
"""Table 7: patient data, by constraint and threshold."""
TABLE_8: Mapping[str, Mapping[float, Risks]] = MappingProxyType(
    {
        "k": MappingProxyType(
            {
                2: Risks(100.00, 99.27),
                3: Risks(100.00, 99.27),
                5: Risks(100.00, 99.27),
                7: Risks(100.00, 99.27),
                10: Risks(100.00, 99.27),
                20: Risks(100.00, 99.27),
                50: Risks(100.00, 85.94),
            }
        ),
        "pid_k": MappingProxyType(
            {
                2: Risks(96.07, 63.00),
                3: Risks(90.21, 50.07),
                5: Risks(81.35, 35.37),
                7: Risks(81.02, 28.65),
                10: Risks(50.74, 21.87),
                20: Risks(35.90, 13.33),
                50: Risks(9.87, 6.96),
            }
        ),
        "g_balance": MappingProxyType(
            {
                0.50: Risks(67.37, 45.39),
                0.67: Risks(53.89, 34.67),
                0.80: Risks(35.46, 24.01),
                0.86: Risks(30.16, 18.83),
                0.90: Risks(23.54, 13.18),
                0.95: Risks(11.98, 7.65),
                0.98: Risks(5.88, 4.41),
            }
        ),
    }
)
"""Table 8: movie data, by constraint and threshold."""
TABLE_9: Mapping[str, Mapping[float, Risks]] = MappingProxyType(
    {
        "k": MappingProxyType(
            {
                2: Risks(100.00, 99.84),
                3: Risks(100.00, 99.84),
                5: Risks(100.00, 99.82),
                7: Risks(100.00, 99.77),
                10: Risks(100.00, 99.47),
                20: Risks(100.00, 97.59),
                50: Risks(100.00, 87.99),
            }
        ),
        "pid_k": MappingProxyType(
            {
                2: Risks(98.14, 57.11),
                3: Risks(82.58, 41.36),
                5: Risks(56.61, 28.07),
                7: Risks(41.64, 20.52),
                10: Risks(33.43, 16.01),
                20: Risks(17.19, 8.58),
                50: Risks(6.08, 3.98),
            }
        ),
        "g_balance": MappingProxyType(
            {
                0.50: Risks(66.49, 40.04),
                0.67: Risks(51.06, 30.65),
                0.80: Risks(34.24, 21.03),
                0.86: Risks(25.69, 15.19),
                0.90: Risks(19.10, 11.92),
                0.95: Risks(10.30, 6.39),
                0.98: Risks(5.12, 3.09),
            }
        ),
    }
)
"""Table 9: bank data, by constraint and threshold."""
