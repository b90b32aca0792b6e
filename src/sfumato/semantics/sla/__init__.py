"""Semantic linkage anonymity: tuples that hold against what their reader could infer."""

from sfumato.semantics.sla.between import intersection, left_by, shown_before
from sfumato.semantics.sla.enforced import Enforce, Enforced, by_rules
from sfumato.semantics.sla.reader import Reader
from sfumato.semantics.sla.result import Change, Raised, SemanticLevels
from sfumato.semantics.sla.risk import disclosure_risk, disclosure_risks, largest_risks
from sfumato.semantics.sla.search import semantic_levels

__all__ = [
    "Change",
    "Enforce",
    "Enforced",
    "Raised",
    "Reader",
    "SemanticLevels",
    "by_rules",
    "disclosure_risk",
    "disclosure_risks",
    "intersection",
    "largest_risks",
    "left_by",
    "semantic_levels",
    "shown_before",
]
