"""Which rules hold: the project's, those of the first start, and what may change later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.core.errors import InputError
from sfumato.review.settings import Settings

LATER = frozenset({"budget", "hints"})
"""What may be another at a later start."""
_OPTIONS = {"mask_width": "mask-width"}


def first_rules(of_project: Settings | None, given: Mapping[str, Any]) -> Settings:
    """The rules of a first start.

    Parameters
    ----------
    of_project
        Those of the project, which nobody changes here; ``None`` where there is none.
    given
        The settings that the command line gives.

    Raises
    ------
    InputError
        If the command line gives others than the project's.
    """
    if of_project is None:
        return Settings(**given)
    for name, value in given.items():
        if getattr(of_project, name) != value:
            raise _other(name, "must be the project's", "a project's rules are its manager's")
    return of_project


def rules_again(kept: Settings, of_project: Settings | None, given: Mapping[str, Any]) -> Settings:
    """The rules of a later start.

    Parameters
    ----------
    kept
        Those that held at the end of the last one.
    of_project
        Those of the project; ``None`` where there is none.
    given
        The settings that the command line gives.

    Raises
    ------
    InputError
        If the command line gives others than were kept, and not such as may change.
    """
    for name, value in given.items():
        fixed = of_project is not None or name not in LATER
        if fixed and getattr(kept, name) != value:
            raise _other(
                name,
                "must be that of the first start",
                "leave it out; or review in another folder, with another --worker",
            )
    return kept.model_copy(update={name: given[name] for name in given if name in LATER})


def _other(name: str, rule: str, advice: str) -> InputError:
    option = _OPTIONS.get(name, name)
    return InputError(f"option --{option}", rule, found="another", advice=advice)
