"""Options that the commands of the ledger share, and the ledger that they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sfumato.semantics.ledger.ledger import Ledger

LEDGER = Path("sfumato-ledger") / "ledger.sqlite"

LedgerFile = Annotated[
    Path,
    typer.Option("--ledger", metavar="FILE", envvar="SFUMATO_LEDGER", help="The ledger."),
]
LedgerKeyFolder = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FOLDER",
        envvar="SFUMATO_LEDGER_KEYS",
        help="Where its keys are, outside its folder.  "
        "[default: sfumato/ledger-keys under ~/.config]",
        show_default=False,
    ),
]


def opened(ledger: Path, keys: Path | None, *, make: bool = False) -> Ledger:
    """The ledger that was named.

    Parameters
    ----------
    ledger, keys
        The options.
    make
        Whether to make it where there is none.

    Raises
    ------
    InputError
        If it cannot be opened.
    """
    from sfumato.semantics.ledger.keys import default_ledger_keys
    from sfumato.semantics.ledger.ledger import Ledger

    return Ledger.open(ledger, keys or default_ledger_keys(), make=make)
