"""A project where it lies: its file, and the folders beside it."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.core.key_files import read_secret
from sfumato.pipeline.project.load import PROJECT_FILE, load_project
from sfumato.pipeline.project.model import Project

REVIEW = "review"
"""The stage of people's answers; nobody without the extra ``review`` can load it."""
REPORT = "report"
"""The stage whose folder is that of the outputs."""


@dataclass(frozen=True)
class Place:
    """A project where it lies.

    Attributes
    ----------
    project
        What its file says.
    file
        The file.
    """

    project: Project
    file: Path

    @property
    def folder(self) -> Path:
        """The folder that paths of the project file are named from."""
        return self.file.parent

    @property
    def stages(self) -> Path:
        """The folder of what the stages made."""
        return self.at(self.project.outputs.stages)

    def at(self, path: Path) -> Path:
        """Where a path of the project file leads.

        Parameters
        ----------
        path
            The path as it is written.
        """
        return self.folder / path

    def of_stage(self, name: str) -> Path:
        """The folder of a stage.

        Parameters
        ----------
        name
            The stage's name.
        """
        if name == REPORT:
            return self.at(self.project.outputs.folder)
        return self.stages / name

    def key(self, path: Path | None, name: str) -> bytes | None:
        """The key that a file holds; ``None`` without one.

        Parameters
        ----------
        path
            The path as it is written.
        name
            What the project file calls it.

        Raises
        ------
        InputError
            If it cannot be read, or is no key.
        """
        if path is None:
            return None
        tables = (
            table
            for source in self.project.sources.values()
            for table in (source.file, source.attach)
            if table is not None
        )
        return read_secret(self.at(path), name, (self.file, *map(self.at, tables)))


def open_project(path: str | os.PathLike[str]) -> Place:
    """A project by its file, or by the folder that holds a sfumato.toml.

    Parameters
    ----------
    path
        The file or the folder.

    Raises
    ------
    InputError
        If it cannot be read or breaks a rule, or two of its folders are in each other.
    """
    file = Path(path)
    if file.is_dir():
        file /= PROJECT_FILE
    place = Place(load_project(file), file)
    _check_folders(place)
    return place


def _check_folders(place: Place) -> None:
    outputs, review = place.project.outputs, place.project.review
    named = {
        "outputs.folder": outputs.folder,
        "outputs.stages": outputs.stages,
        "review.folder": review.folder,
    }
    own = {name: _resolved(name, place.at(path)) for name, path in named.items()}
    for name, folder in own.items():
        if folder in (place.folder.resolve(), *place.folder.resolve().parents):
            raise InputError(name, "must be a folder of its own", found="the project's folder")
        for other, around in own.items():
            if name != other and around in (folder, *folder.parents):
                raise InputError(name, f"must not be in the folder of {other}")


def _resolved(name: str, path: Path) -> Path:
    try:
        path.exists()
        return path.resolve()
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
        raise InputError(
            name, "must be a path that can lead to a folder", found="a name too long, or a circle"
        ) from None


def shown(path: Path) -> str:
    """A path as a person in the present folder types it.

    Parameters
    ----------
    path
        The path.
    """
    full, here = path.resolve(), Path.cwd()
    return shlex.quote(str(full.relative_to(here)) if full.is_relative_to(here) else str(full))
