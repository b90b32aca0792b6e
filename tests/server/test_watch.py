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
HEAD, WHOLE, FAILED, LACKING, LOCKED, INVITED, PROPOSED, OF_SERVER = range(8)
DISK, VERSION, STORE = -3, -2, -1
"""Where the page has its lines: those of the server are as many as it has faults."""


@pytest.fixture
def auditor() -> Any:
    """A browser in which an auditor has logged in."""
    person("olga", "auditor")
    return logged_in("olga")


def lines(client: Any) -> list[tuple[str, str, bool]]:
    """What the page says: of what, what now, and whether it is to be looked after."""
    answer = client.get("/watch")
    assert answer.status_code == 200
    page = answer.content.decode()
    found = [
        (unescape(what), unescape(now).replace("\xa0", " "), bool(urgent))
        for what, urgent, now in ROW.findall(page)
    ]
    told = unescape(page.partition('role="status">')[2].partition("</p>")[0])
    assert [what for what, _, urgent in found if urgent] == [
        what for what, _, _ in found if what in told
    ]
    return found


def figures(client: Any, line: int) -> tuple[list[int], bool]:
    """The numbers of a line, and whether it is to be looked after."""
    _, told, urgent = lines(client)[line]
    return [int(number) for number in re.findall(r"\d+", told)], urgent


def test_the_kept_head_stands_beside_the_last_entry(auditor: Any, server: Any) -> None:
    from sfumato.server import heads
    from sfumato.server.audit_log import append, head

    path = server.keys / heads.FILE
    heads.keep()
    kept = head().number
    assert figures(auditor, HEAD) == ([kept, kept, 0], False)
    append(None, "act", "thing")
    assert figures(auditor, HEAD) == ([kept, kept + 1, 0], False)
    path.write_text(path.read_text().replace(f'"{kept}:', '"1:'))
    foreign = lines(auditor)[HEAD]
    path.unlink()
    lacking = lines(auditor)[HEAD]
    assert foreign[2]
    assert lacking[2]
    assert foreign != lacking


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
    assert figures(auditor, HEAD) == ([kept.head.number, kept.head.number, 3], False)
    append(None, "act", "thing")
    last = head().number
    assert figures(auditor, HEAD) == ([last - 1, last, 3], True)
    assert timedelta(seconds=2 * heads.SECONDS) == watch.LATE


def test_the_last_check_that_found_all_whole_is_told(auditor: Any) -> None:
    from sfumato.server.audit_log import verify
    from sfumato.server.store.models import AuditEntry

    assert figures(auditor, WHOLE) == ([], True)
    auditor.post("/audit/check")
    assert verify().whole
    assert figures(auditor, WHOLE) == ([0], False)
    AuditEntry.objects.filter(number=1).update(resource="other")
    count = AuditEntry.objects.count()
    assert b"not whole" in auditor.post("/audit/check").content
    assert AuditEntry.objects.count() == count
    past = (datetime.now(UTC) - timedelta(days=3)).isoformat()
    AuditEntry.objects.filter(action="verify").update(time=past)
    assert figures(auditor, WHOLE) == ([3], True)


def test_failed_logins_of_a_day_and_locked_names_are_counted(auditor: Any) -> None:
    from sfumato.server.accounts.backend import PER_SUBJECT
    from sfumato.server.store.models import AuditEntry

    assert figures(auditor, FAILED) == ([0], False)
    for _ in range(PER_SUBJECT):
        assert figures(auditor, LOCKED) == ([0], False)
        visitor().post("/login", {"name": "nobody at all", "password": "none of them"})
    assert figures(auditor, FAILED) == ([PER_SUBJECT], False)
    assert figures(auditor, LOCKED) == ([1], True)
    past = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    failed = AuditEntry.objects.filter(action="failed login").order_by("number").values("pk")
    AuditEntry.objects.filter(pk__in=[each["pk"] for each in failed[:2]]).update(time=past)
    assert figures(auditor, FAILED) == ([PER_SUBJECT - 2], False)


def test_accounts_and_invitations_that_wait_are_counted(
    auditor: Any, server: Any, settings_of: Any
) -> None:
    from sfumato.server.store.models import Link

    account("carol", "custodian")
    account("mark", "manager")
    account("wanda", "worker")
    assert figures(auditor, LACKING) == ([0], False)
    settings_of(second_factor="custodian,manager")
    assert figures(auditor, LACKING) == ([2], True)
    now = datetime.now(UTC)
    for number, days in enumerate((1, 2, -1)):
        expires = now + timedelta(days=days)
        Link.objects.create(token=str(number), purpose="invitation", expires=expires)
    Link.objects.create(token="used", purpose="invitation", expires=now, used=now)
    assert figures(auditor, INVITED) == ([2, 1], False)


@pytest.fixture
def settings_of(server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Change how the server is set up."""
    from django.conf import settings

    return lambda **fields: monkeypatch.setattr(settings, "SFUMATO", replace(server, **fields))


def test_proposals_that_wait_are_counted_with_the_oldest(auditor: Any) -> None:
    from sfumato.server.live.new_projects import make_project
    from sfumato.server.store.models import Proposal

    project, _ = stored()
    assert figures(auditor, PROPOSED) == ([0], False)
    staff = {"custodian": project.custodian, "manager": project.manager}
    made = [make_project(review_project(), title=SECRET, **staff) for _ in range(2)]
    past = datetime.now(UTC) - timedelta(days=3)
    Proposal.objects.filter(project=made[0]).update(created=past)
    assert figures(auditor, PROPOSED) == ([2, 3], False)
    assert SECRET not in auditor.get("/watch").content.decode()


def test_faults_are_told_by_kind_alone(auditor: Any) -> None:
    from sfumato.server import discretion

    without = lines(auditor)
    assert figures(auditor, OF_SERVER) == ([], False)
    handler = discretion._Counted(logging.ERROR)
    for name in ("django.request", "django.request", "django.security.DisallowedHost"):
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            fault = (type(error), error, error.__traceback__)
            handler.handle(logging.LogRecord(name, logging.ERROR, "", 0, SECRET, (), fault))
    assert figures(auditor, OF_SERVER) == ([2, 0], True)
    found = lines(auditor)
    assert found[OF_SERVER][0] == "ValueError"
    assert len(found) == len(without)
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
    assert figures(auditor, OF_SERVER) == ([3, 3, 2], True)
    assert found[VERSION] == ("sfumato", version("sfumato"), False)
    migrations = {path.stem for path in Path(models.__file__).parent.glob("migrations/0*.py")}
    assert found[STORE][1:] == (max(migrations), False)
    size = watch._size()
    assert size > 100_000
    assert not found[DISK][2]
    # One byte less than a copy of the database and the largest upload need.
    free = size + MOST_BYTES - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free, total=4 * free))
    told = f"{filesizeformat(free)} free of {filesizeformat(4 * free)}".replace("\xa0", " ")
    assert lines(auditor)[DISK][1:] == (told, True)


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

    number_of_lines = len(lines(auditor))
    AuditEntry.objects.filter(number=AuditEntry.objects.count()).delete()
    proofs.proofs().follow()
    assert len(lines(auditor)) == number_of_lines
