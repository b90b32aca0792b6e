"""Which levels a full-domain recoding took, and how well they were searched."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ColumnLevel:
    """The level of one quasi-identifier.

    Attributes
    ----------
    name
        Name of the quasi-identifier.
    level, height
        Level that all records show, 0 for the values themselves, and that of the root.
    labels
        Number of different labels at that level.
    """

    name: str
    level: int
    height: int
    labels: int


@dataclass(frozen=True)
class Levels:
    """One level per quasi-identifier, for all records.

    Attributes
    ----------
    columns
        The level of each quasi-identifier.
    loss
        NCP of the levels, weighted, with each record that the search suppressed counted as 1.
    exact
        Whether no other choice of levels loses less.
    bound
        No choice of levels loses less than this; the loss itself where it is exact.
    nodes, checked
        Choices of levels in all, and those whose classes were counted.
    split_persons
        Persons with records in several classes.
    """

    columns: tuple[ColumnLevel, ...]
    loss: float
    exact: bool
    bound: float
    nodes: int
    checked: int
    split_persons: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def notes(self) -> tuple[str, ...]:
        """What the reader should know; publishable."""
        said = []
        if not self.exact:
            said.append(
                f"the lattice of {self.nodes:,} choices of levels was too large to search in "
                f"full: the levels found lose {self.loss:.4g} (NCP), and none loses less than "
                f"{self.bound:.4g}."
            )
        if self.split_persons:
            said.append(
                f"{self.split_persons:,} persons have records in several classes, because their "
                "quasi-identifiers differ from record to record and a level holds for all "
                "records: every measure of a class counts the records that a person has in it."
            )
        return tuple(said)
