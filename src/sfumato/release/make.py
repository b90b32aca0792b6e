"""Make a release from an encoded file: partition, generalise, measure, assemble."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.release.assemble import assemble, person_pseudonyms
from sfumato.release.coarsen_counts import (
    count_loss,
    drop_records,
    promised,
    split_ids,
    while_cutting,
)
from sfumato.release.coded_ends import with_coded_ends
from sfumato.release.content import ReleasedTable
from sfumato.release.divide import divide
from sfumato.release.full_domain import shown_at, with_hierarchies
from sfumato.release.generalise import generalised
from sfumato.release.manifest import Manifest
from sfumato.release.options import Coarsening, Options, Recoding
from sfumato.release.persons import PersonTable
from sfumato.release.population.known import Population
from sfumato.release.population.measured import PopulationRisk, measured
from sfumato.release.population.persons import persons_of
from sfumato.release.population.regions import with_gaps
from sfumato.release.promises.promise import Budget, Constraint, ordered_attributes
from sfumato.release.register.join import join_register
from sfumato.release.remedies import capped_rows, not_met, overspent, suppressed_rows, unmet
from sfumato.release.result import Release
from sfumato.release.utility import measure_utility
from sfumato.release.utility.predicates import query_stream
from sfumato.risk.assessment import assess
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.file_measures import measure_classes
from sfumato.risk.reidentification import household_risk
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def make_release(
    table: Table,
    manifest: Manifest,
    key: bytes | None = None,
    progress: Progress = silent,
    register: Table | None = None,
    original: object = None,
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
    register
        The population's persons, opened with the same schema.
    original
        The dataframe that the file was passed in as; ``None`` for a path.

    Raises
    ------
    ConstraintsNotMetError
        If even all records in one class break a constraint.
    InputError
        If the key is too short, or the register does not fit the file.
    """
    options = manifest.options
    ordered = ordered_attributes(manifest.constraints, table.schema.sensitive)
    rng = np.random.default_rng(manifest.seed)
    table, population = _with_population(table, register, manifest)
    promises = manifest.constraints
    if population is not None:
        promises = population.bound(promises, table.persons)
    budgets = [each for each in promises if isinstance(each, Budget)]
    constraints = [each for each in promises if not isinstance(each, Budget)]
    way, m = options.coarsen_counts, promised(constraints)
    while_tree = while_cutting(constraints, way)
    if options.recoding is Recoding.FULL_DOMAIN:
        table = with_hierarchies(table)
    coded = with_coded_ends(table)
    rows, part, owned = _remaining(coded, while_tree, budgets, options, rng, population)
    divided = divide(
        part,
        owned,
        while_tree,
        budgets,
        manifest,
        table.persons,
        population=population,
        progress=progress,
    )
    if divided.levels is not None:
        table = shown_at(table, divided.levels)
    rows, part, class_of = rows[divided.rows], divided.table, divided.class_of
    persons, shown = divided.persons, part.person
    if way is Coarsening.DROP:
        counted = [each for each in constraints if "population" not in each.needs]
        left = drop_records(part, class_of, divided.classes, m, counted, rng)
        shown = part.person[left]
        lost = count_loss(way, m, persons.records, shown, shown)
        rows, part, class_of = rows[left], part.take(left), class_of[left]
        shown = part.person
    beside = divided.beside
    released, merged, classes = generalised(part, class_of, divided.classes, manifest, beside)
    class_of = merged[class_of]
    if way is Coarsening.SPLIT:
        shown = split_ids(part.person, class_of, classes, m)
        lost = count_loss(way, m, persons.records, part.person, shown)
    order = np.arange(part.records) if options.keep_order else rng.permutation(part.records)
    named = replace(part, person=shown)
    pseudonyms = person_pseudonyms(named, key, rng)
    progress("measure", 0.0)
    ids = None if way is None else shown
    risk = _released_risk(part, order, class_of, classes, ids, manifest)
    against = _against(population, divided.class_of_register, merged, class_of[order], risk)
    kept = np.zeros(table.records, dtype=bool)
    kept[rows] = True
    utility = measure_utility(
        table,
        kept,
        class_of,
        classes,
        released,
        form=options.form,
        rng=query_stream(manifest.seed),
        beside=None if beside is None else beside.renumbered(merged),
    )
    progress("measure", 1.0)
    return Release(
        content=ReleasedTable(assemble(named, released, class_of, pseudonyms, order), original),
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
        warnings=(
            *table.warnings,
            *(divided.levels.notes() if divided.levels else ()),
            *(against.warnings() if against else ()),
        ),
        population=against,
        source_rows=rows[order],
    )


def _released_risk(
    part: Table,
    order: Ints,
    class_of: Codes,
    classes: int,
    shown: Codes | None,
    manifest: Manifest,
) -> Risk:
    """What the release gives away, its records in the order in which they leave."""
    ordered = ordered_attributes(manifest.constraints, part.schema.sensitive)
    threshold = manifest.options.threshold
    seen, count = group([class_of[order]], [classes])
    risk = measure_classes(
        seen,
        count,
        part.person[order],
        {column.name: column.codes[order] for column in part.sensitive},
        threshold=threshold,
        shown=None if shown is None else shown[order],
        ranks=ranks_of(part, ordered),
        warnings=part.warnings,
    )
    if part.household is None:
        return risk
    homes = part.household[order]
    found = household_risk(seen, part.person[order], homes, risk.own_classes(), threshold)
    return replace(risk, household=found)


def _with_population(
    table: Table, register: Table | None, manifest: Manifest
) -> tuple[Table, Population | None]:
    """The file with the values of the population in its domains, and the population."""
    if register is None:
        if manifest.population is None:
            return table, None
        cut = manifest.options.recoding is Recoding.LOCAL
        return with_gaps(table) if cut else table, Population(manifest.population)
    table, register = join_register(table, register)
    return table, Population(register.persons, with_coded_ends(register))


def _against(
    population: Population | None,
    of_register: Codes | None,
    merged: Codes,
    class_of: Codes,
    risk: Risk,
) -> PopulationRisk | None:
    """The released classes against the population; ``None`` without one.

    Parameters
    ----------
    population
        What is known of it.
    of_register
        Class of the tree of each person of its register.
    merged
        Released class of each class of the tree.
    class_of
        Released class of each record, in the order in which they leave.
    risk
        What was measured of these records.
    """
    if population is None:
        return None
    summary = risk.own_classes()
    first_row = summary.first_row.astype(np.int64)
    if of_register is None:
        return measured(population, summary.persons, None, first_row)
    alike = np.bincount(merged[of_register[of_register >= 0]], minlength=int(merged.max()) + 1)
    return measured(population, summary.persons, alike[class_of[first_row]], first_row)


def _remaining(
    table: Table,
    constraints: list[Constraint],
    budgets: list[Budget],
    options: Options,
    rng: np.random.Generator,
    population: Population | None,
) -> tuple[npt.NDArray[np.int64], Table, list[PersonTable]]:
    """What remains after capping and, where the constraints need it, suppression.

    The persons are alone in a list, so that who takes them out is the only one to hold them.

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
    gather = partial(persons_of, population=population)
    persons = gather(part)
    if not unmet(persons.whole(), constraints) and not overspent(persons.whole(), budgets):
        return rows, part, [persons]
    remaining = None
    if options.suppress > 0:
        remaining = suppressed_rows(part, constraints, budgets, options.suppress, gather)
    if remaining is None:
        raise not_met(part, persons, constraints, budgets, gather)
    part = part.take(remaining)
    return rows[remaining], part, [gather(part)]
