"""Finish one node of the upper levels as if it were a file, wherever that is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.release.generalise import Released, generalised
from sfumato.release.loss import loss_space
from sfumato.release.manifest import Manifest
from sfumato.release.options import Cut, Form
from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable, person_table
from sfumato.release.promises.promise import Constraint
from sfumato.release.released_error import released_error
from sfumato.release.search import search
from sfumato.release.splits import rounded
from sfumato.release.tree import grow
from sfumato.table.table import Table

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Subtree:
    """The classes of some persons, and what they show.

    Attributes
    ----------
    class_of
        Class of each person; shape (persons,).
    classes
        Number of classes.
    released
        The released columns by quasi-identifier, of classes that look different.
    shown
        Which of these each class is: its cells are
        ``column.texts[column.text_of_class[shown[c]]]``; shape (classes,).
    """

    class_of: Codes
    classes: int
    released: Released
    shown: Codes


def finish_subtree(
    table: Table,
    ties: Ints,
    constraints: Sequence[Constraint],
    manifest: Manifest,
    *,
    frequencies: Mapping[str, Ints],
    whole: bool = False,
    progress: Progress = silent,
) -> Subtree:
    """Divide the persons of a node into classes, and give these their released cells.

    The classes do not depend on the order of the records, nor on how the persons are numbered
    where their ties differ. Costs as `sfumato.release.tree.grow` and, for ``cut="search"``,
    `sfumato.release.search.search`; needs memory in proportion to the node's records.

    Parameters
    ----------
    table
        The node's records, on the domains of the file; only codes and persons are read.
    ties
        The tie of each of its persons; shape (persons,).
    constraints
        Promises about every class. The node as one class must meet them.
    manifest
        What to do; its options ``cut``, ``split`` and ``values`` count.
    frequencies
        Records of the whole file with each value of each sensitive attribute, by its name.
    whole
        Whether the node is a whole file, and not one part of a larger one.
    progress
        Told how far the work is.
    """
    partition = partition_of_node(
        table,
        ties,
        constraints,
        manifest,
        frequencies=frequencies,
        whole=whole,
        progress=progress,
    )
    class_of = partition.class_of_person[table.person]
    released, shown, _ = generalised(table, class_of, partition.classes, manifest)
    return Subtree(partition.class_of_person, partition.classes, released, shown)


def partition_of_node(
    table: Table,
    ties: Ints,
    constraints: Sequence[Constraint],
    manifest: Manifest,
    *,
    frequencies: Mapping[str, Ints],
    whole: bool = False,
    progress: Progress = silent,
) -> Partition:
    """The classes alone, as `finish_subtree` makes them.

    Parameters
    ----------
    table, ties, constraints, manifest, frequencies, whole, progress
        As in `finish_subtree`.
    """
    owned = [person_table(table, ties, frequencies)]
    return partition_of_persons(table, owned, constraints, manifest, whole=whole, progress=progress)


def partition_of_persons(
    table: Table,
    owned: list[PersonTable],
    constraints: Sequence[Constraint],
    manifest: Manifest,
    *,
    whole: bool,
    progress: Progress = silent,
) -> Partition:
    """The same of persons whose records are gathered.

    With ``cut="search"`` the paper's tree is grown as well, and taken where its release loses
    less (ANE, compared at 11 significant digits).

    Parameters
    ----------
    table
        The node's records.
    owned
        The persons of the table, alone; the list is emptied, so that nobody need hold them.
    constraints, manifest, whole, progress
        As in `finish_subtree`.
    """
    options = manifest.options
    if options.cut is not Cut.SEARCH:
        return grow(owned.pop(), constraints, split=options.split, progress=progress)
    median = grow(owned[0], constraints, split=options.split, progress=progress)
    sets = options.form is Form.SET
    losses = [loss_space(owned[0], table.quasi_identifiers, sets=sets)]
    found = search(owned.pop(), losses.pop(), constraints, part=not whole, progress=progress)
    errors = np.array([released_error(table, each, manifest) for each in (found, median)])
    return (found, median)[int(np.argmin(rounded(errors)))]
