"""What Table 1 of the paper prints."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """A row of Table 1."""

    name: str
    persons: int
    quasi_identifiers: tuple[tuple[str, int], ...]
    """Each quasi-identifier and the number of values that it has."""
    marketer: float
    """λ, the actual marketer risk."""


FARS = Printed(
    "FARS: fatal crashes, department of transportation",
    27_529,
    (("year", 21), ("age", 99), ("race", 19), ("drinking level", 4)),
    0.229,
)
ADULT = Printed(
    "Adult: US census",
    30_162,
    (("age", 72), ("education", 16), ("race", 5), ("gender", 2)),
    0.104,
)
EMERGENCY = Printed(
    "Emergency department at a children's hospital",
    25_470,
    (("postal code, 2 characters", 105), ("age", 42), ("gender", 2)),
    0.033,
)
NIDAY = Printed(
    "Niday: provincial birth registry",
    57_679,
    (
        ("postal code, 3 characters", 678),
        ("month of birth", 7),
        ("maternal age", 42),
        ("gender", 2),
    ),
    0.687,
)
PHARMACY = Printed(
    "Pharmacy: prescriptions for inpatients of a children's hospital",
    3_507,
    (("gender", 2), ("age", 22), ("postal code, 3 characters", 154), ("length of stay", 89)),
    0.75,
)
TABLE_1 = (FARS, ADULT, EMERGENCY, NIDAY, PHARMACY)
FRACTIONS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The sampling fractions of Figure 2 (Section 2.5)."""
REPETITIONS = 2_500
"""Samples drawn at each fraction (Section 2.5)."""
