"""What holds for every answer: nothing is cached, and no error says more than its number."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

_PERMISSIONS = "camera=(), geolocation=(), microphone=(), clipboard-read=(), clipboard-write=()"


class AnswersMiddleware:
    """Headers that every answer has."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a request.

        Parameters
        ----------
        request
            The request.
        """
        answer = self._get_response(request)
        if not request.path.startswith("/static/"):
            answer["Cache-Control"] = "no-store"
        answer["Permissions-Policy"] = _PERMISSIONS
        answer["Cross-Origin-Resource-Policy"] = "same-origin"
        return answer
