"""Sessions of people who have logged in: begun under a new id, ended at once."""

from __future__ import annotations

import time

from django.contrib.auth import SESSION_KEY, login
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from sfumato.server.audit.append import append
from sfumato.server.store.models import Account

SEEN = "seen"
"""When the session's person made the last request, in seconds."""
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
        request.session[SEEN] = now
        if fresh:
            request.session[FRESH] = now
        append(account, "log in", resource_of(account), {"by": by})


def end_sessions(account: Account, *, keep: str | None = None) -> int:
    """End the sessions of somebody, and tell how many.

    Parameters
    ----------
    account
        Who.
    keep
        Id of a session that goes on.
    """
    theirs = [
        session.session_key
        for session in Session.objects.exclude(session_key=keep).iterator()
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
