"""The commands of the program, each imported when it is named: all of them take a while."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

_HOMES = {
    "init": "project_file.init:init",
    "run": "project_file.run:run",
    "status": "project_file.status:status",
    "assess": "assess:assess",
    "anonymize": "anonymize:anonymize",
    "attack": "attack.run:attack",
    "tune": "tune.run:tune",
    "presets": "presets:presets",
    "study": "study:study",
    "demo": "demo:demo",
    "serve": "server.serve:serve",
    "schema": "schema:app",
    "link": "link.app:app",
    "review": "review.app:app",
    "policy": "policy.app:app",
    "ledger": "ledger.app:app",
    "audit": "server.audit:app",
    "project": "server.project:app",
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
