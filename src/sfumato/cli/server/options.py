"""Options that the commands of the web application share."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.server.config import ServerConfig
    from sfumato.server.vault.keys import Keys

NEEDED = ("django", "waitress", "whitenoise", "csp", "argon2", "cryptography", "segno", "pyroaring")
DATA = Path("sfumato-data")

Data = Annotated[
    Path,
    typer.Option(
        "--data",
        metavar="FOLDER",
        envvar="SFUMATO_SERVER_DATA",
        help="Where everything is stored; identifying values in it are encrypted.",
    ),
]
KeyFolder = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FOLDER",
        envvar="SFUMATO_SERVER_KEYS",
        help="Where the keys are, outside the data.  [default: sfumato/keys under ~/.config]",
        show_default=False,
    ),
]
Database = Annotated[
    str,
    typer.Option(
        "--database",
        metavar="URL",
        envvar="SFUMATO_SERVER_DATABASE",
        help="A PostgreSQL database, postgresql://user@host/name.  [default: SQLite in the data]",
        show_default=False,
    ),
]


def check_extra() -> None:
    """Refuse to go on without the packages of the extra.

    Raises
    ------
    InputError
        If one of them is not installed.
    """
    for name in NEEDED:
        if find_spec(name) is None:
            raise InputError(
                "the web application",
                f"needs the package {name}",
                found="no such package",
                advice='install it with: pip install "sfumato[review]"',
            )


def started(config: ServerConfig) -> Keys:
    """Set a server up in this process; a database that does not answer is said.

    Parameters
    ----------
    config
        The set-up.

    Raises
    ------
    InputError
        If the set-up cannot work.
    """
    from django.db import DatabaseError

    from sfumato.server.boot import boot

    try:
        return boot(config)
    except DatabaseError:
        raise InputError(
            "the database",
            "must answer, and let its user make tables",
            found="an error",
            advice="check --database and --data, and that the server of the database runs",
        ) from None


def existing(data: Path, keys: Path | None, database: str) -> ServerConfig:
    """Set this process up for a server that was started before.

    Parameters
    ----------
    data, keys, database
        The options.

    Raises
    ------
    InputError
        If there is none.
    """
    check_extra()
    config_of = importlib.import_module("sfumato.server.config")
    config: ServerConfig = config_of.ServerConfig(data, keys or config_of.default_keys(), database)
    if not database and not (data / config_of.DATABASE_FILE).is_file():
        raise InputError(
            "option --data",
            "must be the folder of a server",
            found="a folder without its database",
            advice="start it once: sfumato serve --data FOLDER",
        )
    if not (config.keys / "signing.key").is_file():
        raise InputError("option --keys", "must be the folder of the server's keys", found="none")
    started(config)
    return config
