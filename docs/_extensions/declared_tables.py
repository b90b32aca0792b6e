"""The directives ``promises``, ``options`` and ``command``: tables of what the code declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

from sfumato.core.declaration import REQUIRED, Declared, declared
from sfumato.release.promises import PROMISES

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class _Table(Directive):
    head: ClassVar[tuple[str, ...]]

    def rows(self) -> list[tuple[str, ...]]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        lines = [self.head, tuple("---" for _ in self.head), *self.rows()]
        text = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines]
        found = nodes.container()
        self.state.nested_parse(StringList(text), self.content_offset, found)
        return found.children


class Promises(_Table):
    """Every promise: how it is asked for, and what it is about."""

    head = ("in Python", "command line and project file", "accepted", "promised")

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (
                f"{{py:obj}}`{kind.__name__} <sfumato.{kind.__name__}>`" if first else "",
                f"`{each.option}` `{each.key}`",
                each.accepted,
                _marked(each.said.help),
            )
            for kind in PROMISES.values()
            for first, each in _first(declared(kind))
        ]


def _first(several: tuple[Declared, ...]) -> list[tuple[bool, Declared]]:
    return [(place == 0, each) for place, each in enumerate(several)]


class Options(_Table):
    """The options of declarations, ``module:Class Class ...``: their names, defaults and words.

    ``without`` names those that are for Python alone.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"without": str.split}
    options: Mapping[str, Any] = MappingProxyType({})
    head = ("name", "command line", "accepted", "usual", "what it says")

    def rows(self) -> list[tuple[str, ...]]:
        module, _, names = self.arguments[0].partition(":")
        home = import_module(module)
        return [
            (
                f"`{each.name}`" if each.name == each.key else f"`{each.name}`, `{each.key}`",
                f"`{each.option.split()[0]}`",
                each.accepted,
                _marked(_usual(each)),
                _marked(each.said.help),
            )
            for each in declared(*(getattr(home, name) for name in names.split()))
            if each.name not in self.options.get("without", ())
        ]


class Command(_Table):
    """The options of a command, such as ``serve``, as its help has them."""

    required_arguments = 1
    final_argument_whitespace = True
    head = ("option", "accepted", "what it says")

    def rows(self) -> list[tuple[str, ...]]:
        import typer
        from typer.main import get_command

        from sfumato.cli.app import app

        found: Any = get_command(app)
        for name in self.arguments[0].split():
            found = found.commands[name]
        context = typer.Context(found)
        return [
            (
                ", ".join(f"`{name}`" for name in (*each.opts, *each.secondary_opts)),
                f"`{each.metavar or each.display_type(context)}`",
                _marked(each.help or ""),
            )
            for each in found.params
            if each.param_type_name == "option" and each.name != "help"
        ]


def _marked(text: str) -> str:
    """The options in a text as code."""
    return re.sub(r"--[a-z][a-z-]*", r"`\g<0>`", text)


def _usual(each: Declared) -> str:
    if each.said.usual or each.default is REQUIRED:
        return each.said.usual or "to be given"
    if each.default in (None, (), {}):
        return ""
    return str(each.default).lower() if isinstance(each.default, bool) else str(each.default)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directives."""
    app.add_directive("promises", Promises)
    app.add_directive("options", Options)
    app.add_directive("command", Command)
    return {"parallel_read_safe": True}
