"""Divide an encoded file on Spark into classes, as one machine would divide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Ints
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import ConstraintsNotMetError
from sfumato.core.optional_packages import needed
from sfumato.engines.spark.cut_selection import side_counts
from sfumato.engines.spark.spark_persons import (
    OF_PERSON,
    Axes,
    Routes,
    SparkTable,
    axes_of,
    by_node,
    numbered,
    persons_frame,
    unrouted,
)
from sfumato.engines.spark.spark_session import (
    CLASS,
    NODE,
    OWN,
    PERSON,
    TIE,
    cut_lineage,
    derived,
    quasi_identifier,
    release,
    released,
    said_plainly,
    sensitive,
    watched,
)
from sfumato.release.cuts import class_summary
from sfumato.release.generalisation import release_column
from sfumato.release.on_spark.upper_levels import OF_VALUES, cut_upper_on_spark, with_counts
from sfumato.release.partitioning import SUBTREE_PERSONS, Subtree, finish_subtree
from sfumato.release.promises.promise import Budget, Constraint, unmet
from sfumato.release.release_manifest import Manifest
from sfumato.release.tree import TreeClasses
from sfumato.risk.classes import ClassSummary
from sfumato.schema import Schema
from sfumato.table.table import CodedColumn, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


CLASSES = 1 << 31
"""More than the classes of any subtree: class c of node n is ``n * CLASSES + c``."""


def cell(place: int, part: int) -> str:
    """The column of a released cell as text: of a quasi-identifier, and which of its columns."""
    return f"{OWN}c{place}_{part}"


def leaves(place: int) -> str:
    """The column of how many values of the domain a quasi-identifier's cell may stand for."""
    return f"{OWN}l{place}"


def is_number(place: int, part: int) -> str:
    """The column of whether every cell of the subtree is one number."""
    return f"{OWN}n{place}_{part}"


