"""Attempts to prove who one is: few may fail in a while.

Strangers are counted by the name that they try and by their address. Neither keeps out who is
known: somebody who has logged in is counted by their account, and a browser in which somebody
logged in before by a device cookie, for that name alone
(https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies).
"""

from __future__ import annotations

import math
import secrets
from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from sfumato.server.errors import problem
from sfumato.server.store.models import LoginAttempt

WINDOW = timedelta(minutes=15)
"""How long a failed attempt counts."""
PER_SUBJECT, PER_ADDRESS = 5, 20
"""Failed attempts that are let through in that time."""
_KNOWN = timedelta(days=180)
"""How long a browser is known after somebody logged in."""


def begin_attempt(request: HttpRequest, name: str) -> tuple[LoginAttempt, int]:
    """Note an attempt before it is tried, and the seconds to wait where it may not be tried.

    It counts as failed until it is taken back, so that attempts at the same time count as well.
    Names and addresses are stored as keyed digests.

    Parameters
    ----------
    request
        The request.
    name
        The name, as it is stored.
    """
    LoginAttempt.objects.filter(time__lt=timezone.now() - WINDOW).delete()
    subject, address = _counted_for(request, name)
    attempt = LoginAttempt.objects.create(subject=subject, address=address)
    wait = _wait(attempt, "subject", PER_SUBJECT)
    if address:
        wait = max(wait, _wait(attempt, "address", PER_ADDRESS))
    if wait:
        attempt.delete()
    return attempt, wait


def forget_attempts(attempt: LoginAttempt) -> None:
    """Count no attempt any more of those that count for the same as one that was right.

    Parameters
    ----------
    attempt
        The attempt.
    """
    LoginAttempt.objects.filter(subject=attempt.subject).delete()


def forget_name(name: str) -> None:
    """Count no stranger's attempt at a name any more: its owner has a new password.

    Parameters
    ----------
    name
        The name, as it is stored.
    """
    LoginAttempt.objects.filter(subject=_digest("name", name)).delete()


def know_browser(answer: HttpResponse, name: str) -> HttpResponse:
    """An answer by which the browser is known when the same person logs in again.

    Parameters
    ----------
    answer
        The answer to somebody who has just logged in.
    name
        Their name, as it is stored.
    """
    answer.set_signed_cookie(
        _device_cookie(name),
        secrets.token_urlsafe(16),
        max_age=_KNOWN,
        path="/login",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )
    return answer


def too_many(request: HttpRequest, wait: int) -> HttpResponse:
    """The answer to an attempt that was not tried.

    Parameters
    ----------
    request
        The request.
    wait
        Seconds to wait.
    """
    minutes = math.ceil(wait / 60)
    answer = problem(
        request,
        429,
        f"Try again in {minutes} minute{'s' if minutes > 1 else ''}. Until then no password is "
        "tried, not even the right one.",
    )
    answer["Retry-After"] = str(wait)
    return answer


def address_digest(request: HttpRequest) -> str:
    """Where a request comes from, as the audit log has it: a keyed digest.

    Parameters
    ----------
    request
        The request.
    """
    return _digest("address", _address(request))[:16]


def _wait(attempt: LoginAttempt, field: str, limit: int) -> int:
    now = timezone.now()
    same = {field: getattr(attempt, field), "time__gte": now - WINDOW}
    others = LoginAttempt.objects.filter(**same).exclude(pk=attempt.pk).order_by("-time")
    times = list(others.values_list("time", flat=True)[:limit])
    if len(times) < limit:
        return 0
    return max(1, math.ceil((times[-1] + WINDOW - now).total_seconds()))


def _counted_for(request: HttpRequest, name: str) -> tuple[str, str]:
    """The subject and the address of an attempt; no address where the client is known."""
    if request.user.is_authenticated:
        return _digest("account", name), ""
    device = request.get_signed_cookie(_device_cookie(name), "", max_age=_KNOWN)
    if device:
        return _digest("device", f"{device} {name}"), ""
    return _digest("name", name), _digest("address", _address(request))


def _device_cookie(name: str) -> str:
    """The cookie's name; its signature holds for no other name."""
    return "device-" + _digest("device", name)[:16]


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def _digest(kind: str, text: str) -> str:
    return str(settings.SFUMATO_KEYS.fingerprint_of(f"login {kind} {text}".encode()))
