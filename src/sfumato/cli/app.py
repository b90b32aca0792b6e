"""The program ``sfumato``: its commands, its exit codes."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any, cast

import typer
from rich.text import Text
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from sfumato.cli import output
from sfumato.cli.own_process import interrupted, remember_interrupts, settle
from sfumato.core.errors import (
    ConstraintsNotMetError,
    HandOverRefusedError,
    NothingToLinkError,
    SfumatoError,
    naming_options,
)
from sfumato.core.number_text import clause
from sfumato.core.phrases import ENGLISH, speak

# Each command is imported when it is named: all of them take a while.
_HOMES = {
    "open": "open_command:open_",
    "init": "init_command:init",
    "run": "project_commands:run",
    "status": "project_commands:status",
    "accept": "project_commands:accept",
    "dossier": "project_commands:dossier",
    "sign": "sign_commands:sign",
    "verify": "sign_commands:verify",
    "key": "sign_commands:keys",
    "assess": "assess_command:assess",
    "anonymize": "anonymize_command:anonymize",
    "attack": "attack_command:attack",
    "tune": "tune_command:tune",
    "series": "series_commands:app",
    "presets": "presets_command:presets",
    "demo": "demo_command:demo",
    "serve": "server_commands:serve",
    "profile": "schema_commands:profile",
    "schema": "schema_commands:app",
    "link": "link_commands:app",
    "review": "review_commands:app",
    "policy": "policy_commands:app",
    "ledger": "ledger_commands:app",
    "account": "server_commands:accounts",
    "audit": "server_commands:audits",
    "project": "server_commands:projects",
}
"""Module and name of each command, or of the app of a group of commands, as the help lists them."""


ALL = "--help-all"
USUAL_WAY = ("open", "init", "run", "assess", "anonymize", "attack")
"""The commands of the first screen, in the order in which most people need them."""
USUAL = {
    "sfumato anonymize": frozenset(
        f"--{name}"
        for name in (
            *("schema", "output", "report", "json", "details", "limits", "promise-limits", "k"),
            *("pid-k", "g-balance", "h-affiliation", "l", "t-closeness", "marketer", "household-k"),
            *("shared-counts", "known-events", "preset", "suppress", "values", "unclassified"),
            *("withhold", "known-counts", "cap-records", "recoding", "effort", "seed", "repeat"),
            *("ledger", "keys", "pseudonym-key", "population", "register", "policy", "request"),
        )
    )
}
"""Of commands with more options than lines, those that most people need."""


class BriefHelp(TyperCommand):
    """A command whose help fits on a screen."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each usual option; with ``--help-all`` every option in full."""
        if ALL in sys.argv:
            super().format_help(ctx, formatter)
            return
        width = min(shutil.get_terminal_size((100, 24)).columns, 120)
        typer.echo("\n".join(_lines(self, ctx, width)))


def _lines(command: Any, ctx: Any, width: int) -> Iterator[str]:
    # A group of which one command needs no name leaves a blank where the name would stand.
    path = " ".join(ctx.command_path.split())
    yield " ".join(("Usage:", path, *command.collect_usage_pieces(ctx)))
    yield ""
    for paragraph in (command.help or "").split("\n\n"):
        yield fill(" ".join(paragraph.split()), width)
    chosen: Collection[str] = USUAL.get(path, ())
    shown = [
        param
        for param in command.get_params(ctx)
        if not chosen or param.param_type_name == "argument" or set(param.opts) & set(chosen)
    ]
    panels: dict[str, list[Any]] = {}
    for each in shown:
        usual = "Arguments" if each.param_type_name == "argument" else "Options"
        panels.setdefault(getattr(each, "rich_help_panel", None) or usual, []).append(each)
    names = {id(each): _name(each, ctx) for each in shown}
    column = min(max(map(len, names.values())), 34)
    for panel, held in panels.items():
        yield ""
        yield f"{panel}:"
        for each in held:
            told = Text.from_markup(each.help or "").plain
            needed = "(required) " if each.required and each.param_type_name == "option" else ""
            start = f"  {names[id(each)]:{column}}  {needed}"
            yield start + clause(" ".join(told.split()), width - len(start))
    left = len(command.get_params(ctx)) - len(shown)
    yield ""
    more = f"{left} more options, and every word" if left else "Every word"
    yield f"{more}: {path} {ALL}"


def _name(each: Any, ctx: Any) -> str:
    """An option as it is typed, with what follows it; an argument as the usage names it."""
    if each.param_type_name == "argument":
        return str(each.metavar or each.name.upper())
    option = max(each.opts, key=len)
    if each.is_flag:
        return "/".join((option, *each.secondary_opts))
    return f"{option} {each.metavar or each.display_type(ctx)}"


