"""A data set made ready for the tree: encoded, its persons, and how its sensitive values read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.release.persons import PersonTable, person_table
from sfumato.studies.kartal_li.data.data_set import DataSet
from sfumato.table.door import open_table
from sfumato.table.table import MISSING, Codes, Table


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read the sensitive attribute.

    Attributes
    ----------
    key
        Empty for the attribute as it stands, else ``rare``.
    codes
        The sensitive value of each record, `MISSING` where it does not count.
    by_person
        The persons with the distinct values of each.
    by_record
        The persons with the value of every record, so that what the tree counts as persons
        who share a value are records.
    values
        Number of different values.
    left_out
        Number of values that do not count.
    """

    key: str
    codes: Codes
    by_person: PersonTable
    by_record: PersonTable
    values: int
    left_out: int

    @property
    def attribute(self) -> str:
        """Name of the sensitive attribute."""
        return next(iter(self.by_person.sensitive))

    @property
    def most_shared(self) -> float:
        """Share of the persons who have the most shared value: no h* below it can be met."""
        whole = self.by_person.whole()
        return float(whole.affiliation[self.attribute][0] / whole.persons[0])

    @property
    def most_frequent(self) -> float:
        """Share of the records that have the most frequent value."""
        whole = self.by_record.whole()
        return float(whole.affiliation[self.attribute][0] / whole.records[0])


@dataclass(frozen=True, eq=False)
class Encoded:
    """A data set, encoded once.

    Attributes
    ----------
    data
        What is known of the data set.
    table
        Its records.
    persons
        Its persons.
    readings
        The sensitive attribute as it stands and, where the data set names a share that is too
        common, without the values that more persons have.
    """

    data: DataSet
    table: Table
    persons: PersonTable
    readings: tuple[Reading, ...]


def encode(records: pa.Table, data: DataSet) -> Encoded:
    """Encode the records of a data set.

    Parameters
    ----------
    records
        The joined records.
    data
        What is known of the data set.

    Raises
    ------
    InputError
        If a column does not hold what its role and kind need.
    """
    table = open_table(records, data.schema)
    persons = person_table(table)
    readings = [_reading("", table, persons, np.zeros(table.sensitive[0].domain.size, dtype=bool))]
    if data.common is not None:
        held = persons.sensitive[readings[0].attribute]
        common = np.bincount(held.values, minlength=held.size) > data.common * table.persons
        if common.any():
            readings.append(_reading("rare", table, persons, common))
    return Encoded(data, table, persons, tuple(readings))


def _reading(
    key: str, table: Table, persons: PersonTable, common: npt.NDArray[np.bool_]
) -> Reading:
    column, held = table.sensitive[0], persons.sensitive[table.sensitive[0].name]
    codes = np.where(common[column.codes], MISSING, column.codes).astype(np.int32)
    codes[column.codes == MISSING] = MISSING
    owner = np.repeat(np.arange(table.persons), np.diff(held.offsets))
    counts = ~common[held.values]
    distinct = replace(
        held,
        offsets=_offsets(owner[counts], table.persons),
        values=held.values[counts],
        counts=held.counts[counts],
    )
    times = distinct.counts
    each = replace(
        distinct,
        offsets=_offsets(np.repeat(owner[counts], times), table.persons),
        values=np.repeat(distinct.values, times),
        counts=np.ones(int(times.sum()), dtype=np.int64),
    )
    return Reading(
        key,
        codes,
        replace(persons, sensitive={column.name: distinct}),
        replace(persons, sensitive={column.name: each}),
        int(column.domain.size - common.sum()),
        int(common.sum()),
    )


def _offsets(owner: npt.NDArray[np.int64], persons: int) -> npt.NDArray[np.int64]:
    """Where each person's entries start, and the end."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=persons))])
