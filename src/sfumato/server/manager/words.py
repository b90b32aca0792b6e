"""A project's rules and grants in words."""

from __future__ import annotations

from sfumato.server.store.models import Grant, GrantKind, Project


def rules_in_words(project: Project) -> list[tuple[str, str]]:
    """The settings of a project: name and value.

    Parameters
    ----------
    project
        The project.
    """
    rules = project.settings
    floor = "refused below" if rules["k_floor"] == "refuse" else "reported where below"
    return [
        ("k", f"{rules['k']}, {floor}"),
        ("Anonymity sets", str(rules["policy"])),
        ("Costs shown", str(rules["costs"])),
        ("Masks", f"{rules['mask_width']} width"),
        ("Shown at first", ("masked", "partly", "in full")[int(rules["start"])]),
        ("Budget of a worker", limit(rules.get("budget"))),
        ("Budget of the project", limit(rules.get("project_budget"))),
        ("Hints", "given" if rules["hints"] else "none"),
        ("Pairs on a page", str(project.page_size)),
        ("Workers for each pair", str(project.overlap)),
        ("Share of gold pairs", f"{project.gold_share:.3g}"),
        ("Attributes", ", ".join(each["name"] for each in project.attributes)),
    ]


def told_of_grant(grant: Grant) -> str:
    """What the custodian has granted.

    Parameters
    ----------
    grant
        The grant.
    """
    end = "; revoked" if "revoked" in grant.detail else ""
    if grant.kind == GrantKind.IDENTITY_EXPORT:
        return f"one export of identities, {'used' if grant.used else 'not used'}{end}"
    before, after = grant.detail.get("before"), grant.detail.get("after")
    if grant.kind == GrantKind.K:
        return f"k from {before} to {after}{end}"
    whose = f"of {grant.to.pseudonym}" if grant.to else "of the project"
    return f"budget {whose} from {limit(before)} to {limit(after)}{end}"


def limit(budget: float | None) -> str:
    """A budget in words.

    Parameters
    ----------
    budget
        KAPR, ``None`` for no limit.
    """
    return "no limit" if budget is None else f"{budget:g}"
