"""Make a release from an encoded file: partition, generalise, measure, assemble."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import ConstraintsNotMetError
from sfumato.core.secret_keys import Secrets, keyed_pseudonyms, random_pseudonyms
from sfumato.engines.embedded.counts import group
from sfumato.release import event_protection
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
    MOST_LONE,
    ReleasedColumn,
    ReleasedColumns,
    generalised,
    listed_alone,
    with_coded_ends,
    with_snapped_ends,
)
from sfumato.release.histories import ROUGH, USUAL, Pricing
from sfumato.release.history_utility import ShownCells, history_utility
from sfumato.release.household_classes import divide_households, household_of
from sfumato.release.known_counts import Width, divide_by_bands
from sfumato.release.lasting_classes import LastingClasses, ids_of
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
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.promise import (
    AboutPopulation,
    Budget,
    Constraint,
    Counted,
    asked_of_households,
    ordered_attributes,
    overspent_alone,
    unmet,
)
from sfumato.release.promises.shared_events import KnownEvents
from sfumato.release.regrouping import draft_losses, regrouped
from sfumato.release.release_manifest import Manifest
from sfumato.release.release_options import Coarsening, Ends, Form, Loss, Options, Recoding
from sfumato.release.release_result import Disclosed, Release, ReleasedTable
from sfumato.release.series_files import Continued, Earlier
from sfumato.release.suppression import capped_rows, not_met, suppressed_rows
from sfumato.release.techniques import Technique, Techniques
from sfumato.release.tree import grow
from sfumato.release.utility_measures import Later, Utility, measure_utility
from sfumato.risk.assessment import assess, measure_classes
from sfumato.risk.class_measures import ranks_of, rows_of_tables
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.known_events import Shown, Told, measure_known_events
from sfumato.risk.reidentification import household_risk
from sfumato.risk.shown_file import band_of
from sfumato.table.dependence import ORDER, acceptances, found_with, order_figures, untested_events
from sfumato.table.door import with_events
from sfumato.table.labelled_files import left_out, shown
from sfumato.table.sources import NO_LABELS, from_numpy, from_texts, is_bytes, listed
from sfumato.table.table import ColumnFigures, Table

ORDER_OF_ROWS, PERSONS, HOUSEHOLDS, DATES = "order", "persons", "households", "dates"
"""What is drawn from the secret of a release."""
REGION = 1 << 14
"""Persons of a file in all of which classes are tried; a part of so many of a larger one."""


def assemble(
    table: Table,
    released: Mapping[str, Mapping[str, pa.Array]],
    pseudonyms: pa.Array | None,
    order: Ints,
    cells: Mapping[str, pa.Array],
    households: pa.Array | None = None,
) -> pa.Table:
    """The released file, without direct identifiers, in the file's column order.

    Parameters
    ----------
    released
        By quasi-identifier, the columns that are shown of it, in the order of the release.
    pseudonyms
        The pseudonym of each person; ``None`` without a person column.
    order
        The records in the order in which they leave.
    households
        The pseudonym of each record's household; ``None`` where none is shown.
    """
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name in table.columns:
        if name == table.schema.household and households is not None:
            columns[name] = households.take(from_numpy(order))
        if name in table.schema.withheld():
            continue
        if name in released:
            columns |= released[name]
        elif name == table.schema.person and pseudonyms is not None:
            # Encoded as they leave: a dictionary in the order of the file would tell that order.
            columns[name] = pseudonyms.take(from_numpy(table.person[order])).dictionary_encode()
        else:
            column = cells.get(name, table.source.column(name))
            columns[name] = column.take(from_numpy(order))
    return pa.table(columns)


def person_pseudonyms(table: Table, secrets: Secrets) -> pa.Array | None:
    """A pseudonym for each person: fresh random ones, or keyed ones where there is a key."""
    if table.schema.person is None:
        return None
    if secrets.key is None:
        fresh = random_pseudonyms(table.persons, secrets.own.stream(PERSONS))
        return from_texts(fresh).cast(pa.string())
    _, first = np.unique(table.person, return_index=True)
    ids = table.source.column(table.schema.person).take(from_numpy(first))
    return pseudonyms_of(ids, secrets.key)


def household_pseudonyms(
    table: Table, promises: Sequence[Constraint | Budget], secrets: Secrets
) -> pa.Array | None:
    """A fresh pseudonym for the household of each record; ``None`` where none is promised.

    A key would make them the same in every release, and what households have in common there is
    not what one release promises.
    """
    if not asked_of_households(promises):
        return None
    home = household_of(table)[table.person]
    fresh = random_pseudonyms(int(home.max()) + 1, secrets.own.stream(HOUSEHOLDS))
    return pa.DictionaryArray.from_arrays(from_numpy(home), from_texts(fresh).cast(pa.string()))


def released_order(records: int, secrets: Secrets, *, keep: bool) -> Ints:
    """The records in the order in which they leave."""
    if keep:
        return np.arange(records)
    return secrets.own.stream(ORDER_OF_ROWS).permutation(records)


def fingerprint(table: Table) -> bytes:
    """A hash of whose the records are and of what they say, in the file's order."""
    digest, schema = hashlib.blake2b(), table.schema
    for codes in (
        table.person,
        *(column.codes for column in (*table.quasi_identifiers, *table.sensitive)),
    ):
        # Of one width, so that the hash does not depend on the type that codes are kept in.
        digest.update(np.ascontiguousarray(codes, dtype=np.int64).data)
    for column in (*table.quasi_identifiers, *table.sensitive):
        # Codes alone do not tell two files apart whose values differ and have the same order.
        digest.update(repr([*map(column.domain.label, range(column.domain.size))]).encode())
    if schema.person is not None:
        _, first = np.unique(table.person, return_index=True)
        ids = table.source.column(schema.person).take(from_numpy(first))
        digest.update(repr(ids.to_pylist()).encode())
    return digest.digest()


