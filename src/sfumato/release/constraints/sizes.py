"""k-anonymity by records and by persons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.constraints.checks import count
from sfumato.release.constraints.protocol import Verdicts
from sfumato.release.constraints.thresholds import Thresholds
from sfumato.release.persons import PersonTable
from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True)
class KAnonymity:
    """Every class has at least k records (Sweeney 2002).

    Parameters
    ----------
    k
        Least number of records, 1 or more.

    Raises
    ------
    InputError
        If ``k`` is not a whole number of at least 1.
    """

    k: int

    def __post_init__(self) -> None:
        count("k", self.k, 1)

    @property
    def name(self) -> str:
        """``k``."""
        return "k"

    @property
    def needs(self) -> frozenset[str]:
        """Sizes only."""
        return frozenset()

    def met(self, classes: ClassSummary) -> Verdicts:
        """N_t ≥ k."""
        verdicts: Verdicts = classes.records >= self.k
        return verdicts

    def thresholds(self) -> Thresholds:
        """The same as a threshold."""
        return Thresholds(records=self.k)

    def shortfall(self, whole: ClassSummary) -> str:
        """The number of records beside k."""
        return f"k asks for at least {self.k} records; the file has {whole.records[0]}."

    def offenders(self, persons: PersonTable) -> npt.NDArray[np.int64]:
        """None: removing persons never helps."""
        return np.empty(0, dtype=np.int64)

    def parameters(self) -> Mapping[str, Any]:
        """The threshold."""
        return {"k": self.k}


@dataclass(frozen=True)
class PidKAnonymity:
    """Every class has at least K persons: PID-based K-anonymity (Tao et al. 2008).

    Parameters
    ----------
    k
        Least number of persons, 1 or more.

    Raises
    ------
    InputError
        If ``k`` is not a whole number of at least 1.
    """

    k: int

    def __post_init__(self) -> None:
        count("pid_k", self.k, 1)

    @property
    def name(self) -> str:
        """``pid_k``."""
        return "pid_k"

    @property
    def needs(self) -> frozenset[str]:
        """Sizes only."""
        return frozenset()

    def met(self, classes: ClassSummary) -> Verdicts:
        """n_t ≥ K."""
        verdicts: Verdicts = classes.persons >= self.k
        return verdicts

    def thresholds(self) -> Thresholds:
        """The same as a threshold."""
        return Thresholds(persons=self.k)

    def shortfall(self, whole: ClassSummary) -> str:
        """The number of persons beside K."""
        return f"pid_k asks for at least {self.k} persons; the file has {whole.persons[0]}."

    def offenders(self, persons: PersonTable) -> npt.NDArray[np.int64]:
        """None: removing persons never helps."""
        return np.empty(0, dtype=np.int64)

    def parameters(self) -> Mapping[str, Any]:
        """The threshold."""
        return {"k": self.k}
