"""Options of a command that are derived from declarations, and what was given with them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from rich.markup import escape

from sfumato.core.declaration import REQUIRED, Declared, declared
from sfumato.core.errors import InputError

Given = Mapping[str, Any]
"""What was given, by the key of each declared option; its default where it was not."""
_Command = Callable[..., Any]


def with_declared(
    *declarations: Any, panel: str = "", optional: bool = False, only: Collection[str] = ()
) -> Callable[[_Command], _Command]:
    """Add an option for each declared field, and pass what was given in the argument ``given``.

    Parameters
    ----------
    declarations
        Dataclasses or models whose fields are declared.
    panel
        The heading under which the help lists them.
    optional
        Whether none of them has a default, so that it shows which were given; as for promises.
    only
        Keys of the options that are added; all of them where empty.
    """

    def added(command: _Command) -> _Command:
        every = [
            each for kind in declarations for each in declared(kind) if not only or each.key in only
        ]
        given = inspect.signature(command)
        hints = get_type_hints(command, include_extras=True)
        own = [
            p.replace(annotation=hints[p.name])
            for p in given.parameters.values()
            if p.name != "given"
        ]
        options = [_parameter(each, panel, optional=optional) for each in every]

        @wraps(command)
        def called(**arguments: Any) -> Any:
            taken = dict(arguments.pop("given", {}))
            for each in every:
                value = _value(each, arguments.pop(each.key))
                taken[each.key] = _usual(each) if value is None and not optional else value
            return command(**arguments, given=taken)

        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (*own, *options)]
        called.__signature__ = given.replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in parameters}
        del called.__wrapped__  # typer would read the annotations of the command itself
        return called

    return added


def _parameter(each: Declared, panel: str, *, optional: bool) -> inspect.Parameter:
    kind = Path if each.said.path else each.type
    several = each.said.parse is not None or get_origin(kind) in (tuple, list)
    if several:
        kind = list[str if each.said.parse else get_args(kind)[0]]  # type: ignore[misc]
    free = optional or several or each.optional or each.default is REQUIRED
    default = None if free else each.default
    shown: bool | str = each.said.usual or not free
    if optional and isinstance(each.default, StrEnum):
        shown = each.default.value
    option = typer.Option(
        *each.option.split(),
        envvar=each.said.env or None,
        metavar=each.said.metavar or None,
        help=escape(each.said.help),
        rich_help_panel=panel or None,
        show_default=shown,
    )
    return inspect.Parameter(
        each.key,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind | None if free else kind, option],
    )


def _value(each: Declared, value: Any) -> Any:
    """What was given; ``None`` where nothing was."""
    if value in ([], None):
        return None
    if each.said.parse is not None:
        return each.said.parse(each.option, value)
    return tuple(value) if isinstance(value, list) else value


def _usual(each: Declared) -> Any:
    return None if each.default is REQUIRED else each.default


def check_beside(
    context: typer.Context, given: str, allowed: Collection[str], rule: str, advice: str
) -> None:
    """Refuse options that an option rules out.

    Parameters
    ----------
    context
        The command line.
    given
        The option, as the error calls it.
    allowed
        Parameters that may stand beside it.
    rule, advice
        What holds, and what to do.

    Raises
    ------
    InputError
        If another one is there.
    """
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in allowed and source is not None and source.name == "COMMANDLINE":
            raise InputError(
                given, rule, found=f"option --{name.replace('_', '-')} beside it", advice=advice
            )
