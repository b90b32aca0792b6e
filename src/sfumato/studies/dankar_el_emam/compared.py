"""The estimators that the study compares."""

from __future__ import annotations

from types import MappingProxyType

LOG_LINEAR, ARGUS, NEGATIVE_BINOMIAL = "log-linear", "argus", "negative-binomial"
OF_THE_PAPER = (LOG_LINEAR, ARGUS, NEGATIVE_BINOMIAL)
"""Sections 2.4.1-2.4.3; the last is Bethlehem et al.'s."""
ESTIMATORS = (
    ARGUS,
    NEGATIVE_BINOMIAL,
    LOG_LINEAR,
    "log-linear-independence",
    "shlosser",
    "sh3",
    "pitman",
    "auto",
)
"""Names as `estimator_named` knows them."""
LABELS = MappingProxyType(
    {
        ARGUS: "Argus (paper)",
        NEGATIVE_BINOMIAL: "negative binomial (paper)",
        LOG_LINEAR: "log-linear search (paper)",
        "log-linear-independence": "log-linear, independence",
        "shlosser": "Shlosser",
        "sh3": "Sh3",
        "pitman": "Pitman",
        "auto": "auto (accumulation)",
    }
)
