"""Measure calls in this process, and whole processes from outside."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

PAGE = resource.getpagesize()


def machine() -> str:
    """Model of the processor, the widest instructions that it has, and memory."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = names[0] if names else platform.processor() or platform.machine()
    memory = os.sysconf("SC_PHYS_PAGES") * PAGE / 2**30
    wide = [name for name in ("avx512f", "avx2", "sse4_2") if any(name in line for line in lines)]
    features = wide[0] if wide else platform.machine()
    return f"{model} ({features}), {len(names) or '?'} processors, {memory:.0f} GiB"


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Shortest wall-clock time of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


class PeakMemory:
    """By how much this process grows inside a ``with`` block, in bytes; read every 2 ms."""

    def __enter__(self) -> Self:
        self._base = self._top = _resident()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.growth = self._top - self._base

    def _watch(self) -> None:
        while not self._ended.wait(0.002):
            self._top = max(self._top, _resident())


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE


@dataclass(frozen=True)
class Run:
    """A whole process: wall-clock and CPU seconds, and whether it ended by itself."""

    wall: float
    cpu: float
    ended: bool = True


def run(command: Sequence[str | Path], timeout: float | None = None) -> Run:
    """Run a command to its end, or until the timeout.

    Raises
    ------
    RuntimeError
        If the command fails.
    """
    before, start = _children(), time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603
            [str(part) for part in command],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Run(time.perf_counter() - start, _children() - before, ended=False)
    if done.returncode:
        raise RuntimeError(f"{Path(str(command[0])).name} failed: {done.stderr[-400:]}")
    return Run(time.perf_counter() - start, _children() - before)


@dataclass(frozen=True)
class Usage:
    """What a whole process and its children used: seconds, CPU seconds, peak memory in bytes."""

    wall: float
    cpu: float
    peak: int


def usage(command: Sequence[str | Path]) -> Usage:
    """Run a command to its end; what it prints is thrown away.

    Raises
    ------
    RuntimeError
        If the command fails.
    """
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603
            [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            last = said.read().decode(errors="replace")[-400:]
            raise RuntimeError(f"{Path(str(command[0])).name} failed: {last}")
    wall = time.perf_counter() - start
    return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def best(command: Sequence[str | Path], repeats: int) -> Run:
    """The run of shortest wall-clock time."""
    return min((run(command) for _ in range(repeats)), key=lambda each: each.wall)


def sfumato(*arguments: str | Path) -> list[str | Path]:
    """The command line of sfumato in this environment."""
    return [Path(sys.executable).with_name("sfumato"), *arguments]
