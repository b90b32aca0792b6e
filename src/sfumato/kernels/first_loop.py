"""A loop that does nothing, whose first call loads the compiler."""

from __future__ import annotations

from sfumato.kernels.choose import compiled


@compiled
def nothing() -> None:
    """Do nothing."""
