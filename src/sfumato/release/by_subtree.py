"""Partition a large file: its upper levels, and then every node of them by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.progress import Progress, silent
from sfumato.kernels.person_values import group_rows
from sfumato.kernels.threads import one_by_one
from sfumato.release.manifest import Manifest
from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable
from sfumato.release.promises.promise import Constraint
from sfumato.release.subtree import partition_of_node
from sfumato.release.upper import UPPER, cut_upper
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]


def partition_by_subtree(
    table: Table,
    owned: list[PersonTable],
    constraints: Sequence[Constraint],
    manifest: Manifest,
    *,
    upper: int = UPPER,
    progress: Progress = silent,
) -> Partition:
    """Cut a file into nodes of at most ``upper`` persons, and finish these on all processors.

    As many nodes at a time as there are processors, each by one, the largest first: O(d·N log N)
    for N persons and d quasi-identifiers. What is known of the persons is freed before that; the
    nodes' own is made again from the records.

    Parameters
    ----------
    table
        The records.
    owned
        Its persons, alone; the list is emptied.
    constraints
        Promises about every class. The file as one class must meet them.
    manifest
        What to do.
    upper
        The most persons of a node, but where no cut at the median keeps the promises.
    progress
        Told the share of persons whose class is final.
    """
    persons = owned[0]
    ties = np.zeros(persons.persons, dtype=np.int64) if persons.ties is None else persons.ties
    frequencies = {name: values.file for name, values in persons.sensitive.items()}
    del persons
    top = cut_upper(owned, constraints, split=manifest.options.split, upper=upper)
    node_of = top.class_of_person
    members, first = group_rows(node_of, top.classes)
    number = np.empty_like(node_of)
    number[members] = np.arange(len(members)) - np.repeat(first[:-1], np.diff(first))
    rows, start = group_rows(node_of[table.person], top.classes)

    def finished(node: int) -> Partition:
        some = rows[start[node] : start[node + 1]]
        part = _part(table, some, number[table.person[some]])
        own = ties[members[first[node] : first[node + 1]]]
        return partition_of_node(part, own, constraints, manifest, frequencies=frequencies)

    largest_first = np.argsort(-np.diff(first), kind="stable").tolist()
    tasks = [partial(finished, node) for node in largest_first]
    class_of = np.empty_like(node_of)
    classes, depth, done = 0, 0, 0
    for node, found in zip(largest_first, one_by_one(tasks), strict=True):
        own = members[first[node] : first[node + 1]]
        class_of[own] = found.class_of_person + np.int32(classes)
        classes += found.classes
        depth, done = max(depth, found.depth), done + len(own)
        progress("partition", done / len(members))
    return Partition(class_of, classes, top.depth + depth)


def _part(table: Table, rows: Codes, person: Codes) -> Table:
    """Some records with the persons' new numbers: codes and nothing else."""
    return replace(
        table,
        person=person,
        quasi_identifiers=tuple(
            replace(column, codes=column.codes[rows]) for column in table.quasi_identifiers
        ),
        sensitive=tuple(replace(column, codes=column.codes[rows]) for column in table.sensitive),
        source=pa.table({}),
        columns=(),
        warnings=(),
        household=None,
    )
