"""Make a release from an encoded file: partition, generalise, measure, assemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.secret_keys import keyed_pseudonyms, random_pseudonyms
from sfumato.core.shared_options import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.release.coarsen_counts import (
    CountLoss,
    count_loss,
    drop_records,
    promised,
    split_ids,
    while_cutting,
)
from sfumato.release.distributions import query_stream
from sfumato.release.full_domain import shown_at, with_hierarchies
from sfumato.release.generalisation import (
    ReleasedColumn,
    ReleasedColumns,
    generalised,
    with_coded_ends,
)
from sfumato.release.options import Coarsening, Options, Recoding
from sfumato.release.partitioning import Draft, divide
from sfumato.release.person_table import PersonTable, person_table
from sfumato.release.population_cells import with_gaps
from sfumato.release.population_register import (
    Population,
    PopulationRisk,
    join_register,
    measured,
    persons_of,
)
from sfumato.release.promises.promise import (
    Budget,
    Constraint,
    ordered_attributes,
    overspent_alone,
    unmet,
)
from sfumato.release.regrouping import regrouped
from sfumato.release.release_manifest import Manifest
from sfumato.release.release_result import Release, ReleasedTable
from sfumato.release.suppression import capped_rows, not_met, suppressed_rows
from sfumato.release.utility_measures import measure_utility
from sfumato.risk.assessment import assess
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.file_measures import measure_classes
from sfumato.risk.reidentification import household_risk
from sfumato.table.sources import from_numpy, from_texts, is_bytes
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def assemble(
    table: Table,
    released: Mapping[str, tuple[ReleasedColumn, ...]],
    class_of: Codes,
    pseudonyms: pa.Array | None,
    order: npt.NDArray[np.int64],
) -> pa.Table:
    """The released file, without direct identifiers and households, in the file's column order.

    Parameters
    ----------
    table
        The encoded records that are released.
    released
        The released columns of each quasi-identifier.
    class_of
        Class of each record.
    pseudonyms
        The pseudonym of each person; ``None`` without a person column.
    order
        The records in the order in which they leave.
    """
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name in table.columns:
        if name in table.schema.withheld():
            continue
        if name in released:
            for column in released[name]:
                columns[column.name] = _cells(column, class_of[order])
        elif name == table.schema.person and pseudonyms is not None:
            columns[name] = pa.DictionaryArray.from_arrays(
                from_numpy(table.person[order]), pseudonyms
            )
        else:
            columns[name] = table.source.column(name).take(from_numpy(order))
    return pa.table(columns)


def person_pseudonyms(table: Table, key: bytes | None, rng: np.random.Generator) -> pa.Array | None:
    """A pseudonym for each person: fresh random ones, or keyed ones where there is a key.

    Raises
    ------
    InputError
        If the key is too short.
    """
    if table.schema.person is None:
        return None
    if key is None:
        return from_texts(random_pseudonyms(table.persons, rng)).cast(pa.string())
    _, first = np.unique(table.person, return_index=True)
    return pseudonyms_of(table.source.column(table.schema.person).take(from_numpy(first)), key)


def pseudonyms_of(ids: pa.Array | pa.ChunkedArray, key: bytes) -> pa.Array:
    """The keyed pseudonym of each id: of its bytes, or of the text that it prints as.

    Parameters
    ----------
    ids
        Ids of any type that a person column may have.
    key
        The secret.

    Raises
    ------
    InputError
        If the key is too short.
    """
    if pa.types.is_floating(ids.type):
        ids = pc.add(ids, pa.scalar(0.0, ids.type))  # -0.0 and 0.0 are one person
    if not is_bytes(ids.type):
        ids = pc.cast(ids, pa.string())
    return from_texts(keyed_pseudonyms(ids.to_pylist(), key)).cast(pa.string())


def _cells(column: ReleasedColumn, class_of: Codes) -> pa.Array:
    """The cells of the records; an empty cell is null, and in no dictionary."""
    texts = from_texts(text for text in column.texts if text is not None).cast(pa.string())
    place = np.cumsum([text is not None for text in column.texts], dtype=np.int32) - 1
    empty = np.array([text is None for text in column.texts])
    of_record = column.text_of_class[class_of]
    indices = from_numpy(place[of_record], empty[of_record])
    if not column.is_number:
        return pa.DictionaryArray.from_arrays(indices, texts)
    whole = pc.all(pc.match_substring_regex(texts, r"^-?\d+$")).as_py()
    return texts.cast(pa.int64() if whole else pa.float64()).take(indices)


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
    rng = np.random.default_rng(manifest.seed)
    table, population = _with_population(table, register, manifest)
    promises = manifest.constraints
    if population is not None:
        promises = population.bound(promises, table.persons)
    constraints = [each for each in promises if not isinstance(each, Budget)]
    if options.recoding is Recoding.FULL_DOMAIN:
        table = with_hierarchies(table)
    draft = _divided(table, promises, constraints, manifest, population, rng, progress)
    if draft.levels is not None:
        table = shown_at(table, draft.levels)
    finished = _generalised(draft, constraints, options, rng)
    draft, part = finished.draft, finished.draft.table
    order = np.arange(part.records) if options.keep_order else rng.permutation(part.records)
    named = replace(part, person=finished.pseudonym_of)
    pseudonyms = person_pseudonyms(named, key, rng)
    progress("measure", 0.0)
    risk = _released_risk(finished, order, manifest)
    against = None if population is None else _against(population, draft, order, risk)
    kept = np.zeros(table.records, dtype=bool)
    kept[draft.rows] = True
    utility = measure_utility(
        table,
        kept,
        draft.class_of,
        draft.classes,
        finished.released,
        form=options.form,
        rng=query_stream(manifest.seed),
        extra=draft.extra,
    )
    progress("measure", 1.0)
    return Release(
        content=ReleasedTable(
            assemble(named, finished.released, draft.class_of, pseudonyms, order), original
        ),
        schema=table.schema,
        constraints=manifest.constraints,
        risk_before=assess(
            table,
            table.schema,
            threshold=options.threshold,
            ordered_distance=ordered_attributes(manifest.constraints, table.schema.sensitive),
        ),
        risk=risk,
        utility=replace(utility, counts=finished.count_loss),
        tree=draft.tree,
        manifest=manifest,
        levels=draft.levels,
        warnings=(
            *table.warnings,
            *(draft.levels.notes() if draft.levels else ()),
            *(against.warnings() if against else ()),
        ),
        population=against,
        source_rows=draft.rows[order],
    )


def _divided(
    table: Table,
    promises: Sequence[Constraint | Budget],
    constraints: Sequence[Constraint],
    manifest: Manifest,
    population: Population | None,
    rng: np.random.Generator,
    progress: Progress,
) -> Draft:
    """The records that remain, divided into classes; ``rows`` are those of the table."""
    options = manifest.options
    budgets = [each for each in promises if isinstance(each, Budget)]
    # Numbers of records that are made coarser later need not be shared while the tree is cut.
    coarsening = options.coarsen_counts
    while_tree = while_cutting(constraints, coarsening) if coarsening else [*constraints]
    rows, part, owned = _remaining(
        with_coded_ends(table), while_tree, budgets, options, rng, population
    )
    draft = divide(
        part,
        owned,
        while_tree,
        budgets,
        options,
        table.persons,
        population=population,
        progress=progress,
    )
    if population is None:
        draft = regrouped(draft, while_tree, budgets, options.form, options.passes, progress)
    return replace(draft, rows=rows[draft.rows])


@dataclass(frozen=True, eq=False)
class _Generalised:
    """A draft whose classes are those that a reader sees, with their cells.

    Attributes
    ----------
    draft
        The records that are released.
    released
        The released columns of each quasi-identifier.
    pseudonym_of
        Number of the pseudonym of each record.
    count_loss
        What coarser numbers of records cost; ``None`` where they stay as they are.
    """

    draft: Draft
    released: ReleasedColumns
    pseudonym_of: Codes
    count_loss: CountLoss | None = None


def _generalised(
    draft: Draft, constraints: Sequence[Constraint], options: Options, rng: np.random.Generator
) -> _Generalised:
    """Make numbers of records coarser where asked to, and give the classes their cells."""
    coarsening = options.coarsen_counts
    m = promised(constraints) if coarsening else 0
    lost, records = None, np.bincount(draft.table.person)
    # Before cells are made, which are to hold only what is released.
    if coarsening is Coarsening.DROP:
        counted = [each for each in constraints if "population" not in each.needs]
        left = drop_records(draft.table, draft.class_of, draft.classes, m, counted, rng)
        person = draft.table.person[left]
        lost = count_loss(coarsening, m, records, person, person)
        draft = draft.take(left)
    released, merged, classes = generalised(
        draft.table, draft.class_of, draft.classes, options.form, draft.extra
    )
    draft = draft.merged(merged, classes)
    person = draft.table.person
    # After classes that look the same became one, within which a reader compares pseudonyms.
    if coarsening is not Coarsening.SPLIT:
        return _Generalised(draft, released, person, lost)
    pseudonym_of = split_ids(person, draft.class_of, classes, m)
    lost = count_loss(coarsening, m, records, person, pseudonym_of)
    return _Generalised(draft, released, pseudonym_of, lost)


def _released_risk(generalised: _Generalised, order: Ints, manifest: Manifest) -> Risk:
    """What the release gives away, its records in the order in which they leave."""
    draft, threshold = generalised.draft, manifest.options.threshold
    part, coarsened = draft.table, generalised.count_loss is not None
    ordered = ordered_attributes(manifest.constraints, part.schema.sensitive)
    seen, count = group([draft.class_of[order]], [draft.classes])
    risk = measure_classes(
        seen,
        count,
        part.person[order],
        {column.name: column.codes[order] for column in part.sensitive},
        threshold=threshold,
        shown=generalised.pseudonym_of[order] if coarsened else None,
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


def _against(population: Population, draft: Draft, order: Ints, risk: Risk) -> PopulationRisk:
    """The released classes against the population, numbered as the risk numbers them."""
    summary = risk.own_classes()
    first_row = summary.first_row.astype(np.int64)
    of_register, alike = draft.class_of_register, None
    if of_register is not None:
        counts = np.bincount(of_register[of_register >= 0], minlength=draft.classes)
        alike = counts[draft.class_of[order[first_row]]]
    return measured(population, summary.persons, alike, first_row)


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
    gather = partial(persons_of, population=population) if population else person_table
    persons = gather(part)
    if not unmet(persons.whole(), constraints) and not overspent_alone(persons.whole(), budgets):
        return rows, part, [persons]
    remaining = None
    if options.suppress > 0:
        remaining = suppressed_rows(part, constraints, budgets, options.suppress, gather)
    if remaining is None:
        raise not_met(part, persons, constraints, budgets, gather)
    part = part.take(remaining)
    return rows[remaining], part, [gather(part)]
