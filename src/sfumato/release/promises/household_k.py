"""Households in which nobody stands out by the people whom they live with."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Annotated

from sfumato.core.declaration import Count, Parameter
from sfumato.core.number_text import count
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import TOLERANCE, Promise, Thresholds, Verdicts

if TYPE_CHECKING:
    from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True)
class HouseholdK(Promise):
    """Every household has the same members as k - 1 others, by the classes of these.

    A neighbour knows how many live in a household, and the quasi-identifiers of each. Where a
    release shows who lives together, the members tell a household although each of them shares a
    class with many. Under this promise k households or more have the same classes, each as often,
    so that such a neighbour finds a household with a chance of at most 1/k; every class then has k
    persons, too. The release shows households by pseudonyms of its own, which it does under no
    other promise. It needs the household column in the schema.

    Parameters
    ----------
    k
        Least number of households, 1 or more.

    Raises
    ------
    InputError
        If ``k`` is not a whole number of at least 1.
    """

    name = "household_k"
    order = 8

    k: Annotated[
        int,
        Parameter(
            "At least K households have the same members, by their classes; the release then shows "
            "who lives together.",
            "K",
            Count(1),
            flag="household_k",
        ),
    ]

    def met(self, classes: ClassSummary) -> Verdicts:
        """Whether a class has k persons at all: households are grouped to keep the rest."""
        verdicts: Verdicts = classes.persons >= self.k
        return verdicts

    def thresholds(self) -> Thresholds:
        """What a class alone can keep of it."""
        return Thresholds(persons=self.k)

    def shortfall(self, whole: ClassSummary) -> str:
        """The number of persons beside k."""
        return (
            f"household_k asks for at least {self.k} households, and so for as many people; the "
            f"file has {whole.persons[0]}."
        )

    @property
    def households_alike(self) -> int:
        """As many as are promised."""
        return self.k

    @property
    def fewest_persons(self) -> int:
        """k: each household of a group has somebody in each of its classes."""
        return self.k

    def sentence(self, attribute: str = "") -> str:
        """As a number of households."""
        return Phrase(
            "Someone who knows all members of a household, by quasi-identifiers, has at least {k} "
            "households to choose from.",
            k=count(self.k),
        )


HouseholdK.measures = {
    # k is whole: a limit that rounding has left a last bit above 5 must not ask for 6.
    "household_k": lambda limit: HouseholdK(ceil(limit - TOLERANCE)),
    # Among k households alike the chance is 1 / k. 1 / (1 / 49) is 49.00000000000001: less the
    # tolerance, or it would ask for 50.
    "max_composition_risk": lambda limit: HouseholdK(ceil(1 / limit - TOLERANCE)),
}
HouseholdK.suffices = {
    "avg_composition_risk": lambda limit: HouseholdK(ceil(1 / limit - TOLERANCE))
}
