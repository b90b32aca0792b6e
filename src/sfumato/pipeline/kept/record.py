"""The record of a stage: what it was made from, what it made, when, how long and how large."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from sfumato.core.atomic import write_text

RECORD, MEASURED = "stage.json", "measured.json"
"""The record in the folder of a stage, and what the stage measured."""
_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True)
class Output:
    """A file that a stage made.

    Attributes
    ----------
    sha256
        Its hash.
    bytes
        Its size.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    sha256: str
    bytes: int


@dataclass(frozen=True)
class StageRecord:
    """What is kept of a stage that was made; no value of the data.

    Attributes
    ----------
    stage
        Its name.
    key
        Hash of all that it depends on: while this is the same, it need not be made again.
    settings
        The part of the project file that concerns it.
    inputs
        Hashes of the files it read, by what the project file calls them, and of outputs of
        earlier stages, as ``link/linked.parquet``.
    outputs
        The files that it made, by their paths in its folder.
    said
        What it found, in a line.
    warnings
        What the reader should know.
    seed
        The seed of its random choices, where it makes some.
    finished
        When it was made, in UTC.
    seconds
        How long it took.
    versions
        Versions of what made it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    stage: str
    key: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    outputs: Mapping[str, Output]
    said: str
    warnings: tuple[str, ...]
    seed: int | None
    finished: str
    seconds: float
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Size of all that it made."""
        return sum(each.bytes for each in self.outputs.values())

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"warnings": list(self.warnings)}

    def write(self, folder: Path) -> None:
        """Write it into the folder of its stage.

        Parameters
        ----------
        folder
            The folder.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        write_text(folder / RECORD, json.dumps(self.to_json(), indent=2) + "\n")


def read_record(folder: Path) -> StageRecord | None:
    """The record in the folder of a stage; ``None`` where there is none, or a damaged one.

    Parameters
    ----------
    folder
        The folder.
    """
    try:
        text = (folder / RECORD).read_bytes()
        record = TypeAdapter(StageRecord).validate_json(text)
    except (OSError, ValidationError):
        return None
    return record if all(map(_is_inside, record.outputs)) else None


def _is_inside(name: str) -> bool:
    """Whether a name is that of a file in the folder: what a record names is removed one day."""
    path = PurePosixPath(name)
    odd = path.is_absolute() or ".." in path.parts or not path.parts
    return not (odd or "\0" in name or "\\" in name)


def read_measured(folder: Path) -> dict[str, Any] | None:
    """What a stage measured, as JSON; ``None`` where it is not there.

    Parameters
    ----------
    folder
        The folder of the stage.
    """
    try:
        measured = json.loads((folder / MEASURED).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return measured if isinstance(measured, dict) else None
