"""How long tests wait for what comes by itself, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 600.0
"""Seconds after which it does not come; a test that passes never waits so long."""


def wait_until(holds: Callable[[], object], what: str = "what was waited for") -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.01)
