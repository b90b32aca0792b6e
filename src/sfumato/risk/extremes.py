"""The worst class of a measure, with its position."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure, Position
from sfumato.risk.classes import Counts, Floats


def position(equivalence_class: int, rows: Counts) -> Position:
    """The place of a 0-based class, at the row that stands for it in ``rows``."""
    return Position(row=int(rows[equivalence_class]) + 1, equivalence_class=equivalence_class + 1)


def lowest(
    name: str, values: Floats, rows: Counts, *, why: str = "", threshold: float | None = None
) -> Measure:
    """The smallest value over classes; the first of tied classes gives the position."""
    return _at(name, int(np.argmin(values)), values, rows, why, threshold)


def highest(
    name: str, values: Floats, rows: Counts, *, why: str = "", threshold: float | None = None
) -> Measure:
    """The largest value over classes; the first of tied classes gives the position."""
    return _at(name, int(np.argmax(values)), values, rows, why, threshold)


def smallest_count(values: Counts, rows: Counts) -> tuple[int, Position]:
    """The smallest count over classes and where it is."""
    at = int(np.argmin(values))
    return int(values[at]), position(at, rows)


def _at(
    name: str,
    at: int,
    values: npt.NDArray[np.float64],
    rows: Counts,
    why: str,
    threshold: float | None,
) -> Measure:
    return Measure(name, float(values[at]), why=why, where=position(at, rows), threshold=threshold)