def pseudonyms_of(ids: pa.Array | pa.ChunkedArray, key: bytes) -> pa.Array:
    """The keyed pseudonym of each id: of its bytes, or of the text that it prints as."""
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
    # Of no texts at all `all` is null: such a column is one of whole numbers.
    whole = pc.all(pc.match_substring_regex(texts, r"^-?\d+$")).as_py() is not False
    return texts.cast(pa.int64() if whole else pa.float64()).take(indices)


def make_release(
    table: Table,
    manifest: Manifest,
    secrets: Secrets | None = None,
    progress: Progress = silent,
    register: Table | None = None,
    original: object = None,
    earlier: Earlier | None = None,
) -> Release:
    """Make the release that a manifest describes.

    What protects people follows from the secret and from what is made with it of what: under the
    same secret another release has other pseudonyms, another order and other offsets. The files of
    a series alone have the same pseudonyms.

    Parameters
    ----------
    secrets
        What protects people; fresh when not given.
    original
        The dataframe that the file was passed in as; ``None`` for a path.

    Raises
    ------
    ConstraintsNotMetError
        If even all records in one class break a constraint.
    """
    options = manifest.options
    rng = np.random.default_rng(manifest.seed)
    given = secrets or Secrets()
    bound = given.bound(manifest.identity, fingerprint(table))
    again = None
    if options.series is None:  # a budget would need other classes
        again = partial(_under_budget, table, manifest, given, register, original)
    table = with_events(table, options.known_columns)
    table, population = _with_population(table, register, manifest)
    if options.recoding is Recoding.FULL_DOMAIN:
        table = with_hierarchies(table)
    if options.ends is Ends.SNAPPED:
        table = with_snapped_ends(table, sets=options.form is Form.SET and population is None)
    if earlier is None:
        finished = _finished(table, manifest, population, bound, progress, rng)
    else:
        finished = _continued(table, earlier.lasting, manifest, progress, rng)
    manifest, lasting = _in_series(finished, manifest, earlier)
    draft, part = finished.draft, finished.draft.table
    if draft.levels is not None:
        table = shown_at(table, draft.levels)
    order = released_order(part.records, bound, keep=options.keep_order)
    named = replace(part, person=finished.pseudonym_of)
    pseudonyms = person_pseudonyms(named, bound)
    progress("measure", 0.0)
    risk = _released_risk(finished, order, manifest)
    risk = replace(risk, columns=_column_figures(table, finished, options))
    against = None if population is None else _against(population, draft, order, risk)
    utility = _utility(table, finished, manifest)
    progress("measure", 1.0)
    content = assemble(
        named,
        {
            name: {each.name: _cells(each, draft.class_of[order]) for each in shown_so}
            for name, shown_so in finished.released.items()
        },
        pseudonyms,
        order,
        finished.cells,
        household_pseudonyms(part, manifest.constraints, bound),
    ).drop_columns(list(options.withhold))
    labels, quoting = NO_LABELS, tuple[str, ...]()
    if table.labels != NO_LABELS:
        untouched = _untouched(content.column_names, finished)
        labels = shown(table.labels, content, untouched)
        quoting = left_out(table.labels, untouched)
    return Release(
        content=ReleasedTable(content, original, labels),
        schema=table.schema,
        constraints=manifest.constraints,
        assessed=Later(
            partial(
                assess,
                table,
                table.schema,
                threshold=options.threshold,
                ordered_distance=ordered_attributes(manifest.constraints, table.schema.sensitive),
                seed=manifest.seed,
            )
        ),
        risk=risk,
        utility=utility,
        tree=draft.tree,
        manifest=manifest,
        levels=draft.levels,
        warnings=(
            *_first_warnings(table, finished, risk),
            *quoting,
            *_last_warnings(finished, against),
        ),
        population=against,
        source_rows=draft.rows[order],
        disclosed=Disclosed(
            part,
            draft.class_of,
            finished.cells,
            pseudonyms,
            finished.pseudonym_of,
            again,
            frozenset(options.withhold),
            None if finished.protection is None else finished.protection.dates,
            None if earlier is None else earlier.lasting.files_of(draft, options),
        ),
        secret=given.own,
        lasting=lasting,
    )


