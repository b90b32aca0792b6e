"""Measure calls in this process, and whole processes from outside."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
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
    """The most that this process holds inside a ``with`` block, and by how much it grows, in bytes.

    The kernel keeps the peak of a process; it is forgotten as a block begins, so that blocks
    cannot lie within each other.
    """

    def __enter__(self) -> Self:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self._base = _peak()
        return self

    def __exit__(self, *_: object) -> None:
        self.most = _peak()
        self.growth = self.most - self._base


def _peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


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
    # 2 and 4: made, but above a limit or not measured.
    if done.returncode not in (0, 2, 4):
        raise RuntimeError(f"{Path(str(command[0])).name} failed: {done.stderr[-400:]}")
    return Run(time.perf_counter() - start, _children() - before)


@dataclass(frozen=True)
class Usage:
    """What a whole process and its children used: seconds, CPU seconds, peak memory in bytes."""

    wall: float
    cpu: float
    peak: int


_BETWEEN = """
import os, sys, time
start = time.perf_counter()
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, used = os.wait4(process, 0)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""A small process between: what starts a command counts as the command's own peak memory."""


def usage(command: Sequence[str | Path]) -> Usage:
    """Run a command to its end; what it prints is thrown away.

    Raises
    ------
    RuntimeError
        If the command fails.
    """
    between = [sys.executable, "-S", "-c", _BETWEEN]
    done = subprocess.run(  # noqa: S603
        [*between, *map(str, command)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{Path(str(command[0])).name} failed: {done.stderr[-400:]}")
    wall, cpu, peak = map(float, done.stdout.split())
    return Usage(wall, cpu, int(peak) * 1024)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def best(command: Sequence[str | Path], repeats: int) -> Run:
    """The run of shortest wall-clock time."""
    return min((run(command) for _ in range(repeats)), key=lambda each: each.wall)


def sfumato(*arguments: str | Path) -> list[str | Path]:
    """The command line of sfumato in this environment."""
    return [Path(sys.executable).with_name("sfumato"), *arguments]
