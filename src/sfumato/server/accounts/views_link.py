"""One-time links: the first account, an invitation, a new password."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import logout
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from sfumato.server.accounts.attempts import forget_name, know_browser
from sfumato.server.accounts.forms import NewAccountForm, NewPasswordForm
from sfumato.server.accounts.links import find_link, spend_link
from sfumato.server.accounts.sessions import begin_session, end_sessions, resource_of
from sfumato.server.audit.append import append
from sfumato.server.errors import problem
from sfumato.server.store.models import Account, Link

_GONE = "This link was used already, has expired, or never was. Ask for a new one."
_RESET = "reset"


@require_http_methods(["GET", "POST"])
def link(request: HttpRequest, token: str) -> HttpResponse:
    """Use a one-time link.

    Parameters
    ----------
    request
        The request.
    token
        The random part of the address.
    """
    found = find_link(token)
    if found is None:
        return problem(request, 404, _GONE)
    if request.method == "POST" and "join" in request.POST:
        return _join(request, token)
    reset = found.purpose == _RESET
    form = (NewPasswordForm if reset else NewAccountForm)(request.POST or None)
    if request.method == "POST" and form.is_valid():
        done = _reset(request, token, form) if reset else _make(request, token, form)
        if done is not None:
            return done
    return render(request, f"accounts/link_{found.purpose}.html", {"form": form, "link": found})


def _make(request: HttpRequest, token: str, form: NewAccountForm) -> HttpResponse | None:
    try:
        with transaction.atomic():
            found = find_link(token, lock=True)
            if found is None or found.purpose == _RESET:
                return problem(request, 404, _GONE)
            given = form.cleaned_data
            account = Account.objects.make(given["name"], given["new"], [])
            append(account, "make account", resource_of(account))
            spend_link(found, account)
    except IntegrityError:
        form.add_error("name", "Somebody has this name; choose another.")
        return None
    return _begin(request, account, found)


def _reset(request: HttpRequest, token: str, form: NewPasswordForm) -> HttpResponse:
    with transaction.atomic():
        found = find_link(token, lock=True)
        if found is None or found.account is None:
            return problem(request, 404, _GONE)
        account = found.account
        account.set_password(form.cleaned_data["new"])
        account.save(update_fields=["password"])
        spend_link(found, account)
        end_sessions(account)
        forget_name(account.name)
    if request.user.is_authenticated:
        logout(request)
    messages.success(request, "Your password is set. Log in with it.")
    return redirect("/login")


def _join(request: HttpRequest, token: str) -> HttpResponse:
    if not request.user.is_authenticated:
        return problem(request, 403, "Log in first.")
    with transaction.atomic():
        found = find_link(token, lock=True)
        if found is None or found.purpose != "invitation":
            return problem(request, 404, _GONE)
        account = Account.objects.select_for_update().get(pk=request.user.pk)
        spend_link(found, account)
    messages.success(request, "You take part.")
    return redirect("/")


def _begin(request: HttpRequest, account: Account, found: Link) -> HttpResponse:
    if request.user.is_authenticated:
        logout(request)
    begin_session(request, account, found.purpose)
    messages.success(request, f"Welcome, {account.name}.")
    return know_browser(redirect("/"), account.name)
