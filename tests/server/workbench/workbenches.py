"""Workbenches as processes of their own, and a browser that has entered one."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from patience import PATIENCE
from server import forked

LINK = re.compile(rb"(http://([a-z]{16})\.localhost:(\d+))/enter#(\S+)")


@dataclass
class Workbench:
    """A `sfumato open --no-browser` in a process of its own.

    Attributes
    ----------
    origin, token
        What a browser opens, and what it brings.
    said
        The file with all that the process wrote.
    """

    process: forked.Forked
    said: Path
    origin: str
    token: str

    @property
    def host(self) -> str:
        """The host that requests must name."""
        return urlsplit(self.origin).netloc

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.host.partition(":")[2])

    @property
    def link(self) -> str:
        """What is opened in a browser."""
        return f"{self.origin}/enter#{self.token}"

    def ask(
        self, path: str, method: str = "GET", body: str = "", **headers: str | None
    ) -> tuple[int, dict[str, str], bytes]:
        """Ask it as a program would: a browser's headers, but for those that are given.

        ``None`` leaves a header out; underscores stand for hyphens.
        """
        usual = {
            "Host": self.host, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document", "Content-Type": "application/x-www-form-urlencoded",
            **({"Origin": self.origin} if method == "POST" else {}),
        }  # fmt: skip
        given = {name.replace("_", "-").title(): value for name, value in headers.items()}
        sent = {n: v for n, v in {**usual, **given}.items() if v is not None}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {**sent, "Content-Length": str(len(body))}.items():
                connection.putheader(name, value)
            connection.endheaders(body.encode())
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def enter(self) -> str:
        """Bring the token, and give the cookie."""
        status, headers, _ = self.ask("/enter", "POST", f"token={self.token}")
        assert status == 303
        return headers["Set-Cookie"].partition(";")[0]


@contextmanager
def workbench(folder: Path, files: Sequence[Path] = ()) -> Iterator[Workbench]:
    """A workbench that runs, and is killed at the end."""
    said = folder / f"said-{time.time_ns()}"
    said.touch()
    process = forked.start(["open", "--no-browser", *map(str, files)], said)
    try:
        end = time.monotonic() + PATIENCE
        while (found := LINK.search(said.read_bytes())) is None:
            assert process.poll() is None, said.read_text()
            assert time.monotonic() < end
            time.sleep(0.02)
        yield Workbench(process, said, found[1].decode(), found[4].decode())
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)


def entered(context: Any, bench: Workbench) -> Any:
    """A page of a browser's context that has brought the token."""
    page = context.new_page()
    page.goto(bench.link)
    page.wait_for_url("**/data")
    return page


@contextmanager
def foreign_page(bench: Workbench) -> Iterator[tuple[int, list[str]]]:
    """A neighbour's page at a port of this machine, and the cookies that it is sent.

    It shows the workbench in a frame and an image, and has a form `f` that posts to it.
    """
    sent: list[str] = []

    class Neighbour(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            page = f"""<form id=f method=post action="{bench.origin}/undo"></form>
                <iframe src="{bench.origin}/data"></iframe><img src="{bench.origin}/data">"""
            self.wfile.write(page.encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Neighbour) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, sent
        server.shutdown()
