"""Processes that start quickly: forked from one that has the libraries, and nothing else."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

LIBRARIES = (
    *("pyarrow.parquet", "scipy.stats", "sklearn.metrics", "krippendorff", "regex", "psycopg"),
    *("cryptography.hazmat.primitives.ciphers.aead", "waitress.server", "whitenoise", "csp"),
    *("django.core.management", "django.core.handlers.wsgi", "django.forms", "django.test"),
    *("django.db.migrations.executor", "django.db.backends.sqlite3.base", "jinja2", "segno"),
    *("sfumato.review.worker_state", "sfumato.reports.disclosure_report"),
    *("sfumato.review.review_sources"),
    *("sfumato.review.reviewer_agreement", "sfumato.review.review_decisions"),
    *("sfumato.review.hints", "sfumato.review.anonymity_index"),
    *("sfumato.release.anonymize", "sfumato.reports.release_report", "sfumato.cli.app"),
)
"""What takes long to import and knows of no server."""
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(list(LIBRARIES))


@dataclass
class Forked:
    """A process, asked as one of `subprocess` is."""

    process: BaseProcess

    @property
    def pid(self) -> int:
        """Its number."""
        return int(self.process.pid or 0)

    def poll(self) -> int | None:
        """Its exit code, ``None`` while it runs."""
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()

    def wait(self, seconds: float | None = None) -> int:
        """Its exit code, once it has ended."""
        self.process.join(seconds)
        code = self.process.exitcode
        assert code is not None, "the process does not end"
        return code


def start(words: list[str], out: Path, err: Path | None = None) -> Forked:
    """Start a command of sfumato that writes into files.

    Parameters
    ----------
    words
        The command.
    out, err
        The file of its output, and that of its errors where it is another one.
    """
    return Forked(_started(_command, words, out, err or out))


def answer(function: Callable[[Any], Any], given: Any) -> Any:
    """What a function answers in a process of its own.

    Parameters
    ----------
    function
        The function, of a module.
    given
        What it is given.
    """
    here, there = _context.Pipe(duplex=False)
    process = _started(_answer, function, given, there)
    there.close()
    try:
        return here.recv()
    except EOFError:
        raise AssertionError("the process failed; what it said is above") from None
    finally:
        process.join()
        here.close()


def on_small_disk(size: int, *words: str, cwd: Path) -> CompletedProcess[str]:
    """Run a command of sfumato where no file can have more bytes.

    Parameters
    ----------
    size
        The most bytes of a file.
    words
        The command, which says little: what it says is read once it has ended.
    cwd
        Where it runs.
    """
    pipes = [_context.Pipe(duplex=False) for _ in range(2)]
    process = _started(_limited, size, list(words), cwd, *(there for _, there in pipes))
    process.join()
    said = []
    for here, there in pipes:
        there.close()
        with here, open(here.fileno(), "rb", closefd=False) as file:
            said.append(file.read().decode())
    return CompletedProcess(words, process.exitcode or 0, *said)


def _started(function: Callable[..., None], *given: Any) -> BaseProcess:
    """A process that runs a function, and imports nothing of whoever asks for it."""
    process = _context.Process(target=_here, args=(dict(os.environ), function, *given))
    main = sys.modules["__main__"].__dict__
    file = main.pop("__file__", None)  # it would be imported by the process
    try:
        process.start()
    finally:
        if file is not None:
            main["__file__"] = file
    return process


def _here(environment: dict[str, str], function: Callable[..., None], *given: Any) -> None:
    # Else it would have the environment of the test that asked for a process first.
    os.environ.clear()
    os.environ.update(environment)
    function(*given)


def _command(words: list[str], *said: Path) -> None:
    _hash_quickly()
    if "--demo" in words:
        _link_quickly()
    for number, path in enumerate(said, 1):
        with path.open("ab") as file:
            os.dup2(file.fileno(), number)
    sys.argv = ["sfumato", *words]
    from sfumato.cli.app import main

    main()


def _limited(size: int, words: list[str], folder: Path, *said: Connection) -> None:
    os.chdir(folder)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    for number, pipe in enumerate(said, 1):
        os.dup2(pipe.fileno(), number)
    # Those of before take what they write to for a file.
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    sys.argv = ["sfumato", *words]
    from sfumato.cli.app import main

    main()


def _hash_quickly() -> None:
    """Hash passwords with little memory; servers that are not forked hash as they always do."""
    from django.contrib.auth.hashers import Argon2PasswordHasher

    Argon2PasswordHasher.time_cost = Argon2PasswordHasher.parallelism = 1
    Argon2PasswordHasher.memory_cost = 64


def _link_quickly() -> None:
    """Let the linkage of the demo learn from a tenth of the random pairs, as `few_random_pairs`."""
    from sfumato.linkage import model_fit

    model_fit.RANDOM_PAIRS = 100_000


def _answer(function: Callable[[Any], Any], given: Any, there: Connection) -> None:
    _hash_quickly()
    there.send(function(given))
    there.close()
