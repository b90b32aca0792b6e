"""The worst class of a measure, with its position."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure, Position
from sfumato.kernels.threads import in_threads
from sfumato.risk.classes import ClassSummary, Floats, Integers

BLOCK = 1 << 16
"""Classes that are looked at together, so that what is computed of them stays in a cache."""


def position(equivalence_class: int, rows: Integers) -> Position:
    """The place of a 0-based class, at the row that stands for it in ``rows``."""
    return Position(row=int(rows[equivalence_class]) + 1, equivalence_class=equivalence_class + 1)


def lowest(
    name: str, values: Floats, rows: Integers, *, why: str = "", threshold: float | None = None
) -> Measure:
    """The smallest value over classes; the first of tied classes gives the position."""
    return _at(name, int(np.argmin(values)), values, rows, why, threshold)


def highest(
    name: str, values: Floats, rows: Integers, *, why: str = "", threshold: float | None = None
) -> Measure:
    """The largest value over classes; the first of tied classes gives the position."""
    return _at(name, int(np.argmax(values)), values, rows, why, threshold)


def smallest_count(values: Integers, rows: Integers) -> tuple[int, Position]:
    """The smallest count over classes and where it is."""
    at = int(np.argmin(values))
    return int(values[at]), position(at, rows)


class Extreme(NamedTuple):
    """What one pass over a value of all classes finds.

    Attributes
    ----------
    at
        The 0-based class with the lowest or highest value, the first of tied ones.
    value
        Its value.
    mean
        Mean over classes.
    """

    at: int
    value: float
    mean: float

    def measure(self, name: str, rows: Integers) -> Measure:
        """The value as a measure, at the row that stands for its class in ``rows``."""
        return Measure(name, self.value, where=position(self.at, rows))


def extreme(
    values: Callable[[ClassSummary], Floats], summary: ClassSummary, end: Literal["low", "high"]
) -> Extreme:
    """The lowest or highest value over classes, and the mean, computed block by block.

    Parameters
    ----------
    values
        What is computed of the classes, one by one.
    summary
        The classes.
    end
        Which of the values is looked for.
    """
    best = np.argmin if end == "low" else np.argmax

    def look(start: int) -> tuple[int, float, float]:
        found = values(summary.part(start, start + BLOCK))
        at = int(best(found))
        return start + at, float(found[at]), float(found.sum())

    ends = in_threads([partial(look, start) for start in range(0, summary.classes, BLOCK)])
    at, value, _ = ends[int(best([value for _, value, _ in ends]))]
    return Extreme(at, value, sum(total for _, _, total in ends) / summary.classes)


def _at(
    name: str,
    at: int,
    values: npt.NDArray[np.float64],
    rows: Integers,
    why: str,
    threshold: float | None,
) -> Measure:
    return Measure(name, float(values[at]), why=why, where=position(at, rows), threshold=threshold)
