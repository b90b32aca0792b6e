"""g-balance: no person has too large a share of a class's records."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Annotated

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.declaration import Count, Parameter, Share
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted, number, percentage
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import TOLERANCE, Promise, Thresholds, Verdicts

if TYPE_CHECKING:
    from sfumato.release.person_table import PersonTable
    from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True, init=False)
class GBalance(Promise):
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

    name = "g_balance"
    order = 1
    in_short = "No person’s records dominate a class (g-balance {limit}). {rest}"

    g: Annotated[
        float,
        Parameter(
            "g-balance of every class at least G, in [0, 1).",
            "G",
            Share(zero=True, one=False),
            flag="g_balance",
        ),
    ]

    def __init__(self, g: float | None = None, *, k: int | None = None) -> None:
        if (g is None) == (k is None):
            raise InputError(
                "parameters g and k of GBalance", "state the same threshold", advice="give one"
            )
        threshold = g if k is None else 1 - 1 / Count(1).check("parameter k", k)
        object.__setattr__(self, "g", threshold)
        self.__post_init__()

    def met(self, classes: ClassSummary) -> Verdicts:
        """Σc² ≤ (1 - g*)·N², as integers with a tolerance."""
        # As doubles, since the square of more than 3·10^9 records does not fit into 64 bits.
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
            f"{reached:.4g}, because one person has "
            f"{percentage(whole.largest[0] / whole.records[0])} of the records."
        )

    def offenders(self, persons: PersonTable) -> Ints:
        """The persons with most records, as many as needed."""
        # The largest shares add most to Σ(c/N)², so that the persons with most records go first.
        heaviest = np.argsort(-persons.records, kind="stable")
        heavy = persons.records[heaviest]
        records = heavy.sum() - np.concatenate([[0], np.cumsum(heavy)])
        squares = (heavy**2).sum() - np.concatenate([[0], np.cumsum(heavy**2)])
        met = squares[:-1] <= (1 - self.g + TOLERANCE) * records[:-1].astype(float) ** 2
        return heaviest[: np.argmax(met)] if met.any() else heaviest[:0]

    @property
    def fewest_persons(self) -> int:
        """1/(1 - g*): as if each of them had equally many records (Equation 3)."""
        # 1/(1 - 0.8) is 5.000000000000001 in floating point, which must not ask for a sixth person.
        return ceil(1 / (1 - self.g) - TOLERANCE)

    def largest(self, measure: str) -> float:
        """GIDR is at most √(1 - g*), the squares of all shares being 1 - g* together."""
        return sqrt(1 - self.g) if measure == "max_gidr" else 1.0

    def sentence(self, attribute: str = "") -> str:
        """With the number of persons that g* implies."""
        fewest = self.fewest_persons
        return Phrase(
            "No person dominates a class: g-balance, 1 less the sum of the squared shares of its "
            "records that each person has, is at least {g} in every class. Every class then has at "
            "least {people}.",
            g=number(self.g),
            people=counted(fewest, "person"),
        )


GBalance.measures = {"g_balance": GBalance}
# The largest share of a class's records is at most the root of 1 - g.
GBalance.suffices = {"max_gidr": lambda limit: GBalance(1 - limit**2)}
