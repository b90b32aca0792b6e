"""How two values that are not the same differ."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.review.values import Mark, Positions

RowEdits = tuple[tuple[Mark, int], ...]
"""Marks of edits and their places in one row."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How two values that are not the same differ.

    Attributes
    ----------
    edits
        Per row, marks and places.
    marks
        What is said of the difference, in the order of the enumeration.
    distance
        The number of edits.
    """

    edits: tuple[RowEdits, RowEdits]
    marks: tuple[Mark, ...]
    distance: int

    @property
    def differing(self) -> tuple[Positions, Positions]:
        """Per row, the places of the characters that differ."""
        left, right = self.edits
        return frozenset(place for _, place in left), frozenset(place for _, place in right)


def in_order(marks: set[Mark]) -> tuple[Mark, ...]:
    """Marks in the order of their enumeration.

    Parameters
    ----------
    marks
        Some marks.
    """
    return tuple(mark for mark in Mark if mark in marks)
