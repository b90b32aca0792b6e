"""Logging in, in one step or two, and out."""

from __future__ import annotations

import time
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import authenticate, logout
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST

from sfumato.server.accounts.attempts import (
    address_digest,
    begin_attempt,
    forget_attempts,
    know_browser,
    too_many,
)
from sfumato.server.accounts.forms import CodeForm, LoginForm
from sfumato.server.accounts.second_factor import use_code
from sfumato.server.accounts.sessions import begin_session, resource_of
from sfumato.server.audit.append import append
from sfumato.server.store.models import Account

PENDING = "pending"
"""In a session: whose password was right, and when, while their code is still asked for."""
PENDING_SECONDS = 300
WRONG = "The name or the password is wrong."
WRONG_CODE = "The code is wrong, was used, or is too old. Wait for the next one."
CLEAR = '"cache", "storage"'
"""What a browser forgets when somebody logs out. Of the cookies it keeps the one by which it is
known (`know_browser`): without it a stranger's failures would keep its owner out."""


@require_http_methods(["GET", "POST"])
def log_in(request: HttpRequest) -> HttpResponse:
    """The page on which people log in.

    Parameters
    ----------
    request
        The request.
    """
    goal = next_page(request)
    if request.user.is_authenticated:
        return redirect(goal)
    form = LoginForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"]
        attempt, wait = begin_attempt(request, name)
        if wait:
            return too_many(request, wait)
        account = authenticate(request, name=name, password=form.cleaned_data["password"])
        if account is None:
            note_failure(request, Account.objects.filter(name=name).first(), "password")
            form.add_error(None, WRONG)
        elif account.totp:
            attempt.delete()
            request.session.cycle_key()
            request.session[PENDING] = [account.pk, time.time()]
            return redirect("/login/code?" + urlencode({"next": goal}))
        else:
            forget_attempts(attempt)
            begin_session(request, account, "password")
            return know_browser(redirect(goal), name)
    return render(request, "accounts/login.html", {"form": form, "next": goal})


@require_http_methods(["GET", "POST"])
def log_in_code(request: HttpRequest) -> HttpResponse:
    """The page that asks for the second factor, once the password was right.

    Parameters
    ----------
    request
        The request.
    """
    account, goal = _pending(request), next_page(request)
    if account is None:
        return redirect("/login?" + urlencode({"next": goal}))
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        attempt, wait = begin_attempt(request, account.name)
        if wait:
            return too_many(request, wait)
        if use_code(account, form.cleaned_data["code"]):
            forget_attempts(attempt)
            del request.session[PENDING]
            begin_session(request, account, "password and code")
            return know_browser(redirect(goal), account.name)
        note_failure(request, account, "code")
        form.add_error("code", WRONG_CODE)
    return render(request, "accounts/login_code.html", {"form": form, "next": goal})


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """End the session, and have the browser forget everything of it but that it is known.

    The answer is a page, not a way to another one: behind a single sign-on the next page would
    log in again.

    Parameters
    ----------
    request
        The request.
    """
    if request.user.is_authenticated:
        with transaction.atomic():
            append(request.user, "log out", resource_of(request.user))
            logout(request)
    else:
        request.session.flush()
    answer = render(request, "accounts/logged_out.html")
    answer["Clear-Site-Data"] = CLEAR
    answer.delete_cookie(settings.CSRF_COOKIE_NAME, samesite="Strict")
    return answer


def next_page(request: HttpRequest) -> str:
    """Where somebody goes after logging in: a page of this server.

    Parameters
    ----------
    request
        The request.
    """
    asked = request.POST.get("next") or request.GET.get("next") or "/"
    own = url_has_allowed_host_and_scheme(asked, allowed_hosts=None) and asked.startswith("/")
    return str(asked) if own else "/"


def note_failure(request: HttpRequest, account: Account | None, what: str) -> None:
    """Say in the audit log that somebody could not prove who they are.

    Parameters
    ----------
    request
        The request.
    account
        Whom they named; a name that nobody has is not noted, as it may be a password.
    what
        What was wrong.
    """
    where = resource_of(account) if account else "no account"
    append(None, "failed login", where, {"wrong": what, "from": address_digest(request)})


def _pending(request: HttpRequest) -> Account | None:
    key, since = request.session.get(PENDING, (None, 0.0))
    if key is None or time.time() - since > PENDING_SECONDS:
        return None
    return Account.objects.filter(pk=key, is_active=True).exclude(totp=b"").first()
