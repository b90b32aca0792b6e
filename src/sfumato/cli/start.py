"""The entry point of the program: loads it, is quiet about Ctrl-C meanwhile, and ends it."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys

_INTERRUPTED = 128 + signal.SIGINT
"""What shells say of a process that Ctrl-C ended."""
_GARBAGE = 1_000_000
"""Objects that are made before those nobody refers to are looked for; modules make many."""


def main() -> None:
    """Load the program, run it, and end the process with its exit code.

    Ctrl-C while it loads ends the process at once, for libraries turn a KeyboardInterrupt that
    meets them in an import into other errors; there is nothing to clean up yet.
    """
    gc.set_threshold(_GARBAGE)
    usual = signal.getsignal(signal.SIGINT)
    # Python's own handler alone is replaced: where Ctrl-C is ignored, it stays ignored.
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from sfumato.cli.app import main as run

    signal.signal(signal.SIGINT, usual)
    try:
        run()
    except KeyboardInterrupt:
        _end(_INTERRUPTED)
    except SystemExit as end:
        if isinstance(end.code, int):
            _end(end.code)
        # Other codes, such as a text, Python prints by itself.
        raise


def _end(code: int) -> None:
    """End the process without taking apart what the system takes back as a whole.

    Libraries are told, and what was printed is written. The compiler alone takes 0.2 s apart.
    """
    atexit._run_exitfuncs()  # noqa: SLF001 - there is no public way
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # whoever read it has gone; the interpreter knows what to do
        sys.exit(code)
    os._exit(code)
