"""Sessions, and links that let somebody in once."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user, login
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from sfumato.server.accounts.backend import digest_of_token
from sfumato.server.audit_log import append
from sfumato.server.error_pages import Stop
from sfumato.server.permissions import Action, decide
from sfumato.server.proofs import check_proved, check_stated, proofs
from sfumato.server.stated_rows import gone, image, stated
from sfumato.server.store.models import Account, GrantKind, Link, Member, Project, ProjectState
from sfumato.server.store.statements import ask, value

_READ = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"
# Django's column for the id has 40 characters: 160 bits cannot be guessed either.
_DIGITS = 40
"""Hexadecimal digits of a digest: what the column holds."""


def stored_key(session_key: str) -> str:
    """What is stored of a session's id: HMAC-SHA-256 with a key kept elsewhere, cut to 160 bits."""
    digest = salted_hmac("sfumato session", session_key, algorithm="sha256")
    return str(digest.hexdigest()[:_DIGITS])


class SessionStore(DatabaseStore):
    """A session, which each request reads: who logged out is out in every process at once.

    Its id is in the cookie alone; a copy of the database opens no session. What it holds is signed
    for its row, so that nobody's can be put in the place of another's.
    """

    row = ""
    """The row that is read, where its id is not known."""

    @property
    def key_salt(self) -> str:
        """What the signature is made for."""
        return f"sfumato session {self.row or stored_key(str(self._session_key))}"

    def load(self) -> dict[str, Any]:
        """What the session holds, nothing where there is none any more."""
        now = value(Session.expire_date, timezone.now())
        (rows,) = ask((_READ, [stored_key(self.session_key), now]))
        if not rows:
            self._session_key = None
            return {}
        return dict(self.decode(rows[0][0]))

    def exists(self, session_key: str) -> bool:
        """Whether there is a session of an id."""
        return bool(super().exists(stored_key(session_key)))

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """The session's row."""
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


def held_in(row: Session) -> dict[str, Any]:
    """What the session of a row holds."""
    store = SessionStore()
    store.row = row.session_key
    return dict(store.decode(row.session_data))


SEEN = "seen"
"""When the session's person made the last request, in seconds."""
BEGAN = "began"
"""When they logged in, in seconds; a new proof does not begin it anew."""
FRESH = "fresh"
"""When they last proved who they are, in seconds."""
ASSURED = "assured"
"""Whether the organisation's login asked them for a second factor."""
_BACKEND = "sfumato.server.accounts.backend.AccountBackend"


def begin_session(request: HttpRequest, account: Account, by: str, *, fresh: bool = True) -> None:
    """Log somebody in, under a new session id, and say so in the audit log.

    Parameters
    ----------
    fresh
        Whether they proved it themselves, just now.
    """
    now = time.time()
    with transaction.atomic():
        # Logging in gives the session another id: one that somebody had planted before is worth
        # nothing.
        login(request, account, backend=_BACKEND)
        request.session[SEEN] = request.session[BEGAN] = now
        if fresh:
            request.session[FRESH] = now
        append(account, "log in", resource_of(account), {"by": by})


def is_over(session: SessionBase) -> bool:
    """Whether nothing was done in a session for too long, or it has lasted as long as any may."""
    now, config = time.time(), settings.SFUMATO
    idle, age = now - session.get(SEEN, now), now - session.get(BEGAN, now)
    return bool(idle > config.idle_minutes * 60 or age > config.session_hours * 3600)


def account_of(session_key: str | None) -> Account | None:
    """Who has logged in in a session that goes on, ``None`` for nobody."""
    request = HttpRequest()
    request.session = SessionStore(session_key)
    account = get_user(request)
    return account if account.is_authenticated and not is_over(request.session) else None


def end_sessions(account: Account, *, keep: str | None = None) -> int:
    """End the sessions of somebody, and tell how many.

    Parameters
    ----------
    keep
        Id of a session that goes on.
    """
    kept = keep and stored_key(keep)
    # Sessions hold whose they are encoded, so that each has to be looked at.
    theirs = [
        session.session_key
        for session in Session.objects.exclude(session_key=kept).iterator()
        if held_in(session).get(SESSION_KEY) == str(account.pk)
    ]
    return int(Session.objects.filter(session_key__in=theirs).delete()[0])


def resource_of(account: Account) -> str:
    """How the audit log names an account."""
    return f"account {account.pseudonym}"


def make_account(
    name: str,
    password: str | None,
    roles: Sequence[str],
    by: Account | None = None,
    **fields: object,
) -> Account:
    """A new account, which the audit log states.

    Parameters
    ----------
    password
        ``None`` where only a trusted header logs it in.
    by
        Who made it, where it is not its owner.
    """
    with transaction.atomic():
        account = Account.objects.make(name, password, list(roles), **fields)
        told = {"roles": sorted(roles)} if roles else {}
        rows = [stated(account)]
        append(by or account, "make account", resource_of(account), told, rows=rows)
    return account


INVITATION_DAYS, RESET_DAYS = 14, 2
"""Days for which an invitation, and a link for a new password, can be used."""


