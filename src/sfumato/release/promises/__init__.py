"""Promises about classes (constraints) and about the whole release (budgets), one module each.

A module that is added to this package, with a subclass of `Promise`, is a promise everywhere.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

from sfumato.core.declaration import Parameter, declared
from sfumato.core.errors import InputError
from sfumato.core.extensions import extension, extension_names
from sfumato.release.promises.promise import AboutAttribute, AboutCells, Promise, asked
from sfumato.risk.risk_thresholds import KINDS


def _found() -> dict[str, type[Any]]:
    for module in iter_modules(__path__):
        # Python knows a subclass only after its module was imported.
        import_module(f"{__name__}.{module.name}")
    every: list[Any] = [
        *Promise.__subclasses__(),
        *AboutAttribute.__subclasses__(),
        *AboutCells.__subclasses__(),
    ]
    # The classes in between are subclasses, too, and have no name of their own.
    named = {each.name: each for each in every if "name" in vars(each)}
    return dict(sorted(named.items(), key=lambda entry: (entry[1].order, entry[0])))


PROMISES = _found()
"""The promises by their names, in the order in which they are listed."""


def restored(fields: Mapping[str, Any]) -> Any:
    """A promise from its entry in a manifest; a KeyError if it is a custodian's own."""
    beside = ("name", "promised")
    stated = {name: value for name, value in fields.items() if name not in beside}
    name = fields["name"]
    if name not in PROMISES and extension("promise", name) is not None:
        return _added(name)(**stated)
    return PROMISES[name](**stated)


def _added(name: str) -> type[Any]:
    """The promise that another package adds under a name."""
    found = extension("promise", name)
    if found is None:
        raise InputError(
            f"promise {name}",
            "must be added by an installed package",
            found="none that adds it",
            accepted=", ".join(extension_names("promise")) or "none is installed",
        )
    kind: Any = found.part
    whole = isinstance(kind, type) and issubclass(kind, Promise) and declared(kind)
    measure = next(iter(kind.measures), getattr(kind, "measure", "")) if whole else ""
    if not whole or kind.name != name or measure not in KINDS:
        raise InputError(
            f"the {found}",
            "must be a declared Promise of that name, its first field the limit on a measure",
            accepted=f"a measure of {', '.join(KINDS)}",
            advice="ask the authors of the package",
        )
    promise: type[Any] = kind
    return promise


def _texts(option: str, words: Sequence[str]) -> dict[str, Any]:
    """Promises by name, of the words of an option: ``NAME=LIMIT`` or ``NAME=LIMIT,KEY=VALUE``."""
    texts: dict[str, Any] = {}
    for word in words:
        pairs = [part.partition("=")[::2] for part in word.split(",")]
        name, limit = pairs[0]
        if not name or not all(value for _, value in pairs) or name in texts:
            raise InputError(
                f"option {option}",
                "must name each promise once, with its limit",
                accepted="NAME=LIMIT, or NAME=LIMIT,KEY=VALUE",
            )
        texts[name] = {"": _plain(limit), **{key: _plain(value) for key, value in pairs[1:]}}
    return texts


def _plain(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


@dataclass(frozen=True)
class AddedPromises:
    """Promises of other packages; see docs/reference/extending.md."""

    promise: Annotated[
        Mapping[str, Any],
        Parameter(
            "A promise that another installed package adds, with its limit. Repeatable.",
            "NAME=LIMIT",
            parse=_texts,
        ),
    ] = field(default_factory=dict)


def all_asked(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """The promises that options or keys ask for: ours in their order, then those that are added.

    An added one has its limit, or values by key, under ``promise`` and its name.
    """
    ours = (asked(kind, given) for kind in PROMISES.values())
    return tuple(each for each in (*ours, *_asked(given.get("promise") or {})) if each is not None)


def _asked(given: Mapping[str, Any]) -> Iterable[Any]:
    for name, told in given.items():
        kind = _added(name)
        keys = [each.key for each in declared(kind)]
        values = (
            {(key or keys[0]): value for key, value in told.items()}
            if isinstance(told, Mapping)
            else {keys[0]: told}
        )
        unknown = values.keys() - set(keys)
        if unknown:
            raise InputError(
                f"promise {name}", "must have keys of its own", accepted=", ".join(keys)
            )
        yield asked(kind, values)
