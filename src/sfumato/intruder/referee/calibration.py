"""How right the intruder is about his own chances."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.intruder.referee.intervals import clopper_pearson

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
EDGES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9, 0.99, 1.0)
"""Ends of the groups; the first one holds its lower end too."""


@dataclass(frozen=True)
class CalibrationBin:
    """Guesses of about the same chance.

    Attributes
    ----------
    low, high
        Between which chances: above ``low``, at most ``high``.
    attempts, right
        Number of guesses, and of right ones.
    chance
        Their mean chance, as the intruder has it.
    success
        ``right / attempts``.
    success_low, success_high
        Its 95 % interval (Clopper-Pearson).
    """

    low: float
    high: float
    attempts: int
    right: int
    chance: float
    success: float
    success_low: float
    success_high: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def calibration(chance: Floats, right: Bools) -> tuple[CalibrationBin, ...]:
    """Guesses grouped by the intruder's own chance, the realised share beside it.

    Groups without a guess are left out.

    Parameters
    ----------
    chance
        The intruder's chance of each guess, shape (guesses,).
    right
        Whether it is right, shape (guesses,).
    """
    place = np.clip(np.searchsorted(EDGES, chance, side="left"), 1, len(EDGES) - 1)
    found = []
    for number in range(1, len(EDGES)):
        inside = place == number
        attempts, hits = int(inside.sum()), int(right[inside].sum())
        if attempts:
            low, high = clopper_pearson(hits, attempts)
            mean = float(chance[inside].mean())
            ends = EDGES[number - 1], EDGES[number]
            found.append(CalibrationBin(*ends, attempts, hits, mean, hits / attempts, low, high))
    return tuple(found)
