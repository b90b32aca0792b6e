"""Attacks, and what the report of a project takes for granted, in words."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from sfumato.risk.measure_table import MEANINGS


@dataclass(frozen=True, slots=True)
class Point:
    """A short title and what is to be said."""

    title: str
    text: str


_WORDS = tomllib.loads(Path(__file__).with_name("adversaries.toml").read_text(encoding="utf-8"))


def _points(*names: str) -> list[Point]:
    return [Point(**word) for name in names for word in _WORDS["project"][name]]


def project_assumptions(*, has_persons: bool, keeps_order: bool | None) -> list[Point]:
    """What the numbers of a project take for granted.

    Parameters
    ----------
    keeps_order
        Whether the release keeps the order of its records; ``None`` where a policy decided.
    """
    order = "in_order" if keeps_order else "shuffled"
    names = ["has_persons" if has_persons else "no_persons", "assumed"]
    return _points(*names, *(() if keeps_order is None else (order,)))


def project_limits(*, linked: bool) -> list[Point]:
    """What the numbers of a project do not say; more where its records were linked."""
    return _points("limits", *(("linkage",) if linked else ()))


ATTACK_TITLES: dict[str, str] = _WORDS["attacks"]
"""By the name of the attack, or what stands before its colon."""

_PREDICTED: dict[str, str] = _WORDS["predicted"]
"""Measures whose usual words refer to the line above them."""


def predicted_meaning(name: str) -> str:
    """What a measure means, without the column that it is about.

    Parameters
    ----------
    name
        Its name, such as ``max_gsar:icd9``.
    """
    kind = name.partition(":")[0]
    return _PREDICTED.get(kind) or MEANINGS.get(kind, kind)


def attack_title(name: str) -> str:
    """The name of an attack as people read it.

    Parameters
    ----------
    name
        Its name, such as ``inference:icd9``.
    """
    kind, colon, column = name.partition(":")
    title = ATTACK_TITLES.get(name) or ATTACK_TITLES.get(kind)
    title = title or kind.replace("_", " ").capitalize()
    return f"{title}: {column}" if colon else title
