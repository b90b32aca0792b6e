"""What the rules say to a policy: files that cannot run, and requests that they refuse."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.semantics.policy import Finding, Policy
from sfumato.semantics.policy.check import Severity, errors_for
from sfumato.semantics.rules.derive import derive


def check_rules(policy: Policy, rules: Iterable[Path] = ()) -> tuple[Finding, ...]:
    """Findings of the rules, for requests in which `check_policy` finds no error.

    Parameters
    ----------
    policy
        The policy, with its paths located.
    rules
        More files with a site's rules.
    """
    paths = tuple(rules)
    found: dict[Finding, None] = {}
    for name in policy.requests:
        if errors_for(policy, name):
            continue
        where = f"request '{name}'"
        try:
            refused = derive(policy, name, rules=paths).refused
        except InputError as error:
            found[Finding(Severity.ERROR, "rules", str(error).removesuffix("."))] = None
            continue
        for said in refused:
            found[Finding(Severity.ERROR, where, f"a rule refuses it: {said}")] = None
    return tuple(found)
