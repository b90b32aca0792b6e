"""The program on a pseudo-terminal, and small folders to review."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pyarrow as pa
from cli.conftest import command
from patience import PATIENCE

from sfumato.review.review_project import Project, write_project
from sfumato.review.review_settings import Attribute, AttributeKind, NamePart, Settings

ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]")
ATTRIBUTES = (
    Attribute(name="given_name", kind=AttributeKind.VARIABLE, name_part=NamePart.GIVEN),
    Attribute(name="surname", kind=AttributeKind.VARIABLE, name_part=NamePart.FAMILY),
    Attribute(name="number", kind=AttributeKind.FIXED),
)
PLANTED = (
    ("QXZJKVWQQXZJ", "ZZKVJQXWQZKV", "XKXQJVZWZQKJ"),
    ("QXZJKVWQQXZJ", "ZZKVJQXWQZVK", "WVJKQZXXJQWZ"),
    ("VJVQKXWZJXKQ", "KZQWXJVKZZXQ", "ZXQVKJWQVXJK"),
    ("VJVQKXWZJXKJ", "KZQWXJVKZZXQ", "ZXQVKJWQVXJK"),
    ("QXZJKVWQQXZJ", "KZQWXJVKZZXQ", None),
    ("JQWKZVXJQKWV", "VQKJXZWKJQVX", "QJXKVZJWQKXV"),
)
"""Records of twelve characters that no word of the program is made of."""
PAIRS = ((0, 1), (2, 3), (4, 5))


def project_folder(folder: Path, settings: Settings | None = None, gold: bool = False) -> Path:
    """A project of planted records."""
    count = len(PLANTED)
    columns = dict(
        zip(("given_name", "surname", "number"), zip(*PLANTED, strict=True), strict=True)
    )
    records = pa.table(
        {
            "source": pa.array(["a"] * count, pa.large_string()),
            "id": pa.array([str(n) for n in range(count)], pa.large_string()),
            **{name: pa.array(values, pa.large_string()) for name, values in columns.items()},
        }
    )
    left, right = zip(*PAIRS, strict=True)
    pairs = pa.table(
        {
            "pair": pa.array([f"p{n + 1}" for n in range(len(PAIRS))], pa.string()),
            "left": pa.array(left, pa.int64()),
            "right": pa.array(right, pa.int64()),
        }
    )
    truth = {"p1": True, "p3": False} if gold else {}
    project = Project(ATTRIBUTES, settings or Settings(budget=None), records, pairs, gold=truth)
    return write_project(project, folder)


class Terminal:
    """The program on a terminal of 80 by 24, and every byte that it sent there."""

    def __init__(self, *words: str | Path, rows: int = 24, columns: int = 80) -> None:
        self._near, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {
            **os.environ, "TERM": "xterm-256color", "PYTHONUTF8": "1", "LANG": "C.UTF-8",
        }  # fmt: skip
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            environment.pop(name, None)
        self.process = subprocess.Popen(
            command(*words), stdin=far, stdout=far, stderr=far, env=environment,
            start_new_session=True,
        )  # fmt: skip
        self._far = os.ttyname(far)
        os.close(far)
        self.bytes = b""

    @property
    def text(self) -> str:
        """Everything that was sent, without the movements of the cursor."""
        return ESCAPES.sub(b"", self.bytes).decode("utf-8", errors="replace")

    @property
    def place(self) -> int:
        """The place of the pair on the screen."""
        return int(re.findall(r"pair (\d+) of", self.text)[-1])

    def wait(self, words: str, since: int = 0) -> None:
        """Read until some words have come behind so many bytes."""
        end = time.monotonic() + PATIENCE
        while words not in ESCAPES.sub(b"", self.bytes[since:]).decode("utf-8", errors="replace"):
            assert time.monotonic() < end, f"{words!r} did not come: {self.text[-1500:]}"
            assert self._read(0.2) is not False or words in self.text, self.text[-1500:]

    def press(self, keys: str, words: str) -> None:
        """Press keys, and wait for words on the screen; what came before is read first."""
        self.settle()
        since = len(self.bytes)
        os.write(self._near, keys.encode())
        self.wait(words, since)
        self.settle()

    def settle(self) -> None:
        """Read until the program has done what all keys ask for, and waits for the next one."""
        end = time.monotonic() + PATIENCE
        while self._read(0.05) or (self.process.poll() is None and not self._waits()):
            assert time.monotonic() < end, self.text[-1500:]

    def _waits(self) -> bool:
        """Whether it has taken all keys and sleeps; what it writes has been read before."""
        far = os.open(self._far, os.O_RDONLY | os.O_NOCTTY)
        try:
            unread = struct.unpack("i", fcntl.ioctl(far, termios.FIONREAD, bytes(4)))[0]
        finally:
            os.close(far)
        stat = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        return not unread and stat.rpartition(") ")[2].startswith("S")

    def send(self, keys: str) -> None:
        """Press keys and wait for nothing."""
        os.write(self._near, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Make the window larger or smaller."""
        fcntl.ioctl(self._near, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def leave(self) -> int:
        """Press q, and read to the end."""
        self.send("q")
        return self.finish()

    def finish(self) -> int:
        """Read to the end; the exit code."""
        while self._read(PATIENCE):
            pass
        os.close(self._near)
        return self.process.wait(timeout=PATIENCE)

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.finish()

    def _read(self, seconds: float) -> bool | None:
        if not select.select([self._near], [], [], seconds)[0]:
            return None
        try:
            data = os.read(self._near, 65536)
        except OSError:
            return False
        self.bytes += data
        return bool(data)


def grams(values: tuple[str, ...], length: int = 4) -> set[str]:
    """All pieces of some values."""
    return {v[at : at + length] for v in values for at in range(len(v) - length + 1)}
