"""Rules over policies, requests and tuples, and the reasoner that works them out."""

from sfumato.semantics.rules.derive import derive
from sfumato.semantics.rules.explain import Step, Why
from sfumato.semantics.rules.requirements import Enforcement, Enforcements, Requirements

__all__ = ["Enforcement", "Enforcements", "Requirements", "Step", "Why", "derive"]
