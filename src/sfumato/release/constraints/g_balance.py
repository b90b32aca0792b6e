"""g-balance: no person has too large a share of a class's records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.constraints.checks import count, exactly_one, share
from sfumato.release.constraints.protocol import TOLERANCE, Verdicts
from sfumato.release.constraints.thresholds import Thresholds
from sfumato.release.persons import PersonTable
from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True, init=False)
class GBalance:
    """Every class has g(t) = 1 - Σ(c_i/N_t)² ≥ g* (paper 003, Definition 1).

    Parameters
    ----------
    g
        The threshold g* in [0, 1).
    k
        The same threshold as a number of persons with equally many records: g* = 1 - 1/k
        (Equation 3).

    Raises
    ------
    InputError
        If not exactly one of the two is given, or it is out of range.

    Examples
    --------
    >>> GBalance(k=5)
    GBalance(g=0.8)
    """

    g: float

    def __init__(self, g: float | None = None, *, k: int | None = None) -> None:
        exactly_one("g and k of GBalance", g, k)
        value = share("g", g, zero=True, one=False) if k is None else 1 - 1 / count("k", k, 1)
        object.__setattr__(self, "g", value)

    @property
    def name(self) -> str:
        """``g_balance``."""
        return "g_balance"

    @property
    def needs(self) -> frozenset[str]:
        """Sizes and squares only."""
        return frozenset()

    def met(self, classes: ClassSummary) -> Verdicts:
        """Σc² ≤ (1 - g*)·N², as integers with a tolerance."""
        whole = classes.records.astype(float) ** 2
        verdicts: Verdicts = classes.squares <= (1 - self.g + TOLERANCE) * whole
        return verdicts

    def thresholds(self) -> Thresholds:
        """The same as a threshold."""
        return Thresholds(squares=1 - self.g + TOLERANCE)

    def shortfall(self, whole: ClassSummary) -> str:
        """The g-balance of the class beside g*."""
        reached = 1 - float(whole.squares[0]) / float(whole.records[0]) ** 2
        return (
            f"g_balance asks for at least {self.g:.4g}; all records in one class reach "
            f"{reached:.4g}, because one person has {whole.largest[0] / whole.records[0]:.1%} "
            "of the records."
        )

    def offenders(self, persons: PersonTable) -> npt.NDArray[np.int64]:
        """The persons with most records, as many as needed."""
        heaviest = np.argsort(-persons.records, kind="stable")
        heavy = persons.records[heaviest]
        records = heavy.sum() - np.concatenate([[0], np.cumsum(heavy)])
        squares = (heavy**2).sum() - np.concatenate([[0], np.cumsum(heavy**2)])
        met = squares[:-1] <= (1 - self.g + TOLERANCE) * records[:-1].astype(float) ** 2
        return heaviest[: np.argmax(met)] if met.any() else heaviest[:0]

    def parameters(self) -> Mapping[str, Any]:
        """The threshold."""
        return {"g": self.g}
