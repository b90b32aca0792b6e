"""What every stage has: what it depends on, what it waits for, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.core.progress import Progress
from sfumato.pipeline.stages.place import Place


@dataclass(frozen=True)
class Waiting:
    """What a stage waits for.

    Attributes
    ----------
    whom
        Who has to do something: ``"reviewers"``.
    what
        What, in a sentence with its number.
    count
        The number.
    commands
        What to type, in this order.
    """

    whom: str
    what: str
    count: int
    commands: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "whom": self.whom,
            "what": self.what,
            "count": self.count,
            "commands": list(self.commands),
        }


@dataclass(frozen=True)
class Made:
    """What a stage found as it was made.

    Attributes
    ----------
    measured
        All that it measured, as plain values without a value of the data.
    said
        The same in a line.
    warnings
        What the reader should know.
    seed
        The seed of its random choices, where it makes some.
    """

    measured: Mapping[str, Any]
    said: str
    warnings: tuple[str, ...] = ()
    seed: int | None = None


def _nobody(_place: Place) -> Waiting | None:
    return None


def _nothing(_place: Place) -> None:
    return None


def _no_files(_place: Place) -> dict[str, Path]:
    return {}


@dataclass(frozen=True)
class Stage:
    """A stage of a project.

    Attributes
    ----------
    name
        Its name, and that of its folder.
    settings
        The part of the project that concerns it, as plain values.
    make
        Makes it in a new folder.
    files
        The files that it reads, by what the project file calls them.
    earlier
        The files of earlier stages that it reads: names by stage.
    check
        Refuses what can be seen to be wrong before any stage is made.
    prepare
        Readies what people work on.
    waits
        Whom it waits for, if for anybody.
    """

    name: str
    settings: Callable[[Place], dict[str, Any]]
    make: Callable[[Place, Path, Progress], Made]
    files: Callable[[Place], dict[str, Path]] = field(default=_no_files)
    earlier: Callable[[Place], dict[str, tuple[str, ...]]] = field(default=lambda _place: {})
    check: Callable[[Place], None] = field(default=_nothing)
    prepare: Callable[[Place], None] = field(default=_nothing)
    waits: Callable[[Place], Waiting | None] = field(default=_nobody)
