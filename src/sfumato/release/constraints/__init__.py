"""Promises about classes (constraints) and about the whole release (budgets)."""

from sfumato.release.constraints.delta_presence import DeltaPresence
from sfumato.release.constraints.g_balance import GBalance
from sfumato.release.constraints.h_affiliation import HAffiliation
from sfumato.release.constraints.l_diversity import LDiversity
from sfumato.release.constraints.marketer_risk import MarketerRisk
from sfumato.release.constraints.protocol import (
    TOLERANCE,
    AboutPopulation,
    Bounded,
    Budget,
    Constraint,
    Verdicts,
)
from sfumato.release.constraints.shared_counts import SharedCounts
from sfumato.release.constraints.sizes import KAnonymity, PidKAnonymity
from sfumato.release.constraints.t_closeness import TCloseness

BY_NAME = {
    "g_balance": GBalance,
    "h_affiliation": HAffiliation,
    "k": KAnonymity,
    "pid_k": PidKAnonymity,
    "l": LDiversity,
    "shared_counts": SharedCounts,
    "t_closeness": TCloseness,
    "marketer": MarketerRisk,
    "presence": DeltaPresence,
}
"""The constraint and budget classes by their names in a manifest."""

__all__ = [
    "BY_NAME",
    "TOLERANCE",
    "AboutPopulation",
    "Bounded",
    "Budget",
    "Constraint",
    "DeltaPresence",
    "GBalance",
    "HAffiliation",
    "KAnonymity",
    "LDiversity",
    "MarketerRisk",
    "PidKAnonymity",
    "SharedCounts",
    "TCloseness",
    "Verdicts",
]
