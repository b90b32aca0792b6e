"""Sessions of people who have logged in: begun under a new id, ended at once."""

from __future__ import annotations

import time

from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user, login
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from sfumato.server.accounts.session_store import SessionStore, stored_key
from sfumato.server.audit.append import append
from sfumato.server.store.models import Account

SEEN = "seen"
"""When the session's person made the last request, in seconds."""
BEGAN = "began"
"""When they logged in, in seconds; a new proof does not begin it anew."""
FRESH = "fresh"
"""When they last proved who they are, in seconds."""
_BACKEND = "sfumato.server.accounts.backend.AccountBackend"


def begin_session(request: HttpRequest, account: Account, by: str, *, fresh: bool = True) -> None:
    """Log somebody in, under a new session id, and say so in the audit log.

    Parameters
    ----------
    request
        The request.
    account
        Who.
    by
        How they proved who they are.
    fresh
        Whether they proved it themselves, just now.
    """
    now = time.time()
    with transaction.atomic():
        login(request, account, backend=_BACKEND)
        request.session[SEEN] = request.session[BEGAN] = now
        if fresh:
            request.session[FRESH] = now
        append(account, "log in", resource_of(account), {"by": by})


def is_over(session: SessionBase) -> bool:
    """Whether nothing was done in a session for too long, or it has lasted as long as any may.

    Parameters
    ----------
    session
        The session of somebody who has logged in.
    """
    now, config = time.time(), settings.SFUMATO
    idle, age = now - session.get(SEEN, now), now - session.get(BEGAN, now)
    return bool(idle > config.idle_minutes * 60 or age > config.session_hours * 3600)


def account_of(session_key: str | None) -> Account | None:
    """Who has logged in in a session that goes on, ``None`` for nobody.

    Parameters
    ----------
    session_key
        The session's id.
    """
    request = HttpRequest()
    request.session = SessionStore(session_key)
    account = get_user(request)
    return account if account.is_authenticated and not is_over(request.session) else None


def end_sessions(account: Account, *, keep: str | None = None) -> int:
    """End the sessions of somebody, and tell how many.

    Parameters
    ----------
    account
        Who.
    keep
        Id of a session that goes on.
    """
    kept = keep and stored_key(keep)
    theirs = [
        session.session_key
        for session in Session.objects.exclude(session_key=kept).iterator()
        if session.get_decoded().get(SESSION_KEY) == str(account.pk)
    ]
    return int(Session.objects.filter(session_key__in=theirs).delete()[0])


def resource_of(account: Account) -> str:
    """How the audit log names an account.

    Parameters
    ----------
    account
        The account.
    """
    return f"account {account.pseudonym}"
