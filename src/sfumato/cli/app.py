"""The program ``sfumato``: its commands, its exit codes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sfumato.cli import anonymize, assess, demo, schema, study
from sfumato.cli.output import BAD_INPUT, INTERRUPTED, NOT_MET, publishable_hook, say
from sfumato.core.errors import ConstraintsNotMetError, SfumatoError

app = typer.Typer(
    name="sfumato",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done and met, 1 bad input, 2 constraints not met.",
)
app.add_typer(schema.app, name="schema")
app.command()(assess.assess)
app.command()(anonymize.anonymize)
app.command()(study.study)
app.command()(demo.demo)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"sfumato {version('sfumato')}")
        raise typer.Exit


@app.callback()
def sfumato(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Measure what data about people gives away, and release data that gives away no more.

    Files may hold several records per person. Start with 'sfumato demo'.
    """


def main() -> None:
    """Run the program and leave with its exit code."""
    sys.excepthook = publishable_hook
    try:
        code = app(standalone_mode=False)
    except ConstraintsNotMetError as error:
        say(str(error))
        sys.exit(NOT_MET)
    except SfumatoError as error:
        say(f"Error: {error}")
        sys.exit(BAD_INPUT)
    except typer.TyperException as error:
        say(f"Error: {error.format_message()}")
        sys.exit(BAD_INPUT)
    except (typer.Abort, KeyboardInterrupt):
        say("Interrupted; nothing was left half written.")
        sys.exit(INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)
