"""h-affiliation: no sensitive value is shared by too many persons of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.declaration import Count, Parameter, Share
from sfumato.core.errors import InputError
from sfumato.core.number_text import percent
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import TOLERANCE, AboutAttribute, Thresholds, Verdicts

if TYPE_CHECKING:
    from sfumato.release.person_table import PersonTable
    from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True, init=False)
class HAffiliation(AboutAttribute):
    """Every class has h(t) = max_j n_j/n_t ≤ h* (paper 003, Definition 3).

    Parameters
    ----------
    h
        The threshold h* in (0, 1].
    l
        The same threshold as the l of l-diversity: h* = 1/l (Equation 6).
    attribute
        The sensitive attribute it speaks about; without it, each one separately (Section 9).

    Raises
    ------
    InputError
        If not exactly one of ``h`` and ``l`` is given, or it is out of range.

    Examples
    --------
    >>> HAffiliation(l=4)
    HAffiliation(h=0.25, attribute=None)
    """

    name = "h_affiliation"
    order = 2
    needs = frozenset({"affiliation"})

    h: Annotated[
        float,
        Parameter(
            "h-affiliation of every class at most H, in (0, 1].",
            "H",
            Share(zero=False, one=True),
            flag="h_affiliation",
        ),
    ]
    attribute: str | None

    def __init__(
        self,
        h: float | None = None,
        *,
        l: int | None = None,  # noqa: E741
        attribute: str | None = None,
    ) -> None:
        if (h is None) == (l is None):
            raise InputError(
                "parameters h and l of HAffiliation", "state the same threshold", advice="give one"
            )
        threshold = h if l is None else 1 / Count(1).check("parameter l", l)
        object.__setattr__(self, "h", threshold)
        object.__setattr__(self, "attribute", attribute)
        self.__post_init__()

    def met(self, classes: ClassSummary) -> Verdicts:
        """n_j ≤ h*·n in every class for the most shared value, with a tolerance."""
        verdicts: Verdicts = np.ones(classes.classes, dtype=bool)
        for name, affiliation in self.spoken_of(classes.affiliation).items():
            verdicts &= affiliation <= (self.h + TOLERANCE) * classes.sharing(name)
        return verdicts

    def surely_met(self, classes: ClassSummary) -> Verdicts:
        """The same of upper bounds: fewer who share a value break nothing."""
        return self.met(classes)

    def thresholds(self) -> Thresholds:
        """The same as a threshold."""
        return Thresholds(affiliation=self.h + TOLERANCE, attribute=self.attribute)

    def shortfall(self, whole: ClassSummary) -> str:
        """The h-affiliation of the class beside h*, per sensitive attribute that breaks it."""
        broken = [
            f"column '{attribute}' has {affiliation[0] / whole.sharing(attribute)[0]:.4g}"
            for attribute, affiliation in self.spoken_of(whole.affiliation).items()
            if affiliation[0] > (self.h + TOLERANCE) * whole.sharing(attribute)[0]
        ]
        return (
            f"h_affiliation asks for at most {self.h:.4g}; with all records in one class "
            f"{', '.join(broken)} (the share of people who have the most shared value)."
        )

    def offenders(self, persons: PersonTable) -> Ints:
        """Persons who have the most shared value, those with fewest records first.

        With x of them gone, n_j - x ≤ h*·(n - x); the value most shared then may be another
        one, so the caller asks again.
        """
        for values in self.spoken_of(persons.sensitive).values():
            shared = np.bincount(values.values, minlength=values.size)
            most = int(np.argmax(shared))
            told = persons.persons if values.told is None else int(values.told.sum())
            excess = shared[most] - (self.h + TOLERANCE) * told
            if excess <= 0:
                continue
            owner = np.repeat(np.arange(persons.persons), np.diff(values.offsets))
            having = owner[values.values == most]
            # x ≥ (n_j - h*·n)/(1 - h*). The divisor is not 0: with h* = 1 nothing exceeds it.
            needed = int(np.ceil(excess / (1 - self.h)))
            # All of them count alike in h, so that those go who take the fewest records along.
            lightest: Ints = having[np.argsort(persons.records[having], kind="stable")]
            return lightest[:needed]
        return np.empty(0, dtype=np.int64)

    def sentence(self, attribute: str = "") -> str:
        """As a share of the persons of a class."""
        return Phrase(
            "No value of “{column}” is shared by too many: at most {share} of the people of a "
            "class have the same value.",
            column=attribute,
            share=percent(self.h),
        )


HAffiliation.measures = {"h_affiliation": HAffiliation, "max_gsar": HAffiliation}
