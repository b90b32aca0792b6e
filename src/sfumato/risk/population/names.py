"""The names of the estimators, as the command line and the reports have them."""

from __future__ import annotations

from sfumato.core.errors import InputError

AUTO = "auto"
ESTIMATORS = (
    AUTO,
    "accumulation",
    "argus",
    "log-linear",
    "log-linear-uniques",
    "log-linear-independence",
    "log-linear-all-two-way",
    "log-linear-count",
    "negative-binomial",
    "shlosser",
    "sh3",
    "duj1",
    "duj2",
    "duj2a",
    "jackknife",
    "hybrid",
    "hybrid-vldb",
    "pitman",
)


def check_estimator(name: str) -> None:
    """Refuse a name that no estimator has.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in ESTIMATORS:
        raise InputError(
            "parameter estimator",
            "must be the name of an estimator",
            accepted=", ".join(ESTIMATORS),
        )
