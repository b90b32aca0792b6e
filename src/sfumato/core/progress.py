"""How long work tells its caller how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with the name of the stage and the share of it that is done, in [0, 1]."""


def silent(stage: str, share: float) -> None:
    """A progress that tells nobody."""
