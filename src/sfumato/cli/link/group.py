"""A command with commands under it: without one of their names it is the linkage itself."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

RUN = "run"
"""The command that is meant where none is named."""


class LinkGroup(TyperGroup):
    """Commands of which one needs no name: ``sfumato link A B``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, with the name of the command that is meant."""
        named = bool(args) and args[0] in self.commands
        return super().parse_args(ctx, args if named else [RUN, *(args or ["--help"])])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command; the linkage itself goes by the group's name alone."""
        name, command, rest = super().resolve_command(ctx, args)
        return ("" if name == RUN else name), command, rest
