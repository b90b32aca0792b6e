"""``sfumato policy explain``: what a request requires, by which rule and which facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import MET, NOT_MET, print_json
from sfumato.cli.policy.options import PolicyFile, Rules

if TYPE_CHECKING:
    from sfumato.semantics.policy import Policy
    from sfumato.semantics.rules import Requirements


def explain(
    policy: PolicyFile,
    request: Annotated[
        str, typer.Argument(metavar="REQUEST", help="The request's name.", show_default=False)
    ],
    rules: Rules = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Say what a request requires of a release, and why: which rule, which facts.

    Ends with exit code 2 where the rules refuse the request.
    """
    from sfumato.semantics.policy import load_policy
    from sfumato.semantics.rules import derive

    loaded = load_policy(policy)
    required = derive(loaded, request, rules=rules or ())
    if as_json:
        print_json(
            {
                "request": request,
                "linkage": required.linkage,
                "allowed": not required.refused,
                "refused": list(required.refused),
                "k": required.k,
                "quasi_identifiers": {
                    name: list(each) for name, each in required.quasi_identifiers.items()
                },
                "why": [why.to_dict() for why in required.explain()],
            }
        )
    else:
        for line in (*_summary(loaded, required), ""):
            typer.echo(line)
        for why in required.explain():
            typer.echo("\n".join(why.lines()))
    return NOT_MET if required.refused else MET


def _summary(policy: Policy, required: Requirements) -> list[str]:
    request = policy.requests[required.request]
    who = request.requester or "somebody"
    lines = [f"Request {required.request}: {who}, as {request.role}, for {required.linkage}"]
    if request.purpose is not None:
        lines[0] += f", for the purpose of {request.purpose}"
    lines += [f"Refused: {said}" for said in required.refused]
    lines.append(f"k: {required.k}")
    for name, columns in required.quasi_identifiers.items():
        lines.append(f"Quasi-identifiers of {name}: {', '.join(columns)}")
    return lines
