"""Policies: databases, roles, linkages and requests, as TOML and as RDF."""

from sfumato.semantics.policy.check import Finding, check_policy
from sfumato.semantics.policy.load import dump_policy, load_policy, located
from sfumato.semantics.policy.model import (
    Database,
    Linkage,
    LinkageQI,
    Measure,
    Policy,
    Request,
)

__all__ = [
    "Database",
    "Finding",
    "Linkage",
    "LinkageQI",
    "Measure",
    "Policy",
    "Request",
    "check_policy",
    "dump_policy",
    "load_policy",
    "located",
]
