"""Make a release from an encoded file: partition, generalise, measure, assemble."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.release.assemble import assemble, person_pseudonyms
from sfumato.release.coarsen_counts import (
    Coarsening,
    count_loss,
    drop_records,
    promised,
    split_ids,
    while_cutting,
)
from sfumato.release.coded_ends import with_coded_ends
from sfumato.release.constraints import Budget, Constraint
from sfumato.release.constraints.ordered import ordered_attributes
from sfumato.release.divide import divide
from sfumato.release.full_domain import shown_at, with_hierarchies
from sfumato.release.generalise import generalised
from sfumato.release.manifest import Manifest
from sfumato.release.options import Options, Recoding
from sfumato.release.persons import PersonTable, person_table
from sfumato.release.remedies import capped_rows, not_met, overspent, suppressed_rows, unmet
from sfumato.release.result import Release
from sfumato.release.utility import measure_utility
from sfumato.risk.assess import assess
from sfumato.risk.household import household_risk
from sfumato.risk.measures import measure_classes
from sfumato.risk.ranks import ranks_of
from sfumato.table.table import Table


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
    ordered = ordered_attributes(manifest.constraints, table.schema.sensitive)
    rng = np.random.default_rng(manifest.seed)
    budgets = [each for each in manifest.constraints if isinstance(each, Budget)]
    constraints = [each for each in manifest.constraints if not isinstance(each, Budget)]
    way, m = options.coarsen_counts, promised(constraints)
    while_tree = while_cutting(constraints, way)
    if options.recoding is Recoding.FULL_DOMAIN:
        table = with_hierarchies(table)
    coded = with_coded_ends(table)
    rows, part, persons = _remaining(coded, while_tree, budgets, options, rng)
    divided = divide(part, persons, while_tree, budgets, manifest, table.persons, progress)
    if divided.levels is not None:
        table = shown_at(table, divided.levels)
    rows, part, class_of = rows[divided.rows], divided.table, divided.class_of
    persons, shown = divided.persons, part.person
    if way is Coarsening.DROP:
        left = drop_records(part, class_of, divided.classes, m, constraints, rng)
        shown = part.person[left]
        lost = count_loss(way, m, persons.records, shown, shown)
        rows, part, class_of = rows[left], part.take(left), class_of[left]
        shown = part.person
    released, class_of, classes = generalised(part, class_of, divided.classes, manifest)
    if way is Coarsening.SPLIT:
        shown = split_ids(part.person, class_of, classes, m)
        lost = count_loss(way, m, persons.records, part.person, shown)
    order = np.arange(part.records) if options.keep_order else rng.permutation(part.records)
    named = replace(part, person=shown)
    pseudonyms = person_pseudonyms(named, key, rng)
    progress("measure", 0.0)
    seen, count = group([class_of[order]], [classes])
    risk = measure_classes(
        seen,
        count,
        part.person[order],
        {column.name: column.codes[order] for column in part.sensitive},
        threshold=options.threshold,
        shown=None if way is None else shown[order],
        ranks=ranks_of(table, ordered),
        warnings=part.warnings,
    )
    if part.household is not None:
        homes = part.household[order]
        found = household_risk(seen, part.person[order], homes, risk.summary, options.threshold)
        risk = replace(risk, household=found)
    kept = np.zeros(table.records, dtype=bool)
    kept[rows] = True
    utility = measure_utility(table, kept, class_of, classes, released, form=options.form, rng=rng)
    progress("measure", 1.0)
    return Release(
        table=assemble(named, released, class_of, pseudonyms, order),
        schema=table.schema,
        constraints=manifest.constraints,
        risk_before=assess(
            table, table.schema, threshold=options.threshold, ordered_distance=ordered
        ),
        risk=risk,
        utility=utility if way is None else replace(utility, counts=lost),
        tree=divided.tree,
        manifest=manifest,
        levels=divided.levels,
        warnings=(*table.warnings, *(divided.levels.notes() if divided.levels else ())),
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
