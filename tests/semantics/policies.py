"""Policies that tests share: the paper's running example, and random ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from sfumato.schema.roles import IntervalHierarchy, PrefixHierarchy
from sfumato.semantics.policy_terms import Database, Linkage, LinkageQI, Measure, Policy, Request

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


names = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.just(" "),
    min_size=1,
    max_size=8,
).filter(lambda text: text == text.strip() and text.isprintable())
texts = names | st.just("")
paths = st.lists(st.text("abcxyz-_é0", min_size=1, max_size=5), min_size=1, max_size=3).map(
    lambda parts: Path(*parts).with_suffix(".csv")
)
positive = st.floats(min_value=1e-6, max_value=1e9, allow_nan=False)
hierarchies = (
    st.none()
    | paths
    | st.builds(
        PrefixHierarchy,
        lengths=st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple),
        groups=st.lists(names, max_size=2).map(tuple),
    )
    | st.builds(
        IntervalHierarchy,
        widths=st.lists(positive | st.sampled_from(["month", "year"]), min_size=1).map(tuple),
        start=st.floats(-1e6, 1e6),
    )
)
lists = st.lists(names, max_size=3, unique=True).map(tuple)
qis = st.builds(LinkageQI, hierarchy=hierarchies, weight=positive | st.just(1.0))
databases = st.builds(
    Database,
    k=st.none() | st.integers(1, 99),
    quasi_identifiers=st.dictionaries(names, qis, max_size=3),
    authenticates=lists,
    purposes=st.none() | lists,
    description=texts,
)
linkages = st.builds(Linkage, from_=lists, description=texts)
requests = st.builds(Request, role=names, linkage=names, purpose=st.none() | names, requester=texts)
policies = st.builds(
    Policy,
    measure=st.sampled_from(Measure),
    rules=st.lists(paths, max_size=2).map(tuple),
    roles=st.dictionaries(names, texts, max_size=3),
    purposes=st.dictionaries(names, texts, max_size=3),
    databases=st.dictionaries(names, databases, max_size=3),
    linkages=st.dictionaries(names, linkages, max_size=3),
    requests=st.dictionaries(names, requests, max_size=3),
)
