"""Whether classes spend more than a budget allows."""

from __future__ import annotations

from sfumato.release.constraints.protocol import TOLERANCE, Budget
from sfumato.risk.classes import ClassSummary


def overspent(budget: Budget, classes: ClassSummary, persons: int) -> bool:
    """Whether all classes of a release together spend more than its budget.

    Parameters
    ----------
    budget
        The budget.
    classes
        All classes of the release.
    persons
        Number of persons of the release.
    """
    limit = budget.limit(int(classes.records.sum()), persons)
    return float(budget.spent(classes).sum()) > limit + TOLERANCE * abs(limit)
