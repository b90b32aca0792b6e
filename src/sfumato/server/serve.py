"""The process that serves: its logs, its turns, its stop."""

from __future__ import annotations

import errno
import gc
import secrets
import signal
import sys
from collections.abc import Callable
from copy import copy
from datetime import timedelta
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import DatabaseError, close_old_connections, transaction
from django.http import parse_cookie
from django.urls import reverse
from django.utils import timezone
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import create_server

from sfumato.core.errors import InputError
from sfumato.server.accounts.backend import digest_of_token
from sfumato.server.accounts.sessions import account_of
from sfumato.server.audit_log import append
from sfumato.server.config import DATABASE_FILE, Role, ServerConfig
from sfumato.server.discretion import log_without_values
from sfumato.server.error_pages import Stop
from sfumato.server.heads import keep, keep_beside
from sfumato.server.manager.uploads import MOST_BYTES
from sfumato.server.permissions import Action, decide
from sfumato.server.stated_rows import gone, stated
from sfumato.server.store.models import Account, Link
from sfumato.server.store.statements import checkpoint_beside
from sfumato.server.watch import watch_turns

YOUNG, MIDDLE, OLD = 1_000, 20, 50
"""Objects, and rounds, after which each generation is looked at."""


def look_often() -> None:
    """Look at few new objects at a time, and no more at those that are there now.

    A command that ends soon looks at many, and seldom; then a click waits 30 to 200 ms.
    """
    gc.collect()
    # What is there at the start stays: looking at all of it again would stop every thread.
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)


SETUP_DAYS = 2
"""Days for which the set-up link can be used."""
CONNECTIONS = 500
"""Connections that are held at a time; a browser keeps a few open between its requests."""
TURN = 0.0005
"""Seconds that a thread computes while others wait: a click asks the database ten times, and after
each answer it waits for its turn again."""
_FROM_PROXY = {"x-forwarded-for", "x-forwarded-proto"}
"""Headers that only the proxy may set; they are taken off what comes from elsewhere."""
STRANGERS_BYTES, FORM_BYTES = 64 << 10, 1 << 20
"""Most bytes of a request of somebody who has not logged in, and of a form without files."""
_NO_FILE = 1 << 40
"""Bytes that never go to a temporary file: requests and answers hold values, and wait in memory."""


class Parser(HTTPRequestParser):
    """Reads the body of a request only where whoever sends it may send so much.

    The whole body is read before the application sees anything of a request, so that this is
    where strangers must be stopped. What is longer than a stranger's may be says so before it
    comes; of a body without a length no more is read than of a stranger's.
    """

    adj: Any

    def parse_header(self, header_plus: bytes) -> None:
        """Read the lines before the body, and find how long it may be."""
        super().parse_header(header_plus)
        if self.content_length >= self.adj.max_request_body_size:
            # A copy for this request: all connections share the settings of the server.
            self.adj = copy(self.adj)
            self.adj.max_request_body_size = _most_bytes(
                self.path, parse_cookie(self.headers.get("COOKIE", ""))
            )


def _most_bytes(path: str, cookies: dict[str, str]) -> int:
    """Bytes that a request may have, by its path and whose session it is in."""
    # The thread that reads is in no request of Django's, after which it would close old
    # connections.
    close_old_connections()
    try:
        account = account_of(cookies.get(settings.SESSION_COOKIE_NAME))
    except DatabaseError:
        return STRANGERS_BYTES
    if account is None:
        return STRANGERS_BYTES
    try:
        creates = path == reverse("new") and decide(account, Action.CREATE_PROJECT).allowed
    except Stop:
        return STRANGERS_BYTES
    return MOST_BYTES + 2 * FORM_BYTES if creates else FORM_BYTES


def setup_link(config: ServerConfig) -> str:
    """The one-time link that makes the first account; ``""`` once there is one.

    Each start makes a new one, and the one before can no longer be used.
    """
    if Account.objects.exists():
        return ""
    token = secrets.token_urlsafe(24)
    with transaction.atomic():
        # Locked, and by their keys: one may be used between the two statements.
        before = list(Link.objects.select_for_update().filter(purpose="setup", used=None))
        Link.objects.filter(pk__in=[each.pk for each in before]).delete()
        made = Link.objects.create(
            token=digest_of_token(token),
            purpose="setup",
            roles=[Role.CUSTODIAN, Role.MANAGER],
            expires=timezone.now() + timedelta(days=SETUP_DAYS),
        )
        append(None, "make set-up link", "accounts", rows=[*gone(before), stated(made)])
    return f"{config.address}/link/{token}"


def serve(config: ServerConfig, ready: Callable[[], None] = lambda: None) -> None:
    """Answer requests until Ctrl-C or SIGTERM; `boot` must have been called.

    One process with threads, so that the index of a project is in memory once.
    """
    log_without_values()
    # Sessions that ended by themselves stay in the table until somebody removes them.
    call_command("clearsessions")
    keep()  # reads the log, before anybody waits for it
    keep_beside()
    HTTPChannel.parser_class = Parser  # no option of the server names it
    try:
        server = create_server(
            get_wsgi_application(),
            host=config.host,
            port=config.port,
            threads=config.threads,
            connection_limit=CONNECTIONS,
            asyncore_use_poll=True,
            ident=None,
            trusted_proxy=(config.proxy or "127.0.0.1") if config.url else None,
            trusted_proxy_headers=_FROM_PROXY if config.url else set(),
            clear_untrusted_proxy_headers=True,
            max_request_body_size=STRANGERS_BYTES,
            inbuf_overflow=_NO_FILE,
            outbuf_overflow=_NO_FILE,
        )
    except (OSError, ValueError, OverflowError) as error:
        raise _not_listening(config, error) from None
    watch_turns(server.task_dispatcher)
    # PostgreSQL does this by itself.
    if not config.database:
        checkpoint_beside(config.data / DATABASE_FILE)
    for number in (signal.SIGINT, signal.SIGTERM):
        # The signal is handled between two turns of the loop, which then ends by itself.
        signal.signal(number, _leave)
    look_often()
    sys.setswitchinterval(TURN)
    try:
        ready()
        server.run()
    except SystemExit:
        pass
    finally:
        server.close()


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Leave the loop; waitress waits for the requests that are being answered."""
    raise SystemExit(0)


def _not_listening(config: ServerConfig, error: Exception) -> InputError:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return InputError(
            "option --port",
            "must be a port that nothing listens at",
            found=f"{config.port} is in use",
            advice="stop the other server, or choose another --port",
        )
    if number == errno.EACCES:
        return InputError(
            "option --port", "must be one that you may listen at", accepted="1024 to 65535"
        )
    return InputError("options --host and --port", "must be an address and port of this machine")
