"""Ctrl-C, remembered: libraries swallow a KeyboardInterrupt that meets them in an import."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_pressed = threading.Event()


@contextmanager
def remember_interrupts() -> Iterator[None]:
    """Remember Ctrl-C while the block runs, beside raising KeyboardInterrupt as usual."""
    _pressed.clear()
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _remember(_number: int, _frame: FrameType | None) -> None:
    _pressed.set()
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
