"""Distinct l-diversity: every class shows enough different sensitive values."""

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
class LDiversity:
    """Every class has at least l distinct values of a sensitive attribute.

    Distinct l-diversity of Machanavajjhala et al. 2006; it says nothing about several records
    per person (paper 003, Table 4): use `HAffiliation` there.

    Parameters
    ----------
    l
        Least number of distinct values, 1 or more.
    attribute
        The sensitive attribute it speaks about; without it, each one separately.

    Raises
    ------
    InputError
        If ``l`` is not a whole number of at least 1.
    """

    l: int  # noqa: E741
    attribute: str | None = None

    def __post_init__(self) -> None:
        count("l", self.l, 1)

    @property
    def name(self) -> str:
        """``l``."""
        return "l"

    @property
    def needs(self) -> frozenset[str]:
        """``distinct``."""
        return frozenset({"distinct"})

    def met(self, classes: ClassSummary) -> Verdicts:
        """Number of distinct values ≥ l."""
        verdicts: Verdicts = np.ones(classes.classes, dtype=bool)
        for attribute, distinct in classes.distinct.items():
            if self.attribute in (None, attribute):
                verdicts &= distinct >= self.l
        return verdicts

    def thresholds(self) -> Thresholds:
        """The same as a threshold."""
        return Thresholds(distinct=self.l, attribute=self.attribute)

    def shortfall(self, whole: ClassSummary) -> str:
        """The number of distinct values beside l, per sensitive attribute that breaks it."""
        broken = [
            f"column '{attribute}' has {distinct[0]}"
            for attribute, distinct in whole.distinct.items()
            if self.attribute in (None, attribute) and distinct[0] < self.l
        ]
        return f"l asks for at least {self.l} distinct values; {', '.join(broken)}."

    def offenders(self, persons: PersonTable) -> npt.NDArray[np.int64]:
        """None: removing persons never helps."""
        return np.empty(0, dtype=np.int64)

    def parameters(self) -> Mapping[str, Any]:
        """The threshold and the attribute, where one is named."""
        return {"l": self.l} | ({} if self.attribute is None else {"attribute": self.attribute})
