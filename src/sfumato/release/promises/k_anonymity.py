"""k-anonymity by records and by persons."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Annotated

from sfumato.core.declaration import Count, Parameter
from sfumato.core.number_text import counted
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import TOLERANCE, Promise, Thresholds, Verdicts

if TYPE_CHECKING:
    from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True)
class KAnonymity(Promise):
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

    name = "k"
    order = 3

    k: Annotated[int, Parameter("At least K records in every class.", "K", Count(1))]

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

    def sentence(self, attribute: str = "") -> str:
        """As a number of records."""
        return Phrase("Every class has at least {records}.", records=counted(self.k, "record"))


@dataclass(frozen=True)
class PidKAnonymity(Promise):
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

    name = "pid_k"
    order = 4

    k: Annotated[int, Parameter("At least K people in every class.", "K", Count(1), flag="pid_k")]

    def met(self, classes: ClassSummary) -> Verdicts:
        """n_t ≥ K."""
        verdicts: Verdicts = classes.persons >= self.k
        return verdicts

    def thresholds(self) -> Thresholds:
        """The same as a threshold."""
        return Thresholds(persons=self.k)

    def shortfall(self, whole: ClassSummary) -> str:
        """The number of persons beside K."""
        return f"pid_k asks for at least {self.k} people; the file has {whole.persons[0]}."

    @property
    def fewest_persons(self) -> int:
        """K."""
        return self.k

    def sentence(self, attribute: str = "") -> str:
        """As a number of persons."""
        return Phrase("Every class has at least {people}.", people=counted(self.k, "person"))


def _persons(risk: float) -> PidKAnonymity:
    """So many persons in every class that nobody is found with a higher chance."""
    # The quotient may be a little more than a whole number, which must not ask for one more person.
    return PidKAnonymity(ceil(1 / risk - TOLERANCE))


KAnonymity.measures = {"k": lambda limit: KAnonymity(ceil(limit - TOLERANCE))}
PidKAnonymity.measures = {
    "pid_k": lambda limit: PidKAnonymity(ceil(limit - TOLERANCE)),
    "prosecutor": _persons,
    "journalist": _persons,
}
# A share of records at risk is kept by having none: its limit is the risk above which one is.
PidKAnonymity.suffices = {"average_risk": _persons, "records_at_risk": _persons}
