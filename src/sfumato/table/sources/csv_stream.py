"""The bytes of a text file, checked while they pass."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from sfumato.core.errors import InputError
from sfumato.table.sources.files import unreadable

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class CheckedText(io.RawIOBase):
    """A stream of bytes that are UTF-8 without a zero byte; byte-order mark left out.

    Empty lines before the first text are left out, the last line always ends, and ``end``
    follows it.

    Parameters
    ----------
    file
        The file, opened for bytes.
    subject
        How errors call it.
    end
        Bytes to give after the file's own.
    """

    def __init__(self, file: IO[bytes], subject: str, end: bytes = b"") -> None:
        self._file = file
        self._subject = subject
        self._end = end
        self._ended = False
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._passed = 0
        self._lines = 0
        self._started = False
        self._last = b""

    def readable(self) -> bool:
        """True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next ``size`` bytes or fewer; none at the end.

        Raises
        ------
        InputError
            If they are not text in UTF-8, or cannot be unpacked.
        """
        while not self._ended:
            chunk = self._take(size)
            self._ended = size < 0 or len(chunk) < size
            self._check(chunk)
            if not self._started:
                chunk = self._start(chunk)
            self._last = chunk[-1:] or self._last
            if self._ended:
                chunk += self._finish()
            if chunk:
                return self._portion(chunk, size)
        return self._portion(self._rest, size)

    def _portion(self, ready: bytes, size: int) -> bytes:
        """The first ``size`` bytes; the rest is kept for the next read."""
        end = size if size >= 0 else len(ready)
        self._rest = ready[end:]
        return ready[:end]

    def _take(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise InputError(
                self._subject,
                "must be a whole gzip file, as its suffix says",
                found="another format, or a damaged or cut file",
            ) from None

    def _start(self, chunk: bytes) -> bytes:
        """Leave out the byte-order mark and empty lines; the first read is never that short."""
        chunk = chunk.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
        self._started = bool(chunk)
        return chunk

    def _finish(self) -> bytes:
        return self._end if self._last in b"\r\n" else b"\n" + self._end

    def _check(self, chunk: bytes) -> None:
        if not self._passed and chunk.startswith(_UTF16):
            raise self._not_text("UTF-16")
        zero = chunk.find(0)
        if zero >= 0:
            raise self._not_text(f"a zero byte at {self._place(chunk, zero)}")
        waiting = self._decoder.getstate()[0]
        if waiting or not chunk.isascii():
            try:
                self._decoder.decode(chunk, final=self._ended)
            except UnicodeDecodeError as error:
                at = max(error.start - len(waiting), 0)
                raise self._not_text(f"other bytes at {self._place(chunk, at)}") from None
        self._passed += len(chunk)
        self._lines += chunk.count(b"\n")

    def _place(self, chunk: bytes, at: int) -> str:
        line = self._lines + chunk.count(b"\n", 0, at) + 1
        return f"byte {self._passed + at + 1} (line {line} of the file)"

    def _not_text(self, found: str) -> InputError:
        return InputError(
            self._subject,
            "must be text in UTF-8",
            found=found,
            advice="save it as CSV in UTF-8, or give it the suffix of its format",
        )


@contextmanager
def open_text(path: Path, subject: str, end: bytes = b"") -> Iterator[CheckedText]:
    """Open a text file, unpacked when its suffix is `.gz`.

    Parameters
    ----------
    path
        The file.
    subject
        How errors call it.
    end
        Bytes to give after the file's own.

    Yields
    ------
    CheckedText
        Its bytes.

    Raises
    ------
    InputError
        If it cannot be opened.
    """
    try:
        file: IO[bytes] = path.open("rb")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    with file:
        if path.suffix.lower() == ".gz":
            yield CheckedText(cast(IO[bytes], gzip.GzipFile(fileobj=file)), subject, end)
        else:
            yield CheckedText(file, subject, end)
