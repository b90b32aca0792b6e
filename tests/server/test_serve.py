"""`sfumato serve` and its companions as processes: starts, headers, bad requests, ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlencode

import pytest
from few_cases import fast_first
from patience import PATIENCE
from server import forked
from server.forked import Forked

from sfumato.cli.output import ABOVE, BAD_INPUT
from sfumato.core.optional_packages import install_command

_MAIN = "from sfumato.cli.start import main; main()"


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _line(*words: str) -> list[str]:
    return [sys.executable, "-c", _MAIN, *words]


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that has the libraries already."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        code = forked.start(list(words), out, err).wait(PATIENCE)
        return subprocess.CompletedProcess(words, code, out.read_text(), err.read_text())


class Serving:
    """A server in a process of its own; a whole one, or one that has the libraries already."""

    def __init__(self, folder: Path, *words: str, whole: bool = True) -> None:
        self.folder, self.port = folder, _port()
        self.options = ["--data", str(folder / "data"), "--keys", str(folder / "keys")]
        words = ("serve", *self.options, "--port", str(self.port), *words)
        self.out, self.err = folder / "out", folder / "err"
        self.process: subprocess.Popen[bytes] | Forked
        with self.out.open("wb") as out, self.err.open("wb") as err:
            if whole:
                self.process = subprocess.Popen(_line(*words), stdout=out, stderr=err)
        if not whole:
            self.process = forked.start(list(words), self.out, self.err)
        end = time.monotonic() + PATIENCE
        while "Ctrl-C" not in self.out.read_text():
            assert self.process.poll() is None, self.err.read_text()
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError("the server does not start")
            time.sleep(0.05)

    def ask(
        self, method: str, path: str, body: str | bytes = b"", **headers: str
    ) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer, data

    def raw(self, request: bytes) -> bytes:
        """The bytes of the answer to bytes that need be no request at all."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as line:
            line.sendall(request)
            with suppress(OSError):  # it may have hung up already
                line.shutdown(socket.SHUT_WR)
            parts = []
            while part := line.recv(65536):
                parts.append(part)
        return b"".join(parts)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def _serving(folder: Path, *words: str, whole: bool = True) -> Iterator[Serving]:
    server = Serving(folder, *words, whole=whole)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with _serving(tmp_path_factory.mktemp("running")) as server:
        yield server


def _link(server: Serving) -> str:
    found = re.search(r"/link/[\w-]+", server.out.read_text())
    assert found
    return found.group()


def test_the_first_start_prints_the_address_and_a_link(running: Serving) -> None:
    text = running.out.read_text()
    assert f"http://127.0.0.1:{running.port}\n" in text
    answer, page = running.ask("GET", _link(running))
    assert answer.status == 200
    assert b"Set the server up" in page


def test_it_says_that_it_is_well(running: Serving) -> None:
    answer, data = running.ask("GET", "/health")
    assert (answer.status, data) == (200, b'{"ok": true}')


def test_nobody_else_may_read_what_it_stores(running: Serving) -> None:
    for folder in (running.folder / "data", running.folder / "keys"):
        assert folder.stat().st_mode & 0o077 == 0
    for path in (
        *(running.folder / "keys").iterdir(),
        *(running.folder / "data").glob("*.sqlite3*"),
    ):
        assert path.stat().st_mode & 0o077 == 0, path.name


