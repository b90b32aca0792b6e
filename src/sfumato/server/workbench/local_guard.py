"""Who may ask the workbench: this browser, at this name, once it has brought the token.

Cookies ignore ports: a page of another user at another port of this machine would be sent ours. So
each start has a name of its own, which nobody else knows, and every request must name it exactly.
"""

from __future__ import annotations

import secrets
import string
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hmac import compare_digest
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from django.http import parse_cookie

TOKEN_SECONDS = 60.0
"""How long a token can be used, once."""
COOKIE = "__Host-sfumato"
ENTER, STATIC, WINDOW = "/enter", "/static/", "/window"
_MOST_BYTES = 1024
"""Bytes of the request that brings the token."""
_LETTERS = 16

Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]


@dataclass
class LocalAddress:
    """The address of one start: a name that nobody can guess, at a port of this machine."""

    port: int
    name: str = field(
        default_factory=lambda: "".join(
            secrets.choice(string.ascii_lowercase) for _ in range(_LETTERS)
        )
    )

    @property
    def host(self) -> str:
        """What every request must name."""
        return f"{self.name}.localhost:{self.port}"

    @property
    def origin(self) -> str:
        """What every form must come from."""
        return f"http://{self.host}"


@dataclass
class Entrance:
    """The tokens that let a browser in, and the browsers that are in."""

    _tokens: dict[str, float] = field(default_factory=dict, repr=False)
    _browsers: set[str] = field(default_factory=set, repr=False)

    def token(self) -> str:
        """A new token: for one browser, within a minute."""
        made = secrets.token_urlsafe(32)
        self._tokens[made] = time.monotonic() + TOKEN_SECONDS
        return made

    def admit(self, token: str) -> str | None:
        """The secret of a browser that brings a token; ``None`` if it is used, old or wrong."""
        ends = self._tokens.pop(token, 0.0)
        if time.monotonic() > ends:
            return None
        secret = secrets.token_urlsafe(32)
        self._browsers.add(secret)
        return secret

    def is_in(self, secret: str) -> bool:
        """Whether a browser has been let in."""
        given = secret.encode("utf-8", "surrogateescape")  # text that is not ASCII is refused there
        return any(compare_digest(given, browser.encode("ascii")) for browser in self._browsers)


class Guard:
    """Stands before all addresses, so that none can be forgotten.

    Parameters
    ----------
    application
        What is guarded.
    seen
        Told of each request that was let through, but for those that pages make by themselves.
    """

    def __init__(
        self,
        application: Application,
        address: LocalAddress,
        entrance: Entrance,
        seen: Callable[[], None] = lambda: None,
    ) -> None:
        self._application, self._address, self._entrance = application, address, entrance
        self._seen = seen

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Answer a request, or refuse it."""
        status = self.refusal(environ)
        path, posted = environ.get("PATH_INFO", ""), environ["REQUEST_METHOD"] == "POST"
        if status is None and path == ENTER and posted:
            return self._enter(environ, start_response)
        if status is not None:
            return _said(start_response, status)
        if not _is_poll(environ):
            self._seen()
        return self._application(environ, start_response)

    def refusal(self, environ: Environ) -> HTTPStatus | None:
        """Why a request is refused; ``None`` if it is not."""
        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
        if environ.get("HTTP_HOST", "") != self._address.host:
            return HTTPStatus.MISDIRECTED_REQUEST
        if method not in ("GET", "HEAD", "POST"):
            return HTTPStatus.METHOD_NOT_ALLOWED
        # The page that takes the token holds nothing, and is opened by a file, which is no site.
        opens = path == ENTER and method == "GET" and _is_navigation(environ)
        if not opens and environ.get("HTTP_SEC_FETCH_SITE") not in ("same-origin", "none"):
            return HTTPStatus.FORBIDDEN
        if method == "POST" and environ.get("HTTP_ORIGIN") != self._address.origin:
            return HTTPStatus.FORBIDDEN
        if path == ENTER or (path.startswith(STATIC) and method != "POST"):
            return None
        cookies = parse_cookie(environ.get("HTTP_COOKIE", ""))
        if not self._entrance.is_in(cookies.get(COOKIE, "")):
            return HTTPStatus.UNAUTHORIZED
        return None

    def _enter(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        try:
            length = int(environ.get("CONTENT_LENGTH") or 0)
        except ValueError:
            return _said(start_response, HTTPStatus.BAD_REQUEST)
        if length > _MOST_BYTES:
            return _said(start_response, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        body = environ["wsgi.input"].read(length).decode("latin-1")
        secret = self._entrance.admit(parse_qs(body).get("token", [""])[0])
        if secret is None:
            return _said(start_response, HTTPStatus.UNAUTHORIZED)
        self._seen()
        cookie = f"{COOKIE}={secret}; Path=/; Secure; HttpOnly; SameSite=Strict"
        headers = [("Location", "/"), ("Set-Cookie", cookie), ("Content-Length", "0"), *_QUIET]
        start_response("303 See Other", headers)
        return [b""]


_QUIET = [
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
]
_WORDS = {
    HTTPStatus.UNAUTHORIZED: "This link was used, or is older than a minute. Press Enter in the "
    "terminal of the workbench for a new one.",
    HTTPStatus.MISDIRECTED_REQUEST: "This is not an address of the workbench.",
    HTTPStatus.FORBIDDEN: "This request does not come from a page of the workbench.",
}


def _said(start_response: Any, status: HTTPStatus) -> Iterable[bytes]:
    text = (_WORDS.get(status, status.phrase) + "\n").encode("ascii")
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text)))]
    start_response(f"{status.value} {status.phrase}", headers + _QUIET)
    return [text]


def _is_poll(environ: Environ) -> bool:
    """Whether a page asks by itself: for a part of itself, or as a window's sign of life."""
    if environ["REQUEST_METHOD"] == "POST":
        return environ.get("PATH_INFO") == WINDOW
    return "HTTP_HX_REQUEST" in environ and "HTTP_HX_BOOSTED" not in environ


def _is_navigation(environ: Environ) -> bool:
    """Whether a window is opened: no image, frame or script of another page."""
    return (
        environ.get("HTTP_SEC_FETCH_MODE") == "navigate"
        and environ.get("HTTP_SEC_FETCH_DEST") == "document"
    )
