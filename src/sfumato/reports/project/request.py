"""A release on request: who asked, what the rules of the policy require, what was known."""

from __future__ import annotations

import re
from typing import Any

from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.results import RELEASE, ProjectResults

_PLACE = re.compile(r" \([^()]*, line \d+\)$")


def request_of(results: ProjectResults, show: Internal) -> dict[str, Any] | None:
    """The request and what it led to; ``None`` for a release by promises.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    if not results.is_on_request:
        return None
    found = results.measured(RELEASE)
    asked, figures = found["request"], found["figures"]["SLA"]
    rules = [_PLACE.sub("", rule) if show.is_public else rule for rule in found["rules"]]
    return {
        "role": asked["role"],
        "purpose": asked["purpose"] or None,
        "linkage": asked["linkage"],
        "requester": None if show.is_public else asked["requester"] or None,
        "k": found["k"],
        "databases": [
            {
                "name": name,
                "quasi_identifiers": list(each["quasi_identifiers"]),
                "individuals": show.count(each["individuals"]),
            }
            for name, each in found["databases"].items()
        ],
        "rules": rules,
        "risk": show.mean(figures["risk"]),
        "risk_unaware": show.mean(figures["risk_unaware"]),
        "smallest_match": show.count(figures["smallest_match"]),
        "exposed": show.count(found["exposed"]),
        "kept": figures["smallest_match"] >= found["k"] and not found["exposed"],
        "associations_enforced": len(found["changes"]),
        "associations_open": len(found["proposed"]),
        "earlier_releases": len(found["ledger"]["earlier"]),
        "in_ledger": found["ledger"]["release"] is not None,
        "covered": list(found["covered"]),
        "not_covered": list(found["not_covered"]),
    }
