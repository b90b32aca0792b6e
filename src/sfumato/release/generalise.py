"""Give every class its released cells; classes that look the same become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.engines.embedded.counts import group
from sfumato.release.manifest import Manifest
from sfumato.release.released import ReleasedColumn, release_column
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]
Released = dict[str, tuple[ReleasedColumn, ...]]


def generalised(
    table: Table, class_of: Codes, classes: int, manifest: Manifest
) -> tuple[Released, Codes, int]:
    """Release every quasi-identifier; classes that look the same become one.

    Two classes of the tree may be given the same cells; a reader of the release sees one
    equivalence class. Its g, h, k and l are no worse than the worse of the two.

    Parameters
    ----------
    table
        The encoded records that are released.
    class_of
        Class of each record.
    classes
        Number of classes.
    manifest
        What to do.

    Returns
    -------
    tuple
        The released columns by quasi-identifier, and the class of each record and the number
        of classes after merging.
    """
    released = {
        column.name: release_column(column, class_of, classes, manifest.options.form)
        for column in table.quasi_identifiers
    }
    cells = [column for columns in released.values() for column in columns]
    merged, count = group(
        [column.text_of_class for column in cells], [len(column.texts) for column in cells]
    )
    _, first = np.unique(merged, return_index=True)
    return _of_classes(released, first), merged[class_of], count


def _of_classes(
    released: Mapping[str, tuple[ReleasedColumn, ...]], classes: npt.NDArray[np.intp]
) -> Released:
    return {
        name: tuple(
            replace(
                column,
                text_of_class=column.text_of_class[classes],
                leaves=column.leaves[classes],
            )
            for column in columns
        )
        for name, columns in released.items()
    }
