"""Django's sessions in the database, read by one plain statement."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from sfumato.server.store.statements import ask, value

_READ = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


class SessionStore(DatabaseStore):
    """A session, which each request reads: who logged out is out in every process at once."""

    def load(self) -> dict[str, Any]:
        """What the session holds, nothing where there is none any more."""
        now = value(Session.expire_date, timezone.now())
        (rows,) = ask((_READ, [self.session_key, now]))
        if not rows:
            self._session_key = None
            return {}
        return dict(self.decode(rows[0][0]))
