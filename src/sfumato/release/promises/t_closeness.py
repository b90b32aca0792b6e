"""t-closeness: no class's sensitive values are far from those of the whole file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import numpy as np

from sfumato.core.declaration import Parameter, Share
from sfumato.core.number_text import number
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import TOLERANCE, AboutAttribute, Verdicts

if TYPE_CHECKING:
    from sfumato.risk.classes import ClassSummary, Floats


class Distance(StrEnum):
    """How far apart two values of a sensitive attribute are."""

    EQUAL = "equal"
    """Any two values equally far: half the sum of the differences of shares."""
    ORDERED = "ordered"
    """By the ranks between them: the earth mover's distance, for values that are all numbers."""


@dataclass(frozen=True)
class TCloseness(AboutAttribute):
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

    name = "t_closeness"
    order = 8

    t: Annotated[
        float,
        Parameter(
            "Sensitive values of a class at most T away from all.",
            "T",
            Share(zero=True, one=True),
            flag="t_closeness",
        ),
    ]
    attribute: str | None = None
    distance: Annotated[
        Distance,
        Parameter("Distance of --t-closeness; ordered by rank, for sensitive numbers."),
    ] = Distance.EQUAL

    @property
    def needs(self) -> frozenset[str]:
        """``distance`` or ``ordered_distance``."""
        return frozenset({"distance" if self.distance == Distance.EQUAL else "ordered_distance"})

    @property
    def measure(self) -> str:
        """``t_closeness``, or ``t_closeness_ordered``."""
        return "t_closeness" if self.distance == Distance.EQUAL else "t_closeness_ordered"

    def met(self, classes: ClassSummary) -> Verdicts:
        """Distance ≤ t, with a tolerance.

        Raises
        ------
        LookupError
            If the classes were counted without their distances.
        """
        verdicts: Verdicts = np.ones(classes.classes, dtype=bool)
        for distance in self._distances(classes).values():
            # An absolute tolerance, because t may be 0.
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

    def sentence(self, attribute: str = "") -> str:
        """As a distance, and how it is counted."""
        told = {"column": attribute, "t": number(self.t)}
        if self.distance == Distance.ORDERED:
            return Phrase(
                "The values of “{column}” in a class, over records, are nearly those of the whole "
                "file: at most a distance of {t} away, counting how many ranks apart values are.",
                **told,
            )
        return Phrase(
            "The values of “{column}” in a class, over records, are nearly those of the whole "
            "file: at most a distance of {t} away.",
            **told,
        )

    def _distances(self, classes: ClassSummary) -> dict[str, Floats]:
        equal = self.distance == Distance.EQUAL
        distances = self.spoken_of(classes.distance if equal else classes.ordered_distance)
        if not distances:
            raise LookupError(f"classes were counted without {min(self.needs)}")
        return distances


TCloseness.measures = {
    "t_closeness": TCloseness,
    "t_closeness_ordered": lambda limit: TCloseness(limit, distance=Distance.ORDERED),
}
