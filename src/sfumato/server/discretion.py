"""What both servers keep to themselves: headers of every answer, and logs without values."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse

_PERMISSIONS = "camera=(), geolocation=(), microphone=(), clipboard-read=(), clipboard-write=()"
_NOTHING, _OURS = ["'none'"], ["'self'"]


class AnswersMiddleware:
    """Headers that every answer has."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a request."""
        answer = self._get_response(request)
        # Files that never change may be kept, all else may hold values.
        if not request.path.startswith("/static/"):
            answer["Cache-Control"] = "no-store"
        answer["Permissions-Policy"] = _PERMISSIONS
        answer["Cross-Origin-Resource-Policy"] = "same-origin"
        return answer


def header_settings(*, tls: bool) -> dict[str, object]:
    """Django's settings of what answers tell browsers: to load nothing from elsewhere.

    Parameters
    ----------
    tls
        Whether the site is behind TLS, with which browsers are told to stay.
    """
    return {
        "SECURE_CONTENT_TYPE_NOSNIFF": True,
        # With no-referrer browsers send no origin with a form, which would then be refused.
        "SECURE_REFERRER_POLICY": "same-origin",
        "SECURE_CROSS_ORIGIN_OPENER_POLICY": "same-origin",
        "SECURE_HSTS_SECONDS": 31_536_000 if tls else 0,
        # Only a proxy sets it, and it is taken off what comes from elsewhere (`serve`).
        "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https") if tls else None,
        "X_FRAME_OPTIONS": "DENY",
        "CONTENT_SECURITY_POLICY": {
            "DIRECTIVES": {
                "default-src": _NOTHING,
                "script-src": _OURS,
                "style-src": _OURS,
                "img-src": _OURS,
                "font-src": _OURS,
                "connect-src": _OURS,
                "form-action": _OURS,
                "base-uri": _NOTHING,
                "frame-ancestors": _NOTHING,
            }
        },
    }


_LOUD = ("sfumato", "django", "waitress", "csp", "whitenoise", "asyncio")


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


FAULTS: dict[str, tuple[int, datetime]] = {}
"""By kind of error, how often this process logged it, and when last."""


class _Counted(logging.Handler):
    """Counts kinds of errors; of a request that was refused there is none."""

    def emit(self, record: logging.LogRecord) -> None:
        kind = (record.exc_info or (None,))[0]
        if kind is not None and not record.name.startswith(_REFUSED):
            count, _ = FAULTS.get(kind.__qualname__, (0, None))
            FAULTS[kind.__qualname__] = (count + 1, datetime.now(UTC))


def log_without_values() -> None:
    """Write what goes wrong to standard error, without the messages."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_WithoutValues())
    # Below this level libraries tell of single requests; faults, and refused hosts, are at it.
    counted = _Counted(logging.ERROR)
    handler.setLevel(logging.ERROR)
    for name in _LOUD:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler, counted], False
