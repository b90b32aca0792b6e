"""``sfumato policy check``: contradictions and gaps."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.output import BAD_INPUT, MET, print_json
from sfumato.cli.policy.options import PolicyFile, Rules


def check(
    policy: PolicyFile,
    rules: Rules = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Find contradictions and gaps of a policy, and say them in plain words.

    Ends with exit code 1 where there is an error: something that nothing can be released under.
    """
    from dataclasses import asdict

    from sfumato.semantics.policy import check_policy, load_policy
    from sfumato.semantics.policy.check import Severity
    from sfumato.semantics.rules.check import check_rules

    loaded = load_policy(policy)
    found = [*check_policy(loaded), *check_rules(loaded, rules or ())]
    found.sort(key=lambda finding: finding.severity is Severity.WARNING)
    errors = sum(finding.severity is Severity.ERROR for finding in found)
    if as_json:
        print_json([asdict(finding) for finding in found])
    else:
        for finding in found:
            typer.echo(f"{finding.severity.capitalize()}: {finding}")
        counted = f"{errors} errors, {len(found) - errors} warnings"
        typer.echo(counted if found else "No contradiction and no gap found.")
    return BAD_INPUT if errors else MET
