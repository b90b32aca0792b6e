"""Anonymize a file: from any dataframe or path to a release with its risks and its loss."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from sfumato.core import declaration
from sfumato.core.errors import InputError, typed
from sfumato.core.secret_keys import Secret, Secrets, check_key
from sfumato.release import release_options
from sfumato.release.assembly import fingerprint, make_release
from sfumato.release.coarsen_counts import promised
from sfumato.release.cures import LimitSearch, Plan, cures
from sfumato.release.database_release import release_database
from sfumato.release.household_classes import household_of
from sfumato.release.known_counts import check_beside
from sfumato.release.lasting_classes import ids_in, ids_of
from sfumato.release.lost_columns import lost_columns
from sfumato.release.on_spark.spark_refusals import refuse_before_work
from sfumato.release.population_register import check_population
from sfumato.release.promises import PROMISES, promise
from sfumato.release.promises.shared_events import KnownEvents
from sfumato.release.promises.t_closeness import TCloseness
from sfumato.release.release_manifest import Manifest
from sfumato.release.release_result import Release
from sfumato.release.series_files import Earlier, check_newcomers, following, sealed
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.register_presence import open_register
from sfumato.risk.verdict import Acceptance, Limits, check_answers
from sfumato.schema import EventKind, Schema, check_schema, schema_sha256
from sfumato.table.classification import check_person, classified, open_classified
from sfumato.table.dependence import PERSONS_LOOKED_AT, acceptances, check_event_leaks, check_leaks
from sfumato.table.door import open_table, with_events
from sfumato.table.stacked_tables import Tables
from sfumato.table.table import Table
from sfumato.table.table_files import data_sha256, open_source, reader_of

if TYPE_CHECKING:
    from sfumato.engines.spark.spark_persons import SparkTable


@declaration.keywords(release_options.Options, release_options.Circumstances)
def anonymize(
    data: Any,
    schema: Schema | promise.Constraint | promise.Budget | Limits | Acceptance | None = None,
    *promises: promise.Constraint | promise.Budget | Limits | Acceptance,
    progress: declaration.Progress = declaration.silent,
    **options: Unpack[release_options.AnonymizeOptions],
) -> Release:
    """Release a file so that every equivalence class keeps the promises.

    Persons are partitioned by a tree, as Kartal & Li 2020 do (paper 003, Section 5), their
    quasi-identifiers generalised within the classes, direct identifiers removed, person ids
    replaced by pseudonyms; sensitive and insensitive columns are unchanged. See
    the documentation on recoding and on Spark.

    Parameters
    ----------
    data
        A dataframe, the path of a file, or `Tables` of the same people, which are one release.
    schema
        What each column is; of `Tables` left out.
    promises
        For example ``GBalance(0.9)``, ``HAffiliation(l=5)``; at least one. ``Limits("contract")``
        stands for all that keeps these limits at the least loss, but for what an `Acceptance`
        beside it covers: plans are tried, which takes as long as some releases.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the data does not fit the schema, somebody has yet to say what a column is or which one
        names the person, or a parameter is out of range.
    ConstraintsNotMetError
        If even all records in one class break a promise, or no plan keeps the limits; it says what
        would help.
    """
    if isinstance(data, Tables):
        # Their schema is theirs, so that a promise may stand in its place.
        asked = tuple(each for each in (schema, *promises) if not isinstance(each, Schema))
        return release_database(data, anonymize, asked, {**options, "progress": progress})
    _check_keywords(options)
    check_schema(schema)
    assert isinstance(schema, Schema)
    making, given = declaration.taken(
        options, release_options.Options, release_options.Circumstances
    )
    earlier = None if given.continues is None else _earlier(given, promises, options)
    if earlier is not None:
        promises, making = earlier.promises_after, earlier.manifest.options
        given = replace(given, secret=earlier.secret)
    limits = [each for each in promises if isinstance(each, Limits)]
    accepted = [each for each in promises if isinstance(each, Acceptance)]
    promises = promise.strictest(
        each for each in promises if not isinstance(each, (Limits, Acceptance))
    )
    _check_limits(schema, limits, accepted, given, data)
    register, population, pseudonym_key = given.register, given.population, given.pseudonym_key
    check_asked(
        schema,
        promises,
        making,
        register=register is not None,
        population=population,
        pseudonym_key=pseudonym_key,
        limited=bool(limits),
    )
    secrets = Secrets.of(given.secret, pseudonym_key)
    where = (
        declaration.Engine.SPARK
        if declaration.takes_spark(data, given.engine)
        else declaration.Engine.EMBEDDED
    )
    if where is declaration.Engine.SPARK and making.effort is None:
        making = replace(making, effort=0)  # so that the other engine can repeat the release
    _check_of_series(making, promises, given, limited=bool(limits), engine=where, schema=schema)
    everybody = register is not None or population is not None
    making = making.with_ends(everybody=everybody, engine=where)
    manifest = Manifest(
        options=making,
        constraints=promises,
        seed=declaration.drawn_seed(given.seed),
        keyed=pseudonym_key is not None,
        schema_sha256=schema_sha256(schema),
        population=population,
        versions=release_options.versions(where) | _added(promises, (data, register)),
        engine=where,
    )
    if where is declaration.Engine.SPARK:
        refuse_before_work(schema, manifest, register)
        return _on_spark(data, schema, manifest, secrets, declaration.layout_of(given), progress)
    if making.series is not None:
        manifest = replace(manifest, input_sha256=data_sha256(data))
        return _of_series(data, schema, manifest, secrets.own, given, progress, earlier)
    table = open_classified(
        data, schema, making.unclassified, **declaration.layout_of(given), progress=progress
    )
    check_table(table, making, promises)
    manifest = replace(manifest, input_sha256=data_sha256(data), preparation=table.preparation)
    opened = None
    if register is not None:
        opened = open_register(register, table.schema)
        manifest = replace(manifest, register_sha256=data_sha256(register))

    make, began = partial(_of_plan, table, manifest, secrets, _frame(data)), perf_counter()
    if limits:
        plan, here = Plan(promises, making), partial(make, progress)
        release = LimitSearch(table, limits[0], accepted, here, progress).best(plan)
    else:
        release = make_release(table, manifest, secrets, progress, opened, _frame(data))
    if everybody:
        return release
    # A release may be pickled with what is tried for it, a bar of progress not.
    silently = partial(make, declaration.silent)
    return _with_remedies(release, table, silently, perf_counter() - began)


def _earlier(
    given: release_options.Circumstances, promises: Sequence[Any], options: Iterable[str]
) -> Earlier:
    """The file of a series that is continued, of which promises, options and secret are taken."""
    circumstances = {each.name for each in declaration.declared(release_options.Circumstances)}
    own = {
        "population": given.population,
        "pseudonym_key": given.pseudonym_key,
        "register": given.register,
        "secret": given.secret,
    }
    beside = sorted({*options} - circumstances) + [name for name in own if own[name] is not None]
    found = [f"parameter {name}" for name in beside] + ["a promise"] * bool(promises)
    if found:
        raise InputError(
            "parameter continues",
            "takes promises, options and secret from the file before",
            found=", ".join(found),
            advice="leave it out; another promise needs another series",
        )
    return Earlier.of(given.continues)


def _of_series(
    data: Any,
    schema: Schema,
    manifest: Manifest,
    secret: Secret,
    given: release_options.Circumstances,
    progress: declaration.Progress,
    earlier: Earlier | None,
) -> Release:
    """Make a file of a series, in which everybody keeps their class and their pseudonym."""
    options = manifest.options
    if earlier is not None:
        earlier.check_next(manifest.schema_sha256, manifest.input_sha256, given.period)
    source = open_source(data, **declaration.layout_of(given))
    read = partial(open_classified, schema=schema, unclassified=options.unclassified)
    table = read(source, progress=progress)
    _check_one_each(table)
    name = hashlib.sha256(manifest.identity + fingerprint(table)).hexdigest()
    if earlier is not None:
        assert schema.person is not None
        lasting = earlier.lasting.with_file(ids_of(table), secret)
        lasting.check_people(schema.person)
        if options.leavers is release_options.Leavers.RETIRE:
            lasting = lasting.without(lasting.gone, secret)
        if given.withdrawn is not None:
            lasting = lasting.without(ids_in(given.withdrawn, schema.person), secret)
        earlier, name = replace(earlier, lasting=lasting), lasting.name
        source = lasting.with_who_left(source, schema.person)
        table = read(source)
        _check_one_each(table)
    check_table(table, options, manifest.constraints)
    manifest = replace(manifest, preparation=table.preparation)
    secrets = Secrets(secret, secret.bound(b"series", name.encode()))
    original = _frame(data)
    if earlier is not None:
        from sfumato.table.dataframes import to_frame_like  # narwhals takes a while to load

        # An attack looks for everybody that the file shows, those who left as well.
        whole = pa.Table.from_batches(source.batches(source.names))
        original = to_frame_like(whole, original)
    release = make_release(table, manifest, secrets, progress, None, original, earlier)
    assert release.lasting is not None
    before = release.lasting if earlier is None else earlier.lasting
    kept = release.lasting.keeping(source, table, before)
    kept = replace(kept, name=name, seal=sealed(manifest, secret))
    noted = {**release.manifest.series, "classes_sha256": kept.sha256}
    if given.period is not None:
        noted["period"] = given.period
    manifest = replace(release.manifest, series=noted)
    return replace(release, lasting=kept, manifest=manifest)


def _check_one_each(table: Table) -> None:
    """Refuse a snapshot with several records of a person.

    Numbers of records that change would tell people apart.
    """
    if table.records > table.persons:
        raise InputError(
            "parameter series",
            "is for files with one record of each person, which says how they stand",
            found=f"{table.records:,} records where one of each person makes {table.persons:,}",
        )


def _check_of_series(
    options: release_options.Options,
    promises: Sequence[promise.Constraint | promise.Budget],
    given: release_options.Circumstances,
    *,
    limited: bool,
    engine: declaration.Engine,
    schema: Schema,
) -> None:
    """Refuse what classes that last do not go with."""
    if given.period is not None:
        following(given.period)
        if options.series is None:
            raise InputError("parameter period", "is for a file of a series", found="no series")
    if given.withdrawn is not None and given.continues is None:
        raise InputError(
            "parameter withdrawn",
            "is for a file that continues a series",
            found="none that is continued",
            advice="leave people who withdrew out of a first file",
        )
    if options.series is None:
        return
    if given.continues is None:
        check_newcomers(promises, options.newcomers_k)
    known = any(isinstance(each, KnownEvents) for each in promises)
    counted = any(
        isinstance(each, promise.Promise) and each.fewest_persons > 1 for each in promises
    )
    for is_so, found in (
        (schema.person is None, "no column that names the person"),
        (
            any(line.sources for line in schema.recipe.values()),
            "a recipe that makes columns of others, which are not kept of who leaves",
        ),
        (not counted, "no promise of how many people a class has"),
        (any(isinstance(each, promise.Budget) for each in promises), "a budget of all classes"),
        (limited, "limits that plans are tried for"),
        (engine is declaration.Engine.SPARK, "engine='spark'"),
        (given.register is not None or given.population is not None, "a population"),
        (given.pseudonym_key is not None, "a key for pseudonyms, which a series has of its own"),
        (promise.asked_of_households(promises), "a promise about households"),
        (known, "known events, of which every file tells more"),
    ):
        if is_so:
            raise InputError(
                "parameter series",
                "is for files that name people, in classes with a promised number of them",
                found=found,
                accepted=f"{typed('PidKAnonymity(12)', '--pid-k 12')} and other promises about "
                "classes",
            )


def _added(promises: Iterable[Any], files: Sequence[Any]) -> dict[str, str]:
    """What of other packages takes part, with its version."""
    readers = (reader_of(file) for file in files)
    found = (*promise.of_packages(promises), *(reader for reader in readers if reader is not None))
    return {each.key: each.version for each in found}


def _of_plan(
    table: Table,
    manifest: Manifest,
    secrets: Secrets,
    original: Any,
    progress: declaration.Progress,
    plan: Plan,
) -> Release:
    """The release of another plan than that of a manifest."""
    check_asked(table.schema, plan.promises, plan.options, pseudonym_key=secrets.key)
    check_table(table, plan.options, plan.promises)
    asked = replace(manifest, constraints=plan.promises, options=plan.options)
    return make_release(table, asked, secrets, progress, None, original)


def _with_remedies(
    release: Release, table: Table, make: Callable[[Plan], Release], seconds: float
) -> Release:
    """The same with what may be tried for it.

    Remedies are tried with a tree and promises about classes, which says nothing of levels or of
    households.
    """
    plan = Plan(release.constraints, release.manifest.options)
    local = plan.options.recoding is release_options.Recoding.LOCAL
    if not local or promise.asked_of_households(plan.promises):
        return release
    beside = (promise.Budget, KnownEvents)
    constraints = [each for each in plan.promises if not isinstance(each, beside)]
    tried = partial(lost_columns, table, release.utility.columns, constraints, plan.options)
    cured = partial(cures, table=table, plan=plan, make=make, seconds=seconds)
    return replace(release, tried=tried, cured=cured)


def _check_limits(
    schema: Schema,
    limits: Sequence[Limits],
    accepted: Sequence[Acceptance],
    given: release_options.Circumstances,
    data: Any,
) -> None:
    """Refuse limits beside what they are not promised for, and answers that cover nothing."""
    if accepted:
        check_answers(accepted, schema.further)
    if accepted and not limits:
        raise InputError(
            "an Acceptance",
            "must stand beside the Limits that it lets a row be above",
            found="none",
            advice="add Limits('public'), or hand it to the release's judged()",
        )
    if not limits:
        return
    if len(limits) > 1:
        raise InputError("the limits", "must be given once", found=f"{len(limits)}")
    for name, is_set in (
        ("register", given.register is not None),
        ("population", given.population is not None),
        ("household", schema.household is not None),
        ("engine", declaration.takes_spark(data, given.engine)),
    ):
        if is_set:
            raise InputError(
                f"parameter {name}",
                "must be left out where limits are promised",
                found="one, which no plan is tried with",
                advice="promise what keeps them, and judge the release by the limits",
            )


def check_asked(
    schema: Schema,
    constraints: Sequence[promise.Constraint | promise.Budget],
    options: release_options.Options,
    *,
    register: bool = False,
    population: int | None = None,
    pseudonym_key: bytes | None,
    limited: bool = False,
) -> None:
    """Refuse what no data could make right, before any is read.

    Promised limits need no promise beside them.
    """
    if not limited or constraints:
        check_constraints(schema, constraints, options.known_columns)
    told = any(isinstance(constraint, KnownEvents) for constraint in constraints)
    for name, is_set in (
        ("techniques", options.techniques is not None),
        ("known_columns", bool(options.known_columns)),
    ):
        if is_set and not told:
            raise InputError(
                f"parameter {name}",
                "says how known_events is kept, and does nothing without it",
                found="no such promise",
                advice="promise known_events too, or leave it out",
            )
    about = any(isinstance(constraint, promise.AboutPopulation) for constraint in constraints)
    if about or register or population is not None:
        check_population(constraints, options, register=register, population=population)
    if register or population is not None:
        check_beside(options, "a population without numbers of records")
    if any(isinstance(constraint, TCloseness) for constraint in constraints):
        check_beside(options, "t_closeness, which holds classes against the whole file, not a band")
    _check_coarsening(options, constraints, pseudonym_key)
    _check_named("withhold", schema, options.withhold, schema.person)
    _check_named("known_columns", schema, options.known_columns, None)
    if promise.asked_of_households(constraints):
        check_beside(options, "a promise about households; their members have several")
        _check_households(schema, options, about=register or population is not None)
    _check_key(schema, pseudonym_key)


def _on_spark(
    data: Any,
    schema: Schema,
    manifest: Manifest,
    secrets: Secrets,
    layout: declaration.LayoutGiven,
    progress: declaration.Progress,
) -> Release:
    """Encode the file on the cluster, release it there, and leave nothing else behind."""
    from sfumato.engines.spark import spark_files
    from sfumato.engines.spark.cleaned_records import prepared_on_spark
    from sfumato.engines.spark.spark_encoding import open_on_spark
    from sfumato.engines.spark.spark_session import released
    from sfumato.release.on_spark.spark_release import make_release_on_spark

    source = prepared_on_spark(spark_files.open_on_cluster(data, **layout), schema)
    candidates = partial(spark_files.person_candidates_on_spark, source)
    left_out = manifest.options.unclassified
    given = classified(source.subject, source.names, schema, left_out, candidates)
    if schema.person is None:
        check_person(schema, candidates, source.names)
    # The recipe has been followed on the cluster, and must not change its own results.
    cleaned = given.model_copy(update={"recipe": {}})
    some = open_table(
        spark_files.records_of_some(source, schema.person, 2 * PERSONS_LOOKED_AT), cleaned
    )
    figures = check_leaks(some).column_figures
    table = open_on_spark(source, given, keep_source=True, progress=progress)
    with released(table.frame):
        check_table(table, manifest.options, manifest.constraints)
        manifest = replace(manifest, input_sha256=data_sha256(data), preparation=table.preparation)
        release = make_release_on_spark(table, manifest, secrets, progress, _frame(data))
    return replace(
        release,
        risk=replace(release.risk, columns=figures),
        warnings=(*acceptances(figures), *release.warnings),
    )


def _frame(data: Any) -> Any:
    """The dataframe that was passed in; ``None`` for a path."""
    return None if isinstance(data, (str, os.PathLike)) else data


def _check_key(schema: Schema, key: bytes | None) -> None:
    if key is None:
        return
    check_key(key)
    if schema.person is None:
        raise InputError(
            "parameter pseudonym_key",
            "is for a file with a person column",
            found="none in the schema",
            advice="name it under 'person', or leave the key out",
        )


def _check_coarsening(
    options: release_options.Options,
    constraints: Sequence[promise.Constraint | promise.Budget],
    key: bytes | None,
) -> None:
    if options.coarsen_counts is None:
        return
    if not promised(constraints):
        raise InputError(
            "parameter coarsen_counts",
            "makes numbers of records coarser for SharedCounts",
            found="no such promise",
            advice=f"give one, for example {typed('SharedCounts(3)', '--shared-counts 3')}",
        )
    if options.coarsen_counts is release_options.Coarsening.SPLIT and key is not None:
        raise InputError(
            "parameter pseudonym_key",
            "makes one pseudonym per person, the same in every release",
            found="coarsen_counts='split', which gives people several",
            advice="leave the key out, or drop records instead (coarsen_counts='drop')",
        )


def _check_named(parameter: str, schema: Schema, names: Sequence[str], person: str | None) -> None:
    """Refuse columns that are neither sensitive nor insensitive, nor that of persons if it may."""
    known = {*schema.sensitive, *schema.insensitive, *([person] if person else [])}
    for name in names:
        if name not in known:
            or_person = ", or that of people" if person else ""
            raise InputError(
                f"parameter {parameter}",
                f"must name sensitive or insensitive columns{or_person}",
                found=f"column '{name}'",
                accepted=", ".join(sorted(known)) or "none in the schema",
                advice="another column is left out where the schema calls it a direct identifier",
            )


def _check_households(schema: Schema, options: release_options.Options, *, about: bool) -> None:
    """Refuse what a promise about households does not go with."""
    if schema.household is None:
        raise InputError(
            "promise household_k",
            "needs the column that says who lives together",
            found="none in the schema",
            advice="name it under 'household'",
        )
    for name, given, why in (
        (
            "recoding",
            options.recoding is not release_options.Recoding.LOCAL,
            "one level for all records, which no household decides",
        ),
        (
            "coarsen_counts",
            options.coarsen_counts is release_options.Coarsening.SPLIT,
            "several pseudonyms of a person, who would be as many members",
        ),
        ("register", about, "a population without households"),
    ):
        if given:
            raise InputError(
                f"parameter {name}",
                "must be left out where a promise is made about households",
                found=why,
            )


def check_table(
    table: Table | SparkTable,
    options: release_options.Options,
    promises: Sequence[promise.Constraint | promise.Budget],
) -> None:
    """Refuse what the file's names, hierarchies and sensitive values do not allow."""
    _check_names(table, options)
    _check_ends(table, options)
    if promise.asked_of_households(promises) and isinstance(table, Table):
        household_of(table)
    told = [each for each in promises if isinstance(each, KnownEvents)]
    if told and isinstance(table, Table):
        events = with_events(table, options.known_columns)
        if options.coarsen_counts is release_options.Coarsening.SPLIT:
            _check_divided(events, told)
        check_event_leaks(events, options.withhold)
    # For its refusal of values that are no numbers, before any work.
    ranks_of(table, promise.ordered_attributes(promises, table.schema.sensitive))


