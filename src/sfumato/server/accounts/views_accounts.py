"""All accounts, and invitations; for custodians."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sfumato.server.accounts.forms_accounts import InviteForm, NamedAccountForm
from sfumato.server.accounts.links import invite
from sfumato.server.accounts.sessions import resource_of
from sfumato.server.audit.append import append
from sfumato.server.errors import problem
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Account, Link

View = Callable[..., HttpResponse]


def custodians_view(view: View) -> View:
    """A view for somebody who keeps the accounts.

    Parameters
    ----------
    view
        The view.
    """

    @wraps(view)
    @login_required
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        permission = decide(request.user, Action.MANAGE_ACCOUNTS)
        if not permission.allowed:
            return problem(request, 403, permission.reason)
        return view(request, *args, **kwargs)

    return guarded


@require_GET
@custodians_view
def accounts(request: HttpRequest) -> HttpResponse:
    """Everybody who may log in, and the invitations that are still open.

    Parameters
    ----------
    request
        The request.
    """
    everybody = Account.objects.order_by("-is_active", "name")
    waiting = Link.objects.filter(used=None, expires__gt=timezone.now(), purpose="invitation")
    context = {
        "everybody": everybody,
        "waiting": waiting.select_related("project", "made_by").order_by("expires"),
        "by_header": bool(settings.SFUMATO.trusted_header),
    }
    return render(request, "accounts/accounts.html", context)


@require_http_methods(["GET", "POST"])
@custodians_view
def invite_page(request: HttpRequest) -> HttpResponse:
    """Invite somebody; the link is shown once, in the answer itself.

    Parameters
    ----------
    request
        The request.
    """
    form = InviteForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        address = invite(request.user, given["roles"], given["project"], given["days"])
        context = {"address": address, "days": given["days"], "what": "An invitation"}
        return render(request, "accounts/link_made.html", context)
    return render(request, "accounts/invite.html", {"form": form})


@require_POST
@custodians_view
def take_back_invitation(request: HttpRequest, number: int) -> HttpResponse:
    """Make an invitation useless.

    Parameters
    ----------
    request
        The request.
    number
        Its number.
    """
    with transaction.atomic():
        gone, _ = Link.objects.filter(pk=number, purpose="invitation", used=None).delete()
        if gone:
            append(request.user, "take back invitation", f"invitation {number}")
            messages.success(request, "The invitation can no longer be used.")
    return redirect("/accounts")


@require_http_methods(["GET", "POST"])
@custodians_view
def named_account(request: HttpRequest) -> HttpResponse:
    """Make an account for somebody whom the organisation's login names.

    Parameters
    ----------
    request
        The request.
    """
    if not settings.SFUMATO.trusted_header:
        return problem(request, 404)
    form = NamedAccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            roles = form.cleaned_data["roles"]
            account = Account.objects.make(form.cleaned_data["name"], None, roles)
            append(request.user, "make account", resource_of(account), {"roles": sorted(roles)})
        messages.success(request, f"{account.name} may log in.")
        return redirect("/accounts")
    return render(request, "accounts/named_account.html", {"form": form})
