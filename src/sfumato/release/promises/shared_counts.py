"""Nobody stands out in a class by the number of records."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Annotated

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.declaration import Count, Parameter
from sfumato.core.number_text import count
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import TOLERANCE, Promise, Thresholds, Verdicts

if TYPE_CHECKING:
    from sfumato.release.person_table import PersonTable
    from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True)
class SharedCounts(Promise):
    """Every number of records that occurs in a class is that of at least m of its persons.

    The intruder of paper 000 knows the quasi-identifiers of a target and how many records the
    target has; a release with pseudonyms shows the numbers. Whoever shares a class and a number
    with m - 1 others is found with a chance of at most 1/m: k-anonymity over persons with the
    number of records as one more quasi-identifier.

    Parameters
    ----------
    m
        Least number of persons, 1 or more.

    Raises
    ------
    InputError
        If ``m`` is not a whole number of at least 1.
    """

    name = "shared_counts"
    order = 7
    needs = frozenset({"fewest_sharing"})

    m: Annotated[
        int,
        Parameter(
            "At least M people of a class share each number of records.",
            "M",
            Count(1),
            flag="shared_counts",
        ),
    ]

    def met(self, classes: ClassSummary) -> Verdicts:
        """Persons of the rarest number ≥ m."""
        verdicts: Verdicts = classes.fewest_sharing >= self.m
        return verdicts

    def thresholds(self) -> Thresholds:
        """The same as a threshold."""
        return Thresholds(sharing=self.m)

    def shortfall(self, whole: ClassSummary) -> str:
        """The number of persons who share the rarest number, beside m."""
        fewest = int(whole.fewest_sharing[0])
        has = "1 person has" if fewest == 1 else f"{fewest} people have"
        return (
            f"shared_counts asks that at least {self.m} people of a class share each number of "
            f"records; of all in one class, only {has} the rarest number."
        )

    def offenders(self, persons: PersonTable) -> Ints:
        """Everybody with a number of records that fewer than m people have."""
        _, number, sharing = np.unique(persons.records, return_inverse=True, return_counts=True)
        # All of a rare number go, since it is gone only with the last of them.
        rare: Ints = np.flatnonzero(sharing[number] < self.m)
        return rare

    def sentence(self, attribute: str = "") -> str:
        """As a number of persons."""
        return Phrase(
            "No person stands out by the number of records: at least {m} people of a class share "
            "each number of records that a pseudonym shows.",
            m=count(self.m),
        )


SharedCounts.measures = {
    "count_k": lambda limit: SharedCounts(ceil(limit - TOLERANCE)),
    "max_count_risk": lambda limit: SharedCounts(ceil(1 / limit - TOLERANCE)),
}
