"""Callers of a server in a process of its own, over HTTP, without a browser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode

_TOKEN = "csrftoken"
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Reply:
    """An answer: its status, its headers in their order, its bytes."""

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes

    @property
    def text(self) -> str:
        """Its bytes as text."""
        return self.content.decode()

    @property
    def json(self) -> dict[str, Any]:
        """Its bytes as JSON."""
        return dict(json.loads(self.content))

    def header(self, name: str) -> str:
        """A header, ``""`` where there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


@dataclass
class Caller:
    """Somebody who asks a server, with cookies and one connection.

    Attributes
    ----------
    port
        Where the server listens.
    session
        Id of a session, ``""`` for somebody who has not logged in.
    cookies
        The other cookies.
    keep
        Whether answers are kept.
    patience
        Seconds that it waits.
    replies
        All answers that were kept.
    """

    port: int
    session: str = ""
    keep: bool = False
    patience: float = 60.0
    replies: list[Reply] = field(default_factory=list, repr=False)
    cookies: dict[str, str] = field(default_factory=dict, repr=False)
    _connection: HTTPConnection | None = field(default=None, repr=False)

    def log_in(self, name: str, password: str) -> Reply:
        """Log in by the page for it."""
        self.get("/login")
        return self.post("/login", {"name": name, "password": password}, script=False)

    def get(self, path: str, *, script: bool = False) -> Reply:
        """Load a page."""
        return self._ask("GET", path, None, script=script)

    def post(self, path: str, form: dict[str, Any] | None = None, *, script: bool = True) -> Reply:
        """Send a form, as the page's script does or as the browser itself would."""
        if not self.cookies.get(_TOKEN):
            self.get("/account" if self.session else "/login")
        data = urlencode({"csrfmiddlewaretoken": self.cookies[_TOKEN], **(form or {})})
        return self._ask("POST", path, data.encode(), script=script)

    def close(self) -> None:
        """Leave."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _ask(self, method: str, path: str, body: bytes | None, *, script: bool) -> Reply:
        cookies = {"sessionid": self.session, **self.cookies}
        headers = {"Cookie": "; ".join(f"{n}={value}" for n, value in cookies.items() if value)}
        if script:
            headers["Accept"] = "application/json"
        if body is not None:
            headers |= {"Content-Type": _FORM, "Origin": f"http://127.0.0.1:{self.port}"}
        if self._connection is None:
            self._connection = HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        try:
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            content = answer.read()
        except (OSError, HTTPException):
            self.close()
            raise
        reply = Reply(answer.status, tuple(answer.getheaders()), content)
        self._remember(reply)
        return reply

    def _remember(self, reply: Reply) -> None:
        if self.keep:
            self.replies.append(reply)
        for name, value in reply.headers:
            if name.lower() == "set-cookie":
                key, _, content = value.split(";")[0].partition("=")
                self.cookies[key] = content.strip('"')
        self.session = self.cookies.pop("sessionid", self.session)
