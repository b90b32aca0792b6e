"""Cut a data set under some constraints and measure the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from sfumato.release.constraints import Constraint
from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable
from sfumato.release.splits import Split
from sfumato.release.tree import grow
from sfumato.release.utility.normalized_error import normalized_error
from sfumato.risk.class_measures import gsar
from sfumato.risk.classes import summarize
from sfumato.studies.kartal_li.encoded import Reading
from sfumato.studies.study import Cell
from sfumato.table.table import Table


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


def shown(found: Measured | None, *names: str) -> tuple[Cell, ...]:
    """Some of the numbers as cells of a table, empty where nothing was measured."""
    return tuple(None if found is None else getattr(found, name) for name in names)


def can_hold(persons: PersonTable, constraints: Sequence[Constraint]) -> bool:
    """Whether all persons as one class meet the constraints; else no partition does."""
    whole = persons.whole()
    return all(bool(each.met(whole).all()) for each in constraints)


def cut(
    persons: PersonTable, constraints: Sequence[Constraint], split: Split = Split.BALANCE
) -> tuple[Partition, float]:
    """The paper's tree, which cuts at medians, and its seconds.

    Parameters
    ----------
    persons
        The persons to cut.
    constraints
        Promises about every class.
    split
        Which cut is tried first.
    """
    started = perf_counter()
    partition = grow(persons, constraints, split=split)
    return partition, perf_counter() - started


def measure(
    table: Table, partition: Partition, reading: Reading | None = None, seconds: float = 0.0
) -> Measured:
    """Measure the classes of a partition.

    Parameters
    ----------
    table
        The records.
    partition
        The class of each person.
    reading
        The sensitive values to measure; without it GSAR is left out.
    seconds
        Time of the partitioning.
    """
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