def _check_divided(table: Table, told: Sequence[KnownEvents]) -> None:
    """Refuse known events that people of several pseudonyms are not protected from."""
    dated = any(event.event.kind is EventKind.DATE for event in table.events)
    for is_so, why in (
        (dated, "dates, which would bring the pseudonyms of a person together"),
        (
            any(known_events.k for known_events in told),
            "k people who share events, whose pseudonyms show parts",
        ),
    ):
        if is_so:
            raise InputError(
                "parameter coarsen_counts",
                "must not be 'split' beside these known events",
                found=why,
                advice="drop records instead (coarsen_counts='drop'), or promise a risk of codes",
            )


def _check_names(table: Table | SparkTable, options: release_options.Options) -> None:
    # Only bounds have names that the file does not have already.
    if options.values is not release_options.Form.BOUNDS:
        return
    for name in table.schema.quasi_identifiers:
        for bound in (f"{name}_low", f"{name}_high"):
            if bound in table.columns:
                raise InputError(
                    f"column '{bound}'",
                    "must not be in the file when bounds are released",
                    found=f"a column with the name of a bound of '{name}'",
                    advice="rename it, or release ranges",
                )


def _check_keywords(options: Iterable[str]) -> None:
    """Refuse a keyword for a promise, by its name or what it takes, and say what to write."""
    known = declaration.declared(release_options.Options, release_options.Circumstances)
    for name in {*options} - {each.name for each in known}:
        meant = [
            f"sfumato.{kind.__name__}({fields[0]})"
            for key, kind in PROMISES.items()
            if (fields := [each.name for each in declaration.declared(kind)])
            and name in (key, *fields)
        ]
        if meant:
            raise InputError(
                f"keyword {name}",
                "names a promise, which is an argument of its own after the schema",
                advice=f"write {' or '.join(meant)}",
            )


