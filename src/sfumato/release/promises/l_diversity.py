"""Distinct l-diversity: every class shows enough different sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Annotated

import numpy as np

from sfumato.core.declaration import Count, Parameter
from sfumato.core.number_text import count
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import TOLERANCE, AboutAttribute, Thresholds, Verdicts

if TYPE_CHECKING:
    from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True)
class LDiversity(AboutAttribute):
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

    name = "l"
    order = 5
    needs = frozenset({"distinct"})

    l: Annotated[  # noqa: E741
        int, Parameter("At least L distinct sensitive values in every class.", "L", Count(1))
    ]
    attribute: str | None = None

    def met(self, classes: ClassSummary) -> Verdicts:
        """Number of distinct values ≥ l, where anybody has a record of the attribute's table."""
        verdicts: Verdicts = np.ones(classes.classes, dtype=bool)
        for name, distinct in self.spoken_of(classes.distinct).items():
            verdicts &= (distinct >= self.l) | (classes.sharing(name) == 0)
        return verdicts

    def thresholds(self) -> Thresholds:
        """The same as a threshold."""
        return Thresholds(distinct=self.l, attribute=self.attribute)

    def shortfall(self, whole: ClassSummary) -> str:
        """The number of distinct values beside l, per sensitive attribute that breaks it."""
        broken = [
            f"column '{attribute}' has {distinct[0]}"
            for attribute, distinct in self.spoken_of(whole.distinct).items()
            if distinct[0] < self.l and whole.sharing(attribute)[0]
        ]
        return f"l asks for at least {self.l} distinct values; {', '.join(broken)}."

    def sentence(self, attribute: str = "") -> str:
        """As a number of values."""
        return Phrase(
            "Every class shows at least {l} different values of “{column}”.",
            l=count(self.l),
            column=attribute,
        )


# A limit with a fraction is kept from the next whole number on; rounding must not raise that.
LDiversity.measures = {"l_distinct": lambda limit: LDiversity(ceil(limit - TOLERANCE))}
