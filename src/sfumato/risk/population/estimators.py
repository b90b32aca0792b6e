"""The estimators of the marketer risk by their names."""

from __future__ import annotations

from sfumato.risk.population.accumulation import Accumulation
from sfumato.risk.population.class_counts.registry import CLASS_COUNTS
from sfumato.risk.population.estimate import Estimator
from sfumato.risk.population.log_linear.class_count import LogLinearCount
from sfumato.risk.population.log_linear.estimator import LogLinear
from sfumato.risk.population.models.argus import Argus
from sfumato.risk.population.models.negative_binomial import NegativeBinomial
from sfumato.risk.population.names import AUTO, check_estimator
from sfumato.risk.population.weighted import Weighted


def estimator_named(name: str, columns: tuple[str, ...] = ()) -> Estimator:
    """The estimator of that name.

    Parameters
    ----------
    name
        One of `ESTIMATORS`.
    columns
        Names of the quasi-identifiers, for the path of a search.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    check_estimator(name)
    if name in CLASS_COUNTS:
        return CLASS_COUNTS[name]
    others: dict[str, Estimator] = {
        AUTO: Weighted(),
        "accumulation": Accumulation(),
        "argus": Argus(),
        "negative-binomial": NegativeBinomial(),
        "log-linear": LogLinear(columns=columns),
        "log-linear-uniques": LogLinear("uniques", columns),
        "log-linear-independence": LogLinear("independence", columns),
        "log-linear-all-two-way": LogLinear("all-two-way", columns),
        "log-linear-count": LogLinearCount(columns=columns),
    }
    return others[name]
