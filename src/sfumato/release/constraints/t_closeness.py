"""t-closeness: no class's sensitive values are far from those of the whole file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.release.constraints.checks import share
from sfumato.release.constraints.protocol import TOLERANCE, Verdicts
from sfumato.release.persons import PersonTable
from sfumato.risk.classes import ClassSummary, Floats

DISTANCES = ("equal", "ordered")


@dataclass(frozen=True)
class TCloseness:
    """The sensitive values of every class lie within a distance t of those of the whole file.

    t-closeness of Li, Li & Venkatasubramanian 2007. Distributions are over records, as theirs
    are; a missing value is no value, and a class without a value has distance 0. The whole file
    is what is released: after suppression, the records that remain.

    Parameters
    ----------
    t
        The threshold in [0, 1].
    attribute
        The sensitive attribute it speaks about; without it, each one separately.
    distance
        ``"equal"``: half the sum of the differences of shares (any two values are equally far
        apart). ``"ordered"``: the earth mover's distance on ranks, for attributes whose values
        are all numbers.

    Raises
    ------
    InputError
        If ``t`` is out of range or ``distance`` is an unknown word.
    """

    t: float
    attribute: str | None = None
    distance: str = "equal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", share("t", self.t, zero=True, one=True))
        if self.distance not in DISTANCES:
            raise InputError(
                "parameter distance",
                "must be one of the known words",
                accepted=", ".join(DISTANCES),
            )

    @property
    def name(self) -> str:
        """``t_closeness``."""
        return "t_closeness"

    @property
    def needs(self) -> frozenset[str]:
        """``distance`` or ``ordered_distance``."""
        return frozenset({"distance" if self.distance == "equal" else "ordered_distance"})

    def met(self, classes: ClassSummary) -> Verdicts:
        """Distance ≤ t, with a tolerance.

        Raises
        ------
        LookupError
            If the classes were counted without their distances.
        """
        verdicts: Verdicts = np.ones(classes.classes, dtype=bool)
        for distance in self._distances(classes).values():
            verdicts &= distance <= self.t + TOLERANCE
        return verdicts

    def shortfall(self, whole: ClassSummary) -> str:
        """The distance beside t; the whole file as one class has none.

        Raises
        ------
        LookupError
            If the class was counted without its distance.
        """
        far = ", ".join(
            f"column '{attribute}' has {distance[0]:.4g}"
            for attribute, distance in self._distances(whole).items()
        )
        return f"t_closeness asks for at most {self.t:.4g}; with all records in one class {far}."

    def offenders(self, persons: PersonTable) -> npt.NDArray[np.int64]:
        """None: all persons as one class keep it always."""
        return np.empty(0, dtype=np.int64)

    def parameters(self) -> Mapping[str, Any]:
        """The threshold and, where they are not the usual, the attribute and the distance."""
        stated: dict[str, Any] = {"t": self.t}
        if self.attribute is not None:
            stated["attribute"] = self.attribute
        if self.distance != "equal":
            stated["distance"] = self.distance
        return stated

    def _distances(self, classes: ClassSummary) -> dict[str, Floats]:
        found = classes.distance if self.distance == "equal" else classes.ordered_distance
        if not found:
            raise LookupError(f"classes were counted without {min(self.needs)}")
        return dict(found) if self.attribute is None else {self.attribute: found[self.attribute]}
