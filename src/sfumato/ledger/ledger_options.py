"""Where releases are remembered: the ledger and its keys, each option declared once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from sfumato.core.declaration import Parameter


def default_ledger() -> Path:
    """The ledger of a user, where nothing else is said: of all projects, so that they compare."""
    return _of_user("XDG_DATA_HOME", ".local/share") / "sfumato" / "ledger.sqlite"


def default_ledger_keys() -> Path:
    """Where its keys are, where nothing else is said: under the user's configuration."""
    return _of_user("XDG_CONFIG_HOME", ".config") / "sfumato" / "ledger-keys"


def _of_user(variable: str, usual: str) -> Path:
    given = os.environ.get(variable)
    return Path(given) if given else Path.home() / usual


@dataclass(frozen=True)
class LedgerOptions:
    """The ledger that a release is noted in."""

    ledger: Annotated[
        Path | None,
        Parameter(
            "Note the release in this ledger, made by 'sfumato ledger create': as a draft, or as "
            "a release on request with what was released before in mind.",
            "FILE",
            env="SFUMATO_LEDGER",
        ),
    ] = None
    keys: Annotated[
        Path | None,
        Parameter(
            "Where the ledger's keys are, outside its folder.",
            "FOLDER",
            env="SFUMATO_LEDGER_KEYS",
            usual="sfumato/ledger-keys under ~/.config",
        ),
    ] = None
