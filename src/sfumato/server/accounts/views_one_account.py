"""One account, as a custodian sees it: its roles, its password, whether it may log in."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from sfumato.server.accounts.forms_accounts import RolesForm
from sfumato.server.accounts.links import RESET_DAYS, reset_link
from sfumato.server.accounts.sessions import end_sessions, resource_of
from sfumato.server.accounts.views_accounts import custodians_view
from sfumato.server.audit.append import append
from sfumato.server.errors import problem
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Account

Change = Callable[[HttpRequest, Account], HttpResponse]


@require_GET
@custodians_view
def one_account(request: HttpRequest, pseudonym: str) -> HttpResponse:
    """One account, and what may be changed of it.

    Parameters
    ----------
    request
        The request.
    pseudonym
        Its pseudonym.
    """
    account = Account.objects.filter(pseudonym=pseudonym).first()
    if account is None:
        return problem(request, 404)
    context = {
        "other": account,
        "form": RolesForm(initial={"roles": account.roles}),
        "permission": decide(request.user, Action.MANAGE_ACCOUNTS, account),
        "projects": account.memberships.select_related("project").order_by("project__title"),
    }
    return render(request, "accounts/one_account.html", context)


def _changes(view: Change) -> Callable[..., HttpResponse]:
    """A change of an account, in a transaction that holds it."""

    @wraps(view)
    @require_POST
    @custodians_view
    def guarded(request: HttpRequest, pseudonym: str) -> HttpResponse:
        with transaction.atomic():
            found = Account.objects.select_for_update().filter(pseudonym=pseudonym)
            account = found.first()
            if account is None:
                return problem(request, 404)
            permission = decide(request.user, Action.MANAGE_ACCOUNTS, account)
            if not permission.allowed:
                return problem(request, 403, permission.reason)
            return view(request, account)

    return guarded


def _back(account: Account) -> HttpResponse:
    return redirect(f"/accounts/{account.pseudonym}")


def _set_roles(request: HttpRequest, account: Account) -> HttpResponse:
    """Set what somebody may be."""
    form = RolesForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Tick one role at least.")
        return _back(account)
    before, account.roles = account.roles, sorted(form.cleaned_data["roles"])
    if before != account.roles:
        account.save(update_fields=["roles"])
        detail = {"before": before, "roles": account.roles}
        append(request.user, "set roles", resource_of(account), detail)
    messages.success(request, f"{account.name} is {' and '.join(account.roles)}.")
    return _back(account)


def _deactivate(request: HttpRequest, account: Account) -> HttpResponse:
    """Let somebody log in no more; their sessions end at once."""
    account.is_active = False
    account.save(update_fields=["is_active"])
    count = end_sessions(account)
    append(request.user, "deactivate", resource_of(account), {"sessions": count})
    messages.success(request, f"{account.name} can no longer log in.")
    return _back(account)


def _reactivate(request: HttpRequest, account: Account) -> HttpResponse:
    """Let somebody log in again."""
    account.is_active = True
    account.save(update_fields=["is_active"])
    append(request.user, "reactivate", resource_of(account))
    messages.success(request, f"{account.name} can log in again.")
    return _back(account)


def _reset(request: HttpRequest, account: Account) -> HttpResponse:
    """Make a link for a new password; it is shown once, in the answer itself."""
    if not account.is_active:
        return problem(request, 409, "The account is deactivated. Reactivate it first.")
    address = reset_link(request.user, account)
    context = {"address": address, "days": RESET_DAYS, "what": "A new password", "other": account}
    return render(request, "accounts/link_made.html", context)


def _lost_second_factor(request: HttpRequest, account: Account) -> HttpResponse:
    """Turn somebody's second factor off who has lost it; their sessions end."""
    account.totp = b""
    account.save(update_fields=["totp"])
    end_sessions(account)
    append(request.user, "turn second factor off", resource_of(account))
    messages.success(request, f"{account.name} logs in without a code.")
    return _back(account)


CHANGES: dict[str, Callable[..., HttpResponse]] = {
    "roles": _changes(_set_roles),
    "deactivate": _changes(_deactivate),
    "reactivate": _changes(_reactivate),
    "reset": _changes(_reset),
    "lost-second-factor": _changes(_lost_second_factor),
}
"""What may be changed of an account, by the end of its address."""
