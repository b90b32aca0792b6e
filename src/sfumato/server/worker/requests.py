"""What every view of a worker does first and last: who asks, what went wrong, which answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from sfumato.core.errors import InputError
from sfumato.server.errors import problem
from sfumato.server.live.stop import Stop

View = Callable[..., HttpResponse]


def wants_json(request: HttpRequest) -> bool:
    """Whether the page's own script asks.

    Parameters
    ----------
    request
        The request.
    """
    return "application/json" in request.headers.get("Accept", "")


def workers_view(view: View) -> View:
    """A view for somebody who has logged in, that answers where a request goes no further.

    Parameters
    ----------
    view
        The view.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            if wants_json(request):
                return problem(request, 401, "Log in again; then it can be sent again.")
            return redirect("/login?" + urlencode({"next": request.path}))
        try:
            return view(request, *args, **kwargs)
        except Stop as error:
            return problem(request, error.status, error.reason)
        except InputError:
            return problem(request, 500, "The project cannot be read. Tell its manager.")

    return guarded


def number_in(name: str, given: str | None) -> int:
    """A whole number that a request names.

    Parameters
    ----------
    name
        What it is, for the reason where it is none.
    given
        The text.

    Raises
    ------
    Stop
        If it is none.
    """
    digits = (given or "").removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        raise Stop(400, f"The {name} must be a whole number.")
    return int(given or "")
