"""Promises as thresholds of numbers that can be counted as persons come and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Thresholds:
    """What a class must keep; unless stated, anything does.

    Attributes
    ----------
    records, persons
        Least number of them.
    squares
        Largest sum of the persons' squared numbers of records, as a share of the square of all.
    affiliation
        Largest share of persons who share a sensitive value.
    distinct
        Least number of distinct sensitive values.
    sharing
        Least number of persons who share each number of records that occurs.
    attribute
        The sensitive attribute that is spoken of; ``None`` for each one separately.
    """

    records: int = 0
    persons: int = 0
    squares: float = float("inf")
    affiliation: float = float("inf")
    distinct: int = 0
    sharing: int = 1
    attribute: str | None = None


@runtime_checkable
class Counted(Protocol):
    """A constraint that thresholds say in full."""

    def thresholds(self) -> Thresholds:
        """The thresholds that ``met`` compares to."""
