"""``sfumato serve``, ``account``, ``audit``, ``project``: the web application of review."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from sfumato.cli.declared_options import Given, values_of, with_declared
from sfumato.cli.output import progress_bar, say, show_verdict
from sfumato.cli.parameters import option
from sfumato.core.atomic import atomic_path, check_target
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import check_installed, needed
from sfumato.server.config import DATABASE_FILE, ServerConfig, default_keys

if TYPE_CHECKING:
    from sfumato.server.vault import Keys

NEEDED = (
    *("django", "waitress", "whitenoise", "csp", "argon2", "cryptography", "segno", "pyroaring"),
    *("authlib", "requests"),
)
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
    option(
        "--keys",
        metavar="FOLDER",
        envvar="SFUMATO_SERVER_KEYS",
        help="Where the keys are, outside the data.  [default: sfumato/keys under ~/.config]",
    ),
]
Database = Annotated[
    str,
    option(
        "--database",
        metavar="URL",
        envvar="SFUMATO_SERVER_DATABASE",
        help="A PostgreSQL database, postgresql://user@host/name.  [default: SQLite in the data]",
    ),
]

accounts = typer.Typer(no_args_is_help=True)
audits = typer.Typer(no_args_is_help=True)
projects = typer.Typer(no_args_is_help=True)


@accounts.callback()
def account() -> None:
    """Reset an account of the web application that no custodian may reset."""


@accounts.command()
def reset(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name that it logs in with.")],
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
    url: Annotated[
        str, option(metavar="URL", help="The address that people open, as 'serve' was given it.")
    ] = "",
    second_factor: Annotated[
        bool, typer.Option("--second-factor", help="Turn a lost second factor off instead.")
    ] = False,
) -> None:
    """Print a link for a new password; the auditor sees that it was made.

    For the last custodian, and for people with projects of their own, that no other resets in the
    browser. The account exports nothing for a day after it.
    """
    existing(data, keys, database, url=url)
    from sfumato.server.accounts.backend import plain_name
    from sfumato.server.accounts.sessions import RESET_DAYS, remove_second_factor, reset_link
    from sfumato.server.error_pages import Stop
    from sfumato.server.heads import keep
    from sfumato.server.proofs import check_stated
    from sfumato.server.store.models import Account

    found = Account.objects.filter(name=plain_name(name), is_active=True).first()
    if found is None:
        raise InputError("argument NAME", "must be the name of an active account")
    try:
        check_stated(found)
        if second_factor:
            remove_second_factor(None, found)
            say("Turned off. All sessions of the account have ended.")
        else:
            address = reset_link(None, found)
            typer.echo(address)
            say(f"It works once, for {RESET_DAYS} days. Hand it to its owner in person.")
        keep()
    except Stop as error:
        raise InputError(
            "the account", "must be as the log states it", found=error.reason
        ) from None


@audits.callback()
def audit() -> None:
    """Check the audit log of the web application."""


@projects.callback()
def project() -> None:
    """List and purge projects of the web application."""


@with_declared(ServerConfig)
def serve(
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Listen to other machines without TLS: anybody can read."),
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve a made-up project, to look around in.")
    ] = False,
    *,
    given: Given,
) -> None:
    """Serve the web application for clerical review.

    The first start prints a link that makes the first account. With --demo, a project of
    generated patients is there, with an account for every role; it is gone when the server
    stops, unless --data names a folder for it.
    """
    check_extra()
    config = ServerConfig(data, keys or default_keys(), database, **values_of(ServerConfig, given))
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
    needed("splink")
    started(config)
    from sfumato.server.demo import TITLE, make_demo
    from sfumato.server.serve import serve as run
    from sfumato.server.store.models import Account, Project

    passwords: dict[str, str] = {}
    # A demonstration that was served from this folder goes on with its accounts.
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
        typer.echo("\nAll people are made up. Stop with Ctrl-C.")

    run(config, ready)
    say("Stopped.")


@contextmanager
def _demo_config(config: ServerConfig, *, named: bool, keys: Path | None) -> Iterator[ServerConfig]:
    """The set-up of a demonstration: in a folder that was named, or in one that is removed."""
    if config.database:
        raise InputError("option --demo", "goes without --database")
    if named:
        data = config.data
        # Beside the data and never in it: a copy of the data must not hold the keys.
        yield replace(config, keys=keys or data.with_name(f"{data.name}-keys"))
        return
    # Nobody named a folder: what was made up goes with the server.
    with tempfile.TemporaryDirectory(prefix="sfumato-demo-") as name:
        yield replace(config, data=Path(name) / "data", keys=keys or Path(name) / "keys")


def _check_tls(config: ServerConfig, insecure: bool) -> None:
    """Refuse to send passwords and names over a network in the clear."""
    if insecure or config.behind_tls or (_is_own(config.host) and not config.url):
        return
    raise InputError(
        "option --host" if not config.url else "option --url",
        "must keep to this machine, or be reached through TLS",
        advice="put a proxy with TLS before it and give --url https://..., or, if no "
        "stranger can listen, --insecure",
    )


def _is_own(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@audits.command()
def verify(
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
    against: Annotated[
        str,
        option(
            metavar="HEAD",
            help="What 'sfumato audit checkpoint' printed earlier: shows whether the log was cut "
            "off or rewritten since.",
        ),
    ] = "",
) -> None:
    """Check that nothing in the audit log was changed, left out or rewritten.

    Exit code 2 if something was.
    """
    existing(data, keys, database, older=True)
    from sfumato.server.audit_log import parse_head, verified
    from sfumato.server.heads import kept

    own = kept()
    verdict = verified(None, parse_head(against) if against else (own.head if own else None))
    show_verdict("audit log", verdict)


@audits.command()
def checkpoint(data: Data = DATA, keys: KeyFolder = None, database: Database = "") -> None:
    """Print the head of the audit log, to be kept outside this machine."""
    existing(data, keys, database)
    from sfumato.server.audit_log import head

    typer.echo(str(head()))


@audits.command()
def restore(data: Data = DATA, keys: KeyFolder = None, database: Database = "") -> None:
    """Go on from a database that is older than what was kept of it beside the keys.

    Budgets, roles, grants and links are brought to where they were; who had another password or
    second factor then needs a link for a new one. The log says that it was restored.
    """
    existing(data, keys, database, older=True)
    from sfumato.server.heads import restore as go_on

    lost = go_on()
    say(f"Restored. Rows made since that are lost: {lost:,}.")


@audits.command()
def rotate(data: Data = DATA, keys: KeyFolder = None, database: Database = "") -> None:
    """Put new keys in the place of the server's; stop it first.

    Everybody logs in again. The keys of before stay beside the new ones, for the log and for
    earlier backups, of which people with a second factor then need a new link. The key by which
    budgets find their people stays.
    """
    existing(data, keys, database, older=True)
    from sfumato.server import heads

    heads.check_kept()
    for name, told in heads.rotate().items():
        typer.echo(f"{name}: {told}")
    heads.keep()
    say("Start the server again, and make a backup of the keys.")


@projects.command(name="list")
def list_projects(data: Data = DATA, keys: KeyFolder = None, database: Database = "") -> None:
    """List all projects: id, state, when it was made, title."""
    existing(data, keys, database)
    from sfumato.server.store.models import Project

    for project in Project.objects.order_by("created"):
        typer.echo(f"{project.id}  {project.state:<6}  {project.created:%Y-%m-%d}  {project.title}")


@projects.command()
def purge(
    project: Annotated[
        UUID, typer.Argument(metavar="ID", help="As 'sfumato project list' prints it.")
    ],
    data: Data = DATA,
    keys: KeyFolder = None,
    database: Database = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for the title.")] = False,
) -> None:
    """Destroy a project's key and remove its records, pairs and decisions, for good.

    The audit log stays, and what each worker was shown of the source stays charged. Restart a
    server that runs: it may have the project in memory.
    """
    existing(data, keys, database)
    from sfumato.server.custodian.project_grants import purge as destroy
    from sfumato.server.error_pages import Stop
    from sfumato.server.heads import keep
    from sfumato.server.store.models import Project

    found = Project.objects.filter(pk=project).first()
    if found is None:
        raise InputError("argument ID", "must be a project", advice="see: sfumato project list")
    # Typed by hand: nothing brings the data back.
    if not yes and typer.prompt(f"Type the title of the project '{found.title}'") != found.title:
        raise InputError("the title", "must be that of the project", found="another")
    try:
        destroy(None, project)
    except Stop as error:
        raise InputError("the project", "must not be purged yet", found=error.reason) from None
    keep()
    say("Purged. Its data cannot be read any more; a backup that holds its key still can.")


def project_id(given: Path) -> UUID | None:
    """The id of a project, where an argument is one and no folder."""
    # A folder may be called like an id, and comes first.
    if given.exists():
        return None
    try:
        return UUID(str(given))
    except ValueError:
        return None


def export_project(
    project: UUID, output: Path, data: Path, keys: Path | None, database: str
) -> None:
    """Write ``decisions.parquet`` of a closed project; it is in the audit log.

    Raises
    ------
    InputError
        If there is no such project, it is not closed, or the file cannot be written.
    """
    check_target(output)
    existing(data, keys, database)
    from sfumato.server.audit_log import append
    from sfumato.server.error_pages import Stop
    from sfumato.server.heads import keep
    from sfumato.server.manager.project_figures import decisions_bytes
    from sfumato.server.proofs import check_project
    from sfumato.server.store.models import Project, ProjectState

    found = Project.objects.filter(pk=project).first()
    if found is None:
        raise InputError("argument ID", "must be a project", advice="see: sfumato project list")
    if found.state != ProjectState.CLOSED:
        raise InputError("the project", "must be closed first", found=f"it is {found.state}")
    try:
        check_project(found)
    except Stop as error:
        raise InputError(
            "the project", "must be as the log states it", found=error.reason
        ) from None
    content = decisions_bytes(found)
    with atomic_path(output) as part:
        part.write_bytes(content)
    # After the file: nothing is in the log as exported that was not.
    append(None, "export decisions", f"project {found.pk}", {"bytes": len(content)})
    keep()
    say(f"Wrote {output}")


def check_extra() -> None:
    """Refuse to go on without the packages of the extra.

    Raises
    ------
    InputError
        If one of them is not installed.
    """
    check_installed("the web application", {each: each for each in NEEDED}, extra="review")


def started(config: ServerConfig, *, older: bool = False) -> Keys:
    """Set a server up in this process; a database that does not answer is said.

    Raises
    ------
    InputError
        If the set-up cannot work.
    """
    from django.db import DatabaseError

    from sfumato.server.boot import boot

    try:
        made = boot(config)
        from sfumato.server.heads import check_current, check_kept

        if not older:
            check_kept()
            check_current()
    except DatabaseError:
        raise InputError(
            "the database",
            "must answer, and let its user make tables",
            found="an error",
            advice="check --database and --data, and that the server of the database runs",
        ) from None
    return made


def existing(
    data: Path, keys: Path | None, database: str, *, url: str = "", older: bool = False
) -> ServerConfig:
    """Set this process up for a server that was started before.

    Parameters
    ----------
    older
        Whether its database may be older than what was kept of it.

    Raises
    ------
    InputError
        If there is none.
    """
    check_extra()
    config = ServerConfig(data, keys or default_keys(), database, url=url)
    if not database and not (data / DATABASE_FILE).is_file():
        raise InputError(
            "option --data",
            "must be the folder of a server",
            found="a folder without its database",
            advice="start it once: sfumato serve --data FOLDER",
        )
    # Keys would be made where there are none, and could not read the data.
    if not (config.keys / "signing.key").is_file():
        raise InputError("option --keys", "must be the folder of the server's keys", found="none")
    started(config, older=older)
    return config