def _first_warnings(table: Table, finished: _Generalised, risk: Risk) -> Iterator[str]:
    """What was accepted, what gives most away, what a series changed, and what the file had."""
    yield from acceptances(risk.columns)
    yield from untested_events(table) if finished.protection else ()
    yield from _told_first(risk)
    yield from (
        f"the {column.column} {column.leak}" for column in risk.columns if column.role == ORDER
    )
    yield from finished.series.sentences() if finished.series else ()
    yield from table.warnings


def _last_warnings(finished: _Generalised, against: PopulationRisk | None) -> Iterator[str]:
    """What the cells tell, and what a population says."""
    levels = finished.draft.levels
    yield from _single_members(finished, everybody=against is not None)
    yield from levels.notes() if levels else ()
    yield from against.warnings() if against else ()


def _in_series(
    finished: _Generalised, manifest: Manifest, earlier: Earlier | None
) -> tuple[Manifest, LastingClasses | None]:
    """The manifest with what it says of a series, and the classes for the next file of it."""
    if earlier is not None and finished.series is not None:
        noted = finished.series.noted(earlier.manifest.output_sha256)
        return replace(manifest, series=noted), finished.series.lasting
    if manifest.options.series is None:
        return manifest, None
    lasting = LastingClasses.of(finished.draft, finished.released)
    return replace(manifest, series={"file": lasting.files}), lasting


def _continued(
    table: Table,
    lasting: LastingClasses,
    manifest: Manifest,
    progress: Progress,
    rng: np.random.Generator,
) -> _Generalised:
    """The records in the classes that their persons have, newcomers in classes of their own."""
    lasting.check_columns(table)
    constraints = [
        constraint for constraint in manifest.constraints if not isinstance(constraint, Budget)
    ]
    coded, new = with_coded_ends(table), _newcomers(table, lasting, manifest, progress, rng)
    try:
        found = Continued.of(coded, lasting.opening(new), constraints)
    except ConstraintsNotMetError:
        if new is None:
            raise
        # Newcomers may change what is compared with the whole file: they wait once more.
        found = Continued.of(coded, lasting.opening(None), constraints)
    return _Generalised(found.draft, found.released, found.draft.table.person, series=found)