@pytest.mark.parametrize("path", ["/login", "/none", "/health", "/", "/accounts", "/link/x"])
def test_every_answer_has_the_headers(running: Serving, path: str) -> None:
    answer, _ = running.ask("GET", path)
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Server"] is None
    assert answer.headers["X-Powered-By"] is None
    assert answer.headers["Strict-Transport-Security"] is None
    policy = dict(
        part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert set(policy.values()) == {"'none'", "'self'"}


def test_pages_have_no_script_or_style_in_them(running: Serving) -> None:
    for path in ("/login", "/none", _link(running)):
        _, page = running.ask("GET", path)
        assert not re.search(rb"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=|javascript:", page)
        assert not re.search(rb"(?:src|href|action)=\"(?:https?:)?//", page)


def test_the_cookie_is_for_this_site_and_no_script(running: Serving) -> None:
    answer, _ = running.ask("GET", "/login")
    cookies = answer.headers.get_all("Set-Cookie")
    assert len(cookies) == 1
    words = {word.strip().lower() for word in cookies[0].split(";")}
    assert {"httponly", "samesite=strict", "path=/"} <= words
    assert "secure" not in words


def test_files_of_the_pages_are_served(running: Serving) -> None:
    answer, data = running.ask("GET", "/static/sfumato/base.css")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/css")
    assert data


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/none", {}, 404),
        ("GET", "/%00", {}, 404),
        ("GET", "/%ff%fe", {}, 404),
        ("GET", "/login?next=%00&x=%ff", {}, 200),
        ("GET", "/static/../serve.py", {}, 404),
        ("GET", "/static/%2e%2e/%2e%2e/serve.py", {}, 404),
        ("GET", "/login", {"Host": "evil.example"}, 400),
        ("PUT", "/login", {}, 403),
        ("DELETE", "/", {}, 403),
        ("POST", "/login", {"Content_Type": "application/x-www-form-urlencoded"}, 403),
        ("POST", "/logout", {"Content_Type": "multipart/form-data; boundary="}, 403),
        ("GET", "/login", {"Cookie": "sessionid=" + "x" * 3000}, 200),
        ("GET", "/login", {"Cookie": "sessionid=\"';--"}, 200),
        ("GET", "/projects/not-a-uuid/grants", {}, 404),
        ("GET", "/health", {"Accept": "application/json"}, 200),
        ("GET", "/none", {"Accept": "application/json"}, 404),
    ],
    ids=str,
)
def test_bad_requests_are_answered_by_our_pages(
    running: Serving, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer, data = running.ask(method, path, **headers)
    assert answer.status == status
    text = data.decode(errors="replace")
    assert not re.search(r"Traceback|Django|django|waitress|File \"|Exception", text)
    if status >= 400:
        ours = '"ok": false' if headers.get("Accept") else "· sfumato</title>"
        assert ours in text


@pytest.mark.parametrize(
    "request_",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 300_000 + b"\r\n\r\n",
    ],
    ids=lambda request: repr(request[:24]),
)
def test_what_is_no_request_ends_nothing(running: Serving, request_: bytes) -> None:
    try:
        data = running.raw(request_)
    except ConnectionError:
        data = b""
    assert b"Traceback" not in data
    assert b"waitress" not in data.lower()
    assert running.ask("GET", "/health")[0].status == 200


def test_forked_processes_have_the_environment_of_their_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for folder in ("one", "another"):
        monkeypatch.setenv("XDG_CONFIG_HOME", folder)
        assert forked.answer(os.getenv, "XDG_CONFIG_HOME") == folder


