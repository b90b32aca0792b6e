"""The page of what to watch: each figure against rows that were put there."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from server.clinic import account, review_project, stored
from server.people import logged_in, person, quick_hashes, visitor

__all__ = ["quick_hashes"]

ROW = re.compile(r'<th scope="row">(.*?)</th><td>(<strong>)?(.*?)(?:</strong>)?</td>')
SECRET = "Keller 1980-01-02"


@pytest.fixture
def auditor() -> Any:
    """A browser in which an auditor has logged in."""
    person("olga", "auditor")
    return logged_in("olga")


def lines(client: Any) -> dict[str, tuple[str, bool]]:
    """What the page says, and whether it is to be looked after."""
    answer = client.get("/watch")
    assert answer.status_code == 200
    found = {
        unescape(what): (unescape(now).replace("\xa0", " "), bool(urgent))
        for what, urgent, now in ROW.findall(answer.content.decode())
    }
    told = answer.content.decode().partition('role="status">')[2].partition("</p>")[0]
    assert [what for what, (_, urgent) in found.items() if urgent] == [
        what for what in found if what in unescape(told)
    ]
    return found


def test_the_kept_head_stands_beside_the_last_entry(auditor: Any, server: Any) -> None:
    from sfumato.server import heads
    from sfumato.server.audit_log import append, head

    path = server.keys / heads.FILE
    heads.keep()
    kept = head().number
    assert lines(auditor)["Head kept beside the keys"] == (
        f"entry {kept} of {kept}, 0 minutes ago",
        False,
    )
    append(None, "act", "thing")
    told, urgent = lines(auditor)["Head kept beside the keys"]
    assert (told.partition(",")[0], urgent) == (f"entry {kept} of {kept + 1}", False)
    path.write_text(path.read_text().replace(f'"{kept}:', '"1:'))
    assert lines(auditor)["Head kept beside the keys"] == ("not of this server", True)
    path.unlink()
    assert lines(auditor)["Head kept beside the keys"] == ("none", True)


def test_a_head_that_missed_its_turn_is_to_be_looked_after(
    auditor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.server import heads, watch
    from sfumato.server.audit_log import append, head

    heads.keep()
    kept = heads.kept()
    assert kept is not None
    old = replace(kept, made=(datetime.now(UTC) - timedelta(minutes=3)).isoformat())
    monkeypatch.setattr(heads, "kept", lambda: old)
    assert not lines(auditor)["Head kept beside the keys"][1]
    append(None, "act", "thing")
    last = head().number
    assert lines(auditor)["Head kept beside the keys"] == (
        f"entry {last - 1} of {last}, 3 minutes ago",
        True,
    )
    assert timedelta(seconds=2 * heads.SECONDS) == watch.LATE


def test_the_last_check_that_found_all_whole_is_told(auditor: Any) -> None:
    from sfumato.server.audit_log import verify
    from sfumato.server.store.models import AuditEntry

    assert lines(auditor)["Log last found whole"] == ("never", True)
    auditor.post("/audit/check")
    assert verify().whole
    assert lines(auditor)["Log last found whole"] == ("0 minutes ago", False)
    AuditEntry.objects.filter(number=1).update(resource="other")
    count = AuditEntry.objects.count()
    assert b"not whole" in auditor.post("/audit/check").content
    assert AuditEntry.objects.count() == count
    past = (datetime.now(UTC) - timedelta(days=3)).isoformat()
    AuditEntry.objects.filter(action="verify").update(time=past)
    assert lines(auditor)["Log last found whole"] == ("3 days ago", True)


def test_failed_logins_of_a_day_and_locked_names_are_counted(auditor: Any) -> None:
    from sfumato.server.accounts.backend import PER_SUBJECT
    from sfumato.server.store.models import AuditEntry

    assert lines(auditor)["Failed logins of the last day"] == ("0", False)
    for _ in range(PER_SUBJECT):
        assert lines(auditor)["Locked for 15 minutes"] == ("0", False)
        visitor().post("/login", {"name": "nobody at all", "password": "none of them"})
    found = lines(auditor)
    assert found["Failed logins of the last day"] == (str(PER_SUBJECT), False)
    assert found["Locked for 15 minutes"] == ("1", True)
    past = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    failed = AuditEntry.objects.filter(action="failed login").order_by("number").values("pk")
    AuditEntry.objects.filter(pk__in=[each["pk"] for each in failed[:2]]).update(time=past)
    assert lines(auditor)["Failed logins of the last day"] == (str(PER_SUBJECT - 2), False)


def test_accounts_and_invitations_that_wait_are_counted(
    auditor: Any, server: Any, settings_of: Any
) -> None:
    from sfumato.server.store.models import Link

    account("carol", "custodian")
    account("mark", "manager")
    account("wanda", "worker")
    needed = "Without the second factor that they need"
    assert lines(auditor)[needed] == ("0", False)
    settings_of(second_factor="custodian,manager")
    assert lines(auditor)[needed] == ("2", True)
    now = datetime.now(UTC)
    for number, days in enumerate((1, 2, -1)):
        expires = now + timedelta(days=days)
        Link.objects.create(token=str(number), purpose="invitation", expires=expires)
    Link.objects.create(token="used", purpose="invitation", expires=now, used=now)
    assert lines(auditor)["Invitations"] == ("2 open, 1 ran out unused", False)


@pytest.fixture
def settings_of(server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Change how the server is set up."""
    from django.conf import settings

    return lambda **fields: monkeypatch.setattr(settings, "SFUMATO", replace(server, **fields))