def _newcomers(
    table: Table,
    lasting: LastingClasses,
    manifest: Manifest,
    progress: Progress,
    rng: np.random.Generator,
) -> LastingClasses | None:
    """Classes of those who are in none yet; ``None`` where these wait."""
    if lasting.files + 1 - lasting.opened < manifest.options.admit_every:
        return None
    new = np.array([lasting.is_new(name) for name in ids_of(table)])
    if not new.any():
        return None
    some = table.take(np.flatnonzero(new[table.person]))
    options = replace(manifest.options, suppress=0.0)
    try:
        made = _made(manifest.constraints, None, progress, options, some, rng)
    except ConstraintsNotMetError:
        return None  # they are too few, or too much alike
    return LastingClasses.of(made.draft, made.released)


def _untouched(names: Sequence[str], finished: _Generalised) -> frozenset[str]:
    """The columns of a release whose every cell is that of the original."""
    draft, schema = finished.draft, finished.draft.table.schema
    changed = {schema.person, schema.household, *finished.cells}
    changed |= {name for name, line in schema.recipe.items() if line.retells}
    for column in draft.table.quasi_identifiers:
        shown_as = finished.released[column.name]
        single = len(shown_as) == 1 and bool((shown_as[0].leaves <= 1).all())
        if not single or column.domain.size < 2 or column.ends or draft.levels:
            changed |= {each.name for each in shown_as}
    return frozenset(names) - changed


def _under_budget(
    table: Table,
    manifest: Manifest,
    secrets: Secrets,
    register: Table | None,
    original: object,
    budget: Budget,
) -> Release:
    """The release of a manifest under one more budget."""
    manifest = replace(manifest, constraints=(*manifest.constraints, budget))
    return make_release(table, manifest, secrets, silent, register, original)


def _finished(
    table: Table,
    manifest: Manifest,
    population: Population | None,
    secrets: Secrets,
    progress: Progress,
    rng: np.random.Generator,
) -> _Generalised:
    """The records in classes that keep all promises, with their cells."""
    promises = manifest.constraints
    if population is not None:
        promises = population.bound(promises)
    made = partial(_made, promises, population, progress)
    promise = next((each for each in promises if isinstance(each, KnownEvents)), None)
    if promise is None:
        return made(manifest.options, table, rng)
    return _protected(made, table, promise, manifest, secrets, rng)


def _column_figures(
    table: Table, finished: _Generalised, options: Options
) -> tuple[ColumnFigures, ...]:
    """What each column, as it is released, gives away; with the order, where it is kept."""
    part, class_of = finished.draft.table, finished.draft.class_of
    shown = {name: part.source.column(name) for name in part.source.column_names}
    figures = found_with(table.column_figures, {**shown, **finished.cells}, class_of, part.person)
    return (*figures, *order_figures(part, class_of)) if options.keep_order else figures


def _utility(table: Table, finished: _Generalised, manifest: Manifest) -> Utility:
    """What is lost of the original, of numbers of records and of histories, too."""
    draft, options, events = finished.draft, manifest.options, finished.protection
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
        least_records=_least_records(manifest.constraints) if options.lower_bound else None,
        loss=options.loss,
    )
    left = None
    if events is not None:
        own = draft.table
        cells = {
            name: ShownCells.of(own.source.column(name), events.cells.get(name), place=mine)
            for event in own.events
            for name, mine in event.places(event.codes)
        }
        left = history_utility(
            own.person,
            events.pseudonym_of,
            events.exact,
            events.done,
            events.dates,
            cells,
            own.part_of,
        )
    return replace(utility, counts=finished.count_loss, histories=left)


def _single_members(finished: _Generalised, *, everybody: bool) -> tuple[str, ...]:
    """Sets of what occurs that single people out more often than whoever guesses without them."""
    part, class_of = finished.draft.table, finished.draft.class_of
    counts = {
        identifier.name: listed_alone(
            identifier, part.person, class_of, finished.released[identifier.name][0]
        )
        for identifier in part.quasi_identifiers
        if identifier.lone is None
    }
    found = {name: count for name, count in counts.items() if count[0] > MOST_LONE * count[1]}
    if not found:
        return ()
    alone, members = np.sum([*found.values()], axis=0).tolist()
    cure = "ends='snapped' lists neighbours that no person has, too"
    if everybody:
        cure = "a hierarchy's labels (values='hierarchy') list none"
    what = f"{alone:,} of {members:,} members that the sets of {listed([*found])} list"
    return (f"{what} are those of one person of the class and single people out; {cure}",)


