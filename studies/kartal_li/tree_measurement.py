"""A data set of Section 6 cut by the paper's tree under constraints, and its classes measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.release.information_loss import normalized_error
from sfumato.release.person_table import PersonTable, person_table
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.k_anonymity import KAnonymity, PidKAnonymity
from sfumato.release.promises.l_diversity import LDiversity
from sfumato.release.promises.promise import TOLERANCE, Constraint, Verdicts
from sfumato.release.release_options import Split
from sfumato.release.tree import Partition, grow
from sfumato.risk.class_measures import gsar
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.table.door import open_table
from sfumato.table.table import MISSING, Codes, Table
from studies.kartal_li.data_sets import DataSet
from studies.study_document import Cell, Grid, Section, columns


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
        sensitive = persons.sensitive[readings[0].attribute]
        common = (
            np.bincount(sensitive.values, minlength=sensitive.size) > data.common * table.persons
        )
        if common.any():
            readings.append(_reading("rare", table, persons, common))
    return Encoded(data, table, persons, tuple(readings))


def _reading(key: str, table: Table, persons: PersonTable, common: Bools) -> Reading:
    column, sensitive = table.sensitive[0], persons.sensitive[table.sensitive[0].name]
    codes = np.where(common[column.codes], MISSING, column.codes).astype(np.int32)
    codes[column.codes == MISSING] = MISSING
    owner = np.repeat(np.arange(table.persons), np.diff(sensitive.offsets))
    counts = ~common[sensitive.values]
    distinct = replace(
        sensitive,
        offsets=_offsets(owner[counts], table.persons),
        values=sensitive.values[counts],
        counts=sensitive.counts[counts],
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


def _offsets(owner: Ints, persons: int) -> Ints:
    """Where each person's entries start, and the end."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=persons))])


@dataclass(frozen=True)
class LByFrequency:
    """Every class has max_j k_j / k ≤ 1/l, k counting records (paper 003, Section 4).

    Reads the affiliations of persons who hold the value of every record: see `Reading.by_record`.

    Parameters
    ----------
    l
        The threshold, 1 or more.
    """

    l: float  # noqa: E741

    @property
    def name(self) -> str:
        """``l_by_frequency``."""
        return "l_by_frequency"

    @property
    def needs(self) -> frozenset[str]:
        """``affiliation``."""
        return frozenset({"affiliation"})

    def met(self, classes: ClassSummary) -> Verdicts:
        """k_j ≤ k/l in every class for the most frequent value, with a tolerance."""
        verdicts: Verdicts = np.ones(classes.classes, dtype=bool)
        for frequent in classes.affiliation.values():
            verdicts &= frequent <= (1 / self.l + TOLERANCE) * classes.records
        return verdicts

    def shortfall(self, whole: ClassSummary) -> str:
        """The threshold; the study skips it where the whole file breaks it."""
        return f"l_by_frequency asks for at most 1/{self.l:.4g} of the records."

    def offenders(self, persons: PersonTable) -> Ints:
        """None: the study removes nobody."""
        return np.empty(0, dtype=np.int64)

    def parameters(self) -> Mapping[str, Any]:
        """The threshold."""
        return {"l": self.l}


@dataclass(frozen=True)
class Measured:
    """What a partition gives away and loses; shares in [0, 1].

    Attributes
    ----------
    classes
        Number of classes.
    max_gidr, avg_gidr
        GIDR over the classes (Section 7).
    ane
        Average normalised error over records, against the means of the classes (Section 7).
    seconds
        Time of the partitioning.
    max_gsar, avg_gsar
        GSAR over the classes (Section 8); 0 where it is not asked for.
    """

    classes: int
    max_gidr: float
    avg_gidr: float
    ane: float
    seconds: float
    max_gsar: float = 0.0
    avg_gsar: float = 0.0


def cells_of(found: Measured | None, *names: str) -> tuple[Cell, ...]:
    """Some of the numbers as cells of a table, empty where nothing was measured."""
    return tuple(None if found is None else getattr(found, name) for name in names)


class Cut(NamedTuple):
    """The classes that the tree makes of a data set, and its seconds."""

    partition: Partition
    seconds: float


def cut(
    persons: PersonTable, constraints: Sequence[Constraint], split: Split = Split.BALANCE
) -> Cut | None:
    """The paper's tree, which cuts at medians.

    ``None`` where all persons as one class break a constraint, for then every partition does.

    Parameters
    ----------
    persons
        The persons to cut.
    constraints
        Promises about every class.
    split
        Which cut is tried first.
    """
    whole = persons.whole()
    if not all(bool(constraint.met(whole).all()) for constraint in constraints):
        return None
    started = perf_counter()
    partition = grow(persons, constraints, split=split)
    return Cut(partition, perf_counter() - started)


