"""The attacks, each or a family of them in a module: how they run, and how they are judged.

A module that is added to this package, with an `Act`, is an attack everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from sfumato.core.errors import InputError
from sfumato.core.extensions import Extension, extension, extension_names
from sfumato.intruder.attacks.scene import Act, Scene, added_act


def _found() -> dict[str, Act]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    acts = [act for module in modules for act in vars(module).values() if isinstance(act, Act)]
    return {act.name: act for act in sorted(acts, key=lambda act: act.place)}


ACTS = _found()
"""By name, in the order in which they run."""


def check_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """The attacks that are asked for; all where nobody asks."""
    # One name alone would be taken for a sequence of letters.
    asked = ACTS if names is None else ([names] if isinstance(names, str) else names)
    for name in asked:
        if name not in ACTS and added(name) is None:
            accepted = ", ".join((*ACTS, *extension_names("attack")))
            raise InputError("parameter attacks", "must name attacks", accepted=accepted)
    ours = [name for name in ACTS if name in asked]
    return (*ours, *dict.fromkeys(name for name in asked if name not in ACTS))


def added(name: str) -> Extension | None:
    """What another package adds under the name of an attack; ``None`` where none does."""
    return None if name in ACTS else extension("attack", name)


def act_named(name: str) -> Act:
    """The attack of a name that was checked, ours or another package's."""
    found = added(name)
    return ACTS[name] if found is None else added_act(found)


def chosen(scene: Scene, names: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The attacks to run, and warnings about those that cannot run although they should.

    Where nobody asks, all that fit.
    """
    possible, warnings = [], []
    for name in check_names(names):
        lacks = act_named(name).lacks(scene)
        if not lacks:
            possible.append(name)
        elif names is not None:
            raise InputError(f"attack '{name}'", f"needs {lacks}", found="none")
        # Others lack what nobody said the intruder holds; this one lacks software, which can be
        # had.
        elif name == "probabilistic" and not scene.itself:
            warnings.append(f"Probabilistic matching was left out: it needs {lacks}.")
    return tuple(possible), tuple(warnings)
