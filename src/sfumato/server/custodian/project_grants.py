"""What the custodian lets others do, and data that is purged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from sfumato.server.accounts.sessions import EXPORTS_WAIT, last_reset
from sfumato.server.audit_log import append
from sfumato.server.error_pages import Stop
from sfumato.server.live.live_projects import forget_project, lock_of, locked, remove_files
from sfumato.server.permissions import Action, decide
from sfumato.server.proofs import check_proved, check_stated, proofs
from sfumato.server.stated_rows import Stated, gone, stated
from sfumato.server.store import models

BEFORE, AFTER, REVOKED = "before", "after", "revoked"
"""In the detail of a grant: the value before and after, and when it was revoked."""
_PURGED = (
    *("state", "wrapped_key", "attributes", "settings", "weights"),
    *("rows", "combined_units"),
)
"""Columns that a purge changes."""


def limit(budget: float | None) -> str:
    """A budget in words.

    Parameters
    ----------
    budget
        KAPR, ``None`` for no limit.
    """
    return _("no limit") if budget is None else f"{budget:g}"


def settings_in_words(rules: dict[str, Any]) -> list[tuple[str, str]]:
    """Rules that a custodian accepts: name and value."""
    floor = _("refused below") if rules["k_floor"] == "refuse" else _("reported where below")
    return [
        ("k", f"{rules['k']}, {floor}"),
        (_("Anonymity sets"), str(rules["policy"])),
        (_("Costs shown"), str(rules["costs"])),
        (_("Width of masks"), str(rules["mask_width"])),
        (_("Shown at first"), (_("masked"), _("partly"), _("in full"))[int(rules["start"])]),
        (_("Budget of a worker"), limit(rules.get("budget"))),
        (_("Budget of the project"), limit(rules.get("project_budget"))),
        (_("Hints"), _("given") if rules["hints"] else _("none")),
    ]


def raise_budget(
    by: models.Account, project_id: UUID, worker: models.Account, budget: float | None
) -> models.Grant:
    """Raise what a worker may be shown of the project's source.

    Parameters
    ----------
    budget
        KAPR, ``None`` for no limit.
    """
    with _granting(by, project_id) as project:
        # Locked until the end: the raise is of the budget that it was checked against.
        found = models.Allowance.objects.select_for_update().filter(project=project, worker=worker)
        allowance = found.first()
        if allowance is None:
            raise Stop(404, _("There is no such worker in this project."))
        check_stated(allowance)
        _check_raise(allowance.budget, budget)
        detail = {BEFORE: allowance.budget, AFTER: budget}
        rows = [set_budget(allowance, budget)]
        return _noted(project, by, models.GrantKind.BUDGET, detail, rows, to=worker)


def allow_identity_export(by: models.Account, project_id: UUID, hours: int) -> models.Grant:
    """Let the manager export identities once, until some time."""
    with _granting(by, project_id, closed=True) as project:
        until = timezone.now() + timedelta(hours=hours)
        to = project.manager
        return _noted(project, by, models.GrantKind.IDENTITY_EXPORT, {}, (), to=to, expires=until)


def confirm_reset(by: models.Account, project_id: UUID) -> models.Grant:
    """Let the manager export, whose password was reset less than a day ago."""
    with _granting(by, project_id, closed=True) as project:
        reset = last_reset(project.manager)
        if reset is None:
            raise Stop(409, _("The manager's password was not reset within a day."))
        # Whoever resets both passwords would be both of the two who are asked for.
        if reset[1] == by.pk or last_reset(by) is not None:
            raise Stop(
                403, _("Confirm it a day after your own reset, and never one that you made.")
            )
        until = reset[0] + EXPORTS_WAIT
        to = project.manager
        return _noted(project, by, models.GrantKind.RESET, {}, (), to=to, expires=until)


def identity_grant(project: models.Project) -> models.Grant | None:
    """The grant under which identities may be exported now, if there is one."""
    grants = project.grants.filter(kind=models.GrantKind.IDENTITY_EXPORT, used=None)
    found = grants.filter(to=project.manager, expires__gt=timezone.now()).first()
    if found is not None:
        check_proved(found)
    return found


def use_identity_grant(project: models.Project) -> models.Grant:
    """Use a grant of identity export up; the entry of the export states it."""
    proofs().follow()  # others may have used it since the request began
    grant, now = identity_grant(project), timezone.now()
    # By one statement: a grant that two exports want at once is used once.
    if grant is not None and models.Grant.objects.filter(pk=grant.pk, used=None).update(used=now):
        grant.used = now
        return grant
    raise Stop(403, _("The custodian of the data has not allowed an export of identities."))


def revoke(by: models.Account, project_id: UUID, number: int) -> models.Grant:
    """Take a grant back; a budget is what it was before, or as the rules are now."""
    with _granting(by, project_id, closed=True) as project:
        grant = models.Grant.objects.select_for_update().filter(project=project, pk=number).first()
        if grant is None:
            raise Stop(404, _("There is no such grant."))
        check_stated(grant)
        if not is_revocable(grant):
            raise Stop(409, _("This grant is over already."))
        rows = _undo(project, grant) if grant.kind == models.GrantKind.BUDGET else []
        # Also where the grant has no end: it is over from now on.
        now = timezone.now()
        grant.expires, grant.detail = now, {**grant.detail, REVOKED: now.isoformat()}
        grant.save(update_fields=["expires", "detail"])
        rows = [*rows, stated(grant, "expires", "detail")]
        told = {"kind": str(grant.kind)}
        append(by, "revoke", f"project {project.id}/grant {grant.pk}", told, rows=rows)
        return grant


def is_revocable(grant: models.Grant) -> bool:
    """Whether a grant still holds."""
    # k and the budget of all, which earlier versions granted, are rules that are proposed.
    if grant.used is not None or REVOKED in grant.detail or _is_rule(grant):
        return False
    return grant.expires is None or bool(grant.expires > timezone.now())


def _is_rule(grant: models.Grant) -> bool:
    return grant.to is None


@contextmanager
def _granting(
    by: models.Account, project_id: UUID, *, closed: bool = False
) -> Iterator[models.Project]:
    """The project, while nobody opens anything in it."""
    with locked(by, Action.GRANT, project_id) as project:
        if project.state == models.ProjectState.CLOSED and not closed:
            raise Stop(409, _("The project is closed."))
        yield project


def _check_raise(before: float | None, after: float | None) -> None:
    if before is None:
        raise Stop(409, _("There is no limit now; there is nothing to raise."))
    # Where no row is below k, KAPR is 1 at most: a larger budget would be no limit.
    if after is not None and not before < after <= 1:
        raise Stop(
            409,
            _("The budget is {budget} now; it can be raised only, up to 1.").format(
                budget=f"{before:g}"
            ),
        )


def _undo(project: models.Project, grant: models.Grant) -> list[Stated]:
    allowances = models.Allowance.objects.select_for_update()
    allowance = allowances.get(project=project, worker=grant.to)
    # Taken back in reverse order only: else a later grant would hold on without its ground.
    if allowance.budget != grant.detail[AFTER]:
        raise Stop(409, _("The budget was changed after this. Revoke the later grant first."))
    check_stated(allowance)
    raises = project.grants.filter(kind=models.GrantKind.BUDGET, to=grant.to).exclude(pk=grant.pk)
    # Without another raise the rules hold, which may be others than before this one.
    is_raised = any(map(is_revocable, raises))
    return [
        set_budget(allowance, grant.detail[BEFORE] if is_raised else project.settings.get("budget"))
    ]


def set_budget(allowance: models.Allowance, budget: float | None) -> Stated:
    """Write the budget of a worker, and tell what is stated of it."""
    allowance.budget = budget
    allowance.save(update_fields=["budget"])
    return stated(allowance, "budget")


def _noted(
    project: models.Project,
    by: models.Account,
    kind: models.GrantKind,
    detail: dict[str, Any],
    rows: Sequence[Stated],
    **fields: Any,
) -> models.Grant:
    grant = models.Grant.objects.create(project=project, kind=kind, by=by, detail=detail, **fields)
    told: dict[str, Any] = {**detail, "kind": str(kind)}
    if grant.to is not None:
        told["to"] = grant.to.pseudonym
    if grant.expires is not None:
        told["until"] = grant.expires.isoformat()
    rows = [*rows, stated(grant)]
    append(by, "grant", f"project {project.id}/grant {grant.pk}", told, rows=rows)
    return grant


def purge(by: models.Account | None, project_id: UUID) -> None:
    """Destroy a project.

    Its title, its people, what was spent of its source, and the audit log stay. What a backup
    holds of it cannot be read without the key that is destroyed here, unless the backup has it.

    Parameters
    ----------
    by
        The custodian; ``None`` for whoever runs the server.
    """
    # The lock of memory before that of the database, as everywhere: else two could wait for each
    # other.
    with lock_of(project_id):
        with transaction.atomic():
            project = models.Project.objects.select_for_update().filter(pk=project_id).first()
            if project is None:
                raise Stop(404, _("There is no such project."))
            _check(by, project)
            pairs = models.StoredPair.objects.filter(project=project).count()
            # Of the other tables it follows from the state of the project.
            resolved = list(models.Resolution.objects.filter(pair__project=project))
            for model in (
                models.StoredPair,
                models.Allowance,
                models.Grant,
                models.Proposal,
                models.Link,
                models.Member,
            ):
                model.objects.filter(project=project).delete()
            # The key goes with the row: from here on the files tell nothing, even if they stay.
            project.state, project.wrapped_key = models.ProjectState.PURGED, b""
            project.attributes, project.settings, project.weights = [], {}, {}
            project.rows = project.combined_units = 0
            changed = list(_PURGED)
            if project.closed is None:
                project.closed = timezone.now()
                changed.append("closed")
            project.save(update_fields=changed)
            # In the same transaction: there is no purge without its entry.
            rows = [stated(project, *changed), *gone(resolved)]
            append(by, "purge project", f"project {project_id}", {"pairs": pairs}, rows=rows)
        # After the commit: had it failed, the project would still be there.
        forget_project(project_id)
        remove_files(project_id)
    _empty_journal()


def _check(by: models.Account | None, project: models.Project) -> None:
    if project.state == models.ProjectState.PURGED:
        raise Stop(409, _("The project is purged already."))
    if by is not None:
        permission = decide(by, Action.PURGE_PROJECT, project)
        if not permission.allowed:
            raise Stop(403, permission.reason)


def _empty_journal() -> None:
    """Let SQLite's write-ahead journal keep nothing of what was removed."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
