"""What one released cell says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exact:
    """One value, as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers, or dates in days since 1970-01-01, between two ends.

    Attributes
    ----------
    low, high
        The ends; infinite where it is open.
    low_in, high_in
        Whether the end itself belongs to it.
    """

    low: float
    high: float
    low_in: bool = True
    high_in: bool = True


@dataclass(frozen=True, slots=True)
class Members:
    """One of some values."""

    texts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Anything:
    """Any value, a missing one included."""


@dataclass(frozen=True, slots=True)
class Missing:
    """No value."""


Cell = Exact | Interval | Members | Anything | Missing