def test_proposals_that_wait_are_counted_with_the_oldest(auditor: Any) -> None:
    from sfumato.server.live.new_projects import make_project
    from sfumato.server.store.models import Proposal

    waiting = "Proposals that wait for a custodian"
    project, _ = stored()
    assert lines(auditor)[waiting] == ("0", False)
    staff = {"custodian": project.custodian, "manager": project.manager}
    made = [make_project(review_project(), title=SECRET, **staff) for _ in range(2)]
    past = datetime.now(UTC) - timedelta(days=3)
    Proposal.objects.filter(project=made[0]).update(created=past)
    assert lines(auditor)[waiting] == ("2, the oldest since 3 days", False)
    assert SECRET not in auditor.get("/watch").content.decode()


def test_faults_are_told_by_kind_alone(auditor: Any) -> None:
    from sfumato.server import discretion

    assert lines(auditor)["Faults"] == ("none since the start", False)
    handler = discretion._Counted(logging.ERROR)
    for name in ("django.request", "django.request", "django.security.DisallowedHost"):
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            fault = (type(error), error, error.__traceback__)
            handler.handle(logging.LogRecord(name, logging.ERROR, "", 0, SECRET, (), fault))
    found = lines(auditor)
    assert found["ValueError"] == ("2 since the start, the last 0 minutes ago", True)
    assert "Faults" not in found
    assert SECRET not in auditor.get("/watch").content.decode()


def test_room_turns_and_versions_are_told(auditor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil
    from types import SimpleNamespace

    from django.template.defaultfilters import filesizeformat

    from sfumato.server import watch
    from sfumato.server.manager.uploads import MOST_BYTES
    from sfumato.server.store import models

    turns: Any = SimpleNamespace(queue=[1, 2], active_count=3, threads={0, 1, 2})
    monkeypatch.setattr(watch, "_turns", [])
    watch.watch_turns(turns)
    found = lines(auditor)
    assert found["Requests, uploads among them"] == ("3 of 3 turns taken, 2 waiting", True)
    assert found["sfumato"] == (version("sfumato"), False)
    migrations = {path.stem for path in Path(models.__file__).parent.glob("migrations/0*.py")}
    assert found["Schema of the store"] == (max(migrations), False)
    size = watch._size()
    assert size > 100_000
    assert not found["Disk of the data"][1]
    # One byte less than a copy of the database and the largest upload need.
    free = size + MOST_BYTES - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free, total=4 * free))
    told = f"{filesizeformat(free)} free of {filesizeformat(4 * free)}".replace("\xa0", " ")
    assert lines(auditor)["Disk of the data"] == (told, True)


def test_the_page_takes_as_many_queries_for_a_hundred_as_for_one(auditor: Any) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from sfumato.server.audit_log import append

    lines(auditor)
    with CaptureQueriesContext(connection) as few:
        lines(auditor)
    for number in range(100):
        account(f"worker {number}", "worker")
        append(None, "failed login", "no account")
    stored()
    lines(auditor)  # reads what the log has of them
    with CaptureQueriesContext(connection) as many:
        lines(auditor)
    assert len(many) == len(few) <= 20


def test_a_log_that_is_not_whole_can_still_be_watched(auditor: Any) -> None:
    from sfumato.server import proofs
    from sfumato.server.store.models import AuditEntry

    AuditEntry.objects.filter(number=AuditEntry.objects.count()).delete()
    proofs.proofs().follow()
    assert "Log last found whole" in lines(auditor)
