"""What every request passes through, and what every page is given."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from sfumato.server.accounts.backend import AccountBackend, plain_name
from sfumato.server.accounts.sessions import ASSURED, BEGAN, SEEN, begin_session, is_over
from sfumato.server.error_pages import Stop, problem
from sfumato.server.heads import keep
from sfumato.server.proofs import proofs
from sfumato.server.store.models import Account

_NOTED = 20
"""How often in the time that somebody may be idle it is noted that they are not; each is a write
transaction, for which others on SQLite wait."""
_BY_ITSELF = "/progress"
"""How addresses end that a page asks for by itself: nobody need be there."""


class SessionRulesMiddleware:
    """Ends sessions that were idle, are too old, or whose account was deactivated."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a request."""
        if request.path.startswith("/static/") or request.path == "/health":
            return self._get_response(request)
        answer = self._answer(request)
        proofs().say_refused()
        # Clicks of workers are too many; what they spend is kept each minute.
        if request.method == "POST" and "/pairs/" not in request.path:
            keep()
        return answer

    def _answer(self, request: HttpRequest) -> HttpResponse:
        # Before the rules of sessions: who is named now may be somebody else than a moment ago.
        _log_in_by_header(request)
        if request.user.is_authenticated:
            now, idle = time.time(), settings.SFUMATO.idle_minutes * 60
            seen = request.session.setdefault(SEEN, now)
            request.session.setdefault(BEGAN, now)
            if is_over(request.session) or not request.user.is_active:
                logout(request)
            elif _lacks_second_factor(request):
                return redirect("/account/second-factor")
            elif now - seen > idle / _NOTED and not request.path.endswith(_BY_ITSELF):
                request.session[SEEN] = now
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Say why a request is not done, where its page does not say so itself."""
        if isinstance(exception, Stop):
            return problem(request, exception.status, exception.reason)
        return None


_WITHOUT = (
    "/account/second-factor",
    "/account/second-factor/image",
    "/fresh",
    "/logout",
    "/oidc/login",
    "/oidc/callback",
    "/oidc/finish",
)
"""What somebody may do who is still to turn the second factor on."""


def _lacks_second_factor(request: HttpRequest) -> bool:
    """Whether somebody has a role for which a second factor is asked, and has none."""
    account = request.user
    asked = settings.SFUMATO.roles_with_second_factor & set(account.roles)
    has = account.totp or request.session.get(ASSURED)
    return bool(asked) and not has and request.path not in _WITHOUT


def _log_in_by_header(request: HttpRequest) -> None:
    """Log in whom the proxy names; the server leaves ``X-Forwarded-For`` to the proxy alone."""
    header = settings.SFUMATO.trusted_header
    # Without the header that only the proxy sets, whoever asks may have named themselves.
    if not header or "HTTP_X_FORWARDED_FOR" not in request.META:
        return
    name = plain_name(request.META.get("HTTP_" + header.upper().replace("-", "_"), ""))
    # Somebody else sits there by now, who must not go on in this session.
    if request.user.is_authenticated and request.user.name != name:
        logout(request)
    if name and not request.user.is_authenticated:
        found = Account.objects.filter(name=name, is_active=True).first()
        account = found and AccountBackend().get_user(found.pk)
        if account and account.name == name:
            # The proxy may have logged them in days ago: that proves nothing about now.
            begin_session(request, account, "trusted header", fresh=False)


def common(request: HttpRequest) -> dict[str, object]:
    """The account that has logged in, and its roles."""
    account, organisation = getattr(request, "user", None), bool(settings.SFUMATO.oidc)
    if account is None or not account.is_authenticated:
        return {"account": None, "roles": [], "organisation": organisation}
    return {"account": account, "roles": account.roles, "organisation": organisation}
