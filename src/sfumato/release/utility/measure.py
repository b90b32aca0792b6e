"""Measure everything that a release loses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress, silent
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.release.generalise import with_beside
from sfumato.release.options import Form
from sfumato.release.register.cells import Cells as Beside
from sfumato.release.released import ReleasedColumn
from sfumato.release.utility.cells import released_cells
from sfumato.release.utility.certainty_penalty import certainty_penalty
from sfumato.release.utility.class_sizes import discernibility
from sfumato.release.utility.correlations import correlation_change
from sfumato.release.utility.distributions import Distribution, distribution
from sfumato.release.utility.normalized_error import normalized_error
from sfumato.release.utility.range_queries import Attribute, query_error
from sfumato.release.utility.result import ColumnLoss, Utility
from sfumato.release.utility.squared_error import squared_error
from sfumato.table.table import CodedColumn, Codes, Table

STAGE = "utility"


def measure_utility(
    table: Table,
    kept: npt.NDArray[np.bool_],
    class_of: Codes,
    classes: int,
    released: Mapping[str, tuple[ReleasedColumn, ...]],
    *,
    form: Form,
    rng: np.random.Generator,
    beside: Beside | None = None,
    progress: Progress = silent,
) -> Utility:
    """Measure what a release loses against the original file.

    Parameters
    ----------
    table
        The original file.
    kept
        Which of its records are released; shape (records,).
    class_of
        Class of each kept record; shape (kept records,). A person in several classes counts
        in each of them.
    classes
        Number of classes, none of them empty.
    released
        The released columns of each quasi-identifier.
    form
        The form in which they were released.
    rng
        Source of the random queries.
    beside
        What the cells hold beside the records, where there is a population.
    progress
        Told the share of the measures that is done.

    Raises
    ------
    InputError
        If no record is kept, or the arrays do not fit each other.
    """
    _check(table, kept, class_of, classes, released)
    person = table.person[kept]
    sizes = np.bincount(class_of, minlength=classes).astype(np.int64)
    suppressed = table.records - len(person)
    kept_persons = len(np.flatnonzero(np.bincount(person)))
    pair, pairs = number_by_first_appearance(
        person.astype(np.int64) * classes + class_of, table.persons * classes
    )
    unit = person if pairs == kept_persons else pair
    losses, distributions, attributes, columns = [], [], [], []
    for done, original in enumerate(table.quasi_identifiers):
        progress(STAGE, done / (len(table.quasi_identifiers) + 2))
        column = replace(original, codes=original.codes[kept])
        printed = released[column.name][0]
        held, of, own = with_beside(column, class_of, done, form, beside)
        cells = released_cells(held, of, classes, own, printed)
        shown = distribution(original, table.person, cells, sizes)
        penalty = certainty_penalty(held, of, classes, printed.leaves, own)
        ncp = (float(penalty @ sizes) + suppressed) / table.records
        losses.append(_loss(column, class_of, classes, unit, ncp, shown))
        distributions.append(shown)
        attributes.append(Attribute(original, cells))
        columns.append(column)
    progress(STAGE, len(columns) / (len(columns) + 2))
    correlations = correlation_change(columns, class_of, classes)
    progress(STAGE, (len(columns) + 1) / (len(columns) + 2))
    queries = query_error(attributes, sizes, rng)
    progress(STAGE, 1.0)
    return Utility.of_columns(
        tuple(losses),
        discernibility=discernibility(sizes, suppressed),
        average_class_records=len(person) / classes,
        average_class_persons=pairs / classes,
        records=table.records,
        persons=table.persons,
        suppressed_records=suppressed,
        suppressed_persons=table.persons - kept_persons,
        correlations=correlations,
        queries=queries,
        distributions=tuple(distributions),
    )


def _loss(
    column: CodedColumn,
    class_of: Codes,
    classes: int,
    person: Codes,
    ncp: float,
    shown: Distribution,
) -> ColumnLoss:
    ane, ane_persons = normalized_error(column, class_of, classes, person)
    squares = squared_error(column, class_of, classes)
    return ColumnLoss(
        column.name,
        column.kind,
        column.weight,
        ane,
        ane_persons,
        ncp,
        squares.sse,
        squares.sst,
        squares.ratio,
        shown.total_variation,
    )


def _check(
    table: Table,
    kept: npt.NDArray[np.bool_],
    class_of: Codes,
    classes: int,
    released: Mapping[str, tuple[ReleasedColumn, ...]],
) -> None:
    if len(kept) != table.records:
        raise InputError(
            "parameter kept",
            "must have one entry per record",
            found=f"{len(kept)} entries for {table.records} records",
        )
    records = int(np.count_nonzero(kept))
    if not records:
        raise InputError("parameter kept", "must keep at least one record", found="none")
    if len(class_of) != records:
        raise InputError(
            "parameter class_of",
            "must have one entry per kept record",
            found=f"{len(class_of)} entries for {records} kept records",
        )
    if class_of.min() < 0 or class_of.max() >= classes:
        raise InputError("parameter class_of", "must number the classes from 0 to classes - 1")
    missing = [each.name for each in table.quasi_identifiers if not released.get(each.name)]
    if missing:
        raise InputError(
            "parameter released",
            "must hold every quasi-identifier",
            found=f"none for {', '.join(missing)}",
        )
    for name, columns in released.items():
        if any(len(column.leaves) != classes for column in columns):
            raise InputError(f"released column '{name}'", "must have one cell per class")
