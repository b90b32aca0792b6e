"""The help of commands: one line for each usual option, every word with ``--help-all``."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Collection, Iterator
from textwrap import fill
from typing import Any

import typer
from rich.text import Text
from typer.core import TyperCommand

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
    pieces = " ".join(command.collect_usage_pieces(ctx))
    yield f"Usage: {ctx.command_path} {pieces}"
    yield ""
    for paragraph in (command.help or "").split("\n\n"):
        yield fill(" ".join(paragraph.split()), width)
    chosen: Collection[str] = USUAL.get(ctx.command_path, ())
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
            yield _cut(f"  {names[id(each)]:{column}}  {needed}{told}", width)
    left = len(command.get_params(ctx)) - len(shown)
    yield ""
    more = f"{left} more options, and every word" if left else "Every word"
    yield f"{more}: {ctx.command_path} {ALL}"


def _name(each: Any, ctx: Any) -> str:
    """An option as it is typed, with what follows it; an argument as the usage names it."""
    if each.param_type_name == "argument":
        return str(each.metavar or each.name.upper())
    option = max(each.opts, key=len)
    if each.is_flag:
        return "/".join((option, *each.secondary_opts))
    return f"{option} {each.metavar or each.display_type(ctx)}"


def _cut(text: str, width: int) -> str:
    """A text on one line, cut at a word where it is longer."""
    indent = text[: len(text) - len(text.lstrip())]
    line = indent + re.sub(r"(?<=\S)\s*\n\s*", " ", text.strip())
    if len(line) <= width:
        return line
    return line[: width - 1].rsplit(" ", 1)[0].rstrip() + "…"


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
            *(_cut(f"  {name:10}  {told[name]}", 100) for name in usual),
            "",
            fill(f"More: {', '.join(others)}", 100),
            f"What they do: sfumato {ALL}. Of one command: sfumato COMMAND --help.",
            "",
            fill(epilog, 100),
        )
    )
