"""One's own account: its password, its second factor."""

from __future__ import annotations

import base64
import binascii

from cryptography.exceptions import InvalidTag
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sfumato.server.accounts.attempts import begin_attempt, forget_attempts, too_many
from sfumato.server.accounts.forms import ChangePasswordForm, CodeForm
from sfumato.server.accounts.fresh import require_fresh
from sfumato.server.accounts.second_factor import (
    new_secret,
    qr_code,
    seal_secret,
    secret_text,
    step_of,
    unseal_secret,
)
from sfumato.server.accounts.sessions import end_sessions, resource_of
from sfumato.server.accounts.views_login import WRONG_CODE, note_failure
from sfumato.server.audit.append import append
from sfumato.server.errors import problem

_NEW = "new second factor"
"""In a session: the secret that its owner has not confirmed yet, encrypted."""


@require_GET
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Who one is here, and what one may change of it.

    Parameters
    ----------
    request
        The request.
    """
    return render(request, "accounts/account.html")


@require_http_methods(["GET", "POST"])
@login_required
def password(request: HttpRequest) -> HttpResponse:
    """Change one's own password; all other sessions end.

    Parameters
    ----------
    request
        The request.
    """
    owner = request.user
    if not owner.has_usable_password():
        return problem(request, 403, "Your organisation logs you in; there is no password here.")
    form = ChangePasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        attempt, wait = begin_attempt(request, owner.name)
        if wait:
            return too_many(request, wait)
        if owner.check_password(form.cleaned_data["present"]):
            forget_attempts(attempt)
            with transaction.atomic():
                owner.set_password(form.cleaned_data["new"])
                owner.save(update_fields=["password"])
                update_session_auth_hash(request, owner)
                end_sessions(owner, keep=request.session.session_key)
                append(owner, "change password", resource_of(owner))
            messages.success(request, "Your password is changed; your other sessions have ended.")
            return redirect("/account")
        note_failure(request, owner, "password")
        form.add_error("present", "This is not your present password.")
    return render(request, "accounts/password.html", {"form": form})


@require_http_methods(["GET", "POST"])
@require_fresh()
def second_factor(request: HttpRequest) -> HttpResponse:
    """Turn the second factor on: a secret for an app, confirmed by a code of it.

    Parameters
    ----------
    request
        The request.
    """
    owner = request.user
    if owner.totp:
        return redirect("/account")
    form = CodeForm(request.POST or None)
    secret = _unconfirmed(request)
    if secret is None:
        secret = new_secret()
        request.session[_NEW] = base64.b64encode(seal_secret(secret, owner)).decode()
    elif request.method == "POST" and form.is_valid():
        step = step_of(secret, form.cleaned_data["code"])
        if step:
            del request.session[_NEW]
            with transaction.atomic():
                owner.totp, owner.totp_used = seal_secret(secret, owner), step
                owner.save(update_fields=["totp", "totp_used"])
                end_sessions(owner, keep=request.session.session_key)
                append(owner, "turn second factor on", resource_of(owner))
            messages.success(request, "From now on a code is asked for when you log in.")
            return redirect("/account")
        form.add_error("code", WRONG_CODE)
    context = {"form": form, "secret": secret_text(secret)}
    return render(request, "accounts/second_factor.html", context)


@require_GET
@require_fresh()
def second_factor_image(request: HttpRequest) -> HttpResponse:
    """The secret that is not confirmed yet, as an image to be scanned.

    Parameters
    ----------
    request
        The request.
    """
    secret = _unconfirmed(request)
    if secret is None:
        return problem(request, 404)
    return HttpResponse(qr_code(secret, request.user), content_type="image/svg+xml")


@require_http_methods(["GET", "POST"])
@require_fresh()
def second_factor_off(request: HttpRequest) -> HttpResponse:
    """Turn the second factor off.

    Parameters
    ----------
    request
        The request.
    """
    owner = request.user
    if not owner.totp:
        return redirect("/account")
    if request.method == "POST":
        with transaction.atomic():
            owner.totp = b""
            owner.save(update_fields=["totp"])
            append(owner, "turn second factor off", resource_of(owner))
        messages.success(request, "No code is asked for any more.")
        return redirect("/account")
    return render(request, "accounts/second_factor_off.html")


@require_POST
@login_required
def other_sessions(request: HttpRequest) -> HttpResponse:
    """End one's other sessions.

    Parameters
    ----------
    request
        The request.
    """
    with transaction.atomic():
        count = end_sessions(request.user, keep=request.session.session_key)
        append(request.user, "end sessions", resource_of(request.user), {"count": count})
    messages.success(request, f"Ended: {count}.")
    return redirect("/account")


def _unconfirmed(request: HttpRequest) -> bytes | None:
    try:
        sealed = base64.b64decode(request.session.get(_NEW, ""))
        return unseal_secret(sealed, request.user) if sealed else None
    except (binascii.Error, InvalidTag):
        return None
