"""Watch a process and its children from outside: CPU time, and peak memory of each kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
EVERY = 0.1
"""Seconds between two looks."""
READY = "READY"
"""What a watched process prints before the work that is measured; after it one line of JSON."""


@dataclass(frozen=True)
class Watched:
    """What the work of a process took.

    Attributes
    ----------
    wall, cpu
        Seconds by the clock, and of the processors in the process and all below it.
    peak
        Most resident bytes of all processes of a kind together: ``driver`` (its Python),
        ``driver JVM``, ``executor JVMs``, ``Python workers`` and the largest ``Python worker``.
    told
        What the process told at its end.
    """

    wall: float
    cpu: float
    peak: Mapping[str, int]
    told: Mapping[str, Any]


@dataclass
class _Looks:
    process: int
    cpu: float = 0.0
    peak: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def look(self) -> None:
        """Add up what the processes have used so far; what has ended is in its parent's sum."""
        cpu = 0.0
        held: defaultdict[str, int] = defaultdict(int)
        for process, name in _family(self.process):
            try:
                numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            cpu += sum(map(int, numbers[11:15])) / TICKS
            resident = int(numbers[21]) * PAGE
            kind = "driver" if process == self.process else name
            held[kind] += resident
            if kind == "Python workers":
                held["Python worker"] = max(held["Python worker"], resident)
        self.cpu = max(self.cpu, cpu)
        for kind, size in held.items():
            self.peak[kind] = max(self.peak[kind], size)

    def until(self, ended: Event) -> None:
        """Look again and again."""
        while not ended.wait(EVERY):
            self.look()


def watch(command: Sequence[str | Path]) -> Watched:
    """Run a command to its end and measure what it does after it has said that it is ready.

    Raises
    ------
    RuntimeError
        If the command fails.
    """
    with subprocess.Popen(  # noqa: S603
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        text=True,
    ) as process:
        if process.stdout is None:
            raise RuntimeError("no output")
        said = _lines(process.stdout)
        if next(said, "") != READY:
            raise RuntimeError(f"{command[1]} did not start")
        looks, ended = _Looks(process.pid), Event()
        looks.look()
        before, start = looks.cpu, time.perf_counter()
        watching = Thread(target=looks.until, args=(ended,))
        watching.start()
        told = next(said, "")
        wall = time.perf_counter() - start
        looks.look()
        ended.set()
        watching.join()
    if process.returncode or not told:
        raise RuntimeError(f"{command[1]} failed")
    return Watched(wall, looks.cpu - before, dict(looks.peak), json.loads(told))


def _lines(text: Iterator[str]) -> Iterator[str]:
    return (line.rstrip("\n") for line in text if line.startswith((READY, "{")))


def _family(root: int) -> Iterator[tuple[int, str]]:
    """A process and all below it, with their kinds."""
    below = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = folder.joinpath("stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        below[int(parent)].append(int(folder.name))
    waiting = [root]
    while waiting:
        process = waiting.pop()
        waiting += below[process]
        yield process, _kind(process)


def _kind(process: int) -> str:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return "other"
    if b"CoarseGrainedExecutorBackend" in command:
        return "executor JVMs"
    if b"pyspark.daemon" in command or b"pyspark.worker" in command:
        return "Python workers"
    return "driver JVM" if b"SparkSubmit" in command else "other"
