"""Options about who is in a population register: δ-presence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options.panels import PROMISES
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.release.constraints import Budget, Constraint
    from sfumato.release.manifest import Manifest


def _end(letter: str, least: str) -> Any:
    text = f"Of the register's persons who look like a class, {least} a share {letter} is in DATA."
    return typer.Option(metavar=letter, help=text, rich_help_panel=PROMISES, show_default=False)


PresenceLow = Annotated[float | None, _end("A", "at least")]
PresenceHigh = Annotated[float | None, _end("B", "at most")]


def presence_of(low: float | None, high: float | None) -> tuple[Constraint | Budget, ...]:
    """The constraint that the two options ask for; an end that is left out allows everything.

    Raises
    ------
    InputError
        If an end is out of range, or the low one lies above the high one.
    """
    from sfumato.release.constraints import DeltaPresence

    if low is None and high is None:
        return ()
    try:
        return (DeltaPresence(0.0 if low is None else low, 1.0 if high is None else high),)
    except InputError as error:
        raise InputError(
            "options --presence-low and --presence-high", error.rule, accepted=error.accepted
        ) from None


def check_register(manifest: Manifest, register: Path | None) -> None:
    """Refuse another register than the one that a manifest was made with.

    Raises
    ------
    InputError
        If one is missing, too much, or not the same.
    """
    from sfumato.release.manifest import file_sha256

    if bool(manifest.register_sha256) != (register is not None):
        raise InputError(
            "option --repeat",
            "must count the same population",
            found=f"a manifest {'without' if register else 'with'} a register",
            advice=f"{'leave out' if register else 'give'} --register",
        )
    if register is None or not register.is_file():
        return
    if manifest.register_sha256 != file_sha256(register):
        raise InputError(
            "option --register",
            "must be what the manifest of --repeat was made from",
            found="another content",
            advice="release the file anew",
        )
