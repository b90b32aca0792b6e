"""A proxy between a browser and a server that keeps every byte."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from io import BytesIO
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any, cast


@dataclass
class Recording:
    """What went through.

    Attributes
    ----------
    port
        Where the proxy listens.
    sent, received
        Per connection, the bytes to and from the server.
    """

    port: int = 0
    sent: list[bytearray] = field(default_factory=list)
    received: list[bytearray] = field(default_factory=list)

    @property
    def address(self) -> str:
        """What the browser opens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> bytes:
        """Every byte to the server."""
        return b"\n".join(map(bytes, self.sent))

    @property
    def answers(self) -> bytes:
        """Every byte from the server, and the bodies again without chunks."""
        return b"\n".join(
            part for stream in self.received for part in (bytes(stream), *bodies(bytes(stream)))
        )


def bodies(stream: bytes) -> list[bytes]:
    """The bodies of the answers on a connection; none of them may be compressed."""
    found, rest = [], BytesIO(stream)
    while rest.tell() < len(stream):
        answer = HTTPResponse(cast(socket.socket, _Read(rest)))
        try:
            answer.begin()
            assert answer.getheader("Content-Encoding") is None, "nobody could search this"
            found.append(answer.read())
        except HTTPException:
            break
    return found


class _Read:
    """A socket that is only read; the answers on it share one file."""

    def __init__(self, file: BytesIO) -> None:
        self._file = file

    def makefile(self, _mode: str) -> Any:
        return _Shared(self._file)


class _Shared:
    """A file that is not closed with the answer that is read from it."""

    def __init__(self, file: BytesIO) -> None:
        self.read, self.readline, self.readinto = file.read, file.readline, file.readinto

    def close(self) -> None:
        """Leave the file open."""

    def flush(self) -> None:
        """Nothing is written."""


@contextmanager
def recording(port: int) -> Iterator[Recording]:
    """A proxy before the server at a port, that keeps what goes through."""
    kept = Recording()

    class Between(BaseRequestHandler):
        def handle(self) -> None:
            sent, received = bytearray(), bytearray()
            kept.sent.append(sent)
            kept.received.append(received)
            with socket.create_connection(("127.0.0.1", port)) as server:
                back = threading.Thread(target=_pump, args=(server, self.request, received))
                back.start()
                _pump(self.request, server, sent)
                back.join()

    class Proxy(ThreadingTCPServer):
        allow_reuse_address, daemon_threads = True, True

    with Proxy(("127.0.0.1", 0), Between) as proxy:
        kept.port = proxy.server_address[1]
        thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield kept
        finally:
            proxy.shutdown()
            thread.join()


def _pump(source: socket.socket, target: socket.socket, kept: bytearray) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            kept += data
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