def measure(table: Table, found: Cut, reading: Reading | None = None) -> Measured:
    """Measure the classes of a cut.

    Parameters
    ----------
    table
        The records.
    found
        The class of each person, and the seconds that it took.
    reading
        The sensitive values to measure; without it GSAR is left out.
    """
    partition, seconds = found
    class_of, classes = partition.class_of_person[table.person], partition.classes
    gidr = partition.gidr(np.bincount(table.person, minlength=table.persons).astype(np.int64))
    errors = [
        normalized_error(column, class_of, classes, table.person)[0]
        for column in table.quasi_identifiers
    ]
    shared = np.zeros(1)
    if reading is not None:
        name = reading.attribute
        shared = gsar(summarize(class_of, classes, table.person, {name: reading.codes}), name)
    return Measured(
        classes,
        float(gidr.max()),
        float(gidr.mean()),
        float(np.mean(errors)),
        seconds,
        float(shared.max()),
        float(shared.mean()),
    )


@dataclass(frozen=True)
class Part:
    """One of the three constraints.

    Attributes
    ----------
    name
        Name of the constraint.
    symbol
        How the paper writes its threshold.
    caption
        What a table's part shows.
    constraint
        Makes the constraint of a threshold.
    split
        Which cut is tried first.
    persons
        The number of persons that a threshold stands for: k, K or 1/(1 - g) (Equation 3).
    of_persons
        The threshold that stands for a number of persons.
    digits
        Decimal places of the threshold.
    """

    name: str
    symbol: str
    caption: str
    constraint: Callable[[float], Constraint]
    split: Split
    persons: Callable[[float], float]
    of_persons: Callable[[float], float]
    digits: int


_COUNTED = (Split.VARIANCE, float, float, 0)
"""k and K are numbers of persons themselves."""
PARTS = (
    Part("k", "k", "k-anonymity", lambda k: KAnonymity(int(k)), *_COUNTED),
    Part("pid_k", "K", "PID-based K-anonymity", lambda k: PidKAnonymity(int(k)), *_COUNTED),
    Part(
        "g_balance",
        "g",
        "g-balance",
        GBalance,
        Split.BALANCE,
        lambda g: 1 / (1 - g),
        lambda persons: 1 - 1 / persons,
        4,
    ),
)


def geometric(least: float, most: float, steps: int) -> list[float]:
    """So many numbers from ``least`` to ``most``, each a fixed multiple of the one before."""
    if most <= least:
        return [least]
    return [float(each) for each in np.geomspace(least, most, steps)]


def counts(most: int, steps: int) -> list[int]:
    """Different whole numbers from 2 to ``most``, nearly geometric."""
    return sorted({round(each) for each in geometric(2, max(most, 2), steps)})


def refine(
    tried: Sequence[tuple[float, float]],
    target: float,
    risk_at: Callable[[float], float | None],
    halvings: int,
    *,
    whole: bool,
) -> None:
    """Try thresholds between the first that meets a target and the one before it.

    Parameters
    ----------
    tried
        Thresholds and their risks, from loose to strict.
    target
        Largest risk allowed.
    risk_at
        Tries a threshold and gives its risk; ``None`` where nothing can keep it.
    halvings
        How often the step between the two is halved.
    whole
        Whether thresholds are whole numbers.
    """
    first = next((i for i, (_threshold, risk) in enumerate(tried) if risk <= target), 0)
    if not first:
        return
    loose, strict = tried[first - 1][0], tried[first][0]
    for _ in range(halvings):
        middle = float(round((loose * strict) ** 0.5) if whole else (loose * strict) ** 0.5)
        risk = None if middle in {loose, strict} else risk_at(middle)
        if risk is None:
            return
        if risk <= target:
            strict = middle
        else:
            loose = middle


DECOMPOSITION_THRESHOLDS = (2, 3, 5, 10, 20)
"""k and l; both promise a chance of at most 1/k."""
_MEASURES = ("max_gidr", "avg_gidr", "max_gsar", "avg_gsar", "ane", "classes")
_COLUMNS = columns(
    "k=k = l; promised=Promised % .2%; max_gidr=MaxGIDR % .2%; avg_gidr=AvgGIDR % .2%; "
    "max_gsar=MaxGSAR % .2%; avg_gsar=AvgGSAR % .2%; ane=ANE .4; classes=Classes; "
    "proposed_max_gidr=MaxGIDR % g and h .2%; proposed_avg_gidr=AvgGIDR % g and h .2%; "
    "proposed_max_gsar=MaxGSAR % g and h .2%; proposed_avg_gsar=AvgGSAR % g and h .2%; "
    "proposed_ane=ANE g and h .4; proposed_classes=Classes g and h"
)


