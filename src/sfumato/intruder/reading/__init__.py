"""The released file as an outsider reads it."""

from sfumato.intruder.reading.cell import Anything, Cell, Exact, Interval, Members, Missing
from sfumato.intruder.reading.read import read_release
from sfumato.intruder.reading.released_file import ReadColumn, ReleasedFile, TextColumn

__all__ = [
    "Anything",
    "Cell",
    "Exact",
    "Interval",
    "Members",
    "Missing",
    "ReadColumn",
    "ReleasedFile",
    "TextColumn",
    "read_release",
]
