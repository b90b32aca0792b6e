"""What the tree knows of a constraint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sfumato.release.persons import PersonTable
from sfumato.risk.classes import ClassSummary

Verdicts = npt.NDArray[np.bool_]
TOLERANCE = 1e-9
"""Relative allowance of threshold comparisons: five equal persons meet g* = 0.8."""


class Constraint(Protocol):
    """A promise about every equivalence class."""

    @property
    def name(self) -> str:
        """Its name on the command line, in the manifest and in the report."""

    @property
    def needs(self) -> frozenset[str]:
        """The fields of `ClassSummary` that `met` reads and that cost more to count.

        ``affiliation``, ``distinct``, ``distance`` and ``ordered_distance`` of the sensitive
        attributes, ``fewest_sharing`` of the numbers of records, ``population`` of a register;
        sizes and squares are always there.
        """

    def met(self, classes: ClassSummary) -> Verdicts:
        """Whether each class keeps the promise; shape (classes,)."""

    def shortfall(self, whole: ClassSummary) -> str:
        """By how much a single class breaks the promise, and in which column."""

    def offenders(self, persons: PersonTable) -> npt.NDArray[np.int64]:
        """Fewest persons whose removal makes the others, as one class, keep the promise.

        Indices of persons; empty where removing persons cannot help.
        """

    def parameters(self) -> Mapping[str, Any]:
        """What repeats the constraint, as plain values."""


@runtime_checkable
class Bounded(Protocol):
    """A constraint that an upper bound of the affiliation can settle, before it is counted."""

    def surely_met(self, classes: ClassSummary) -> Verdicts:
        """Classes that keep the promise if at most ``affiliation`` persons share a value."""


@runtime_checkable
class Budget(Protocol):
    """A promise about the whole release, additive over its classes."""

    @property
    def name(self) -> str:
        """Its name on the command line, in the manifest and in the report."""

    def limit(self, records: int, persons: int) -> float:
        """How much a release of so many records and persons may spend."""

    def spent(self, classes: ClassSummary) -> npt.NDArray[np.float64]:
        """What each class spends; shape (classes,)."""

    def parameters(self) -> Mapping[str, Any]:
        """What repeats the budget, as plain values."""


@runtime_checkable
class AboutPopulation(Protocol):
    """A constraint or budget about the population that the file's persons come from.

    The data alone cannot keep it: a register counts the population, its size lets it be estimated.
    """

    def against(self, fraction: float | None) -> Any:
        """The same about another population than the file.

        Parameters
        ----------
        fraction
            Share of the population that is in the file; ``None`` where a register counts it.
        """
