"""Promises about classes (constraints) and about the whole release (budgets), one module each.

A module that is added to this package, with a subclass of `Promise`, is a promise everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from sfumato.release.promises.promise import AboutAttribute, AboutCells, Promise


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
    """A promise from its entry in a manifest.

    Raises
    ------
    KeyError
        If it is a custodian's own.
    """
    beside = ("name", "promised")
    stated = {name: value for name, value in fields.items() if name not in beside}
    return PROMISES[fields["name"]](**stated)
