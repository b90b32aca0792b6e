"""How a server is set up: folders, database, address."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

from sfumato.core.declaration import Count, Parameter, check_fields
from sfumato.core.errors import InputError

DATABASE_FILE = "sfumato.sqlite3"
_POSTGRESQL = ("postgres", "postgresql")


class Role(StrEnum):
    """What a person may be; one person may be several."""

    CUSTODIAN = "custodian"
    MANAGER = "manager"
    WORKER = "worker"
    AUDITOR = "auditor"


@dataclass(frozen=True)
class ServerConfig:
    """How a server is set up.

    Attributes
    ----------
    data
        Folder of everything that is stored; identifying values in it are encrypted.
    keys
        Folder of the keys, outside `data`; a copy of one without the other tells nothing.
    database
        URL of a PostgreSQL database; ``""`` for SQLite in `data`.
    """

    data: Path
    keys: Path
    database: str = ""
    host: Annotated[str, Parameter("Where it listens.", "ADDRESS")] = "127.0.0.1"
    port: Annotated[int, Parameter("The port it listens at.", "NUMBER", Count(1, 65535))] = 8321
    url: Annotated[
        str,
        Parameter(
            "The address that people open, at a proxy with TLS: https://review.example.org", "URL"
        ),
    ] = ""
    proxy: Annotated[
        str, Parameter("Where the proxy's requests come from.", "ADDRESS", usual="this machine")
    ] = ""
    trusted_header: Annotated[
        str, Parameter("Header in which the proxy names who has logged in; off by default.", "NAME")
    ] = ""
    oidc: Annotated[
        str,
        Parameter("Issuer of the organisation's login, by OpenID Connect; off by default.", "URL"),
    ] = ""
    oidc_client: Annotated[
        str, Parameter("What its provider calls this server; the secret is oidc.secret", "ID")
    ] = ""
    oidc_second_factor: Annotated[
        str, Parameter("What it says (acr) where it asked for a second factor.", "TEXT")
    ] = ""
    second_factor: Annotated[
        str,
        Parameter("Roles that need a second factor to do anything: custodian,manager.", "ROLES"),
    ] = ""
    idle_minutes: Annotated[
        int, Parameter("Log people out who do nothing so long.", "NUMBER", Count(1))
    ] = 20
    session_hours: Annotated[
        int,
        Parameter(
            "Log people out so long after they logged in, whatever they do.", "NUMBER", Count(1)
        ),
    ] = 12
    threads: Annotated[int, Parameter("Requests answered at a time.", "NUMBER", Count(1))] = 8

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def address(self) -> str:
        """The address that people open."""
        return self.url.rstrip("/") or f"http://{self.host}:{self.port}"

    @property
    def roles_with_second_factor(self) -> frozenset[str]:
        """The roles that need a second factor."""
        return frozenset(filter(None, map(str.strip, self.second_factor.split(","))))

    @property
    def behind_tls(self) -> bool:
        """Whether people reach it through TLS."""
        return self.address.startswith("https://")


def default_keys() -> Path:
    """Folder of the keys where none is named."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "sfumato" / "keys"


def oidc_secret(config: ServerConfig) -> str:
    """What proves this server to the organisation's provider; ``""`` where there is nothing."""
    path = config.keys / "oidc.secret"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def check_config(config: ServerConfig) -> None:
    """Refuse a set-up that cannot work, before anything is made."""
    data, keys = config.data.resolve(), config.keys.resolve()
    if keys == data or data in keys.parents:
        raise InputError(
            "option --keys",
            "must be a folder outside the data folder",
            advice="a stolen copy of the data must not hold the key",
        )
    if config.database and urlsplit(config.database).scheme not in _POSTGRESQL:
        raise InputError(
            "option --database", "must be a URL", accepted="postgresql://user@host/name"
        )
    if config.url and urlsplit(config.url).scheme not in ("http", "https"):
        raise InputError("option --url", "must be an address", accepted="https://host/")
    if config.oidc:
        issuer = urlsplit(config.oidc)
        if issuer.scheme != "https" and issuer.hostname not in ("127.0.0.1", "localhost"):
            raise InputError("option --oidc", "must be an address", accepted="https://host/...")
        if not config.oidc_client:
            raise InputError("option --oidc", "needs --oidc-client", found="none")
    unknown = config.roles_with_second_factor - set(Role)
    if unknown:
        raise InputError(
            "option --second-factor",
            "must be roles, with commas between them",
            found=f"{len(unknown)} that {'is' if len(unknown) == 1 else 'are'} none",
            accepted=",".join(Role),
        )
    if config.trusted_header and not config.behind_tls:
        raise InputError(
            "option --trusted-header",
            "needs the address that people open at the proxy",
            found="no --url https://...",
            advice="only what comes through the proxy may name a person",
        )


def database_settings(config: ServerConfig) -> dict[str, object]:
    """The database as Django's settings name it.

    Every transaction on SQLite takes the write lock when it begins, so that two that read before
    they write cannot both go on; a commit is on the disk when it returns.
    """
    if not config.database:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(config.data / DATABASE_FILE),
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                # `checkpoint_beside` checkpoints long before that many pages.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                "PRAGMA secure_delete=ON; PRAGMA wal_autocheckpoint=20000;",
            },
            # A connection stays open: making one takes longer than most requests.
            "CONN_MAX_AGE": None,
        }
    parts = urlsplit(config.database)
    query = dict(item.split("=", 1) for item in parts.query.split("&") if "=" in item)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or "") or query.pop("host", ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": {name: unquote(value) for name, value in query.items()},
        "CONN_MAX_AGE": None,
        # The database may have been started anew since a connection was last used.
        "CONN_HEALTH_CHECKS": True,
    }
