"""The program ``sfumato``: its commands, its exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Annotated

import typer
from typer.main import get_command

from sfumato.cli.commands import Program
from sfumato.cli.output import (
    BAD_INPUT,
    INTERRUPTED,
    MET,
    NOT_MET,
    print_anything,
    publishable_hook,
    say,
)
from sfumato.cli.own_process import interrupted, remember_interrupts, settle
from sfumato.core.errors import ConstraintsNotMetError, SfumatoError

app = typer.Typer(
    name="sfumato",
    cls=Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done and met, 1 bad input, 2 constraints not met, 3 waiting for people.",
)


PARTS = ("numpy", "pyarrow", "duckdb", "splink", "django", "clingo")
"""What decides about results; those of an extra that is not installed have no version."""


def _versions() -> str:
    """The version of sfumato, then a line for each of its parts that is installed."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"sfumato": version("sfumato"), "python": platform.python_version()}
    for part in PARTS:
        with suppress(PackageNotFoundError):
            found[part] = version(part)
    return "\n".join(f"{name} {number}" for name, number in found.items())


def _version(asked: bool) -> None:
    if asked:
        typer.echo(_versions())
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
            code, said = interrupted(), "Interrupted; nothing was left half written."
    if said:
        with suppress(OSError):  # the terminal may be gone
            say(said)
    sys.exit(code)


def _run() -> tuple[int, str]:
    """The exit code of the command line, and what is said in the end.

    The command is called itself: calling the app would put typer's hook, which prints messages
    of errors, in the place of `publishable_hook`.
    """
    try:
        code = _program()(prog_name="sfumato", standalone_mode=False)
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
def _program() -> Callable[..., object]:
    return get_command(app)


def _usage(error: typer.TyperException) -> str:
    """What is wrong with a command line; nothing where the help was printed."""
    message = error.format_message().replace("Value error, ", "")
    if not message:
        return ""
    context = getattr(error, "ctx", None)
    where = "" if context is None else f"\nSee: {context.command_path} --help"
    return f"Error: {message}{where}"
