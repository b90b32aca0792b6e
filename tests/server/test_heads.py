"""A database that is older than what was kept of it, and what does not come back with it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from server.clinic import stored
from server.people import (
    NEW,
    PASSWORD,
    actions,
    changed,
    log_in,
    logged_in,
    person,
    quick_hashes,
    said,
    visitor,
    who,
    with_second_factor,
)

from sfumato.core.errors import InputError

__all__ = ["quick_hashes"]


@contextmanager
def set_back() -> Iterator[None]:
    """After what is done meanwhile, the database is the copy that was made before it."""
    from django.db import connection

    from sfumato.server import heads, proofs

    connection.ensure_connection()
    with closing(sqlite3.connect(":memory:")) as copy:
        connection.connection.backup(copy)
        yield
        heads.keep()
        copy.backup(connection.connection)
    proofs.forget()


def restored() -> int:
    """What is lost by going on from an older database, which is refused until then."""
    from sfumato.server import heads
    from sfumato.server.audit_log import verify

    kept = heads.kept()
    assert kept is not None
    assert not verify(kept.head).whole
    with pytest.raises(InputError, match="audit restore"):
        heads.check_kept()
    lost = heads.restore()
    heads.check_kept()
    verdict = verify()
    assert verdict.whole
    assert verdict.differences == ()
    assert actions()[-1] in {"restore", "purge project"}
    return lost


def test_a_head_is_kept_and_is_the_servers(server: Any) -> None:
    from sfumato.server import heads
    from sfumato.server.audit_log import head

    person("carol", "custodian")
    assert heads.kept() is None
    heads.keep()
    kept = heads.kept()
    assert kept is not None
    assert kept.head == head()
    heads.check_kept()
    path = server.keys / heads.FILE
    assert path.stat().st_mode & 0o077 == 0
    assert "carol" not in path.read_text()
    path.write_text(path.read_text().replace(str(kept.head), f"1:{'0' * 64}"))
    with pytest.raises(InputError, match="signed"):
        heads.check_kept()


def test_a_key_folder_that_cannot_be_written_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.server import heads

    person("audrey", "auditor")
    monkeypatch.setattr(heads, "_path", lambda: tmp_path / "none" / heads.FILE)
    client = logged_in("audrey")
    assert heads.kept() is None
    assert b"No head is kept" in client.get("/audit/check").content
    assert client.post("/audit/check").status_code == 200


def test_a_post_keeps_the_head_at_once() -> None:
    from sfumato.server import heads
    from sfumato.server.audit_log import head

    person("carol", "custodian")
    client = logged_in("carol")
    client.post("/account/sessions")
    kept = heads.kept()
    assert kept is not None
    assert kept.head == head()


def test_an_older_log_does_not_take_the_place_of_what_was_kept() -> None:
    from sfumato.server import heads

    person("carol", "custodian")
    with set_back():
        person("wanda", "worker")
    before = heads.kept()
    heads.keep()
    assert before is not None
    assert heads.kept() == before
    assert restored() == 1


def _spend(scene: Any) -> None:
    from sfumato.server.store.models import Spent

    for row in Spent.objects.all():
        changed(row, score=0.2)
    said(Spent.objects.create(fingerprint=scene.fingerprint, worker="w00000000", score=0.1))


def _spent(scene: Any) -> list[float]:
    from sfumato.server.store.models import Spent

    found = Spent.objects.filter(fingerprint=scene.fingerprint)
    return sorted(found.values_list("score", flat=True))


def test_what_was_spent_stays_spent() -> None:
    from sfumato.server.store.models import Spent

    people = (person("carol", "custodian"), person("mark", "manager"), person("will", "worker"))
    project, _ = stored(people=people)
    for row in Spent.objects.all():
        _remove(row)
    said(Spent.objects.create(fingerprint=project.fingerprint, worker="wffffffff", score=0.05))
    allowance = project.allowances.get()
    changed(allowance, budget=0.9)
    with set_back():
        _spend(project)
        changed(allowance, budget=0.3)
    assert _spent(project) == [0.05]
    assert restored() == 0
    assert _spent(project) == [0.1, 0.2]
    assert project.allowances.get().budget == 0.3


def test_what_was_spent_is_found_under_whatever_key_it_has() -> None:
    """The database went on by itself, and gave the keys that were kept to others."""
    from sfumato.server.store.models import Spent

    people = (person("carol", "custodian"), person("mark", "manager"), person("will", "worker"))
    project, _ = stored(people=people)
    for row in Spent.objects.all():
        _remove(row)

    def charge(worker: str, score: float) -> Any:
        row = Spent.objects.create(fingerprint=project.fingerprint, worker=worker, score=score)
        said(row)
        return row.pk

    with set_back():
        key = charge("wffffffff", 0.3), charge("weeeeeeee", 0.1)
        charge("wdddddddd", 0.0)
    assert key == (charge("weeeeeeee", 0.2), charge("wffffffff", 0.05))
    assert restored() == 0
    found = Spent.objects.filter(fingerprint=project.fingerprint)
    assert dict(found.values_list("worker", "score")) == {
        "wffffffff": 0.3, "weeeeeeee": 0.2, "wdddddddd": 0.0
    }  # fmt: skip


def test_rights_that_were_taken_away_do_not_come_back() -> None:
    from sfumato.server.accounts.sessions import invite
    from sfumato.server.store.models import Account, Grant, Link, Member

    carol, mark, will = (
        person("carol", "custodian"),
        person("mark", "manager"),
        person("will", "worker"),
    )
    wanda = person("wanda", "worker")
    project, _ = stored(people=(carol, mark, will))
    member = Member.objects.create(project=project, account=wanda)
    said(member)
    grant = Grant.objects.create(project=project, kind="identity export", by=carol, to=mark)
    said(grant)
    taken_back, used = invite(carol, ["manager"]), invite(carol, ["manager"])
    with set_back():
        changed(mark, roles=["worker"])
        changed(will, is_active=False)
        changed(grant, used=project.created)
        changed(project, state="closed", closed=project.created)
        number = Link.objects.order_by("pk").first().pk
        assert (
            logged_in("carol").post(f"/accounts/invitations/{number}/take-back").status_code == 302
        )
        path = used.partition("8321")[2]
        visitor().post(path, {"name": "new one", "new": NEW, "again": NEW})
        _remove(member)
    assert restored() == 1, "the account of the new one"
    assert Account.objects.get(name="mark").roles == ["worker"]
    assert not Account.objects.get(name="will").is_active
    assert Grant.objects.get().used is not None
    project.refresh_from_db()
    assert project.state == "closed"
    assert not Member.objects.filter(account=wanda).exists()
    for link in (taken_back, used):
        assert visitor().get(link.partition("8321")[2]).status_code == 404


def _remove(row: Any) -> None:
    from sfumato.server.audit_log import append
    from sfumato.server.stated_rows import gone

    append(None, "state", "a row", rows=gone([row]))
    row.delete()


def test_an_earlier_password_or_second_factor_does_not_come_back() -> None:
    wanda, will, walter = (person(name, "worker") for name in ("wanda", "will", "walter"))
    with set_back():
        wanda.set_password(NEW)
        changed(wanda, password=wanda.password)
        with_second_factor(will)
    restored()
    for name, status in (("wanda", 200), ("will", 200), ("walter", 302)):
        assert log_in(name, PASSWORD)[1].status_code == status
    assert walter.roles == ["worker"]


def test_a_session_that_ended_does_not_come_back() -> None:
    person("wanda", "worker")
    client = logged_in("wanda")
    cookie = client.cookies["sessionid"].value
    with set_back():
        client.post("/logout")
    restored()
    client.cookies["sessionid"] = cookie
    assert who(client) == ""


def test_a_log_that_is_not_whole_is_not_gone_on_from() -> None:
    from sfumato.server import heads
    from sfumato.server.store.models import AuditEntry

    for name in ("carol", "clara"):
        person(name, "custodian")
    with set_back():
        person("wanda", "worker")
    AuditEntry.objects.filter(number=1).update(actor="somebody")
    kept = heads.kept()
    with pytest.raises(InputError, match="whole"):
        heads.restore()
    assert heads.kept() == kept
    assert "restore" not in actions()


def test_who_follows_the_log_does_not_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from sfumato.server import heads
    from sfumato.server.proofs import proofs

    person("carol", "custodian")
    free: list[bool] = []
    usual = heads.atomic_path

    def slow(path: Path) -> Any:
        with ThreadPoolExecutor(1) as other:
            free.append(other.submit(proofs().lock.acquire, blocking=False).result())
        return usual(path)

    monkeypatch.setattr(heads, "atomic_path", slow)
    heads.keep()
    assert free == [True]


def test_a_project_that_was_purged_is_purged_again() -> None:
    from sfumato.server.custodian.project_grants import purge
    from sfumato.server.store.models import StoredPair

    people = (person("carol", "custodian"), person("mark", "manager"), person("will", "worker"))
    project, _ = stored(people=people)
    with set_back():
        purge(people[0], project.pk)
    assert StoredPair.objects.exists()
    restored()
    project.refresh_from_db()
    assert (project.state, bytes(project.wrapped_key)) == ("purged", b"")
    assert not StoredPair.objects.exists()


def test_what_is_restored_is_said_with_both_heads() -> None:
    from sfumato.server import heads
    from sfumato.server.audit_log import head
    from sfumato.server.store.models import AuditEntry

    person("carol", "custodian")
    with set_back():
        person("wanda", "worker")
    kept, found = heads.kept(), head()
    assert kept is not None
    restored()
    told = json.loads(AuditEntry.objects.filter(action="restore").get().detail)
    assert (told["kept"], told["found"]) == (str(kept.head), str(found))
    with pytest.raises(InputError, match="none older"):
        heads.restore()
