"""Make a release from an encoded file: partition, generalise, measure, assemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.release.assemble import assemble, person_pseudonyms
from sfumato.release.constraints import Budget, Constraint
from sfumato.release.manifest import Manifest
from sfumato.release.options import Options
from sfumato.release.persons import PersonTable, person_table
from sfumato.release.released import ReleasedColumn, release_column
from sfumato.release.remedies import capped_rows, not_met, overspent, suppressed_rows, unmet
from sfumato.release.result import Release, TreeClasses
from sfumato.release.tree import grow
from sfumato.release.utility import measure_utility
from sfumato.risk.assess import assess
from sfumato.risk.measures import measure_classes
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]
Released = dict[str, tuple[ReleasedColumn, ...]]


def make_release(
    table: Table, manifest: Manifest, key: bytes | None = None, progress: Progress = silent
) -> Release:
    """Make the release that a manifest describes.

    Parameters
    ----------
    table
        The encoded original.
    manifest
        What to do, with the seed of every random choice.
    key
        Secret for keyed pseudonyms; ``None`` for random ones.
    progress
        Told how far the work is.

    Raises
    ------
    ConstraintsNotMetError
        If even all records in one class break a constraint.
    InputError
        If the key is too short.
    """
    options = manifest.options
    rng = np.random.default_rng(manifest.seed)
    budgets = [each for each in manifest.constraints if isinstance(each, Budget)]
    constraints = [each for each in manifest.constraints if not isinstance(each, Budget)]
    rows, part, persons = _remaining(table, constraints, budgets, options, rng)
    partition = grow(persons, constraints, budgets, split=options.split, progress=progress)
    released, class_of, classes = generalised(
        part, partition.class_of_person[part.person], partition.classes, manifest
    )
    gidr = partition.gidr(persons.records)
    order = np.arange(part.records) if options.keep_order else rng.permutation(part.records)
    pseudonyms = person_pseudonyms(part, key, rng)
    progress("measure", 0.0)
    risk = measure_classes(
        *group([class_of[order]], [classes]),
        part.person[order],
        {column.name: column.codes[order] for column in part.sensitive},
        threshold=options.threshold,
        warnings=part.warnings,
    )
    kept = np.zeros(table.records, dtype=bool)
    kept[rows] = True
    utility = measure_utility(
        table, kept, class_of, classes, released, form=options.values, rng=rng
    )
    progress("measure", 1.0)
    return Release(
        table=assemble(part, released, class_of, pseudonyms, order),
        schema=table.schema,
        constraints=manifest.constraints,
        risk_before=assess(table, table.schema, threshold=options.threshold),
        risk=risk,
        utility=utility,
        tree=TreeClasses(partition.classes, float(gidr.max()), float(gidr.mean())),
        manifest=manifest,
        warnings=table.warnings,
    )


def _remaining(
    table: Table,
    constraints: list[Constraint],
    budgets: list[Budget],
    options: Options,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.int64], Table, PersonTable]:
    """What remains after capping and, where the constraints need it, suppression.

    Raises
    ------
    ConstraintsNotMetError
        If what remains still breaks a constraint.
    """
    rows = np.arange(table.records)
    part = table
    if options.cap_records is not None:
        rows = capped_rows(table, options.cap_records, rng)
        part = table.take(rows)
    persons = person_table(part)
    if not unmet(persons.whole(), constraints) and not overspent(persons.whole(), budgets):
        return rows, part, persons
    remaining = None
    if options.suppress > 0:
        remaining = suppressed_rows(part, constraints, budgets, options.suppress)
    if remaining is None:
        raise not_met(part, persons, constraints, budgets)
    part = part.take(remaining)
    return rows[remaining], part, person_table(part)


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
        column.name: release_column(column, class_of, classes, manifest.options.values)
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
