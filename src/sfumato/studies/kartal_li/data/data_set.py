"""One data set of Section 6: its records, what their columns are, and where its tables stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from sfumato.schema import Schema


class Numbers(NamedTuple):
    """The numbers of the paper's tables about one data set."""

    record_risks: int
    record_losses: int
    value_risks: int
    value_losses: int


class Size(NamedTuple):
    """How many records and persons the paper had (Section 6)."""

    records: int
    persons: int


@dataclass(frozen=True)
class DataSet:
    """What the study knows of a data set before it reads it.

    Attributes
    ----------
    key
        How the paper calls it: patient, movie or bank.
    source
        Its source.
    files
        Names of its files, as published.
    folders
        Where they may lie, relative to the data folder.
    read
        Reads and joins them, from the folder that holds them.
    schema
        What the columns of the joined records are.
    persons
        What a person is called.
    selection
        How the records were selected, as a sentence.
    remark
        What else to know when comparing; may be empty.
    numbers
        The numbers of its tables.
    published
        The paper's numbers of records and persons.
    common
        A value that a larger share of the persons has is left out in a second reading of the
        sensitive attribute; ``None`` for no second reading.
    targets
        MaxGSAR in percent at which that attribute, as it stands, is compared beyond the paper.
    """

    key: str
    source: str
    files: tuple[str, ...]
    folders: tuple[str, ...]
    read: Callable[[Path], pa.Table]
    schema: Schema
    persons: str
    selection: str
    remark: str
    numbers: Numbers
    published: Size
    common: float | None = None
    targets: tuple[int, ...] = ()
