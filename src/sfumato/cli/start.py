"""The entry point of the program: loads it, and is quiet about Ctrl-C meanwhile."""

from __future__ import annotations

import os
import signal
import sys

_INTERRUPTED = 128 + signal.SIGINT
"""What shells say of a process that Ctrl-C ended."""


def main() -> None:
    """Load the program and run it.

    Ctrl-C while it loads ends the process at once, for libraries turn a KeyboardInterrupt that
    meets them in an import into other errors; there is nothing to clean up yet.
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from sfumato.cli.app import main as run

    signal.signal(signal.SIGINT, usual)
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
