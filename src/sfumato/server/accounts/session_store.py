"""Django's sessions in the database, under digests of their ids."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import salted_hmac

from sfumato.server.store.statements import ask, value

_READ = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"
_DIGITS = 40
"""Hexadecimal digits of a digest: what the column holds."""


def stored_key(session_key: str) -> str:
    """What is stored of a session's id: HMAC-SHA-256, keyed outside the database, cut to 160 bits.

    Parameters
    ----------
    session_key
        The id, as the cookie has it.
    """
    digest = salted_hmac("sfumato session", session_key, algorithm="sha256")
    return str(digest.hexdigest()[:_DIGITS])


class SessionStore(DatabaseStore):
    """A session, which each request reads: who logged out is out in every process at once.

    Its id is in the cookie alone; a copy of the database opens no session.
    """

    def load(self) -> dict[str, Any]:
        """What the session holds, nothing where there is none any more."""
        now = value(Session.expire_date, timezone.now())
        (rows,) = ask((_READ, [stored_key(self.session_key), now]))
        if not rows:
            self._session_key = None
            return {}
        return dict(self.decode(rows[0][0]))

    def exists(self, session_key: str) -> bool:
        """Whether there is a session of an id.

        Parameters
        ----------
        session_key
            The id.
        """
        return bool(super().exists(stored_key(session_key)))

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """The session's row.

        Parameters
        ----------
        data
            What the session holds.
        """
        row = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        """End a session.

        Parameters
        ----------
        session_key
            Its id; this one where not given.
        """
        ended = session_key or self.session_key
        if ended is not None:
            super().delete(stored_key(ended))
