"""The commands of the program, each imported when it is named: all of them take a while."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

_HOMES = {
    "init": "init_command:init",
    "run": "project_commands:run",
    "status": "project_commands:status",
    "assess": "assess_command:assess",
    "anonymize": "anonymize_command:anonymize",
    "attack": "attack_command:attack",
    "tune": "tune_command:tune",
    "presets": "presets_command:presets",
    "study": "study_command:study",
    "demo": "demo_command:demo",
    "serve": "server_commands:serve",
    "schema": "schema_commands:app",
    "link": "link_commands:app",
    "review": "review_commands:app",
    "policy": "policy_commands:app",
    "ledger": "ledger_commands:app",
    "audit": "server_commands:audits",
    "project": "server_commands:projects",
}
"""Module and name of each command, or of the app of a group of commands, as the help lists them."""


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
        """Write the help, which says a line of each command without importing it."""
        commands, self.commands = self.commands, {name: _listed(name) for name in _HOMES}
        try:
            super().format_help(ctx, formatter)
        finally:
            self.commands = commands


def _listed(name: str) -> TyperCommand:
    """A command as the help of the program lists it: its name, and its function's first line.

    A group of commands has a callback of the group's name.
    """
    module = _HOMES[name].partition(":")[0]
    source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    found = re.search(rf'^def {name}\(.*?"""(.+?)(?:"""|\n\n)', source, re.DOTALL | re.MULTILINE)
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
        alone.add_typer(found, name=name)
        return cast(TyperGroup, get_command(alone)).commands[name]
    alone.command(name)(found)
    return get_command(alone)
