"""The program ``sfumato``: its commands, its exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Annotated

import typer
from typer.main import get_command
from typer.models import CommandInfo

from sfumato.cli import anonymize, assess, demo, presets, schema, study
from sfumato.cli.attack.run import attack
from sfumato.cli.interrupt import interrupted, remember_interrupts
from sfumato.cli.ledger.app import app as ledger_app
from sfumato.cli.link.app import app as link_app
from sfumato.cli.output import (
    BAD_INPUT,
    INTERRUPTED,
    MET,
    NOT_MET,
    print_anything,
    publishable_hook,
    say,
)
from sfumato.cli.policy.app import app as policy_app
from sfumato.cli.process import settle
from sfumato.cli.project_file import init, run, status
from sfumato.cli.review.app import app as review_app
from sfumato.cli.server import audit, project, serve
from sfumato.cli.tune.run import tune
from sfumato.cli.versions import versions
from sfumato.core.errors import ConstraintsNotMetError, SfumatoError

app = typer.Typer(
    name="sfumato",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done and met, 1 bad input, 2 constraints not met, 3 waiting for people.",
)
app.add_typer(schema.app, name="schema")
app.add_typer(link_app, name="link")
app.add_typer(review_app, name="review")
app.add_typer(policy_app, name="policy")
app.add_typer(ledger_app, name="ledger")
app.add_typer(audit.app, name="audit")
app.add_typer(project.app, name="project")
app.command()(init.init)
app.command()(run.run)
app.command()(status.status)
app.command()(assess.assess)
app.command()(anonymize.anonymize)
app.command()(attack)
app.command()(tune)
app.command()(presets.presets)
app.command()(study.study)
app.command()(demo.demo)
app.command()(serve.serve)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(versions())
        raise typer.Exit


@app.callback()
def sfumato(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the versions."),
    ] = False,
) -> None:
    """Measure what data about people gives away, and release data that gives away no more.

    Files may hold several records per person. Start with 'sfumato demo'.
    """


def main() -> None:
    """Run the program and leave with its exit code."""
    settle()
    sys.excepthook = publishable_hook
    print_anything()
    with remember_interrupts():
        code, said = _run()
        if interrupted():
            code, said = INTERRUPTED, "Interrupted; nothing was left half written."
    if said:
        say(said)
    sys.exit(code)


def _run() -> tuple[int, str]:
    """The exit code of the command line, and what is said in the end.

    The command is called itself: calling the app would put typer's hook, which prints messages
    of errors, in the place of `publishable_hook`.
    """
    try:
        code = _command(tuple(sys.argv[1:2]))(prog_name="sfumato", standalone_mode=False)
    except ConstraintsNotMetError as error:
        return NOT_MET, str(error)
    except SfumatoError as error:
        return BAD_INPUT, f"Error: {error}"
    except typer.TyperException as error:
        return BAD_INPUT, _usage(error)
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED, ""
    return (code if isinstance(code, int) else MET), ""


@cache
def _command(words: tuple[str, ...]) -> Callable[..., object]:
    """The program with the command alone that the words begin with, else with all commands.

    To build all of them takes a fifth of the time until a command starts.
    """
    only = copy(app)
    only.registered_commands = [info for info in app.registered_commands if _name(info) in words]
    only.registered_groups = [info for info in app.registered_groups if info.name in words]
    found = only.registered_commands or only.registered_groups
    return get_command(only if found else app)


def _name(info: CommandInfo) -> str | None:
    return info.name or getattr(info.callback, "__name__", None)


def _usage(error: typer.TyperException) -> str:
    """What is wrong with a command line; nothing where the help was printed."""
    message = error.format_message().replace("Value error, ", "")
    if not message:
        return ""
    context = getattr(error, "ctx", None)
    where = "" if context is None else f"\nSee: {context.command_path} --help"
    return f"Error: {message}{where}"