def check_constraints(
    schema: Schema,
    constraints: Sequence[promise.Constraint | promise.Budget],
    known: Sequence[str] = (),
) -> None:
    """Refuse promises that a schema, and columns known as events beside it, leaves nothing for."""
    check_schema(schema)
    if not constraints:
        raise InputError(
            "the release",
            "must keep at least one promise",
            found="no promise",
            advice=f"give one, for example {typed('sfumato.GBalance(0.9)', '--g-balance 0.9')}",
        )
    told = [each for each in promise.strictest(constraints) if isinstance(each, KnownEvents)]
    if len(told) > 1:
        raise InputError(
            "promise known_events",
            "may be given several times where one of them is the strictest",
            found="two of which each asks for more in one way, and for less in another",
            advice="give one that asks for as much as both of them",
        )
    for constraint in constraints:
        of = (
            f"the class {constraint.__name__}"
            if isinstance(constraint, type)
            else type(constraint).__name__
        )
        if isinstance(constraint, type) or not (
            isinstance(constraint, promise.Budget) or hasattr(constraint, "met")
        ):
            raise InputError(
                "each promise",
                "must follow the protocol of promises",
                found=of,
                accepted="one such as sfumato.GBalance(0.9) or sfumato.PidKAnonymity(11)",
            )
        if isinstance(constraint, promise.AboutAttribute):
            _check_attribute(schema, constraint)
        if isinstance(constraint, KnownEvents) and not (schema.events or known):
            raise InputError(
                "promise known_events",
                "needs columns that say what happened",
                found="none in the schema",
                advice="name them under [events]",
            )
        if isinstance(constraint, KnownEvents) and constraint.k and constraint.m > 2:
            dated = any(event.kind is EventKind.DATE for event in schema.events.values())
            if dated:  # which sets of three dates k persons share is not counted
                raise InputError(
                    "promise known_events",
                    "promises k for at most two events where dates are events",
                    found=str(constraint.m),
                    accepted="m = 1 or 2 with k, or a risk",
                )


def _check_attribute(schema: Schema, constraint: promise.AboutAttribute) -> None:
    if not schema.sensitive:
        raise InputError(
            f"promise {constraint.name}",
            "needs a sensitive attribute",
            found="none in the schema",
            advice="name one under 'sensitive'",
        )
    if constraint.attribute is not None and constraint.attribute not in schema.sensitive:
        raise InputError(
            f"promise {constraint.name}",
            "must name a sensitive attribute of the schema",
            accepted=", ".join(schema.sensitive),
        )


def _check_ends(table: Table | SparkTable, options: release_options.Options) -> None:
    """Refuse coded ends where labels of a hierarchy are released, which have ends of their own."""
    by_level = options.recoding is release_options.Recoding.FULL_DOMAIN
    for column in table.quasi_identifiers:
        labelled = options.values is release_options.Form.HIERARCHY and column.hierarchy is not None
        if column.ends is not None and (by_level or labelled):
            raise InputError(
                f"column '{column.name}'",
                "must have no 'top' or 'bottom' where labels of its hierarchy are released",
                found="full-domain recoding" if by_level else "values='hierarchy'",
                advice="write the open category into the hierarchy's file, or release ranges",
            )
