"""A rule with its title and place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes
    ----------
    file
        Name of the file that it stands in.
    line
        The line that it starts in, from 1.
    title
        The comment above it; empty where there is none.
    text
        The rule itself.
    statement
        What clingo made of it.
    """

    file: str
    line: int
    title: str
    text: str
    statement: Any = field(repr=False, compare=False)

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}, line {self.line}"
