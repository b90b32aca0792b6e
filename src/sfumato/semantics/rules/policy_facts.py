"""The facts that a policy and one request give."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.semantics.policy import Policy
from sfumato.semantics.rules.terms import quoted

PREDICATES = {
    "allows_purpose": (2,),
    "authenticate": (2,),
    "database": (1,),
    "has_anonymity": (2,),
    "has_k": (2,),
    "has_purpose": (2,),
    "has_qi": (2,),
    "has_requester": (2,),
    "has_resource": (2,),
    "has_role": (2,),
    "link_from": (2,),
    "linkage": (1,),
    "purpose": (1,),
    "request": (1,),
    "restricts_purpose": (1,),
    "role": (1,),
}
"""The words of these facts, and how many terms each takes."""


def policy_facts(policy: Policy, request: str) -> str:
    """A policy and one of its requests as facts.

    The k and the quasi-identifiers of a database hang on a term ``anonymity(Database)``, as in
    the paper.

    Parameters
    ----------
    policy
        The policy.
    request
        The request's name; it must be one of the policy's.
    """
    return "\n".join([*_databases(policy), *_others(policy), *_request(policy, request)])


def _fact(word: str, *names: str) -> str:
    return f"{word}({','.join(map(quoted, names))})."


def _databases(policy: Policy) -> Iterator[str]:
    for name, database in policy.databases.items():
        yield _fact("database", name)
        anonymity = f"anonymity({quoted(name)})"
        yield f"has_anonymity({quoted(name)},{anonymity})."
        if database.k is not None:
            yield f"has_k({anonymity},{database.k})."
        for column in database.quasi_identifiers:
            yield f"has_qi({anonymity},{quoted(column)})."
        for role in database.authenticates:
            yield _fact("authenticate", name, role)
        if database.purposes is not None:
            yield _fact("restricts_purpose", name)
            for purpose in database.purposes:
                yield _fact("allows_purpose", name, purpose)


def _others(policy: Policy) -> Iterator[str]:
    for role in policy.roles:
        yield _fact("role", role)
    for purpose in policy.purposes:
        yield _fact("purpose", purpose)
    for name, linkage in policy.linkages.items():
        yield _fact("linkage", name)
        for database in linkage.from_:
            yield _fact("link_from", name, database)


def _request(policy: Policy, name: str) -> Iterator[str]:
    request = policy.requests[name]
    yield _fact("request", name)
    yield _fact("has_role", name, request.role)
    yield _fact("has_resource", name, request.linkage)
    if request.purpose is not None:
        yield _fact("has_purpose", name, request.purpose)
    if request.requester:
        yield _fact("has_requester", name, request.requester)
