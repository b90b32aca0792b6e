"""Options of a command that are derived from declarations, and what was given with them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from rich.markup import escape

from sfumato.core.declaration import REQUIRED, Declared, declared, naming, place_of
from sfumato.core.errors import InputError

Given = Mapping[str, Any]
"""What was given, by the key of each declared option; its default where it was not."""
_Command = Callable[..., Any]


def with_declared(
    *declarations: Any, panel: str = "", optional: bool = False, only: Collection[str] = ()
) -> Callable[[_Command], _Command]:
    """Add an option for each declared field, and pass what was given in the argument ``given``.

    An error about a parameter that was given on the command line names its option.

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
        every = declared(*declarations, only=only)
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
            words = [(each, arguments.pop(each.key)) for each in every]
            subjects = {
                name: f"option {each.option_name}"
                for each, value in words
                if value not in ([], None, each.default) or (optional and value is not None)
                for name in (each.name, each.key)
            }
            with naming(subjects):
                taken = dict(arguments.pop("given", {}))
                taken |= {each.key: _value(each, value, optional=optional) for each, value in words}
                return command(**arguments, given=taken)

        # By keyword alone: parameters without a default may then follow those with one.
        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (*own, *options)]
        called.__signature__ = given.replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in parameters}
        del called.__wrapped__  # typer would read the annotations of the command itself
        return called

    return added


def _parameter(each: Declared, panel: str, *, optional: bool) -> inspect.Parameter:
    table = each.said.path and each.type not in (bytes, str)
    kind = str if table else Path if each.said.path and each.type is bytes else each.type
    several = _is_repeated(each)
    if each.said.parse:
        kind = list[str] if several else str
    elif several:
        kind = list[str if table else get_args(each.type)[0]]  # type: ignore[misc]
    elif each.has_words and not issubclass(each.type, str):
        kind = Literal[tuple(each.values)]
    free = optional or several or each.optional or each.default is REQUIRED
    shown: bool | str = each.said.usual or not free
    if optional and each.default not in (REQUIRED, None) and not isinstance(each.default, bool):
        shown = str(each.usual)
    option = typer.Option(
        *each.option.split(),
        envvar=each.said.env or None,
        metavar=each.said.metavar or None,
        # Brackets in a help text would be taken for markup.
        help=escape(each.said.help),
        rich_help_panel=panel or None,
        show_default=shown,
        parser=place_of if table else None,
    )
    return inspect.Parameter(
        each.key,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if free else each.usual,
        annotation=Annotated[kind | None if free else kind, option],
    )


def _is_repeated(each: Declared) -> bool:
    """Whether its option may be given several times."""
    parsed = each.said.parse is not None and each.type is not float
    return parsed or get_origin(each.type) in (tuple, list, Sequence)


def _value(each: Declared, value: Any, *, optional: bool) -> Any:
    """What was given; the usual value where an option that may be repeated was not given."""
    # Typer gives an empty list where an option that may be repeated was not given.
    if value in ([], None):
        return None if optional or each.default is REQUIRED else each.default
    if each.said.parse is not None:
        return each.said.parse(each.option_name, value if isinstance(value, list) else [value])
    if each.has_words:
        return each.values[str(value)]
    return tuple(value) if isinstance(value, list) else value


def values_of(declaration: Any, given: Given) -> dict[str, Any]:
    """What was given of a declaration, by the names of its fields.

    Parameters
    ----------
    given
        What was given with all declared options.
    """
    return {each.name: given[each.key] for each in declared(declaration) if each.key in given}


def on_command_line(context: typer.Context) -> Iterator[tuple[str, str]]:
    """The parameters that stand on the command line, each with its option."""
    for param in context.command.params:
        source = context.get_parameter_source(str(param.name))
        if source is not None and source.name == "COMMANDLINE":
            yield str(param.name), param.opts[0]


def check_no_other(
    context: typer.Context, given: str, allowed: Collection[str], rule: str, advice: str
) -> None:
    """Refuse options that an option rules out.

    Parameters
    ----------
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
    for name, option in on_command_line(context):
        if name not in allowed:
            raise InputError(given, rule, found=f"option {option} beside it", advice=advice)