@dataclass(frozen=True, eq=False)
class Plan:
    """What every task knows of the file and of the release.

    Attributes
    ----------
    quasi_identifiers, sensitive
        The columns, without codes.
    frequencies
        Records of the file with each sensitive value, by the attribute's name.
    """

    schema: Schema
    quasi_identifiers: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    frequencies: Mapping[str, Ints]
    constraints: tuple[Constraint, ...]
    manifest: Manifest
    whole: bool

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the released columns of each quasi-identifier."""
        # One record in one class is enough, as names depend on the column and the form only.
        nothing = np.zeros(1, dtype=np.int32)
        form = self.manifest.options.form
        return tuple(
            tuple(
                each.name
                for each in release_column(replace(column, codes=nothing), nothing, 1, form)
            )
            for column in self.quasi_identifiers
        )

    @property
    def cells(self) -> list[str]:
        """The columns of what is shown of each person."""
        return [
            name
            for place, parts in enumerate(self.names)
            for name in (*(cell(place, part) for part in range(len(parts))), leaves(place))
        ]


def plan_of(
    table: SparkTable, constraints: tuple[Constraint, ...], manifest: Manifest, *, whole: bool
) -> Plan:
    """What every task must know of a file."""
    return Plan(
        table.schema,
        table.quasi_identifiers,
        table.sensitive,
        {column.name: table.value_counts[column.name] for column in table.sensitive},
        constraints,
        manifest,
        whole,
    )


def finished(
    table: SparkTable, people: DataFrame, axes: Axes, routes: Routes, plan: Plan
) -> DataFrame:
    """Each person's class and released cells; lazy.

    A row has ``sfumato_person``, ``sfumato_class``, ``sfumato_records``, and `cell`, `is_number`
    and `leaves` of each quasi-identifier.
    """
    person = table.frame.schema[PERSON].dataType.simpleString()
    fields = [f"{PERSON} {person}", f"{CLASS} bigint", f"{OF_PERSON} bigint"]
    for place, names in enumerate(plan.names):
        for part in range(len(names)):
            fields += [f"{cell(place, part)} string", f"{is_number(place, part)} boolean"]
        fields.append(f"{leaves(place)} bigint")
    return by_node(table, people, axes, routes, partial(_finish, plan=plan), ", ".join(fields))


def _finish(records: pa.Table, plan: Plan) -> pa.Table:
    """The persons of one node."""
    ids, person = numbered(records.column(PERSON))
    ties = np.zeros(len(ids), dtype=np.int64)
    ties[person] = records.column(TIE).to_numpy()
    nothing: Any = pa.table({})
    part = Table(
        schema=plan.schema,
        person=person,
        quasi_identifiers=_coded(plan.quasi_identifiers, records, quasi_identifier),
        sensitive=_coded(plan.sensitive, records, sensitive),
        source=nothing,
        columns=(),
    )
    subtree = finish_subtree(
        part,
        ties,
        plan.constraints,
        plan.manifest.options,
        frequencies=plan.frequencies,
        whole=plan.whole,
    )
    node = records.column(NODE)[0].as_py()
    columns: dict[str, Any] = {
        PERSON: ids,
        CLASS: node * CLASSES + subtree.class_of.astype(np.int64),
        OF_PERSON: np.bincount(person, minlength=len(ids)).astype(np.int64),
    }
    return pa.table(columns | _cells(subtree, len(ids)))


def _coded(
    columns: tuple[CodedColumn, ...], records: pa.Table, name: Any
) -> tuple[CodedColumn, ...]:
    return tuple(
        replace(column, codes=records.column(name(place)).to_numpy().astype(np.int32))
        for place, column in enumerate(columns)
    )


def _cells(subtree: Subtree, persons: int) -> dict[str, Any]:
    shown = subtree.shown[subtree.class_of]
    columns: dict[str, Any] = {}
    for place, parts in enumerate(subtree.released.values()):
        for part, column in enumerate(parts):
            texts = pa.array(column.texts, pa.string())
            columns[cell(place, part)] = texts.take(pa.array(column.text_of_class[shown]))
            columns[is_number(place, part)] = pa.repeat(column.is_number, persons)
        columns[leaves(place)] = parts[0].leaves[shown].astype(np.int64)
    return columns


STAGE = "partition"
_PERSONS, _UPPER = 0.2, 0.5
"""Shares of the work that are done when the persons and the upper levels are known."""
ELSEWHERE = (
    "take engine='embedded', which can cap the records of a person, make their numbers coarser "
    "or suppress people, and says what each would lose"
)
"""What may help where promises cannot be met: nothing that Spark does."""


@dataclass(frozen=True, eq=False)
class DividedOnSpark:
    """Persons in classes that keep the promises.

    Attributes
    ----------
    classes
        One row per person, kept in files until `sfumato.engines.spark.spark_session.release`:
        ``sfumato_person``; ``sfumato_class``, the class of the tree; ``sfumato_c{i}_{j}``, the
        cell of the quasi-identifier i as text, j counting its released columns, null for an
        empty cell; and ``sfumato_l{i}``, how many values of the domain the cell may stand for.
    numbers
        Per released column: whether every cell is one number.
    """

    classes: DataFrame
    numbers: tuple[bool, ...]
    names: tuple[tuple[str, ...], ...]
    tree: TreeClasses
    levels: int
    subtrees: int


def divide_on_spark(
    table: SparkTable,
    manifest: Manifest,
    *,
    upper: int = SUBTREE_PERSONS,
    progress: Progress = silent,
) -> DividedOnSpark:
    """Divide the persons of a file as the manifest says.

    The classes are those of `sfumato.release.partitioning.divide`, with the same ``upper``,
    whatever the partitions and the order of the records. The driver needs memory for the domains
    and some hundred megabytes; an executor's task for the records of ``upper`` persons, or of a
    node that no cut at the median divides without breaking a promise.

    Parameters
    ----------
    manifest
        What to do; nothing that `sfumato.release.on_spark.spark_refusals` refuses.

    Raises
    ------
    ConstraintsNotMetError
        If even all records in one class break a constraint.
    """
    constraints = tuple(
        constraint for constraint in manifest.constraints if not isinstance(constraint, Budget)
    )
    needs = frozenset[str]().union(*(constraint.needs for constraint in constraints))
    # Sensitive values are gathered with the persons only for promises that count them.
    axes = axes_of(table, sensitive=bool(needs & OF_VALUES))
    session = table.frame.sparkSession
    with said_plainly("gather the people"), watched(session, progress, STAGE, 0.0, _PERSONS):
        # Every level reads the persons again. With their lineage each would gather them from the
        # records anew.
        people = cut_lineage(persons_frame(table, axes))
    with released(people), said_plainly("divide the people"):
        names = [column.name for column in table.sensitive]
        whole = _whole(people, axes, names, needs)
        _check(whole, constraints)
        with watched(session, silent, STAGE):
            found = cut_upper_on_spark(
                people,
                axes,
                whole,
                names,
                constraints,
                split=manifest.options.split,
                upper=upper,
                progress=_between(progress, _PERSONS, _UPPER),
            )
        # As on one machine: a file that is one subtree is searched as a whole file.
        plan = plan_of(table, constraints, manifest, whole=table.persons <= upper)
        with watched(session, progress, STAGE, _UPPER, 1.0, jobs=4), ExitStack() as unless_failed:
            frame = cut_lineage(finished(table, people, axes, found.routes, plan))
            # The files are freed here only if counting them fails. Otherwise the caller frees them.
            unless_failed.callback(release, frame)
            tree, numbers = _tree(frame, plan.names)
            unless_failed.pop_all()
    return DividedOnSpark(
        classes=derived(frame.select(PERSON, CLASS, *plan.cells), frame),
        numbers=numbers,
        names=plan.names,
        tree=tree,
        levels=found.levels,
        subtrees=len(found.ends),
    )


def _between(progress: Progress, low: float, high: float) -> Progress:
    """Progress of a part of the work."""
    return lambda stage, share: progress(stage, low + (high - low) * share)


def _whole(
    people: DataFrame, axes: Axes, names: Sequence[str], needs: frozenset[str]
) -> ClassSummary:
    """All persons as one class."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    records = functions.col(OF_PERSON)
    row = people.agg(
        functions.sum(records),
        functions.count(records),
        functions.sum(records * records),
        functions.max(records),
    ).collect()[0]
    sizes = [np.array([each], dtype=np.int64) for each in row]
    whole = replace(class_summary(*sizes[:3]), largest=sizes[3])
    asked = {"values": bool(needs & OF_VALUES), "numbers": "fewest_sharing" in needs}
    if not any(asked.values()):
        return whole
    # Before any cut all persons are in node 0, whose counts are those of the whole.
    counts = side_counts(people, axes, unrouted(), np.zeros(1, dtype=np.int64), **asked)
    return with_counts(whole, counts, axes, names)


def _check(whole: ClassSummary, constraints: Sequence[Constraint]) -> None:
    """Refuse promises that all records in one class break."""
    broken = unmet(whole, constraints)
    if broken:
        raise ConstraintsNotMetError(
            tuple(constraint.shortfall(whole) for constraint in broken), (ELSEWHERE,)
        )


def _tree(kept: DataFrame, names: Sequence[Sequence[str]]) -> tuple[TreeClasses, tuple[bool, ...]]:
    """The classes of the tree, and which released columns are numbers everywhere."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    flags = [
        is_number(place, part) for place, name in enumerate(names) for part in range(len(name))
    ]
    # A column is one of numbers only if it is so in every subtree.
    every = [functions.bool_and(flag).alias(flag) for flag in flags]
    largest = functions.max(OF_PERSON) / functions.sum(OF_PERSON)
    of_classes = kept.groupBy(CLASS).agg(largest.alias("gidr"), *every)
    row = of_classes.agg(
        functions.count("gidr"), functions.max("gidr"), functions.avg("gidr"), *every
    ).collect()[0]
    classes, most, mean, *numbers = row
    return TreeClasses(int(classes), float(most), float(mean)), tuple(map(bool, numbers))
