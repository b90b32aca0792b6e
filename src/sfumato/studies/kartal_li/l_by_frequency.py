"""l-diversity as Section 4 states it: the most frequent value has at most 1/l of the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.constraints import TOLERANCE, Verdicts
from sfumato.release.persons import PersonTable
from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True)
class LByFrequency:
    """Every class has max_j k_j / k ≤ 1/l, k counting records (paper 003, Section 4).

    Reads the affiliations of persons who hold the value of every record: see `Reading.by_record`.

    Parameters
    ----------
    l
        The threshold, 1 or more.
    """

    l: float  # noqa: E741

    @property
    def name(self) -> str:
        """``l_by_frequency``."""
        return "l_by_frequency"

    @property
    def needs(self) -> frozenset[str]:
        """``affiliation``."""
        return frozenset({"affiliation"})

    def met(self, classes: ClassSummary) -> Verdicts:
        """k_j ≤ k/l in every class for the most frequent value, with a tolerance."""
        verdicts: Verdicts = np.ones(classes.classes, dtype=bool)
        for frequent in classes.affiliation.values():
            verdicts &= frequent <= (1 / self.l + TOLERANCE) * classes.records
        return verdicts

    def shortfall(self, whole: ClassSummary) -> str:
        """The threshold; the study skips it where the whole file breaks it."""
        return f"l_by_frequency asks for at most 1/{self.l:.4g} of the records."

    def offenders(self, persons: PersonTable) -> npt.NDArray[np.int64]:
        """None: the study removes nobody."""
        return np.empty(0, dtype=np.int64)

    def parameters(self) -> Mapping[str, Any]:
        """The threshold."""
        return {"l": self.l}
