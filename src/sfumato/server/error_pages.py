"""What a browser gets where a request fails, and whether the server lives."""

from __future__ import annotations

import sys

from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext, gettext_lazy

from sfumato.core.phrases import spoken

TITLES = {
    400: gettext_lazy("This request cannot be understood"),
    401: gettext_lazy("You are logged out"),
    403: gettext_lazy("This is not allowed"),
    404: gettext_lazy("There is nothing here"),
    405: gettext_lazy("This is not allowed"),
    409: gettext_lazy("Something changed meanwhile"),
    413: gettext_lazy("This file is too large"),
    429: gettext_lazy("Too many attempts"),
    500: gettext_lazy("Something went wrong"),
    503: gettext_lazy("The database does not answer"),
}


class Stop(Exception):  # noqa: N818 - nothing went wrong
    """A request that is not done; nothing was charged and nothing is shown.

    Parameters
    ----------
    reason
        Why, and what to do; never a value.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def problem(request: HttpRequest, status: int, reason: str = "") -> HttpResponse:
    """A page, or JSON for the page's own script, that says what is wrong.

    Parameters
    ----------
    reason
        Why, and what to do; never a value.
    """
    reason = str(spoken(reason))
    title = str(TITLES.get(status, TITLES[400]))
    if "application/json" in request.headers.get("Accept", ""):
        body = {"ok": False, "error": title, "reason": reason, "status": status}
        return JsonResponse(body, status=status)
    return render(request, "problem.html", {"title": title, "reason": reason}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's answer to a request that it refuses."""
    return problem(request, 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's answer to what is forbidden."""
    return problem(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's answer to an unknown address."""
    return problem(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's answer to a fault of ours; it names no line, and logs no value."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        # Who asks, and what is left to be said to them, is in the database.
        vars(request).pop("_messages", None)
        request.user = None
        return problem(request, 503, gettext("Try again in a moment."))
    # Messages of errors may hold values of the data.
    return problem(request, 500, gettext("It was logged, without any of the data. Try again."))


def csrf_failure(request: HttpRequest, **_: object) -> HttpResponse:
    """Django's answer to a form that is not from this session."""
    return problem(request, 403, gettext("The page is older than your session. Load it again."))


def health(_request: HttpRequest) -> JsonResponse:
    """200 if the database answers, else 503; for load balancers and monitors."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"ok": False}, status=503)
    return JsonResponse({"ok": True})
