"""What a terminal is like: how large, and with which characters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sfumato.review.terminal.signs import Signs, signs_for

LEAST_WIDTH, LEAST_HEIGHT = 76, 20
"""The smallest terminal that a pair is drawn on."""


@dataclass(frozen=True)
class Look:
    """What a terminal is like.

    Attributes
    ----------
    width, height
        Columns and lines.
    encoding
        Of its characters.
    """

    width: int = 80
    height: int = 24
    encoding: str = "utf-8"

    @cached_property
    def signs(self) -> Signs:
        """The characters that it is drawn with."""
        return signs_for(self.encoding)

    @property
    def large_enough(self) -> bool:
        """Whether a pair can be drawn on it."""
        return self.width >= LEAST_WIDTH and self.height >= LEAST_HEIGHT
