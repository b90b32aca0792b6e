"""Ctrl-C, remembered: libraries swallow a KeyboardInterrupt that meets them in an import."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_pressed = threading.Event()


@contextmanager
def remember_interrupts() -> Iterator[None]:
    """Remember Ctrl-C while the block runs, beside raising KeyboardInterrupt as usual.

    What Python cannot raise, in a callback of a library or another thread, is not printed, nor
    what libraries log of an interrupt: it may hold data.
    """
    _pressed.clear()
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _remember)
    hook, sys.unraisablehook = sys.unraisablehook, _publishable
    of_threads, threading.excepthook = threading.excepthook, _publishable
    try:
        yield
    finally:
        sys.unraisablehook, threading.excepthook = hook, of_threads
        logging.disable(logging.NOTSET)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _publishable(unraisable: sys.UnraisableHookArgs | threading.ExceptHookArgs) -> None:
    """Say the kind of an error that Python could not raise; a Ctrl-C is remembered anyway."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        kind = unraisable.exc_type
        sys.stderr.write(f"Ignored {kind.__module__}.{kind.__qualname__} (message withheld)\n")


def _remember(_number: int, _frame: FrameType | None) -> None:
    _pressed.set()
    logging.disable()
    raise KeyboardInterrupt


def interrupted() -> bool:
    """Whether Ctrl-C was pressed."""
    return _pressed.is_set()


def check_interrupt() -> None:
    """Stop when Ctrl-C was pressed.

    Raises
    ------
    KeyboardInterrupt
        If it was.
    """
    if interrupted():
        raise KeyboardInterrupt
