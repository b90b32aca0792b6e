"""Proving again who one is, before what must not be done at somebody else's open screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from sfumato.server.accounts.attempts import begin_attempt, forget_attempts, too_many
from sfumato.server.accounts.forms import FreshForm
from sfumato.server.accounts.second_factor import use_code
from sfumato.server.accounts.sessions import FRESH, resource_of
from sfumato.server.accounts.views_login import next_page, note_failure
from sfumato.server.audit.append import append
from sfumato.server.store.models import Account

View = Callable[..., HttpResponse]
MINUTES = 5
"""Minutes for which a proof is fresh."""


def is_fresh(request: HttpRequest, minutes: int = MINUTES) -> bool:
    """Whether somebody proved a moment ago who they are.

    Parameters
    ----------
    request
        The request.
    minutes
        How long a moment is.
    """
    return bool(0 <= time.time() - request.session.get(FRESH, 0.0) <= minutes * 60)


def require_fresh(minutes: int = MINUTES, back: str = "") -> Callable[[View], View]:
    """A view for somebody who proved a moment ago who they are; others are asked first.

    What was sent is not kept: after the proof, the page with the form is asked for again.

    Parameters
    ----------
    minutes
        How long a moment is.
    back
        Name of the page with the form, whose address has the ``project_id`` of this one; the
        view's own address where not given.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect("/login?" + urlencode({"next": request.path}))
            if not is_fresh(request, minutes):
                return redirect("/fresh?" + urlencode({"next": _page(request, back, kwargs)}))
            return view(request, *args, **kwargs)

        return guarded

    return decorator


@login_required
@require_http_methods(["GET", "POST"])
def fresh(request: HttpRequest) -> HttpResponse:
    """The page that asks for the password, and for a code where there is a second factor.

    Parameters
    ----------
    request
        The request.
    """
    account, goal = request.user, next_page(request)
    form = FreshForm(account, request.POST or None)
    possible = account.has_usable_password() or bool(account.totp)
    if request.method == "POST" and possible and form.is_valid():
        attempt, wait = begin_attempt(request, account.name)
        if wait:
            return too_many(request, wait)
        if _proved(account, form.cleaned_data):
            forget_attempts(attempt)
            request.session.cycle_key()
            request.session[FRESH] = time.time()
            append(account, "prove identity", resource_of(account))
            return redirect(goal)
        note_failure(request, account, "proof")
        form.add_error(None, "That is not right. A code works once: wait for the next one.")
    context = {"form": form, "next": goal, "possible": possible}
    return render(request, "accounts/fresh.html", context)


def _page(request: HttpRequest, back: str, kwargs: dict[str, Any]) -> str:
    if not back:
        return str(request.path)
    return str(reverse(back, kwargs={"project_id": kwargs["project_id"]}))


def _proved(account: Account, given: dict[str, str]) -> bool:
    password, code = given.get("password"), given.get("code")
    if password is not None and not account.check_password(password):
        return False
    return code is None or use_code(account, code)
