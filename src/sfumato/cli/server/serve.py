"""``sfumato serve``: the web application for clerical review."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import progress_bar, say
from sfumato.cli.server.options import DATA, Data, Database, KeyFolder, check_extra, started
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.server.config import ServerConfig

PORT = 8321


def serve(
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where it listens.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, max=65535, help="The port it listens at.")
    ] = PORT,
    url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="The address that people open, at a proxy with TLS: https://review.example.org",
            show_default=False,
        ),
    ] = "",
    proxy: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Where the proxy's requests come from.  [default: this machine]",
            show_default=False,
        ),
    ] = "",
    trusted_header: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Header in which the proxy names who has logged in; off by default.",
            show_default=False,
        ),
    ] = "",
    idle_minutes: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="Log people out who do nothing so long.")
    ] = 20,
    session_hours: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            min=1,
            help="Log people out so long after they logged in, whatever they do.",
        ),
    ] = 12,
    threads: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="Requests answered at a time.")
    ] = 8,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Listen to other machines without TLS: anybody can read."),
    ] = False,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Serve a made-up project, to look around in."),
    ] = False,
) -> None:
    """Serve the web application for clerical review.

    The first start prints a link that makes the first account. With --demo, a project of
    generated patients is there, with an account for every role; it is gone when the server
    stops, unless --data names a folder for it.
    """
    check_extra()
    from sfumato.server.config import ServerConfig, default_keys

    config = ServerConfig(
        data, keys or default_keys(), database, host, port, url, proxy, trusted_header,
        idle_minutes, session_hours, threads,
    )  # fmt: skip
    _check_tls(config, insecure)
    if demo:
        with _demo_config(config, named=data != DATA, keys=keys) as own:
            _serve_demo(own)
    else:
        _serve(config)


def _serve(config: ServerConfig) -> None:
    started(config)
    from sfumato.server.serve import serve as run
    from sfumato.server.serve import setup_link

    def ready() -> None:
        typer.echo(f"sfumato serves {config.address}")
        link = setup_link(config)
        if link:
            typer.echo(f"Make the first account, within two days:\n  {link}")
        typer.echo(f"Data: {config.data}   Keys: {config.keys}   Stop with Ctrl-C.")

    run(config, ready)
    say("Stopped.")


def _serve_demo(config: ServerConfig) -> None:
    from sfumato.core.optional_packages import needed

    needed("splink")
    started(config)
    from sfumato.server.demo import TITLE, make_demo
    from sfumato.server.serve import serve as run
    from sfumato.server.store.models import Account, Project

    passwords: dict[str, str] = {}
    if Account.objects.exists():
        if not Project.objects.filter(title=TITLE).exists():
            raise InputError("option --demo", "needs a folder of its own", found="another server's")
    else:
        say("Making two clinics and linking their patients; this takes a few seconds.")
        with progress_bar() as progress:
            passwords = make_demo(progress)

    def ready() -> None:
        typer.echo(f"sfumato serves a demonstration at {config.address}\n")
        if passwords:
            width = max(map(len, passwords))
            typer.echo("Log in as one of these; a worker decides pairs:")
            for name, password in passwords.items():
                typer.echo(f"  {name:<{width}}  {password}")
        else:
            typer.echo("Log in with the passwords of the first start.")
        typer.echo("\nAll persons are made up. Stop with Ctrl-C.")

    run(config, ready)
    say("Stopped.")


@contextmanager
def _demo_config(config: ServerConfig, *, named: bool, keys: Path | None) -> Iterator[ServerConfig]:
    """The set-up of a demonstration: in a folder that was named, or in one that is removed."""
    if config.database:
        raise InputError("option --demo", "goes without --database")
    if named:
        data = config.data
        yield replace(config, keys=keys or data.with_name(f"{data.name}-keys"))
        return
    with tempfile.TemporaryDirectory(prefix="sfumato-demo-") as name:
        yield replace(config, data=Path(name) / "data", keys=keys or Path(name) / "keys")


def _check_tls(config: ServerConfig, insecure: bool) -> None:
    """Refuse to send passwords and names over a network in the clear."""
    if insecure or config.behind_tls or (_is_own(config.host) and not config.url):
        return
    raise InputError(
        "option --host" if not config.url else "option --url",
        "must keep to this machine, or be reached through TLS",
        advice="put a proxy with TLS before it and give --url https://..., or, if nobody "
        "untrusted can listen, --insecure",
    )


def _is_own(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
