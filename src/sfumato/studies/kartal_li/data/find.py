"""Where the files of a data set lie below the data folder."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sfumato.studies.kartal_li.data.data_set import DataSet


class Found(NamedTuple):
    """The folder that holds the files, or what is absent there."""

    folder: Path
    absent: tuple[str, ...]


def find(data: Path, data_set: DataSet) -> Found:
    """The first folder that holds all files of a data set, else the one that lacks fewest.

    Parameters
    ----------
    data
        The data folder.
    data_set
        The data set to look for.
    """
    looked = []
    for name in data_set.folders:
        folder = data / name
        absent = tuple(file for file in data_set.files if not (folder / file).is_file())
        if not absent:
            return Found(folder, ())
        looked.append(Found(folder, absent))
    return min(looked, key=lambda found: len(found.absent))
