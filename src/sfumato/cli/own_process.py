"""What the program asks of its own process: threads, memory, and how it is asked to stop."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX, M_ARENA_MAX = -1, -2, -4, -8
"""What ``mallopt`` of the GNU C library is told; the numbers of its ``malloc.h``."""
STEP = 1 << 26
"""Bytes by which the memory grows at least."""
_ENDS = [getattr(signal, each) for each in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, each)]
_received: list[int] = []
# Libraries swallow a KeyboardInterrupt that meets them in an import, so that it is remembered.


def settle() -> None:
    """Keep threads and libraries from work that no command needs.

    The threads of OpenBLAS spin while they have nothing to do; products of matrices are small here.
    Plugins of pydantic, which would see values, are not looked for. What the user has set in the
    environment stays.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def keep_memory() -> None:
    """Keep memory that is freed for the next array, in a process that works on one file and ends.

    Memory that goes back to the system is cleared page by page when it is asked for again. Where
    the C library is another one than GNU's, or the user has set how it allocates, nothing changes.
    """
    if sys.platform != "linux" or any(name.startswith("MALLOC_") for name in os.environ):
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    # Large arrays come from the heap as well: mapped memory goes back when it is freed.
    mallopt(M_MMAP_MAX, 0)
    mallopt(M_TRIM_THRESHOLD, -1)
    mallopt(M_TOP_PAD, STEP)
    # One arena: each further one would keep memory of its own.
    mallopt(M_ARENA_MAX, 1)


@contextmanager
def remember_interrupts() -> Iterator[None]:
    """Remember Ctrl-C, SIGTERM and SIGHUP while the block runs, and raise KeyboardInterrupt.

    So each cleans up as Ctrl-C does; one that is ignored, as ``nohup`` does, stays ignored. What
    Python cannot raise, in a callback of a library or another thread, is not printed, nor what
    libraries log of an interrupt: it may hold data.
    """
    _received.clear()
    usual = {number: signal.getsignal(number) for number in _ENDS}
    taken = [n for n in _ENDS if usual[n] in {signal.default_int_handler, signal.SIG_DFL}]
    # Only the main thread may handle signals.
    if not taken or threading.current_thread() is not threading.main_thread():
        yield
        return
    for number in taken:
        signal.signal(number, _remember)
    hook, sys.unraisablehook = sys.unraisablehook, _publishable
    of_threads, threading.excepthook = threading.excepthook, _publishable
    try:
        yield
    finally:
        sys.unraisablehook, threading.excepthook = hook, of_threads
        logging.disable(logging.NOTSET)
        for number in taken:
            signal.signal(number, usual[number])


def _publishable(unraisable: sys.UnraisableHookArgs | threading.ExceptHookArgs) -> None:
    """Say the kind of an error that Python could not raise; a Ctrl-C is remembered anyway."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        kind = unraisable.exc_type
        sys.stderr.write(f"Ignored {kind.__module__}.{kind.__qualname__} (message withheld)\n")


def _remember(number: int, _frame: FrameType | None) -> None:
    if _received and number != signal.SIGINT:
        return  # a terminal that closes sends several, which must not stop the cleaning up
    _received.append(number)
    logging.disable()
    raise KeyboardInterrupt


def interrupted() -> int:
    """The exit code of a program that was asked to stop, as shells count; 0 where it was not."""
    return 128 + _received[0] if _received else 0


def check_interrupt() -> None:
    """Stop when the program was asked to.

    Raises
    ------
    KeyboardInterrupt
        If it was.
    """
    if interrupted():
        raise KeyboardInterrupt