def invite(
    by: Account, roles: Sequence[str], project: Project | None = None, days: int = INVITATION_DAYS
) -> str:
    """The address of a new invitation; it is shown once and stored nowhere."""
    with transaction.atomic():
        address, link = _make("invitation", by, days, roles=sorted(roles), project=project)
        where = "accounts" if project is None else f"project {project.pk}"
        told = {"days": days, "roles": sorted(roles)}
        append(by, "invite", where, told, rows=[stated(link)])
    return address


def remove_second_factor(by: Account | None, account: Account, *, keep: str | None = None) -> None:
    """Turn a second factor off; the sessions end.

    Parameters
    ----------
    by
        ``None`` for whoever runs the server.
    keep
        Id of a session that goes on.
    """
    with transaction.atomic():
        account.totp, account.recovery = b"", []
        account.save(update_fields=["totp", "recovery"])
        end_sessions(account, keep=keep)
        rows = [stated(account, "totp", "recovery")]
        append(by, "turn second factor off", resource_of(account), rows=rows)


def reset_link(by: Account | None, account: Account) -> str:
    """The address at which somebody sets a new password; earlier ones can no longer be used.

    Parameters
    ----------
    by
        ``None`` for whoever runs the server.
    """
    with transaction.atomic():
        # A link that was lost may be in somebody else's hands.
        lost = Link.objects.select_for_update().filter(account=account, used=None)
        # Locked, and by their keys: one may be used between the two statements.
        before = list(lost)
        for each in before:
            check_stated(each)  # a used one that was made unused would be stated gone
        Link.objects.filter(pk__in=[each.pk for each in before]).delete()
        address, link = _make("reset", by, RESET_DAYS, account=account)
        rows = [*gone(before), stated(link)]
        append(by, "reset password", resource_of(account), {"days": RESET_DAYS}, rows=rows)
    return address


EXPORTS_WAIT = timedelta(days=1)
"""How long an account whose password was reset exports nothing: its owner hears of it before."""


def last_reset(account: Account) -> tuple[datetime, int | None] | None:
    """When the password of an account was reset last within a day, and whose link it was."""
    since = image("link", "used", timezone.now() - EXPORTS_WAIT, secret=False)
    # As the log states it: a row of the database could be removed.
    links = list(proofs().replay.rows.get("link", {}).values())
    mine = [row for row in links if row.get("account_id") == account.pk]
    last = max(mine, key=lambda row: row.get("used") or "", default={})
    if (last.get("used") or "") <= since:
        return None
    return datetime.fromisoformat(last["used"]), last.get("made_by_id")


def check_not_reset(account: Account, project: Project) -> None:
    """Refuse an export to an account whose password was just reset, unless a second confirms it."""
    reset = last_reset(account)
    if reset is None:
        return
    found = project.grants.filter(kind=GrantKind.RESET, to=account, created__gt=reset[0])
    confirmed = found.filter(expires__gt=timezone.now()).first()
    if confirmed is None:
        raise Stop(
            409,
            "The password of this account was reset less than a day ago. Until a day is over it "
            "exports nothing unless the custodian of the project confirms the reset.",
        )
    check_proved(confirmed)


def find_link(token: str, *, lock: bool = False) -> Link | None:
    """A link that can be used now, if there is one.

    Parameters
    ----------
    lock
        Whether nobody else may use it before the transaction ends.
    """
    links = Link.objects.select_for_update() if lock else Link.objects.all()
    digest, now = digest_of_token(token), timezone.now()
    found = links.filter(token=digest, used=None, expires__gt=now).first()
    if found is None:
        return None
    people = [each for each in (found.account, found.made_by) if each is not None]
    if lock:
        # Before anything is written: a database may be told to undo an edit at that.
        proofs().follow()
        for row in (found, *people):
            check_proved(row)
    # An invitation by somebody who was deactivated since is worth nothing.
    if not all(person.is_active for person in people):
        return None
    # Nor is a reset of somebody who has since become more than its maker.
    if (
        found.account
        and found.made_by
        and not decide(found.made_by, Action.RESET_ACCOUNT, found.account).allowed
    ):
        return None
    if found.project is not None and found.project.state != ProjectState.OPEN:
        return None
    return found


def spend_link(link: Link, account: Account) -> None:
    """Use a link up that was found with `lock`: its roles and its project are the account's."""
    link.used = timezone.now()
    link.save(update_fields=["used"])
    rows = [stated(link, "used")]
    if link.account_id is None:
        check_stated(account, "roles")
        # Roles are added: a link for a project must not take away what somebody is already.
        account.roles = sorted({*account.roles, *link.roles})
        account.save(update_fields=["roles"])
        rows.append(stated(account, "roles"))
    else:
        rows.append(stated(account, "password"))
    detail: dict[str, object] = {"purpose": link.purpose, "roles": link.roles}
    if link.project is not None:
        member, new = Member.objects.get_or_create(project=link.project, account=account)
        rows += [stated(member)] if new else []
        detail["project"] = str(link.project_id)
    if link.made_by is not None:
        detail["made by"] = link.made_by.pseudonym
    append(account, "use link", resource_of(account), detail, rows=rows)


def _make(purpose: str, by: Account | None, days: int, **fields: object) -> tuple[str, Link]:
    token = secrets.token_urlsafe(24)
    link = Link.objects.create(
        token=digest_of_token(token),
        purpose=purpose,
        made_by=by,
        expires=timezone.now() + timedelta(days=days),
        **fields,
    )
    return f"{settings.SFUMATO.address}/link/{token}", link
