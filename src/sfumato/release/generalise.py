"""Give every class its released cells; classes that look the same become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.engines.embedded.counts import group
from sfumato.release.manifest import Manifest
from sfumato.release.options import Form
from sfumato.release.register.cells import Cells
from sfumato.release.released import ReleasedColumn, release_column
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn, Table

Codes = npt.NDArray[np.int32]
Released = dict[str, tuple[ReleasedColumn, ...]]


def generalised(
    table: Table, class_of: Codes, classes: int, manifest: Manifest, beside: Cells | None = None
) -> tuple[Released, Codes, int]:
    """Release every quasi-identifier; classes that look the same become one.

    Two classes of the tree may be given the same cells; a reader of the release sees one
    equivalence class. Its g, h, k and l are no worse than the worse of the two.

    With a population, the cells of a class hold what its persons of the register have too, or
    all values up to the cuts, so that an intruder who has the register finds them all there;
    categories are released as sets (unless labels of hierarchies are asked for), so that nobody
    else is found there.

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
    beside
        What cells must hold beside the records, where there is a population.

    Returns
    -------
    tuple
        The released columns by quasi-identifier, and for each class the class and the number
        of classes after merging.
    """
    released = {}
    for index, column in enumerate(table.quasi_identifiers):
        own, of, form = with_beside(column, class_of, index, manifest.options.form, beside)
        released[column.name] = release_column(own, of, classes, form)
    cells = [column for columns in released.values() for column in columns]
    merged, count = group(
        [column.text_of_class for column in cells], [len(column.texts) for column in cells]
    )
    _, first = np.unique(merged, return_index=True)
    return _of_classes(released, first), merged, count


def with_beside(
    column: CodedColumn, class_of: Codes, index: int, form: Form, beside: Cells | None
) -> tuple[CodedColumn, Codes, Form]:
    """What the cells of a quasi-identifier hold, the class of each, and their form.

    Parameters
    ----------
    column
        The quasi-identifier of the records.
    class_of
        Class of each record.
    index
        Its place among the quasi-identifiers.
    form
        The form that is asked for.
    beside
        What cells must hold beside the records, where there is a population.
    """
    if beside is None:
        return column, class_of, form
    own = replace(column, codes=np.concatenate([column.codes, beside.codes[index]]))
    of = np.concatenate([class_of, beside.class_of[index]])
    return own, of, _exact(column, form, whole=beside.whole)


def _exact(column: CodedColumn, form: Form, *, whole: bool) -> Form:
    """The form that says which values a class holds; a whole cell has values without a code."""
    if column.kind is not Kind.CATEGORICAL:
        return Form.RANGE if whole and form is Form.SET else form
    labelled = column.hierarchy is not None and form is Form.HIERARCHY
    return form if labelled else Form.SET


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
