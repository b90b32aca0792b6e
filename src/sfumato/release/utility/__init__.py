"""What a release loses: errors, penalties, and what is left of counts and correlations."""

from sfumato.release.utility.correlations import CorrelationChange
from sfumato.release.utility.distributions import Distribution
from sfumato.release.utility.measure import measure_utility
from sfumato.release.utility.range_queries import QueryError
from sfumato.release.utility.result import ColumnLoss, Utility

__all__ = [
    "ColumnLoss",
    "CorrelationChange",
    "Distribution",
    "QueryError",
    "Utility",
    "measure_utility",
]
