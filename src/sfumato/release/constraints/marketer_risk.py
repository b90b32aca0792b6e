"""Marketer risk as a budget that is spent over the whole release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.constraints.checks import share
from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True)
class MarketerRisk:
    """The expected share of persons whom an intruder matches correctly is at most τ.

    With the file as its own population it is λ = J/n, the number of classes over the number of
    persons (paper 004, Theorem 1 with n = N). Each class spends one expected match.

    Parameters
    ----------
    tau
        The threshold τ in (0, 1].

    Raises
    ------
    InputError
        If ``tau`` is out of range.
    """

    tau: float

    def __post_init__(self) -> None:
        share("tau", self.tau, zero=False, one=True)

    @property
    def name(self) -> str:
        """``marketer``."""
        return "marketer"

    def limit(self, records: int, persons: int) -> float:
        """Expected correct matches allowed: τ·n."""
        return self.tau * persons

    def spent(self, classes: ClassSummary) -> npt.NDArray[np.float64]:
        """One expected match per class."""
        return np.ones(classes.classes)

    def parameters(self) -> Mapping[str, Any]:
        """The threshold."""
        return {"tau": self.tau}