def _told_first(risk: Risk) -> tuple[str, ...]:
    """What two known events do, where nobody has said which ones may be known."""
    told = "" if risk.known_events is None else risk.known_events.warning()
    return (told,) if told else ()


def _made(
    promises: Sequence[Constraint | Budget],
    population: Population | None,
    progress: Progress,
    options: Options,
    table: Table,
    rng: np.random.Generator,
    *beside: Constraint,
) -> _Generalised:
    """The records in classes that keep the promises and those beside them, with their cells."""
    every = [*(each for each in promises if not isinstance(each, KnownEvents)), *beside]
    constraints = [each for each in every if not isinstance(each, Budget)]
    draft = _divided(table, every, options, population, rng, progress)
    return _generalised(draft, constraints, options, rng)


def _protected(
    made: Callable[..., _Generalised],
    table: Table,
    promise: KnownEvents,
    manifest: Manifest,
    secrets: Secrets,
    rng: np.random.Generator,
) -> _Generalised:
    """The same, as wide as loses least, with events written as the promise allows."""
    weights = dict(Techniques().read(manifest.options.techniques))
    households = asked_of_households(manifest.constraints)
    others = _others(table, manifest.options.withhold)
    counts_known = _told_of_numbers(manifest.options)
    one_each = secrets.key is not None or counts_known is not None or table.part_of is not None
    if one_each or manifest.options.keep_order or others or households:
        # A key makes one pseudonym per person, the same in every release; and the order of a
        # person's records, what else is the same in all of them, or a record to which they refer
        # would bring them together. In a household several pseudonyms would be several members.
        # Numbers of records that were made alike would differ again.
        weights.pop(Technique.SPLIT_PSEUDONYMS, None)
    state = rng.bit_generator.state
    # A part of the file is searched as often as all of it will be, so that losses compare.
    options = replace(manifest.options, effort=manifest.options.passes(table.persons))
    counts = event_protection.WIDEN_COUNTS * weights.get(Technique.WIDEN, 1.0)
    whole = event_protection.quasi_identifier_loss(table, np.zeros(table.records, np.int32), 1)

    def attempt(
        some: Table, width: int, most: float = np.inf, *, pricing: Pricing = USUAL
    ) -> event_protection.Attempt:
        # Every attempt draws the same numbers, so that attempts differ by their width alone.
        rng.bit_generator.state = state
        found = made(options, some, rng, *([Width(width)] if width else []))
        offset_of = partial(person_offsets, found.draft.table, secrets)
        draft = found.draft
        own = event_protection.quasi_identifier_loss(draft.table, draft.class_of, draft.classes)
        least = counts * own / whole if whole > 0 else 0.0
        kept = event_protection.protect(
            event_protection.Seen(draft, found.pseudonym_of, counts_known),
            promise,
            weights,
            offset_of,
            most - least,
            pricing,
        )
        lost = np.inf if kept is None else kept.lost + least
        return event_protection.Attempt(found, kept, float(lost), least, width)

    may_widen, first = Technique.WIDEN in weights, promise.k or 0
    if table.persons > REGION and may_widen and not households:
        # How wide classes are best hardly depends on where they are.
        tried = event_protection.widened(
            partial(attempt, _region(table), pricing=ROUGH),
            promise,
            first,
            may_widen=True,
            every=True,
        )
        first = max(first, tried.width)
        price = None if tried.protection is None else tried.protection.price
        found = attempt(table, first, pricing=Pricing.about(price))
        if found.protection is None:
            found = event_protection.widened(
                partial(attempt, table), promise, first, may_widen=True
            )
    else:
        found = event_protection.widened(
            partial(attempt, table), promise, first, may_widen=may_widen
        )
    made_so: _Generalised = found.made
    kept = found.protection
    assert kept is not None
    return replace(made_so, protection=kept, pseudonym_of=kept.pseudonym_of)


