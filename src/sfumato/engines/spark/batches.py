"""A batch of persons as flat arrays, read column by column when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.spark.axes import Axes, Indicator
from sfumato.engines.spark.names import TIE
from sfumato.engines.spark.persons import OF_PERSON, SECOND

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class PeopleBatch:
    """Some rows of a frame of persons.

    Parameters
    ----------
    batch
        The rows.
    axes
        The file's axes.
    """

    def __init__(self, batch: pa.RecordBatch, axes: Axes) -> None:
        self._batch = batch
        self._known: dict[str, npt.NDArray[Any]] = {}
        self.axes = axes
        self.persons = batch.num_rows

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """A column of numbers."""
        if name not in self._known:
            self._known[name] = self._batch.column(name).to_numpy(zero_copy_only=False)
        return self._known[name]

    @property
    def records(self) -> Ints:
        """Number of records of each person."""
        return self.numbers(OF_PERSON)

    def member(self, axis: Indicator) -> Codes:
        """The 0/1 column of each person, -1 for none."""
        if axis.missing_bin < 0:
            return self.numbers(f"m{axis.place}")
        lacking = self.numbers(f"k{axis.place}") == axis.missing_bin
        return np.where(lacking, np.int32(0), np.int32(-1))

    def held(self, axis: Indicator) -> tuple[Codes, Codes, Codes]:
        """The columns that hold for any record: whose, which, and of how many records."""
        if axis.missing_bin < 0:
            return self.lists(f"v{axis.place}", f"c{axis.place}")
        person = np.flatnonzero(self.member(axis) == 0).astype(np.int32)
        return person, np.zeros(len(person), np.int32), self.records[person].astype(np.int32)

    def lists(self, value: str, count: str) -> tuple[Codes, Codes, Codes]:
        """Two columns of lists of equal lengths, as person, value and count of each entry."""
        values, counts = self._batch.column(value), self._batch.column(count)
        lengths = np.diff(values.offsets.to_numpy())
        person = np.repeat(np.arange(self.persons, dtype=np.int32), lengths)
        return person, values.flatten().to_numpy(), counts.flatten().to_numpy()


def columns_of(axes: Axes, chosen: Sequence[int]) -> list[str]:
    """The columns that tell on which side of cuts along some axes a person is.

    Parameters
    ----------
    axes
        The file's axes.
    chosen
        Indices of the axes.
    """
    names = {OF_PERSON, TIE, SECOND}
    for index in chosen:
        if index < len(axes.ordered):
            names |= {f"{each}{axes.ordered[index].place}" for each in "kwf"}
        else:
            one = axes.indicators[index - len(axes.ordered)]
            names.add(f"m{one.place}" if one.missing_bin < 0 else f"k{one.place}")
    return sorted(names)
