"""Tables 10-12 of Kartal and Li 2020: loss at equal individual-record disclosure risk."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Loss(NamedTuple):
    """MaxGIDR in percent, and ANE on the scale of the paper, which it does not give."""

    max_gidr: float
    ane: float


TABLE_10: Mapping[int, Mapping[str, Loss]] = MappingProxyType(
    {
        20: MappingProxyType(
            {
                "k": Loss(19.41, 1.479),
                "pid_k": Loss(19.19, 1.118),
                "g_balance": Loss(18.79, 0.469),
            }
        ),
        15: MappingProxyType(
            {
                "k": Loss(16.64, 2.951),
                "pid_k": Loss(16.27, 1.814),
                "g_balance": Loss(14.45, 0.923),
            }
        ),
        10: MappingProxyType(
            {
                "k": Loss(9.60, 4.031),
                "pid_k": Loss(9.14, 3.160),
                "g_balance": Loss(9.03, 2.477),
            }
        ),
        5: MappingProxyType(
            {
                "k": Loss(5.36, 10.505),
                "pid_k": Loss(4.64, 9.229),
                "g_balance": Loss(4.49, 8.962),
            }
        ),
        2: MappingProxyType(
            {
                "k": Loss(2.44, 34.815),
                "pid_k": Loss(2.48, 34.571),
                "g_balance": Loss(2.43, 22.789),
            }
        ),
        1: MappingProxyType(
            {
                "k": Loss(1.43, 81.068),
                "pid_k": Loss(1.93, 78.809),
                "g_balance": Loss(1.35, 55.298),
            }
        ),
    }
)
"""Table 10: patient data, by target MaxGIDR in percent and constraint."""
TABLE_11: Mapping[int, Mapping[str, Loss]] = MappingProxyType(
    {
        25: MappingProxyType(
            {
                "k": Loss(25.58, 0.908),
                "pid_k": Loss(26.97, 0.902),
                "g_balance": Loss(25.00, 0.506),
            }
        ),
        20: MappingProxyType(
            {
                "k": Loss(20.87, 1.022),
                "pid_k": Loss(21.38, 0.984),
                "g_balance": Loss(20.40, 0.867),
            }
        ),
        15: MappingProxyType(
            {
                "k": Loss(15.23, 2.133),
                "pid_k": Loss(15.78, 2.107),
                "g_balance": Loss(14.57, 1.723),
            }
        ),
        10: MappingProxyType(
            {
                "k": Loss(12.07, 2.785),
                "pid_k": Loss(12.01, 2.918),
                "g_balance": Loss(11.98, 2.205),
            }
        ),
        5: MappingProxyType(
            {
                "k": Loss(5.92, 8.551),
                "pid_k": Loss(6.02, 8.976),
                "g_balance": Loss(5.88, 7.825),
            }
        ),
    }
)
"""Table 11: movie data, by target MaxGIDR in percent and constraint."""
TABLE_12: Mapping[int, Mapping[str, Loss]] = MappingProxyType(
    {
        25: MappingProxyType(
            {
                "k": Loss(24.85, 1.263),
                "pid_k": Loss(23.55, 0.610),
                "g_balance": Loss(23.53, 0.498),
            }
        ),
        20: MappingProxyType(
            {
                "k": Loss(22.05, 1.341),
                "pid_k": Loss(21.64, 0.806),
                "g_balance": Loss(21.39, 0.557),
            }
        ),
        15: MappingProxyType(
            {
                "k": Loss(15.93, 1.811),
                "pid_k": Loss(14.42, 1.431),
                "g_balance": Loss(14.38, 0.947),
            }
        ),
        10: MappingProxyType(
            {
                "k": Loss(10.64, 3.298),
                "pid_k": Loss(10.85, 2.804),
                "g_balance": Loss(10.30, 1.786),
            }
        ),
        5: MappingProxyType(
            {
                "k": Loss(5.55, 8.230),
                "pid_k": Loss(5.68, 7.781),
                "g_balance": Loss(5.48, 4.608),
            }
        ),
    }
)
"""Table 12: bank data, by target MaxGIDR in percent and constraint."""