def first_screen(told: dict[str, str], epilog: str) -> str:
    """The help of the program: the usual way, then the names of all other commands."""
    usual = [name for name in USUAL_WAY if name in told]
    others = [name for name in told if name not in usual]
    return "\n".join(
        (
            "Usage: sfumato COMMAND [OPTIONS]",
            "",
            "Measure what data about people gives away, and release what keeps your promises.",
            "Start with 'sfumato demo'.",
            "",
            "The usual way:",
            *(f"  {name:10}  {clause(told[name], 86)}" for name in usual),
            "",
            fill(f"More: {', '.join(others)}", 100),
            f"What they do: sfumato {ALL}. Of one command: sfumato COMMAND --help.",
            "",
            fill(epilog, 100),
        )
    )


class Commands(Mapping[str, Any]):
    """The commands by their names, in the order of the help; one is imported when it is taken."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


class Program(TyperGroup):
    """The program as a group of commands that are imported when they are needed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = cast(dict[str, Any], Commands())

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, for which none is imported."""
        return list(_HOMES)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the usual way, or a line of each command; none is imported for it."""
        listed = {name: _listed(name) for name in _HOMES}
        if ALL not in sys.argv:
            told = {name: each.help or "" for name, each in listed.items()}
            typer.echo(first_screen(told, self.epilog or ""))
            return
        commands, self.commands = self.commands, cast(dict[str, Any], listed)
        try:
            super().format_help(ctx, formatter)
        finally:
            self.commands = commands


class Once(BriefHelp):
    """A command that takes each option once, but for those that list several things."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is there twice: of two numbers nobody knows which one holds."""
        # Parsed once before: of an option that is given twice typer keeps the last, and does not
        # tell.
        _, _, order = self.make_parser(ctx).parse_args(args=[*args])
        for each, times in Counter(order).items():
            single = not getattr(each, "multiple", False) and not getattr(each, "is_flag", False)
            if times > 1 and each.param_type_name == "option" and single:
                ctx.fail(f"Option {max(each.opts, key=len)} must be given once.")
        return super().parse_args(ctx, args)


def _listed(name: str) -> TyperCommand:
    """A command as the help of the program lists it: its name, and its function's first line.

    A group of commands has a callback of the group's name.
    """
    module = _HOMES[name].partition(":")[0]
    source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    found = re.search(rf'^def {name}_?\(.*?"""(.+?)(?:"""|\n\n)', source, re.DOTALL | re.MULTILINE)
    return TyperCommand(name, help=" ".join(found[1].split()) if found else "")


@cache
def _command(name: str) -> Any:
    """The command of a name, as typer builds it.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    module, _, attribute = _HOMES[name].partition(":")
    found = getattr(import_module(f"sfumato.cli.{module}"), attribute)
    alone = typer.Typer(add_completion=False)
    if isinstance(found, typer.Typer):
        _once(found)
        alone.add_typer(found, name=name)
        return cast(TyperGroup, get_command(alone)).commands[name]
    alone.command(name, cls=Once)(found)
    return get_command(alone)


def _once(group: typer.Typer) -> None:
    """Let the commands of a group, and of those in it, be as those that stand alone are."""
    for each in group.registered_commands:
        each.cls = Once
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _once(inner.typer_instance)


app = typer.Typer(
    name="sfumato",
    cls=Program,
    no_args_is_help=True,
    # They would print the values of variables, which are data.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help", ALL]},
    epilog="Exit codes: 0 ready, 1 bad input, 2 above a limit, 3 waiting for people, "
    "4 not measured, 5 a promise cannot be kept.",
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
    language: Annotated[
        str, typer.Option("--language", metavar="[en|de|fr]", help="Of pages of reports.")
    ] = ENGLISH,
) -> None:
    """Measure what data about people gives away, and release data that gives away no more.

    Files may hold several records per person. Start with 'sfumato demo'.
    """
    del version  # its callback has printed them
    speak(language)


def main() -> None:
    """Run the program and leave with its exit code."""
    settle()
    sys.excepthook = output.publishable_hook
    output.say_what_leaves()
    output.print_anything()
    with remember_interrupts():
        code, said = _run()
        # A library may have turned the interrupt into another error.
        if interrupted():
            code, said = interrupted(), "Interrupted; nothing was left half written."
    if said:
        with suppress(OSError):  # the terminal may be gone
            output.say(said)
    sys.exit(code)


def _run() -> tuple[int, str]:
    """The exit code of the command line, and what is said in the end.

    The command is called itself: calling the app would put typer's hook, which prints messages
    of errors, in the place of `publishable_hook`.
    """
    try:
        with naming_options():
            code = _program()(prog_name="sfumato", standalone_mode=False)
    except HandOverRefusedError as error:
        return output.ABOVE, str(error)
    except ConstraintsNotMetError as error:
        return output.NOT_KEPT, str(error)
    except NothingToLinkError as error:
        return output.NOT_MEASURED, f"Error: {error}"
    except SfumatoError as error:
        return output.BAD_INPUT, f"Error: {error}"
    except typer.TyperException as error:
        return output.BAD_INPUT, _usage(error)
    except (typer.Abort, KeyboardInterrupt):
        return output.INTERRUPTED, ""
    return (code if isinstance(code, int) else output.READY), ""


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
