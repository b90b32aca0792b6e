"""What the server writes to standard error: that something failed and where, never of what."""

from __future__ import annotations

import logging
import sys
import traceback

_LOUD = ("django", "waitress", "csp", "whitenoise", "asyncio")


_REFUSED = "django.security."
"""How loggers begin that tell of requests which were refused; they go on with why."""


class _WithoutValues(logging.Formatter):
    """Time, level, logger, status, kind of error and its place in the code.

    Messages name addresses, and may hold the token of a link or a value; they are left out. A
    request that is refused as it came, for its host or its size, is no fault of the server's:
    one line, whatever level Django gives it.
    """

    def format(self, record: logging.LogRecord) -> str:
        refused = record.name.startswith(_REFUSED)
        level = logging.getLevelName(logging.WARNING) if refused else record.levelname
        words = [self.formatTime(record), level, record.name]
        status = getattr(record, "status_code", None)
        if status is not None:
            words.append(str(status))
        kind, _, trace = (None if refused else record.exc_info) or (None, None, None)
        if kind is None:
            return " ".join(words)
        frames = [
            f"\n  {frame.filename.rpartition('/')[2]}:{frame.lineno} in {frame.name}"
            for frame in traceback.extract_tb(trace)
        ]
        return " ".join([*words, f"{kind.__module__}.{kind.__qualname__}"]) + "".join(frames)


def log_without_values() -> None:
    """Write what the libraries say to standard error, without their messages."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_WithoutValues())
    handler.setLevel(logging.ERROR)
    for name in _LOUD:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
