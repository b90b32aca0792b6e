"""What the study knows of a data set before it reads it, and where its file lies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DataSet:
    """A population of the study.

    Attributes
    ----------
    key
        Its name in the tables.
    columns
        The quasi-identifiers.
    remark
        What it is, as part of a sentence.
    every
        The log-linear search runs on one in so many samples.
    source
        Where the file is from; nothing where it is generated.
    file
        Name of its file; nothing where it is generated.
    folders
        Where the file may lie, relative to the data folder.
    """

    key: str
    columns: tuple[str, ...]
    remark: str
    every: int
    source: str = ""
    file: str = ""
    folders: tuple[str, ...] = ()

    @property
    def generated(self) -> bool:
        """Whether it needs no file."""
        return not self.file

    @property
    def place(self) -> str:
        """Where its file is looked for, in words."""
        return f"{self.file} in DIR or DIR/{self.folders[0]}"

    def find(self, data: Path) -> Path | None:
        """Its file below the data folder; ``None`` where it is absent.

        Parameters
        ----------
        data
            The data folder.
        """
        paths = (data / folder / self.file for folder in self.folders)
        return next((path for path in paths if path.is_file()), None)
