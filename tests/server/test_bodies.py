"""How long a request may be: nobody but who may upload tables has the server hold much."""

from __future__ import annotations

import io
import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from few_cases import fast_first
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


def status(own: Server, request: bytes, patience: float = 20) -> int:
    """What is answered to a request whose body does not come; 0 while it is waited for."""
    with socket.create_connection(("127.0.0.1", own.port), timeout=patience) as line:
        line.sendall(request)
        try:
            return int(line.recv(100).split()[1])
        except TimeoutError:
            return 0


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("who", ["nobody", "made up", "worker", "custodian"])
def test_a_large_body_is_refused_before_it_comes(
    own: Server, cookies: dict[str, str], who: str, path: str
) -> None:
    assert status(own, head(path, cookies[who], f"Content-Length: {LARGE}")) == 413


def test_the_manager_alone_may_send_much_and_only_to_one_page(
    own: Server, cookies: dict[str, str]
) -> None:
    def answer(who: str, path: str, size: int, patience: float = 20) -> int:
        return status(own, head(path, cookies[who], f"Content-Length: {size}"), patience)

    for waited_for in [
        ("manager", "/projects/new", LARGE),
        ("worker", "/projects", 900_000),
        ("nobody", "/login", 60_000),
    ]:
        assert answer(*waited_for, patience=1) == 0
    assert answer("manager", "/projects/new", 300 << 20) == 413
    assert answer("manager", "/projects/new/settings", LARGE) == 413
    assert answer("manager", "/login", LARGE) == 413
    assert answer("worker", "/projects", 1 << 20) == 413
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
    with socket.create_connection(("127.0.0.1", own.port), timeout=20) as line, suppress(OSError):
        line.sendall(request)
        while sent < LARGE:
            line.sendall(part)
            sent += len(part)
    return sent


def peak(own: Server) -> int:
    """The most memory that a server has had, in bytes."""
    assert own.process is not None
    status = Path(f"/proc/{own.process.pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) << 10


def size_of_data(own: Server) -> int:
    return sum(path.stat().st_size for path in own.data.rglob("*") if path.is_file())


BOMB_ROWS, MOST_CHECKED = 5_000_000, 160 << 20
ZSTD = {"use_dictionary": False, "compression": "zstd"}


def _parquet(column: pa.Array, times: int = 1, **how: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({f"c{n}": column for n in range(times)}), stream, **how)
    return stream.getvalue()


def _again(value: str) -> pa.Array:
    """A value that is written once, in every row."""
    places = pa.array([0] * BOMB_ROWS, pa.int8())
    return pa.DictionaryArray.from_arrays(places, [value])


@cache
def _large_pages() -> bytes:
    """800 MiB in 32 columns of one value each."""
    return _parquet(pa.array(["x" * (25 << 20)]), 32, **ZSTD)


BOMBS: dict[str, Callable[[], bytes]] = {
    "one value in all rows": lambda: _parquet(_again("x" * 250)),
    "a long one": lambda: _parquet(_again("x" * (1 << 20)), compression="zstd"),
    "large pages": _large_pages,
    "large pages, said to be small": lambda: _lying(_large_pages()),
    "shared beginnings": lambda: _parquet(
        pa.array(["x" * 10_000] * 1000), 120, column_encoding="DELTA_BYTE_ARRAY", **ZSTD
    ),
    "numbers": lambda: _parquet(pa.nulls(BOMB_ROWS, pa.int64()).fill_null(0), 40),
    "nothing": lambda: _parquet(pa.nulls(BOMB_ROWS), 40),
    "long bytes": lambda: _parquet(pa.array([b"x" * 1000] * 100_000, pa.binary(1000)), 10),
    "lists": lambda: _parquet(pa.array([[0] * 1000] * 100)),
}


def _lying(data: bytes) -> bytes:
    """A file whose summary says of every column that it is one byte once it is unpacked."""
    about = pq.ParquetFile(io.BytesIO(data)).metadata
    pages = len(data) - 8 - about.serialized_size
    said = 2 * about.row_group(0).column(0).total_uncompressed_size
    number = bytes([said >> 7 * n & 127 | 128 for n in range(3)] + [said >> 21])
    lying = data[:pages] + data[pages:].replace(number, b"\x82\x80\x80\x00")
    changed = pq.ParquetFile(io.BytesIO(lying)).metadata.row_group(0)
    assert changed.column(0).total_uncompressed_size == 1
    return lying


@pytest.mark.parametrize("kind", fast_first(1, BOMBS))
def test_a_small_file_that_becomes_large_is_refused(
    own: Server, cookies: dict[str, str], kind: str
) -> None:
    from sfumato.server.manager.uploads import NEEDED

    bomb, other = BOMBS[kind](), _parquet(pa.array(["x"]))
    assert len(bomb) < 1 << 20
    files = [("linkage-files", name, other if "parquet" in name else b"a = 1\n") for name in NEEDED]
    files[0] = (*files[0][:2], bomb)
    before = peak(own)
    code, content, _ = upload(own, cookies["manager"], {"kind": "linkage"}, files)
    assert code == 400
    assert re.search("768 MiB|single values|as sfumato wrote it", content)
    assert peak(own) - before < MOST_CHECKED


def upload(
    own: Server, cookie: str, fields: dict[str, str], files: list[tuple[str, str, bytes]]
) -> tuple[int, str, str]:
    """Send the form, and give the status, the page, and where it leads."""
    head = "--edge\r\nContent-Disposition: form-data; name="
    parts = [f'{head}"{name}"\r\n\r\n{text}\r\n'.encode() for name, text in fields.items()]
    for name, file, data in files:
        parts += [f'{head}"{name}"; filename="{file}"\r\n\r\n'.encode(), data, b"\r\n"]
    kind = "multipart/form-data; boundary=edge"
    headers = {"Content-Type": kind, "Cookie": cookie, "X-CSRFToken": TOKEN}
    connection = HTTPConnection("127.0.0.1", own.port, timeout=120)
    connection.request("POST", "/projects/new", b"".join([*parts, b"--edge--\r\n"]), headers)
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer.status, content, answer.headers["Location"] or ""


@pytest.mark.slow
def test_a_large_upload_of_a_manager_comes_through(own: Server, cookies: dict[str, str]) -> None:
    rows, names = range(400), "id,given,family,text\n"
    tables = {
        "tables-one": names + "".join(f"r{n},Ann{n},Lee{n},{'x' * 100_000}\n" for n in rows),
        "tables-two": names + "".join(f"s{n},Ann{n},Lee{n},x\n" for n in rows),
        "tables-pairs": "source_l,id_l,source_r,id_r\n" + "".join(f"a,r{n},b,s{n}\n" for n in rows),
    }
    fields = {"kind": "tables", "tables-name_one": "a", "tables-name_two": "b"}
    files = [(name, f"{name}.csv", text.encode()) for name, text in tables.items()]
    assert sum(len(data) for *_, data in files) > 38 << 20
    code, content, goal = upload(own, cookies["manager"], fields, files)
    assert (code, goal) == (302, "/projects/new/settings"), content
