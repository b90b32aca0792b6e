"""Policies that tests share: the paper's running example, and random ones."""

from __future__ import annotations

from typing import Any

from sfumato.schema.roles import IntervalHierarchy
from sfumato.semantics.policy_terms import LinkageQI, Policy

EXAMPLE = """
[roles]
clinician = "treats patients at Hospital A"

[purposes]
research = ""

[databases."Hospital A"]
k = 3
authenticates = ["clinician"]

[databases."Hospital A".quasi_identifiers]
birth = "birth.csv"
sex = "sex.csv"
ethnicity = "ascceg.csv"

[databases."Pharmacy B"]
k = 2

[databases."Pharmacy B".quasi_identifiers]
birth = "birth.csv"
sex = "sex.csv"
language = "ascl.csv"

[linkages."A with B"]
from = ["Hospital A", "Pharmacy B"]

[requests.diabetes]
role = "clinician"
linkage = "A with B"
purpose = "research"
requester = "Dr. Who"
"""


def example(**changed: Any) -> Policy:
    """The paper's running example; databases' fields can be changed by name."""
    return Policy(
        roles=["clinician"],
        purposes=["research"],
        databases={
            "Hospital A": {
                "k": 3,
                "quasi_identifiers": ["birth", "sex", "ethnicity"],
                "authenticates": ["clinician"],
            },
            "Pharmacy B": {"k": 2, "quasi_identifiers": ["birth", "sex", "language"]},
        },
        linkages={"A with B": {"from": ["Hospital A", "Pharmacy B"]}},
        requests={"diabetes": {"role": "clinician", "linkage": "A with B", "purpose": "research"}},
        **changed,
    )


def complete() -> Policy:
    """The example with a hierarchy for every quasi-identifier."""
    policy = example()
    some = LinkageQI(hierarchy=IntervalHierarchy(widths=(5.0,)))
    filled = {
        name: each.model_copy(
            update={"quasi_identifiers": dict.fromkeys(each.quasi_identifiers, some)}
        )
        for name, each in policy.databases.items()
    }
    return policy.model_copy(update={"databases": filled})
