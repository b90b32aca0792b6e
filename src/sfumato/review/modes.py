"""How much of an attribute a pair shows."""

from __future__ import annotations

from enum import IntEnum


class Mode(IntEnum):
    """How much of an attribute a pair shows; more only ever follows less (001, Section 3.2)."""

    MASKED = 0
    """Every character is masked; marks say where the two values differ."""
    PARTIAL = 1
    """The characters in which the two values differ are disclosed."""
    FULL = 2
    """Every character is disclosed."""
