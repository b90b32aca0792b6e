"""A number that means risk, with what is needed to read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sfumato.core.declaration import fields_of
from sfumato.core.phrases import Phrase

NORMAL = 1.959963984540054
"""Standard errors to either end of an interval of 95 %: the normal quantile of .975."""
REGISTER = "register"
"""The name of an estimator that is none: the population was counted."""
ESTIMATED = Phrase("estimated, not promised")
"""What is said of a limit that only an estimate keeps."""


def is_estimate(estimator: str | None) -> bool:
    """Whether an estimator of this name gives an estimate; ``None`` and a register count."""
    return estimator not in (None, REGISTER)


def verdict(met: bool, promised: bool) -> str:
    """What is said of a limit: kept, broken, or kept by an estimate only."""
    if not met:
        return "broken"
    return "kept" if promised else ESTIMATED


@dataclass(frozen=True, slots=True)
class Position:
    """Where a maximum or minimum comes from, by position and never by value.

    Attributes
    ----------
    row
        1-based number of a row of the input (header not counted).
    equivalence_class
        1-based number of the equivalence class, in order of first appearance.
    """

    row: int
    equivalence_class: int


@dataclass(frozen=True, slots=True)
class Measure:
    """One measured or estimated number.

    Attributes
    ----------
    name
        The name used in the code, the docs, the command line and the report.
    value
        The number; shares lie in [0, 1].
    low, high
        Ends of the interval when the value is an estimate.
    estimator
        Name of the estimator when the value is an estimate; ``None`` when it is exact.
    why
        Why this estimator was taken, or what the value assumes.
    where
        Where a maximum or minimum comes from.
    threshold
        The threshold that the value is held against.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    estimator: str | None = None
    why: str = ""
    where: Position | None = None
    threshold: float | None = None

    def __float__(self) -> float:
        """The value alone."""
        return float(self.value)

    @property
    def met(self) -> bool | None:
        """Whether the value is at most the threshold; ``None`` without a threshold."""
        return None if self.threshold is None else self.value <= self.threshold

    def to_json(self) -> Any:
        """A plain number when exact; an object with the interval when estimated."""
        if self.estimator is None:
            return self.value
        return fields_of(self, "value low high estimator why")
