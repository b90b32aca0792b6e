"""What a release of some classes loses, before it is made."""

from __future__ import annotations

import numpy as np

from sfumato.release.generalise import generalised
from sfumato.release.manifest import Manifest
from sfumato.release.partition import Partition
from sfumato.release.register.cells import Cells, cells_of
from sfumato.release.utility.normalized_error import normalized_error
from sfumato.table.table import Table


def released_error(
    table: Table, partition: Partition, manifest: Manifest, register: Table | None = None
) -> float:
    """ANE of a release of these classes, those with the same cells being one.

    Parameters
    ----------
    table
        The records.
    partition
        The classes of their persons.
    manifest
        What to do.
    register
        The register that the partition knows.
    """
    class_of = partition.class_of_person[table.person]
    beside = beside_of(table, partition, register)
    _, merged, classes = generalised(table, class_of, partition.classes, manifest, beside)
    class_of = merged[class_of]
    columns = table.quasi_identifiers
    errors = [normalized_error(each, class_of, classes, table.person)[0] for each in columns]
    return float(np.average(errors, weights=[each.weight for each in columns]))


def beside_of(table: Table, partition: Partition, register: Table | None) -> Cells | None:
    """What the cells of the classes must hold; ``None`` without a population.

    The register's persons of each class or its whole cell, and the records of the class as it
    was divided: the cells that the population was counted for.

    Parameters
    ----------
    table, partition, register
        As in `released_error`.
    """
    of_register, cells = partition.class_of_register, partition.cells
    if register is not None and of_register is not None:
        cells = cells_of(register, of_register[register.person])
    if cells is None:
        return None
    return cells.joined(cells_of(table, partition.class_of_person[table.person]))
