"""Subtrees on Spark: each is finished by one executor's task as if it were a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.spark.axes import Axes
from sfumato.engines.spark.names import (
    CLASS,
    NODE,
    OWN,
    PERSON,
    TIE,
    quasi_identifier,
    sensitive,
)
from sfumato.engines.spark.persons import OF_PERSON
from sfumato.engines.spark.routes import Routes
from sfumato.engines.spark.subtrees import by_node, numbered
from sfumato.engines.spark.table import SparkTable
from sfumato.release.generalisation import release_column
from sfumato.release.partitioning import Subtree, finish_subtree
from sfumato.release.promises.promise import Constraint
from sfumato.release.release_manifest import Manifest
from sfumato.schema import Schema
from sfumato.table.table import CodedColumn, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
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
    schema
        The schema.
    quasi_identifiers, sensitive
        The columns, without codes.
    frequencies
        Records of the file with each sensitive value, by the attribute's name.
    constraints
        Promises about every class.
    manifest
        What to do.
    whole
        Whether there is one subtree.
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
    """What every task must know of a file.

    Parameters
    ----------
    table
        The encoded file.
    constraints
        Promises about every class.
    manifest
        What to do.
    whole
        Whether there is one subtree.
    """
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

    Parameters
    ----------
    table
        The encoded file.
    people
        Its persons.
    axes
        Its axes.
    routes
        The upper levels.
    plan
        What to do.

    Returns
    -------
    DataFrame
        One row per person: ``sfumato_person``, ``sfumato_class``, ``sfumato_records``, and
        `cell`, `is_number` and `leaves` of each quasi-identifier.
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
    for place, released in enumerate(subtree.released.values()):
        for part, column in enumerate(released):
            texts = pa.array(column.texts, pa.string())
            columns[cell(place, part)] = texts.take(pa.array(column.text_of_class[shown]))
            columns[is_number(place, part)] = pa.repeat(column.is_number, persons)
        columns[leaves(place)] = released[0].leaves[shown].astype(np.int64)
    return columns
