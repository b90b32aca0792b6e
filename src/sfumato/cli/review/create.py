"""``sfumato review create``: a project of the web application, from the folder of a linkage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli.output import progress_bar, say
from sfumato.cli.review.options.rules import (
    CostsOption,
    Hints,
    K,
    PolicyOption,
    ProjectBudget,
    Start,
    Width,
    WorkerBudget,
    given,
)
from sfumato.cli.review.options.work import (
    Custodian,
    Gold,
    GoldShare,
    LinkFolder,
    Manager,
    Overlap,
    PageSize,
    Title,
)
from sfumato.cli.server.options import DATA, Data, Database, KeyFolder, existing
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.server.store.models import Account


def create(
    folder: LinkFolder,
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
    title: Title = "",
    custodian: Custodian = "",
    manager: Manager = "",
    gold: Gold = None,
    gold_share: GoldShare = 0.0,
    overlap: Overlap = 2,
    page_size: PageSize = 10,
    k: K = None,
    budget: WorkerBudget = None,
    project_budget: ProjectBudget = None,
    costs: CostsOption = None,
    policy: PolicyOption = None,
    mask_width: Width = None,
    start: Start = None,
    hints: Hints = False,
) -> None:
    """Make a project of a linkage's possible matches in the web application.

    As on its page /projects/new, and without that page's limits of size. Attributes are those
    that the linkage compared. The linkage's own files are kept, encrypted, so that the linked
    file can be downloaded once the project is closed.
    """
    existing(data, keys, database)
    import numpy as np

    from sfumato.review.project.from_linkage import from_linkage
    from sfumato.review.settings import PROPOSED, Settings
    from sfumato.server.live.make import make_project
    from sfumato.server.manager.linked import keep_linkage
    from sfumato.server.store.models import Role

    chief = _person(manager, Role.MANAGER)
    owner = _person(custodian, Role.CUSTODIAN, other_than=chief)
    rules: dict[str, Any] = given(
        budget=PROPOSED.budget if budget is None else budget,
        k=k, costs=costs, mask_width=mask_width, policy=policy, start=start, hints=hints,
    )  # fmt: skip
    settings = Settings(**rules, project_budget=project_budget)
    with progress_bar() as progress:
        progress("reading", 0.0)
        project = from_linkage(folder, np.random.default_rng(), settings=settings, gold=gold)
        progress("storing", 0.3)
        made = make_project(
            project,
            title=title or folder.resolve().name,
            custodian=owner,
            manager=chief,
            page_size=page_size,
            overlap=overlap,
            gold_share=gold_share,
        )
        kept = keep_linkage(
            made,
            {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()},
        )
    typer.echo(str(made.id))
    say(f"{len(project.pairs):,} pairs of {len(project.records):,} records.")
    if not kept:
        say("The linked file cannot be written there: the folder lacks what is analysed.")


def _person(name: str, role: str, other_than: Account | None = None) -> Account:
    """An account with a role, by its name or as the only one; another one where there is one."""
    from sfumato.server.store.models import Account

    active = Account.objects.filter(is_active=True).order_by("name")
    able: list[Account] = [each for each in active if each.has_role(role)]
    able = [each for each in able if other_than is None or each.pk != other_than.pk] or able
    found = [each for each in able if each.name == name] if name else able
    if len(found) == 1:
        return found[0]
    raise InputError(
        f"option --{role}",
        f"must name an account with the role {role}",
        found="another, or the manager" if name else f"{len(able)} of them",
        advice="accounts are made at the web application's own pages",
    )
