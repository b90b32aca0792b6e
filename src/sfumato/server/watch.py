"""The page of who runs the server: what to watch, in counts and times alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, Max, Min, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from waitress.task import ThreadedTaskDispatcher

from sfumato.core.errors import InputError
from sfumato.server import heads
from sfumato.server.accounts.backend import PER_SUBJECT, WINDOW
from sfumato.server.accounts.views import FAILED, allowed
from sfumato.server.audit_log import VERIFIED, head
from sfumato.server.config import DATABASE_FILE
from sfumato.server.discretion import FAULTS
from sfumato.server.manager.uploads import MOST_BYTES
from sfumato.server.permissions import Action
from sfumato.server.store.models import (
    Account,
    AuditEntry,
    Link,
    LoginAttempt,
    ProjectState,
    Proposal,
    ProposalState,
)

DAY = timedelta(days=1)
"""How far back failed logins are counted, and how old a check may be: the how-to has one a day."""
LATE = timedelta(seconds=2 * heads.SECONDS)
"""How old a kept head may be beside new entries: it missed its turn."""
_turns: list[ThreadedTaskDispatcher] = []


@dataclass(frozen=True)
class Line:
    """One thing to watch.

    Attributes
    ----------
    urgent
        Whether somebody should look after it.
    """

    what: str
    now: str
    urgent: bool = False


def watch_turns(dispatcher: ThreadedTaskDispatcher) -> None:
    """Have the page tell how many requests this process answers, and how many wait."""
    _turns[:] = [dispatcher]


@require_GET
@allowed(Action.WATCH)
def watch(request: HttpRequest) -> HttpResponse:
    """What to watch; the same number of queries however much there is."""
    now = timezone.now()
    groups = [
        (_("Audit log"), [_kept_head(now), *_of_the_log(now)]),
        (_("People"), [*_accounts(now), _proposals(now)]),
        (_("Server"), [*_requests(), *_faults(now), *_room()]),
        (_("Versions"), _versions()),
    ]
    urgent = [line for __, lines in groups for line in lines if line.urgent]
    return render(request, "auditor/watch.html", {"groups": groups, "urgent": urgent})


def _ago(then: datetime, now: datetime) -> str:
    return _("{time} ago").format(time=timesince(then, now))


def _kept_head(now: datetime) -> Line:
    what = _("Head kept beside the keys")
    try:
        kept = heads.kept()
    except InputError:
        return Line(what, _("not of this server"), urgent=True)
    if kept is None:
        return Line(what, _("none"), urgent=True)
    made, last = datetime.fromisoformat(kept.made), head().number
    behind = kept.head.number != last
    return Line(
        what,
        _("entry {number} of {last}, {ago}").format(
            number=kept.head.number, last=last, ago=_ago(made, now)
        ),
        urgent=kept.head.number > last or (behind and now - made > LATE),
    )


def _of_the_log(now: datetime) -> Iterator[Line]:
    since = (now - DAY).astimezone(UTC).isoformat()
    found = AuditEntry.objects.filter(action__in=(FAILED, VERIFIED)).aggregate(
        failed=Count("pk", filter=Q(action=FAILED, time__gte=since)),
        verified=Max("time", filter=Q(action=VERIFIED)),
    )
    if found["verified"] is None:
        yield Line(_("Log last found whole"), _("never"), urgent=True)
    else:
        then = datetime.fromisoformat(found["verified"])
        yield Line(_("Log last found whole"), _ago(then, now), urgent=now - then > DAY)
    yield Line(_("Failed logins of the last day"), str(found["failed"]))


def _accounts(now: datetime) -> Iterator[Line]:
    asked = settings.SFUMATO.roles_with_second_factor
    active = Account.objects.filter(is_active=True).values_list("roles", "totp")
    lacking = sum(1 for roles, totp in active if asked & set(roles) and not totp)
    yield Line(_("Without the second factor that they need"), str(lacking), urgent=lacking > 0)
    tried = LoginAttempt.objects.filter(time__gte=now - WINDOW).values("subject")
    locked = tried.annotate(tries=Count("pk")).filter(tries__gte=PER_SUBJECT).count()
    yield Line(_("Locked for 15 minutes"), str(locked), urgent=locked > 0)
    links = Link.objects.filter(purpose="invitation", used=None)
    found = links.aggregate(
        open=Count("pk", filter=Q(expires__gt=now)), over=Count("pk", filter=Q(expires__lte=now))
    )
    yield Line(_("Invitations"), _("{open} open, {over} ran out unused").format(**found))


def _proposals(now: datetime) -> Line:
    found = Proposal.objects.filter(
        state=ProposalState.OPEN, project__state=ProjectState.OPEN
    ).aggregate(count=Count("pk"), oldest=Min("created"))
    told = "0"
    if found["count"]:
        since = timesince(found["oldest"], now)
        told = _("{count}, the oldest since {time}").format(count=found["count"], time=since)
    return Line(_("Proposals that wait for a custodian"), told)


def _requests() -> Iterator[Line]:
    for each in _turns:
        waiting = len(each.queue)
        told = _("{taken} of {turns} turns taken, {waiting} waiting").format(
            taken=each.active_count, turns=len(each.threads), waiting=waiting
        )
        yield Line(_("Requests, uploads among them"), told, urgent=waiting > 0)


def _faults(now: datetime) -> Iterator[Line]:
    """The last faults since the start, by their kind alone: messages may hold values."""
    for kind, (count, then) in sorted(FAULTS.items()):
        ago = _ago(then, now)
        told = _("{count} since the start, the last {ago}").format(count=count, ago=ago)
        yield Line(kind, told, urgent=now - then < DAY)
    if not FAULTS:
        yield Line(_("Faults"), _("none since the start"))


def _room() -> Iterator[Line]:
    size, disk = _size(), shutil.disk_usage(settings.SFUMATO.data)
    yield Line(_("Database"), filesizeformat(size))
    free, total = filesizeformat(disk.free), filesizeformat(disk.total)
    told = _("{free} free of {total}").format(free=free, total=total)
    # A copy of the database and the largest upload have to find room.
    yield Line(_("Disk of the data"), told, urgent=disk.free < size + MOST_BYTES)


def _size() -> int:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
    # What is written ahead lies beside it.
    files = settings.SFUMATO.data.glob(f"{DATABASE_FILE}*")
    return sum(each.stat().st_size for each in files)


def _versions() -> list[Line]:
    applied = MigrationRecorder(connection).migration_qs.filter(app="store")
    last = applied.order_by("-name").values_list("name", flat=True).first()
    return [Line("sfumato", version("sfumato")), Line(_("Schema of the store"), str(last))]
