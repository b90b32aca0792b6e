"""What asks the program to stop, remembered.

Libraries swallow a KeyboardInterrupt that meets them in an import.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDS = [getattr(signal, each) for each in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, each)]
_received: list[int] = []


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
