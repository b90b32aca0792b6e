"""The six answers that a worker can give about a pair."""

from __future__ import annotations

from enum import IntEnum


class Answer(IntEnum):
    """Whether the two records are one person's, and how sure the worker is (001, Section 3.1)."""

    DIFFERENT_HIGH = -3
    DIFFERENT_MEDIUM = -2
    DIFFERENT_LOW = -1
    SAME_LOW = 1
    SAME_MEDIUM = 2
    SAME_HIGH = 3

    @property
    def same(self) -> bool:
        """Whether it says that they are one person's."""
        return self > 0

    @property
    def confidence(self) -> Confidence:
        """How sure the worker is."""
        return Confidence(abs(self))

    @property
    def words(self) -> str:
        """As a page shows it: ``"Same, high confidence"``."""
        side = "Same" if self.same else "Different"
        return f"{side}, {self.confidence.name.lower()} confidence"


class Confidence(IntEnum):
    """How sure a worker is."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
