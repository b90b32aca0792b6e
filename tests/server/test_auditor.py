"""The viewer of the audit log."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from server.people import actions, logged_in, person, quick_hashes

__all__ = ["quick_hashes"]


def _entries(count: int = 230) -> Any:
    from sfumato.server.audit_log import append

    carol = person("carol", "custodian")
    for number in range(count):
        append(
            carol if number % 2 else None, f"act {number % 3}", f"thing {number:03}", {"n": number}
        )
    person("olga", "auditor")
    return carol


def _page(**query: str) -> str:
    answer = logged_in("olga").get("/audit", query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_the_newest_entries_come_first_and_pages_follow() -> None:
    _entries()
    first, third = _page(), _page(page="3")
    assert first.index("thing 229") < first.index("thing 228")
    assert "thing 100" not in first
    assert "thing 000" in third
    assert "page 3 of 3" in third
    assert "Newer" in third
    assert "Older" not in third


@pytest.mark.parametrize("page", ["0", "99", "x", "-1"])
def test_a_page_that_is_none_is_the_nearest(page: str) -> None:
    _entries(3)
    assert "thing 002" in _page(page=page)


def test_entries_are_looked_for_by_who_and_what() -> None:
    carol = _entries(30)
    text = _page(actor=carol.pseudonym, action="act 1")
    shown = [number for number in range(30) if f"thing {number:03}" in text]
    assert shown == [number for number in range(30) if number % 2 and number % 3 == 1]
    by_server = _page(actor="server")
    assert "thing 002" in by_server
    assert "thing 001" not in by_server


def test_entries_are_looked_for_by_day() -> None:
    from sfumato.server.store.models import AuditEntry

    _entries(3)
    days = ("2026-01-01T23:59:59.999999+00:00", "2026-01-02T00:00:00", "2026-01-03T00:00:00")
    client = logged_in("olga")
    for number, day in enumerate(days, start=2):  # after that of the account
        AuditEntry.objects.filter(number=number).update(time=day)
    asked = {"since": "2026-01-02", "until": "2026-01-02"}
    text = client.get("/audit", asked).content.decode()
    assert [f"thing {number:03}" in text for number in range(3)] == [False, True, False]
    assert "valid date" in client.get("/audit", {"since": "no day"}).content.decode()


def test_entries_are_looked_for_by_project_and_show_its_title() -> None:
    from server.clinic import stored

    project, _ = stored()
    person("olga", "auditor")
    text = _page(project=str(project.pk))
    assert f"Clinics ({str(project.pk)[:8]})" in text
    assert "log in" not in text.partition("<tbody>")[2]


def test_what_an_entry_holds_is_shown_as_text() -> None:
    from sfumato.server.audit_log import append

    person("olga", "auditor")
    append(None, "act", "<script>alert(1)</script>", {"<b>": "<i>"})
    text = _page()
    assert "<script>alert" not in text
    assert "&lt;i&gt;" in text


def test_the_log_is_checked_on_a_page() -> None:
    from sfumato.server.audit_log import head
    from sfumato.server.store.models import AuditEntry

    _entries(5)
    client = logged_in("olga")
    kept = str(head())
    assert b"The log is whole: 8 entries" in client.post("/audit/check").content
    page = client.post("/audit/check", {"against": kept}).content.decode()
    assert "The log is whole" in page
    assert kept in page
    assert b"This is no head" in client.post("/audit/check", {"against": "x"}).content
    AuditEntry.objects.filter(number=3).update(resource="other")
    page = client.post("/audit/check").content.decode()
    assert re.search("not whole: entry 3", page)


def test_a_download_has_all_that_is_looked_for_and_is_noted_itself() -> None:
    from sfumato.core.chain import START, digest_of

    _entries(10)
    client = logged_in("olga")
    answer = client.post("/audit/download", {"action": "act 1"})
    assert answer["Content-Disposition"] == 'attachment; filename="audit.jsonl"'
    lines = [json.loads(line) for line in answer.getvalue().splitlines()]
    assert [line["resource"] for line in lines] == ["thing 001", "thing 004", "thing 007"]
    everything = [
        json.loads(line) for line in client.post("/audit/download").getvalue().splitlines()
    ]
    previous = START
    for line in everything:
        assert line["previous"] == previous
        fields = ("number", "time", "actor", "action", "resource", "detail", "previous")
        previous = digest_of(*(line[field] for field in fields))
        assert line["digest"] == previous
    assert everything[-1]["action"] == "download audit log"
    assert actions().count("download audit log") == 2