@pytest.mark.slow
def test_an_upload_is_in_memory_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long request waits in no temporary file: where none can be made it is answered too."""
    no_files = "import waitress.buffers as b; b.TempfileBasedBuffer = None\n"
    monkeypatch.setattr(sys.modules[__name__], "_MAIN", no_files + _MAIN)
    with _serving(tmp_path) as server:
        cookie = _set_up(server, {"Origin": f"http://127.0.0.1:{server.port}"})
        upload = {"Cookie": cookie, "Content_Type": "text/plain"}
        answer, _ = server.ask("POST", "/projects/new", b"x" * (3 << 20), **upload)
        assert answer.status == 403
        assert server.ask("GET", "/health")[0].status == 200


def test_nothing_of_a_request_is_written_to_the_log(running: Serving) -> None:
    running.ask("GET", "/planted-path?planted=query", Referer="http://planted.example")
    running.ask("POST", "/link/planted-token", b"a=planted")
    running.ask("GET", "/login", Host="planted.example")
    assert "planted" not in running.err.read_text() + running.out.read_text()


@pytest.mark.parametrize(
    ("kind", "body", "host"),
    [("DisallowedHost", b"", "evil.example"), ("TooManyFieldsSent", b"x=&" * 2000, "")],
    ids=["host", "form"],
)
def test_a_request_that_is_refused_is_one_line_of_the_log(
    running: Serving, kind: str, body: bytes, host: str
) -> None:
    cookie = running.ask("GET", "/login")[0].headers["Set-Cookie"].partition(";")[0]
    before = len(running.err.read_text())
    form = {"Content_Type": "application/x-www-form-urlencoded", "Cookie": cookie}
    form |= {"Host": host} if host else {}
    assert running.ask("POST", "/login", body, **form)[0].status == 400
    (line,) = running.err.read_text()[before:].splitlines()
    assert line.endswith(f"WARNING django.security.{kind} 400")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
def test_it_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    with _serving(tmp_path) as server:
        assert server.ask("GET", "/health")[0].status == 200
        assert server.end(number) == 0
        assert server.err.read_text() == "Stopped.\n"
        with pytest.raises(ConnectionError):
            server.ask("GET", "/health")


@pytest.mark.slow
def test_a_second_start_has_a_new_link_and_the_same_keys(tmp_path: Path) -> None:
    with _serving(tmp_path, whole=False) as first:
        one = _link(first)
        first.end()
    keys = {path.name: path.read_bytes() for path in (tmp_path / "keys").glob("*.key")}
    with _serving(tmp_path, whole=False) as second:
        assert _link(second) != one
        assert second.ask("GET", one)[0].status == 404
        assert second.ask("GET", _link(second))[0].status == 200
    assert keys == {path.name: path.read_bytes() for path in (tmp_path / "keys").glob("*.key")}


def test_behind_tls_cookies_are_secure_and_browsers_stay_with_it(tmp_path: Path) -> None:
    with _serving(tmp_path, "--url", "https://review.example", whole=False) as server:
        assert "sfumato serves https://review.example\n" in server.out.read_text()
        through = {
            "Host": "review.example",
            "X_Forwarded_Proto": "https",
            "X_Forwarded_For": "192.0.2.7",
        }
        answer, _ = server.ask("GET", "/login", **through)
        assert answer.headers["Strict-Transport-Security"].startswith("max-age=31536000")
        assert "secure" in answer.headers["Set-Cookie"].lower()
        assert server.ask("GET", "/login", Host="other.example")[0].status == 400


@pytest.mark.parametrize("proxy", fast_first(1, ["127.0.0.1", "192.0.2.1"]))
def test_only_the_proxy_may_name_people(tmp_path: Path, proxy: str) -> None:
    options = ("--url", "https://review.example", "--trusted-header", "X-Remote-User")
    with _serving(tmp_path, *options, "--proxy", proxy, whole=False) as server:
        own = _through(server)
        _set_up(server, own)
        answer, _ = server.ask("GET", "/account", **own, X_Remote_User="first")
        assert answer.status == (200 if proxy == "127.0.0.1" else 302)
        del own["X_Forwarded_For"]
        assert server.ask("GET", "/account", **own, X_Remote_User="first")[0].status == 302


def _through(server: Serving) -> dict[str, str]:
    return {
        "Host": "review.example",
        "X_Forwarded_Proto": "https",
        "X_Forwarded_For": "192.0.2.7",
        "Origin": "https://review.example",
    }


def _set_up(server: Serving, headers: dict[str, str]) -> str:
    """Make the first account as a browser does, token of the form and all; give its session."""
    path = _link(server)
    answer, page = server.ask("GET", path, **headers)
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert token
    word = "a sentence to keep in mind"
    form = {
        "csrfmiddlewaretoken": token.group(1).decode(),
        "name": "first",
        "new": word,
        "again": word,
    }
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    answer, page = server.ask(
        "POST", path, urlencode(form), **headers, Cookie=cookie,
        Content_Type="application/x-www-form-urlencoded",
    )  # fmt: skip
    assert answer.status == 302, page
    cookies = [each.partition(";")[0] for each in answer.headers.get_all("Set-Cookie") or ()]
    (session,) = (each for each in cookies if each.startswith("sessionid="))
    return session


REFUSED = {
    "other machines": (["--host", "0.0.0.0"], "--insecure"),
    "no TLS": (["--url", "http://review.example"], "TLS"),
    "keys in data": (["--keys", "{data}/keys"], "outside"),
    "database": (["--database", "mysql://x"], "postgresql://"),
    "no database there": (["--database", "postgresql://x@127.0.0.1:1/x"], "must answer"),
    "header without proxy": (["--trusted-header", "X-User"], "--url"),
    "host of another": (["--host", "192.0.2.1", "--insecure"], "this machine"),
    "port": (["--port", "70000"], "65535"),
    "demo": (["--demo", "--database", "postgresql://x@y/z"], "--database"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_served_is_said(tmp_path: Path, why: str) -> None:
    options, said = REFUSED[why]
    data = str(tmp_path / "data")
    words = [option.replace("{data}", data) for option in options]
    keys = [] if "--keys" in words else ["--keys", str(tmp_path / "keys")]
    run = _run("serve", "--data", data, *keys, *words)
    assert run.returncode == BAD_INPUT
    assert said in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        options = ["--data", str(tmp_path / "data"), "--keys", str(tmp_path / "keys")]
        run = _run("serve", *options, "--port", port)
    assert run.returncode == BAD_INPUT
    assert f"{port} is in use" in run.stderr


@pytest.mark.parametrize("command", [("serve",), ("audit", "verify"), ("project", "list")])
def test_a_missing_extra_is_said(tmp_path: Path, command: tuple[str, ...]) -> None:
    code = (
        "import sys, importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'waitress' else find(name, *a)\n" + _MAIN
    )
    line = [sys.executable, "-c", code, *command, "--data", str(tmp_path)]
    run = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == BAD_INPUT
    assert install_command("review") in run.stderr


@pytest.mark.slow
def test_the_log_is_checked_from_the_command_line(tmp_path: Path) -> None:
    with _serving(tmp_path, whole=False) as server:
        headers = {"Host": f"127.0.0.1:{server.port}", "Origin": f"http://127.0.0.1:{server.port}"}
        _set_up(server, headers)
        options = server.options
        server.end()
    head = _run("audit", "checkpoint", *options).stdout.strip()
    assert re.fullmatch(r"4:[0-9a-f]{64}", head)
    whole = _run("audit", "verify", *options)
    assert whole.returncode == 0
    assert "whole: 4 entries" in whole.stdout
    assert f"Head: {head}" in whole.stdout
    # That it was found whole is an entry itself.
    assert _run("audit", "checkpoint", *options).stdout.startswith("5:")
    assert _run("audit", "verify", "--against", head, *options).returncode == 0
    assert _run("audit", "verify", "--against", "x", *options).returncode == BAD_INPUT
    with closing(sqlite3.connect(tmp_path / "data" / "sfumato.sqlite3")) as database, database:
        database.execute("DELETE FROM audit_entry WHERE number >= 4")
    # Beside the keys the server has kept it itself.
    for words in ((), ("--against", head)):
        cut = _run("audit", "verify", *words, *options)
        assert cut.returncode == ABOVE
        assert "before entry 4 that was kept" in cut.stderr
    (tmp_path / "keys" / "log.head").unlink()
    assert _run("audit", "verify", *options).returncode == 0
    with closing(sqlite3.connect(tmp_path / "data" / "sfumato.sqlite3")) as database, database:
        database.execute("UPDATE audit_entry SET actor = 'w00000000' WHERE number = 1")
    assert "entry 1 was changed" in _run("audit", "verify", *options).stderr
    assert _run("project", "list", *options).stdout == ""
    purge = _run("project", "purge", "00000000-0000-0000-0000-000000000000", *options)
    assert purge.returncode == BAD_INPUT
    assert "must be a project" in purge.stderr


def test_commands_need_a_server_that_was_started(tmp_path: Path) -> None:
    options = ["--data", str(tmp_path), "--keys", str(tmp_path / "keys")]
    run = _run("audit", "verify", *options)
    assert run.returncode == BAD_INPUT
    assert "sfumato serve" in run.stderr
    assert not (tmp_path / "keys").exists(), "no keys are made by looking"


@pytest.mark.slow
def test_an_older_database_is_noticed_and_restored(tmp_path: Path) -> None:
    path = tmp_path / "data" / "sfumato.sqlite3"
    with _serving(tmp_path, whole=False) as server:
        headers = {"Host": f"127.0.0.1:{server.port}", "Origin": f"http://127.0.0.1:{server.port}"}
        _set_up(server, headers)
        options = server.options
        server.end()
    with closing(sqlite3.connect(path)) as live, closing(sqlite3.connect(":memory:")) as copy:
        live.backup(copy)
        assert _run("account", "reset", "first", *options).returncode == 0
        copy.backup(live)
    refused = _run("serve", *options, "--port", str(server.port))
    assert refused.returncode == BAD_INPUT
    assert "audit restore" in refused.stderr
    assert _run("account", "reset", "first", *options).returncode == BAD_INPUT
    assert _run("audit", "verify", *options).returncode == ABOVE
    assert _run("audit", "restore", *options).returncode == 0
    assert _run("audit", "verify", *options).returncode == 0
    assert _run("audit", "restore", *options).returncode == BAD_INPUT
    with _serving(tmp_path, whole=False) as server:
        assert server.ask("GET", "/login")[0].status == 200


@pytest.mark.slow
def test_an_account_is_reset_at_the_server(tmp_path: Path) -> None:
    with _serving(tmp_path, whole=False) as server:
        headers = {"Host": f"127.0.0.1:{server.port}", "Origin": f"http://127.0.0.1:{server.port}"}
        _set_up(server, headers)
        address = ["--url", f"http://127.0.0.1:{server.port}"]
        made = _run("account", "reset", "first", *address, *server.options)
        assert made.returncode == 0, made.stderr
        [link] = made.stdout.split()
        path = link.removeprefix(address[1])
        answer, _ = server.ask("GET", path, **headers)
        assert answer.status == 200
        off = _run("account", "reset", "first", "--second-factor", *server.options)
        assert (off.returncode, off.stdout) == (0, "")
        unknown = _run("account", "reset", "nobody", *server.options)
        assert unknown.returncode == BAD_INPUT
        assert "nobody" not in unknown.stderr
        options = server.options
        server.end()
    told = _run("audit", "verify", *options).stdout
    assert "whole: 6 entries" in told


@pytest.mark.slow
def test_other_keys_are_not_made_for_a_server_that_has_its_own(tmp_path: Path) -> None:
    with _serving(tmp_path, whole=False) as server:
        server.end()
    run = _run("audit", "verify", "--data", str(tmp_path / "data"), "--keys", str(tmp_path / "no"))
    assert run.returncode == BAD_INPUT
    assert "--keys" in run.stderr
