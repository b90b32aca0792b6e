"""Where a released file is, and what can be done with it there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.atomic import write_text, written_at
from sfumato.release.manifest import file_sha256
from sfumato.table.dataframes import to_frame_like as like
from sfumato.table.table_files import write_table


class Content(Protocol):
    """A released file, in this process or elsewhere."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns, in their order."""

    @property
    def data(self) -> Any:
        """It as a dataframe."""

    @property
    def original(self) -> Any:
        """The dataframe that it was made from, or ``None`` for a path."""

    def arrow(self) -> pa.Table:
        """It as Arrow, in this process."""

    def records_per_person(self, person: str) -> Mapping[int, int]:
        """How many persons have each number of records, by the column of their pseudonyms."""

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write it, whole or not at all, and give the hash of what was written, if there is one."""

    def write_beside(self, path: str | os.PathLike[str], name: str, text: str) -> None:
        """Write a text to the folder of ``path``, whole or not at all."""


@dataclass(frozen=True, eq=False)
class ReleasedTable:
    """A released file in the memory of this process.

    Attributes
    ----------
    table
        The file as Arrow.
    original
        The dataframe that it was made from, or ``None`` for a path.
    """

    table: pa.Table = field(repr=False)
    original: Any = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns, in their order."""
        return tuple(self.table.column_names)

    @property
    def data(self) -> Any:
        """It as the kind of dataframe that it was made from; Arrow for a path."""
        return like(self.table, self.original)

    def arrow(self) -> pa.Table:
        """It as Arrow."""
        return self.table

    def records_per_person(self, person: str) -> Mapping[int, int]:
        """How many persons have each number of records.

        Parameters
        ----------
        person
            The column of their pseudonyms.
        """
        column = self.table.column(person).combine_chunks()
        records = pc.value_counts(column).field("counts").to_numpy()
        found, persons = np.unique(records, return_counts=True)
        return dict(zip(found.tolist(), persons.tolist(), strict=True))

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write it, whole or not at all, and give the hash of the file.

        Parameters
        ----------
        path
            A ``.csv``, ``.tsv`` or ``.parquet`` file.
        """
        write_table(self.table, path)
        return file_sha256(written_at(path))

    def write_beside(self, path: str | os.PathLike[str], name: str, text: str) -> None:
        """Write a text to the folder of ``path``, whole or not at all.

        Parameters
        ----------
        path
            A file.
        name
            Name of the file beside it.
        text
            What it holds.
        """
        write_text(Path(path).with_name(name), text)
