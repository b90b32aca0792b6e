"""Options that say how long is searched."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.core.errors import InputError

SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}

Trials = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        help="Most releases that are tried; 100 without --time-limit. A seed finds the same "
        "again with it.",
        show_default=False,
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Most time of the search: 90s, 2m, 1h. What is found depends on the machine.",
        show_default=False,
    ),
]


def seconds_of(text: str | None) -> float | None:
    """A time in seconds.

    Parameters
    ----------
    text
        A number with ``s``, ``m`` or ``h`` behind it, seconds without.

    Raises
    ------
    InputError
        If it is no such time.
    """
    if text is None:
        return None
    stripped = text.strip().lower()
    unit = stripped[-1:] if stripped[-1:] in SECONDS else "s"
    try:
        found = float(stripped.removesuffix(unit)) * SECONDS[unit]
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise InputError("option --time-limit", "must be a time", accepted="90s, 2m, 1h")
    return found
