"""Where releases are remembered: the ledger and its keys, each option declared once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from sfumato.core.declaration import Parameter


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
