"""Attempts to log in: few may fail in a while, for a name and from an address."""

from __future__ import annotations

import math
from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from sfumato.server.errors import problem
from sfumato.server.store.models import LoginAttempt

WINDOW = timedelta(minutes=15)
"""How long a failed attempt counts."""
PER_NAME, PER_ADDRESS = 5, 20
"""Failed attempts that are let through in that time."""


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
    attempt = LoginAttempt.objects.create(
        name=_digest("name", name), address=_digest("address", _address(request))
    )
    wait = max(_wait(attempt, "name", PER_NAME), _wait(attempt, "address", PER_ADDRESS))
    if wait:
        attempt.delete()
    return attempt, wait


def forget_attempts(name: str) -> None:
    """Count no failed attempt of a name any more: its owner has logged in.

    Parameters
    ----------
    name
        The name, as it is stored.
    """
    LoginAttempt.objects.filter(name=_digest("name", name)).delete()


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


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def _digest(kind: str, text: str) -> str:
    return str(settings.SFUMATO_KEYS.fingerprint_of(f"login {kind} {text}".encode()))