@dataclass(frozen=True)
class DecompositionRow:
    """One k = l of the baseline.

    Attributes
    ----------
    k
        Individuals per class and distinct values per class.
    joined
        What was measured after the join; ``None`` where the whole file has fewer.
    proposed
        The same with g* = 1 - 1/k and h* = 1/k (Equations 3 and 6) on the records; ``None``
        where no partition can meet both.
    """

    k: int
    joined: Measured | None
    proposed: Measured | None


def person_rows(table: Table, persons: PersonTable) -> PersonTable:
    """The persons as the first of the two tables has them, with their values from the second.

    The first table is the projection of the records on the person and the quasi-identifiers:
    one row per person, or several where a quasi-identifier varies. A person's number of records
    is unknown to it.

    Parameters
    ----------
    table
        The records.
    persons
        The persons of the records, with their distinct sensitive values (the second table).
    """
    keys = np.column_stack([table.person, *(column.codes for column in table.quasi_identifiers)])
    _, first = np.unique(keys, axis=0, return_index=True)
    return replace(person_table(table.take(np.sort(first))), sensitive=persons.sensitive)


def decompose(
    table: Table,
    persons: PersonTable,
    k: int,
    l: int,  # noqa: E741
) -> Cut | None:
    """Classes of at least k individuals with at least l distinct values.

    ``None`` where the whole file has fewer.

    Parameters
    ----------
    table
        The records.
    persons
        Their persons, with their distinct sensitive values.
    k
        Least number of individuals, by the first table.
    l
        Least number of distinct values, by the second.
    """
    return cut(person_rows(table, persons), [PidKAnonymity(k), LDiversity(l)], Split.VARIANCE)


def decomposition_rows(
    encoded: Encoded, reading: Reading, progress: Progress = silent
) -> tuple[DecompositionRow, ...]:
    """Anonymise the two tables apart, join them, and measure what remains.

    Parameters
    ----------
    encoded
        The data set.
    reading
        How its sensitive values read.
    progress
        Told the share that is done.
    """
    rows = []
    for done, k in enumerate(DECOMPOSITION_THRESHOLDS):
        progress("Section 2", done / len(DECOMPOSITION_THRESHOLDS))
        joined = decompose(encoded.table, reading.by_person, k, k)
        proposed = cut(reading.by_person, [GBalance(k=k), HAffiliation(l=k)])
        rows.append(
            DecompositionRow(
                k,
                joined and measure(encoded.table, joined, reading),
                proposed and measure(encoded.table, proposed, reading),
            )
        )
    progress("Section 2", 1.0)
    return tuple(rows)


def decomposition_section(
    encoded: Encoded, reading: Reading, rows: Sequence[DecompositionRow]
) -> Section:
    """What the post-decomposition baseline leaves, beside g-balance and h-affiliation.

    Parameters
    ----------
    encoded
        The data set.
    reading
        How its sensitive values read.
    rows
        The rows of the table.
    """
    rest = f" Values of few {encoded.data.persons} only." if reading.key else ""
    return Section(
        f"Decomposition into two tables in the {encoded.data.key} data (Section 2)",
        (
            (
                "The first table has the person and the quasi-identifiers: classes of at least k "
                "individuals, cut by the largest variance. The second has the person and the "
                "sensitive values: at least l = k distinct ones per class. Joined on the person, "
                "the records are back, and with them the risks. Beside it: g-balance and "
                "h-affiliation on the records at g\\* = 1 − 1/k and h\\* = 1/k; empty where no "
                f"partition can meet both.{rest}"
            ),
        ),
        (_decomposition_grid(f"decomposition_{encoded.data.key}", rows),),
    )


def _decomposition_grid(name: str, rows: Sequence[DecompositionRow]) -> Grid:
    cells = tuple(
        (row.k, 1 / row.k, *cells_of(row.joined, *_MEASURES), *cells_of(row.proposed, *_MEASURES))
        for row in rows
    )
    caption = "What remains after k-anonymity and l-diversity on two tables, joined"
    return Grid(name, caption, _COLUMNS, cells)
