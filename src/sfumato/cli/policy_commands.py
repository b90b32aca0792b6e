"""``sfumato policy``: who may get which linkage, and what must hold for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import ABOVE, BAD_INPUT, READY, print_found, print_json
from sfumato.cli.parameters import Json, argument, file_option

if TYPE_CHECKING:
    from sfumato.semantics.policy_terms import Policy
    from sfumato.semantics.rules.derivation import Requirements

PolicyFile = Annotated[Path, argument(metavar="POLICY", help="The policy: a TOML file.")]
Rules = Annotated[
    list[Path] | None,
    file_option(
        "--rules", help="A file with more rules, beside those that the policy names. Repeatable."
    ),
]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def policy() -> None:
    """Who may get which linkage, and what must hold for it."""


@app.command()
def check(policy: PolicyFile, rules: Rules = None, json: Json = False) -> int:
    """Find contradictions and gaps of a policy, and say them in plain words.

    Ends with exit code 1 where there is an error: something that nothing can be released under.
    """
    from dataclasses import asdict

    from sfumato.semantics.policy import Severity, check_policy, load_policy
    from sfumato.semantics.rules.derivation import check_rules

    loaded = load_policy(policy)
    found = [*check_policy(loaded), *check_rules(loaded, rules or ())]
    # Errors first; the order of the policy is kept among them, as the sort is stable.
    found.sort(key=lambda finding: finding.severity is Severity.WARNING)
    errors = sum(finding.severity is Severity.ERROR for finding in found)
    said = [f"{finding.severity.capitalize()}: {finding}" for finding in found]
    counts = f"Errors: {errors}; warnings: {len(found) - errors}."
    said.append(counts if found else "No contradiction and no gap found.")
    print_found([asdict(finding) for finding in found], said, json=json)
    return BAD_INPUT if errors else READY


@app.command()
def explain(
    policy: PolicyFile,
    request: Annotated[str, argument(metavar="REQUEST", help="The request's name.")],
    rules: Rules = None,
    json: Json = False,
) -> int:
    """Say what a request requires of a release, and why: which rule, which facts.

    Ends with exit code 2 where the rules refuse the request.
    """
    from sfumato.semantics.policy import load_policy
    from sfumato.semantics.rules.derivation import derive

    loaded = load_policy(policy)
    required = derive(loaded, request, rules=rules or ())
    if json:
        print_json(
            {
                "request": request,
                "linkage": required.linkage,
                "allowed": not required.refused,
                "refused": list(required.refused),
                "k": required.k,
                "quasi_identifiers": {
                    name: list(identifier)
                    for name, identifier in required.quasi_identifiers.items()
                },
                "why": [why.to_dict() for why in required.explain()],
            }
        )
    else:
        because = (line for why in required.explain() for line in why.lines())
        typer.echo("\n".join((*_summary(loaded, required), "", *because)))
    return ABOVE if required.refused else READY


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
