"""Where releases are remembered: the ledger and its keys, each option declared once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from sfumato.core.declaration import Parameter
from sfumato.core.errors import InputError

_FILE, _KEYS = "SFUMATO_LEDGER", "SFUMATO_LEDGER_KEYS"


def default_ledger() -> Path:
    """The ledger of a user, where nothing else is said: of all projects, so that they compare."""
    # Data and keys lie in different trees, so that a copy of the one does not take the other along.
    return named_ledger() or _of_user("XDG_DATA_HOME", ".local/share") / "sfumato/ledger.sqlite"


def named_ledger() -> Path | None:
    """The ledger that the environment names."""
    given = os.environ.get(_FILE)
    return Path(given) if given else None


def default_ledger_keys() -> Path:
    """Where its keys are, where nothing else is said: under the user's configuration."""
    given = os.environ.get(_KEYS)
    return Path(given) if given else _of_user("XDG_CONFIG_HOME", ".config") / "sfumato/ledger-keys"


def movable(path: Path, folder: Path) -> Path:
    """A path as a file in a folder names it, so that both may move.

    From that file's folder where it lies within it, else from the home where both are in it, else
    as it leads there.
    """
    full, own = path.expanduser().resolve(), folder.resolve()
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111, as a home may be unknown
    # "~" holds where the home has another path, as on another machine.
    if not full.is_relative_to(own) and full.is_relative_to(home):
        return Path("~") / full.relative_to(home)
    return Path(os.path.relpath(full, own))


def _of_user(variable: str, usual: str) -> Path:
    given = os.environ.get(variable)
    try:
        return Path(given) if given else Path.home() / usual
    except RuntimeError:
        raise InputError(
            f"the environment variable {variable}", "must be set where a user has no home"
        ) from None


@dataclass(frozen=True)
class LedgerOptions:
    """The ledger that a release is noted in."""

    ledger: Annotated[
        Path | None,
        Parameter(
            "Note the release in this ledger, made by 'sfumato ledger create': as a draft, or as "
            "a release on request with what was released before in mind.",
            "FILE",
            env=_FILE,
        ),
    ] = None
    keys: Annotated[
        Path | None,
        Parameter(
            "Where the ledger's keys are, outside its folder.",
            "FOLDER",
            env=_KEYS,
            usual="sfumato/ledger-keys under ~/.config",
        ),
    ] = None
