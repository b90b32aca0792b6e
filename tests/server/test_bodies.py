"""How long a request may be: nobody but who may upload tables has the server hold much."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection
from typing import Any

import pytest
from server.servers import Server, running

LARGE, MOST_KEPT = 200 << 20, 24 << 20
"""Bytes of a body; bytes by which a server may grow that is sent several."""
PATHS = ("/login", "/projects/new", "/", "/health", "/none", "/logout")
PASSWORD, TOKEN = "what all of them type in", "c" * 32


@pytest.fixture(scope="module")
def own(tmp_path_factory: Any) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("bodies") / "server") as it:
        yield it


@pytest.fixture(scope="module")
def cookies(own: Server) -> dict[str, str]:
    """By role, what a browser of somebody sends; of nobody too."""
    roles = ("custodian", "manager", "worker")
    accounts = [{"name": role, "roles": [role], "password": PASSWORD} for role in roles]
    sessions = own.make({"accounts": accounts})["sessions"]
    sessions |= {"nobody": "", "made up": "x" * 32}
    return {who: f"csrftoken={TOKEN}; sessionid={key}" for who, key in sessions.items()}


def head(path: str, cookie: str, *more: str) -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Cookie: {cookie}", *more)
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def status(own: Server, request: bytes) -> int:
    """What is answered to a request whose body does not come."""
    with socket.create_connection(("127.0.0.1", own.port), timeout=20) as line:
        line.sendall(request)
        line.settimeout(2)
        try:
            return int(line.recv(100).split()[1])
        except TimeoutError:
            return 100  # it waits for the body


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("who", ["nobody", "made up", "worker", "custodian"])
def test_a_large_body_is_refused_before_it_comes(
    own: Server, cookies: dict[str, str], who: str, path: str
) -> None:
    assert status(own, head(path, cookies[who], f"Content-Length: {LARGE}")) == 413


def test_the_manager_alone_may_send_much_and_only_to_one_page(
    own: Server, cookies: dict[str, str]
) -> None:
    def answer(who: str, path: str, size: int) -> int:
        return status(own, head(path, cookies[who], f"Content-Length: {size}"))

    assert answer("manager", "/projects/new", LARGE) == 100
    assert answer("manager", "/projects/new", 300 << 20) == 413
    assert answer("manager", "/projects/new/settings", LARGE) == 413
    assert answer("manager", "/login", LARGE) == 413
    assert answer("worker", "/projects", 900_000) == 100
    assert answer("worker", "/projects", 1 << 20) == 413
    assert answer("nobody", "/login", 60_000) == 100
    assert answer("nobody", "/login", 1 << 16) == 413


@pytest.mark.parametrize("how", ["length", "chunks", "continue"])
def test_six_large_bodies_of_strangers_take_no_memory_and_no_disk(
    own: Server, cookies: dict[str, str], how: str
) -> None:
    before, disk = peak(own), size_of_data(own)
    with ThreadPoolExecutor(6) as pool:
        sent = list(pool.map(lambda path: push(own, head(path, *LINES[how]), how), PATHS))
    assert max(sent) < 16 << 20, "what lies in sockets"
    assert peak(own) - before < MOST_KEPT
    assert size_of_data(own) - disk < MOST_KEPT
    assert status(own, head("/login", cookies["nobody"], "Content-Length: 0")) == 403


LINES = {
    "length": ("", f"Content-Length: {LARGE}"),
    "chunks": ("", "Transfer-Encoding: chunked"),
    "continue": ("", f"Content-Length: {LARGE}", "Expect: 100-continue"),
}


def push(own: Server, request: bytes, how: str) -> int:
    """Bytes of a body that could be sent, whatever is answered meanwhile."""
    part, sent = b"x" * (1 << 20), 0
    if how == "chunks":
        part = b"%x\r\n%s\r\n" % (len(part), part)
    with socket.create_connection(("127.0.0.1", own.port), timeout=20) as line:
        with suppress(OSError):
            line.sendall(request)
            while sent < LARGE:
                line.sendall(part)
                sent += len(part)
    return sent


def peak(own: Server) -> int:
    """The most memory that a server has had, in bytes."""
    assert own.process is not None
    with open(f"/proc/{own.process.pid}/status", encoding="utf-8") as file:
        found = re.search(r"VmHWM:\s+(\d+) kB", file.read())
    assert found
    return int(found[1]) << 10


def size_of_data(own: Server) -> int:
    return sum(path.stat().st_size for path in own.data.rglob("*") if path.is_file())


def test_a_large_upload_of_a_manager_comes_through(own: Server, cookies: dict[str, str]) -> None:
    rows = 400
    long = "".join(f"r{n},Ann{n},Lee{n},{'x' * 100_000}\n" for n in range(rows))
    short = "".join(f"s{n},Ann{n},Lee{n},x\n" for n in range(rows))
    names = "id,given,family,text\n"
    pairs = "source_l,id_l,source_r,id_r\n" + "".join(f"a,r{n},b,s{n}\n" for n in range(rows))
    fields = {"kind": "tables", "tables-name_one": "a", "tables-name_two": "b"}
    files = {"tables-one": names + long, "tables-two": names + short, "tables-pairs": pairs}
    body = b"".join(
        f'--edge\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{text}\r\n'.encode()
        for name, text, more in [
            *((name, text, "") for name, text in fields.items()),
            *((name, text, f'; filename="{name}.csv"') for name, text in files.items()),
        ]
    )
    assert len(body) > 38 << 20
    connection = HTTPConnection("127.0.0.1", own.port, timeout=120)
    headers = {
        "Content-Type": "multipart/form-data; boundary=edge",
        "Cookie": cookies["manager"],
        "X-CSRFToken": TOKEN,
    }
    connection.request("POST", "/projects/new", body + b"--edge--\r\n", headers)
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    assert answer.status == 302, content
    assert answer.headers["Location"] == "/projects/new/settings"
