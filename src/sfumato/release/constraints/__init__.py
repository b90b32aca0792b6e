"""Promises about classes (constraints) and about the whole release (budgets)."""

from sfumato.release.constraints.g_balance import GBalance
from sfumato.release.constraints.h_affiliation import HAffiliation
from sfumato.release.constraints.l_diversity import LDiversity
from sfumato.release.constraints.marketer_risk import MarketerRisk
from sfumato.release.constraints.protocol import TOLERANCE, Budget, Constraint, Verdicts
from sfumato.release.constraints.sizes import KAnonymity, PidKAnonymity

BY_NAME = {
    "g_balance": GBalance,
    "h_affiliation": HAffiliation,
    "k": KAnonymity,
    "pid_k": PidKAnonymity,
    "l": LDiversity,
    "marketer": MarketerRisk,
}
"""The constraint and budget classes by their names in a manifest."""

__all__ = [
    "BY_NAME",
    "TOLERANCE",
    "Budget",
    "Constraint",
    "GBalance",
    "HAffiliation",
    "KAnonymity",
    "LDiversity",
    "MarketerRisk",
    "PidKAnonymity",
    "Verdicts",
]