def _told_of_numbers(options: Options) -> Told | None:
    """What is known of numbers of records where these are made alike; ``None`` elsewhere."""
    alike = options.known_counts is not None or options.coarsen_counts is not None
    return band_of if alike else None


def _others(table: Table, withheld: Sequence[str]) -> bool:
    """Whether a column goes out that is neither a quasi-identifier nor says what happened."""
    released = {*table.schema.sensitive, *table.schema.insensitive} - {*withheld}
    return not released <= {name for event in table.events for name in event.names}


def _region(table: Table) -> Table:
    """The records of some persons who are near each other in their quasi-identifiers."""
    persons = person_table(table)
    nodes = grow(persons, [PidKAnonymity(REGION // 4)], subtree_persons=REGION)
    largest = int(np.argmax(np.bincount(nodes.class_of_person)))
    return table.take(np.flatnonzero(nodes.class_of_person[table.person] == largest))


def person_offsets(table: Table, secrets: Secrets, most: int) -> Ints:
    """The days, at most so many either way, by which a person's dates are moved.

    They are keyed if there is a key.
    """
    span = 2 * most + 1
    if secrets.key is None or table.schema.person is None:
        return secrets.own.stream(DATES).below(span, table.persons) - most
    _, first = np.unique(table.person, return_index=True)
    ids = table.source.column(table.schema.person).take(from_numpy(first))
    # A key of its own, so that pseudonyms, which are seen, tell nothing of offsets.
    own = hmac.new(secrets.key, b"dates", hashlib.sha256).digest()
    names = pseudonyms_of(ids, own).to_pylist()
    # Of 64 bits the remainder favours small offsets by less than 1 in 10^12, for a span of dates.
    drawn = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") for name in names]
    return np.array([each % span for each in drawn], dtype=np.int64) - most


def _divided(
    table: Table,
    promises: Sequence[Constraint | Budget],
    options: Options,
    population: Population | None,
    rng: np.random.Generator,
    progress: Progress,
) -> Draft:
    """The records that remain, divided into classes; ``rows`` are those of the table."""
    if options.known_counts is not None:
        divided = partial(_divided, population=None, rng=rng, progress=progress)
        return divide_by_bands(table, promises, options, divided)
    budgets = [promise for promise in promises if isinstance(promise, Budget)]
    constraints = [promise for promise in promises if not isinstance(promise, Budget)]
    # Numbers of records that are made coarser later need not be shared while the tree is cut.
    coarsening = options.coarsen_counts
    while_tree = while_cutting(constraints, coarsening) if coarsening else constraints
    rows, part, owned = _remaining(
        with_coded_ends(table), while_tree, budgets, options, rng, population
    )

    passes = options.passes(part.persons)
    k = asked_of_households(while_tree)
    if k:
        persons = table.persons
        draft = divide_households(part, k, while_tree, budgets, options, persons, progress=progress)
        return replace(draft, rows=rows[draft.rows])

    def made(owned: list[PersonTable], chosen: Options) -> Draft:
        draft = divide(
            part,
            owned,
            while_tree,
            budgets,
            chosen,
            table.persons,
            population=population,
            progress=progress,
        )
        if population is not None:
            return draft
        return regrouped(draft, while_tree, budgets, options.form, passes, progress, options.loss)

    draft = made(owned, options)
    if population is None and passes and len(draft.rows) < part.records:
        # Persons who move may gain more where nobody is left out.
        everybody = made([person_table(part)], replace(options, suppress=0.0))
        loss = options.loss or Loss.ANE
        draft = min(
            (draft, everybody), key=lambda each: draft_losses(each, options.form, loss).item()
        )
    return replace(draft, rows=rows[draft.rows])


def _least_records(promises: Sequence[Constraint | Budget]) -> int:
    """Records that every class has at least, 0 where no promise says so."""
    stated = [promise.thresholds() for promise in promises if isinstance(promise, Counted)]
    return max((max(each.records, each.persons) for each in stated), default=0)


@dataclass(frozen=True, eq=False)
class _Generalised:
    """A draft whose classes are those that a reader sees, with their cells.

    Attributes
    ----------
    count_loss
        What coarser numbers of records cost; ``None`` where they stay as they are.
    protection
        What is written of events; ``None`` where nothing is promised about them.
    """

    draft: Draft
    released: ReleasedColumns
    pseudonym_of: Codes
    count_loss: CountLoss | None = None
    protection: event_protection.Protection | None = None
    series: Continued | None = None

    @property
    def cells(self) -> Mapping[str, pa.Array]:
        """The columns of events that say less than they did; shape (records,) each."""
        return {} if self.protection is None else self.protection.cells


def _generalised(
    draft: Draft, constraints: Sequence[Constraint], options: Options, rng: np.random.Generator
) -> _Generalised:
    """Make numbers of records coarser where asked to, and give the classes their cells."""
    coarsening = options.coarsen_counts
    m = promised(constraints) if coarsening else 0
    lost, records = None, np.bincount(draft.table.person)
    # Before cells are made, which are to hold only what is released.
    if coarsening is Coarsening.DROP:
        counted = [constraint for constraint in constraints if "population" not in constraint.needs]
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
    part, several = draft.table, not np.array_equal(generalised.pseudonym_of, draft.table.person)
    pseudonym = generalised.pseudonym_of if several else None
    ordered = ordered_attributes(manifest.constraints, part.schema.sensitive)
    seen, count = group([draft.class_of[order]], [draft.classes])
    risk = measure_classes(
        seen,
        count,
        part.person[order],
        {column.name: column.codes[order] for column in part.sensitive},
        threshold=threshold,
        shown=None if pseudonym is None else pseudonym[order],
        ranks=ranks_of(part, ordered),
        rows={name: row[order] for name, row in rows_of_tables(part).items()},
        warnings=part.warnings,
    )
    kept = generalised.protection
    told = None if kept is None or kept.measure is None else kept.measure()
    if told is None:
        told = measure_known_events(
            part,
            draft.class_of,
            draft.classes,
            manifest.seed,
            shown=Shown(pseudonym=pseudonym) if kept is None else kept.shown,
            counts=_told_of_numbers(manifest.options),
            every=kept is not None,
        )
    risk = replace(risk, known_events=told)
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
        # Its optimisers take as long to import as a small release takes.
        from sfumato.release.modelled_population import modelled

        Population(manifest.population).check_size(table.persons)
        table = with_gaps(table)
        rng = np.random.default_rng(manifest.seed)

        def divided(part: Table, population: Population) -> Draft | None:
            promises = population.bound(manifest.constraints)
            if not any(isinstance(each, AboutPopulation) for each in promises):
                return None
            try:
                return _divided(part, promises, manifest.options, population, rng, silent)
            # Half of a file may break a promise that the whole keeps. Nothing is tried then.
            except ConstraintsNotMetError:
                return None

        return table, modelled(table, manifest.population, rng, divided)
    table, register = join_register(table, register)
    return table, Population(register.persons, with_coded_ends(register))


def _against(population: Population, draft: Draft, order: Ints, risk: Risk) -> PopulationRisk:
    """The released classes against the population, numbered as the risk numbers them."""
    summary = risk.own_classes()
    first_row = summary.first_row.astype(np.int64)
    of_register = draft.class_of_register
    assert of_register is not None
    counts = np.bincount(of_register[of_register >= 0], minlength=draft.classes)
    alike = counts[draft.class_of[order[first_row]]].astype(np.int64)
    return measured(population, summary.persons, alike, first_row)


def _remaining(
    table: Table,
    constraints: list[Constraint],
    budgets: list[Budget],
    options: Options,
    rng: np.random.Generator,
    population: Population | None,
) -> tuple[Ints, Table, list[PersonTable]]:
    """What remains after capping and, where the constraints need it, suppression.

    The persons are alone in a list, so that who takes them out is the only one to hold them.
    ConstraintsNotMetError if what remains still breaks a constraint.
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
