"""Tables 16-18 of Kartal and Li 2020: loss at equal sensitive-attribute disclosure risk."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Loss(NamedTuple):
    """MaxGSAR in percent, and ANE on the scale of the paper, which it does not give."""

    max_gsar: float
    ane: float


TABLE_16: Mapping[str, Mapping[tuple[float, int], Loss]] = MappingProxyType(
    {
        "l": MappingProxyType(
            {
                (0.50, 20): Loss(20.12, 14.989),
                (0.50, 15): Loss(15.96, 27.249),
                (0.50, 10): Loss(10.80, 259.512),
                (0.67, 20): Loss(20.10, 15.012),
                (0.67, 15): Loss(14.67, 31.880),
                (0.67, 10): Loss(10.43, 309.400),
                (0.80, 20): Loss(20.10, 16.295),
                (0.80, 15): Loss(14.81, 28.871),
                (0.80, 10): Loss(8.92, 467.803),
            }
        ),
        "h": MappingProxyType(
            {
                (0.50, 20): Loss(18.37, 0.404),
                (0.50, 15): Loss(14.29, 1.536),
                (0.50, 10): Loss(9.47, 28.317),
                (0.67, 20): Loss(18.08, 0.435),
                (0.67, 15): Loss(13.99, 1.752),
                (0.67, 10): Loss(9.21, 82.312),
                (0.80, 20): Loss(17.97, 0.575),
                (0.80, 15): Loss(14.29, 1.550),
                (0.80, 10): Loss(8.89, 139.537),
            }
        ),
    }
)
"""Table 16: patient data, by constraint, and g* with target MaxGSAR in percent."""
TABLE_17: Mapping[str, Mapping[tuple[float, int], Loss]] = MappingProxyType(
    {
        "l": MappingProxyType(
            {
                (0.50, 20): Loss(20.00, 0.383),
                (0.50, 15): Loss(15.34, 0.899),
                (0.50, 10): Loss(10.59, 1.959),
                (0.67, 20): Loss(21.11, 0.354),
                (0.67, 15): Loss(14.63, 0.900),
                (0.67, 10): Loss(9.95, 2.005),
                (0.80, 20): Loss(19.09, 0.711),
                (0.80, 15): Loss(15.34, 0.975),
                (0.80, 10): Loss(9.95, 2.139),
            }
        ),
        "h": MappingProxyType(
            {
                (0.50, 20): Loss(19.29, 0.198),
                (0.50, 15): Loss(14.29, 0.404),
                (0.50, 10): Loss(10.00, 0.789),
                (0.67, 20): Loss(20.00, 0.176),
                (0.67, 15): Loss(14.56, 0.412),
                (0.67, 10): Loss(9.77, 0.831),
                (0.80, 20): Loss(18.90, 0.277),
                (0.80, 15): Loss(13.90, 0.446),
                (0.80, 10): Loss(8.70, 1.082),
            }
        ),
    }
)
"""Table 17: movie data, by constraint, and g* with target MaxGSAR in percent."""
TABLE_18: Mapping[str, Mapping[tuple[float, int], Loss]] = MappingProxyType(
    {
        "l": MappingProxyType(
            {
                (0.50, 20): Loss(20.00, 1.795),
                (0.50, 15): Loss(15.79, 2.222),
                (0.50, 10): Loss(10.20, 8.646),
                (0.67, 20): Loss(21.05, 2.132),
                (0.67, 15): Loss(20.25, 7.581),
                (0.67, 10): Loss(10.29, 21.036),
                (0.80, 20): Loss(21.05, 2.955),
                (0.80, 15): Loss(15.13, 8.402),
                (0.80, 10): Loss(10.20, 40.637),
            }
        ),
        "h": MappingProxyType(
            {
                (0.50, 20): Loss(19.81, 0.614),
                (0.50, 15): Loss(15.69, 1.208),
                (0.50, 10): Loss(10.17, 5.509),
                (0.67, 20): Loss(20.00, 0.656),
                (0.67, 15): Loss(15.00, 1.759),
                (0.67, 10): Loss(10.00, 12.240),
                (0.80, 20): Loss(19.52, 0.732),
                (0.80, 15): Loss(14.64, 1.922),
                (0.80, 10): Loss(9.70, 13.715),
            }
        ),
    }
)
"""Table 18: bank data, by constraint, and g* with target MaxGSAR in percent."""
