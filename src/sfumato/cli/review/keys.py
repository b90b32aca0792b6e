"""The keys of a terminal, one by one, without echo."""

from __future__ import annotations

import os
import re
import select
import termios
import tty
from collections import deque
from types import TracebackType
from typing import Self

NAMES = {
    "\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down",
    "\x1b[C": "right", "\x1bOC": "right", "\x1b[D": "left", "\x1bOD": "left",
    "\x1b[Z": "backtab", "\t": "tab", "\r": "enter", "\n": "enter", "\x1b": "escape",
    "\x03": "q", "\x04": "q",
}  # fmt: skip
"""What keys are called that send something else than their character; Ctrl-C leaves like q."""
END = "end"
"""In place of a key, when the terminal is gone."""
_ONE = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|.", re.DOTALL)
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
_WAIT = 0.05
"""Seconds after an escape in which the rest of its sequence comes."""


class Keys:
    """The keys of a terminal; pasted text is no key.

    Parameters
    ----------
    file
        The number of the terminal's file.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self._waiting: deque[str] = deque()
        self._pasting = False
        self._before = termios.tcgetattr(file)

    def __enter__(self) -> Self:
        """Take each key at once, Ctrl-C and Ctrl-Z too."""
        tty.setcbreak(self._file, termios.TCSAFLUSH)
        mode = termios.tcgetattr(self._file)
        mode[3] &= ~termios.ISIG
        termios.tcsetattr(self._file, termios.TCSANOW, mode)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the terminal back as it was."""
        try:
            termios.tcsetattr(self._file, termios.TCSAFLUSH, self._before)
        except termios.error:
            return

    def read(self, seconds: float) -> str | None:
        """The next key, by its name or character; ``None`` where none comes in time.

        Parameters
        ----------
        seconds
            How long to wait.
        """
        if not self._waiting:
            self._fill(seconds)
        return self._waiting.popleft() if self._waiting else None

    def _fill(self, seconds: float) -> None:
        data = self._bytes(seconds)
        if data is None:
            return
        if data.endswith(b"\x1b"):
            data += self._bytes(_WAIT) or b""
        if not data:
            self._waiting.append(END)
            return
        for one in _ONE.findall(data.decode("ascii", errors="ignore")):
            if one in {_PASTE, _PASTED}:
                self._pasting = one == _PASTE
            elif not self._pasting:
                self._waiting.append(NAMES.get(one, one))

    def _bytes(self, seconds: float) -> bytes | None:
        """What has come; nothing where the terminal is gone, ``None`` where nothing came."""
        ready, _, _ = select.select([self._file], [], [], seconds)
        if not ready:
            return None
        try:
            return os.read(self._file, 1024)
        except OSError:
            return b""
