"""One-time links: made, found, used."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sfumato.server.accounts.sessions import resource_of
from sfumato.server.accounts.tokens import digest_of_token
from sfumato.server.audit.append import append
from sfumato.server.store.models import Account, Link, Member, Project, ProjectState

INVITATION_DAYS, RESET_DAYS = 14, 2
"""Days for which an invitation, and a link for a new password, can be used."""


def invite(
    by: Account, roles: Sequence[str], project: Project | None = None, days: int = INVITATION_DAYS
) -> str:
    """The address of a new invitation; it is shown once and stored nowhere.

    Parameters
    ----------
    by
        Who invites.
    roles
        Roles that its user gets.
    project
        Project that its user becomes a member of.
    days
        Days for which it can be used.
    """
    with transaction.atomic():
        token = _make("invitation", by, days, roles=sorted(roles), project=project)
        where = "accounts" if project is None else f"project {project.pk}"
        append(by, "invite", where, {"days": days, "roles": sorted(roles)})
    return token


def reset_link(by: Account, account: Account) -> str:
    """The address at which somebody sets a new password; earlier ones can no longer be used.

    Parameters
    ----------
    by
        Who resets it.
    account
        Whose password.
    """
    with transaction.atomic():
        Link.objects.filter(account=account, used=None).delete()
        token = _make("reset", by, RESET_DAYS, account=account)
        append(by, "reset password", resource_of(account), {"days": RESET_DAYS})
    return token


def find_link(token: str, *, lock: bool = False) -> Link | None:
    """A link that can be used now, if there is one.

    Parameters
    ----------
    token
        The random part of its address.
    lock
        Whether nobody else may use it before the transaction ends.
    """
    links = Link.objects.select_for_update() if lock else Link.objects.all()
    digest, now = digest_of_token(token), timezone.now()
    found = links.filter(token=digest, used=None, expires__gt=now).first()
    if found is None:
        return None
    people = [each for each in (found.account, found.made_by) if each is not None]
    if not all(each.is_active for each in people):
        return None
    if found.project is not None and found.project.state != ProjectState.OPEN:
        return None
    return found


def spend_link(link: Link, account: Account) -> None:
    """Use a link up: its roles and its project are the account's.

    Parameters
    ----------
    link
        The link, locked.
    account
        Who uses it.
    """
    link.used = timezone.now()
    link.save(update_fields=["used"])
    account.roles = sorted({*account.roles, *link.roles})
    account.save(update_fields=["roles"])
    detail: dict[str, object] = {"purpose": link.purpose, "roles": link.roles}
    if link.project is not None:
        Member.objects.get_or_create(project=link.project, account=account)
        detail["project"] = str(link.project_id)
    if link.made_by is not None:
        detail["made by"] = link.made_by.pseudonym
    append(account, "use link", resource_of(account), detail)


def _make(purpose: str, by: Account, days: int, **fields: object) -> str:
    token = secrets.token_urlsafe(24)
    Link.objects.create(
        token=digest_of_token(token),
        purpose=purpose,
        made_by=by,
        expires=timezone.now() + timedelta(days=days),
        **fields,
    )
    return f"{settings.SFUMATO.address}/link/{token}"
