"""Divide an encoded file on Spark into classes, as one machine would divide it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.core.errors import ConstraintsNotMetError
from sfumato.core.optional_packages import needed
from sfumato.core.shared_options import Progress, silent
from sfumato.engines.spark.axes import Axes, axes_of
from sfumato.engines.spark.checkpoint import cut_lineage, derived, release, released
from sfumato.engines.spark.names import CLASS, PERSON
from sfumato.engines.spark.persons import OF_PERSON, persons_frame
from sfumato.engines.spark.progress import watched
from sfumato.engines.spark.routes import unrouted
from sfumato.engines.spark.session import said_plainly
from sfumato.engines.spark.sides import side_counts
from sfumato.engines.spark.table import SparkTable
from sfumato.release.cuts import class_summary
from sfumato.release.on_spark.subtrees import finished, is_number, plan_of
from sfumato.release.on_spark.upper import OF_VALUES, cut_upper_on_spark, with_counts
from sfumato.release.partitioning import SUBTREE_PERSONS
from sfumato.release.promises.promise import Budget, Constraint, unmet
from sfumato.release.release_manifest import Manifest
from sfumato.release.tree import TreeClasses
from sfumato.risk.classes import ClassSummary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STAGE = "partition"
_PERSONS, _UPPER = 0.2, 0.5
"""Shares of the work that are done when the persons and the upper levels are known."""
ELSEWHERE = (
    "take engine='embedded', which can cap the records of a person, make their numbers coarser "
    "or suppress persons, and says what each would lose"
)
"""What may help where promises cannot be met: nothing that Spark does."""


@dataclass(frozen=True, eq=False)
class DividedOnSpark:
    """Persons in classes that keep the promises.

    Attributes
    ----------
    classes
        One row per person, kept in files until `sfumato.engines.spark.checkpoint.release`:
        ``sfumato_person``; ``sfumato_class``, the class of the tree; ``sfumato_c{i}_{j}``, the
        cell of the quasi-identifier i as text, j counting its released columns, null for an
        empty cell; and ``sfumato_l{i}``, how many values of the domain the cell may stand for.
    numbers
        Per released column: whether every cell is one number.
    names
        Names of the released columns of each quasi-identifier.
    tree
        The classes before those that look the same become one.
    levels
        Number of upper levels.
    subtrees
        Number of nodes that were finished by one task each.
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
    table
        The encoded file.
    manifest
        What to do; nothing that `sfumato.release.on_spark.refused` refuses.
    upper
        The most persons of a subtree.
    progress
        Told how far the stage "partition" is.

    Raises
    ------
    ConstraintsNotMetError
        If even all records in one class break a constraint.
    """
    constraints = tuple(each for each in manifest.constraints if not isinstance(each, Budget))
    needs = frozenset[str]().union(*(each.needs for each in constraints))
    axes = axes_of(table, sensitive=bool(needs & OF_VALUES))
    session = table.frame.sparkSession
    with said_plainly("gather the persons"), watched(session, progress, STAGE, 0.0, _PERSONS):
        people = cut_lineage(persons_frame(table, axes))
    with released(people), said_plainly("divide the persons"):
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
        plan = plan_of(table, constraints, manifest, whole=table.persons <= upper)
        with watched(session, progress, STAGE, _UPPER, 1.0, jobs=4), ExitStack() as unless_failed:
            kept = cut_lineage(finished(table, people, axes, found.routes, plan))
            unless_failed.callback(release, kept)
            tree, numbers = _tree(kept, plan.names)
            unless_failed.pop_all()
    return DividedOnSpark(
        classes=derived(kept.select(PERSON, CLASS, *plan.cells), kept),
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
    counts = side_counts(people, axes, unrouted(), np.zeros(1, dtype=np.int64), **asked)
    return with_counts(whole, counts, axes, names)


def _check(whole: ClassSummary, constraints: Sequence[Constraint]) -> None:
    """Refuse promises that all records in one class break."""
    broken = unmet(whole, constraints)
    if broken:
        raise ConstraintsNotMetError(tuple(each.shortfall(whole) for each in broken), (ELSEWHERE,))


def _tree(kept: DataFrame, names: Sequence[Sequence[str]]) -> tuple[TreeClasses, tuple[bool, ...]]:
    """The classes of the tree, and which released columns are numbers everywhere."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    flags = [is_number(place, part) for place, own in enumerate(names) for part in range(len(own))]
    every = [functions.bool_and(flag).alias(flag) for flag in flags]
    largest = functions.max(OF_PERSON) / functions.sum(OF_PERSON)
    of_classes = kept.groupBy(CLASS).agg(largest.alias("gidr"), *every)
    row = of_classes.agg(
        functions.count("gidr"), functions.max("gidr"), functions.avg("gidr"), *every
    ).collect()[0]
    classes, most, mean, *numbers = row
    return TreeClasses(int(classes), float(most), float(mean)), tuple(map(bool, numbers))
