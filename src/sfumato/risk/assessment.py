"""Assess a file: from any dataframe or path, or from its equivalence classes, to every measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from sfumato.core.arrays import Bools, Codes
from sfumato.core.declaration import Progress, keywords, layout_of, silent, taken, takes_spark
from sfumato.core.errors import InputError, typed
from sfumato.core.extensions import extension
from sfumato.core.measure import Measure
from sfumato.engines.embedded.counts import group
from sfumato.risk import class_measures
from sfumato.risk.assess_options import AssessOptions, Circumstances, Measuring
from sfumato.risk.classes import (
    ClassBlocks,
    ClassSummary,
    ClassValue,
    Extreme,
    extremes,
    first_row,
    spread_warning,
)
from sfumato.risk.disclosure_risk import Risk, SensitiveRisk
from sfumato.risk.known_events import measure_known_events
from sfumato.risk.population.estimator_protocol import AUTO, ESTIMATORS, check_estimator
from sfumato.risk.reidentification import (
    COUNTING_VALUES,
    check_threshold,
    counting_risk,
    reidentification,
    size_values,
)
from sfumato.risk.special_uniques import special_uniques as find_special_uniques
from sfumato.schema import Schema, check_schema
from sfumato.schema.roles import Unclassified
from sfumato.table.combinations import together_figures
from sfumato.table.dependence import column_figures, found_with
from sfumato.table.door import open_table
from sfumato.table.preparation import prepared
from sfumato.table.sources import Source, read_clusters, read_weights
from sfumato.table.stacked_tables import Tables, open_stack
from sfumato.table.table import Table
from sfumato.table.table_files import open_source

if TYPE_CHECKING:
    from sfumato.risk.population.population_size import Given
    from sfumato.risk.risk_thresholds import Preset
    from sfumato.risk.verdict import Limits

_Read = TypeVar("_Read")


def measure_classes(
    class_of: Codes,
    classes: int,
    person: Codes,
    sensitive: Mapping[str, Codes],
    *,
    threshold: float,
    shown: Codes | None = None,
    ranks: Mapping[str, Codes] | None = None,
    rows: Mapping[str, Bools] | None = None,
    warnings: tuple[str, ...] = (),
) -> Risk:
    """Measure a file, or a release, whose equivalence classes are known.

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,); no class is empty. Positions
        are reported in this numbering, plus one.
    person
        Index of each record's person, from 0, shape (records,).
    sensitive
        Codes of each sensitive attribute, from 0, -1 for missing; shape (records,) each.
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    shown
        Index of the id that each record shows where a person may have several, numbered person
        by person; shape (records,). What an intruder who counts can learn depends on it, all
        other measures on ``person`` alone.
    ranks
        For sensitive attributes whose values are numbers and whose t-closeness is also to be
        measured by ordered distance, the rank of each value, from 0 without a gap.
    rows
        As in `ClassBlocks`.
    """
    check_threshold(threshold)
    blocks = ClassBlocks(class_of, classes, person, sensitive, shown, ranks, rows=rows)
    values = _WHOLE | size_values("persons", threshold) | size_values("records", threshold)
    for name in sensitive:
        values |= _of_attribute(name, ordered=name in (ranks or {}))
    found = extremes(blocks, values)
    persons, memberships = _distinct(person), int(found["persons"].total)
    records = len(class_of)
    counting = counting_risk(found, memberships, threshold)
    risks = reidentification(found, "persons", classes, records, threshold)
    return Risk(
        records=records,
        persons=persons,
        classes=classes,
        k=found["records"].whole,
        k_where=found["records"].where,
        pid_k=found["persons"].whole,
        pid_k_where=found["persons"].where,
        g_balance=found["g_balance"].measure("g_balance"),
        max_gidr=found["gidr"].measure("max_gidr"),
        avg_gidr=Measure("avg_gidr", found["gidr"].total / classes),
        **{
            field.name: getattr(group, field.name)
            for group in (risks, counting)
            for field in fields(group)
        },
        by_records=reidentification(found, "records", classes, records, threshold),
        sample_uniques=int(found["one person"].total),
        sample_unique_records=int(found["one record"].total),
        sensitive={name: _sensitive_risk(found, name) for name in sensitive},
        summary=blocks.summary,
        threshold=float(threshold),
        warnings=(*warnings, *spread_warning(memberships, persons)),
    )


def _row_of_largest(classes: ClassSummary, at: int) -> int:
    return int(classes.largest_row[at])


_WHOLE = COUNTING_VALUES | {
    "g_balance": ClassValue(class_measures.g_balance, "low", _row_of_largest),
    "gidr": ClassValue(class_measures.gidr, "high", _row_of_largest),
    "one person": ClassValue(lambda classes: classes.persons == 1, "high"),
    "one record": ClassValue(lambda classes: classes.records == 1, "high"),
}


def _distinct(person: Codes) -> int:
    seen = np.zeros(int(person.max()) + 1, dtype=np.bool_)
    # A mark per number instead of a sort: persons are numbered densely.
    seen[person] = True
    return int(np.count_nonzero(seen))


def _of_attribute(name: str, *, ordered: bool) -> dict[str, ClassValue]:
    """What `_sensitive_risk` reads of the classes."""

    def row_of_shared(classes: ClassSummary, at: int) -> int:
        own = int(classes.affiliation_row[name][at])
        # A class without a value has no shared one: its first record stands for it.
        return first_row(classes, at) if own < 0 else own

    def told_of(classes: ClassSummary, diversity: Any) -> Any:
        return class_measures.told_of(classes, name, diversity, class_measures.UNTOLD)

    values = {
        "gsar": ClassValue(partial(class_measures.gsar, attribute=name), "high", row_of_shared),
        "told": ClassValue(lambda classes: np.minimum(classes.sharing(name), 1), "high"),
        "distinct": ClassValue(lambda classes: told_of(classes, classes.distinct[name]), "low"),
        "entropy": ClassValue(
            lambda classes: told_of(classes, class_measures.entropy_l(classes, name)), "low"
        ),
        **{
            f"recursive {l}": ClassValue(
                partial(class_measures.recursive_c, attribute=name, l=l), "high"
            )
            for l in class_measures.RECURSIVE_L  # noqa: E741
        },
        "distance": ClassValue(lambda classes: classes.distance[name], "high"),
    }
    if ordered:
        values["ordered distance"] = ClassValue(
            lambda classes: classes.ordered_distance[name], "high"
        )
    return {f"{what} of {name}": value for what, value in values.items()}


def _sensitive_risk(found: Mapping[str, Extreme], name: str) -> SensitiveRisk:
    sharing, told = found[f"gsar of {name}"], int(found[f"told of {name}"].total)
    # Where it tells of no class, nothing is different in it.
    distinct, entropy = (
        each if told else each._replace(value=0.0)
        for each in (found[f"distinct of {name}"], found[f"entropy of {name}"])
    )
    ordered = found.get(f"ordered distance of {name}")
    return SensitiveRisk(
        h_affiliation=sharing.measure("h_affiliation"),
        max_gsar=sharing.measure("max_gsar"),
        avg_gsar=Measure("avg_gsar", sharing.total / max(told, 1)),
        l_distinct=distinct.whole,
        l_distinct_where=distinct.where,
        l_entropy=entropy.measure("l_entropy"),
        recursive={
            l: found[f"recursive {l} of {name}"].measure(f"recursive_{l}")
            for l in class_measures.RECURSIVE_L  # noqa: E741
        },
        t_closeness=found[f"distance of {name}"].measure("t_closeness"),
        t_closeness_ordered=ordered and ordered.measure("t_closeness_ordered"),
    )


def _opened(
    data: Any, schema: Schema | None, given: Circumstances, progress: Progress
) -> tuple[Any, Schema]:
    """What is measured, with its schema; the rows of a database below each other."""
    if not isinstance(data, Tables):
        check_schema(schema)
        assert schema is not None
        return data, schema
    for name in ("population", "register", "engine"):
        told = getattr(given, name)
        if told is not None and not (isinstance(told, str) and told == "embedded"):
            raise InputError(
                f"parameter {name}", "is not for several tables", advice="leave it out"
            )
    table = open_stack(data, Unclassified.DROP, progress=progress, layout=layout_of(given)).table
    return table, table.schema


@keywords(Measuring, Circumstances)
def assess(
    data: Any,
    schema: Schema | None = None,
    *,
    progress: Progress = silent,
    **options: Unpack[AssessOptions],
) -> Risk:
    """Measure what a file gives away: identity and sensitive values, by records and persons.

    Parameters
    ----------
    data
        A dataframe, the path of a CSV or Parquet file, `Tables` of the same people, or a `Table`
        that is open already; with the engine ``spark`` a dataframe of PySpark, or a path that
        Spark reads.
    schema
        What each column is; of `Tables` left out.
    progress
        Told how far each stage is: "read", then "measure".

    Raises
    ------
    InputError
        If the data does not fit the schema, a parameter is out of range, or the engine lacks it.
    SfumatoError
        If Spark fails.
    """
    asked, given = taken(options, Measuring, Circumstances)
    # Wrong options are refused before a large file is read.
    if asked.estimator != AUTO:
        _check_estimator(asked, given, on_spark=takes_spark(data, given.engine))
    more = class_measures.checked_l(asked.recursive_l)
    chosen = _chosen(given.presets) if given.presets else ()
    data, schema = _opened(data, schema, given, progress)
    limits = _limits(given.limits)
    if takes_spark(data, given.engine):
        _refuse_on_spark(asked, schema)
        risk = _on_spark(
            data, schema, given, progress,
            threshold=asked.threshold, ordered_distance=asked.ordered_distance,
            estimator=asked.estimator, seed=given.seed, presets=chosen, recursive_l=more,
        )  # fmt: skip
        return _judged(risk, limits, schema)
    source = data if isinstance(data, Table) else open_source(data, **layout_of(given))
    if schema.recipe and not isinstance(source, Table):
        source = prepared(source, schema)
    names = source.columns if isinstance(source, Table) else source.names
    known = _given(given, tuple(names))
    _check_clusters(asked, known)
    table = open_table(
        source, schema, keep_source=asked.columns or limits is not None, progress=progress
    )
    progress("measure", 0.0)
    risk, class_of = _measured(table, asked.threshold, asked.ordered_distance, more)
    event_risk = measure_known_events(
        table,
        class_of,
        risk.classes,
        given.seed,
        counts=np.asarray if asked.counts else None,
    )
    risk = replace(risk, known_events=event_risk)
    if asked.columns:
        cells = {name: table.source.column(name) for name in table.source.column_names}
        figures = found_with(column_figures(table), cells, class_of, table.person)
        risk = replace(risk, columns=together_figures(table, figures))
    if known is not None:
        progress("measure", 0.5)
        weights = _read(source, known.weights, read_weights)
        own = _read(source, asked.cluster, read_clusters)
        clusters = None if own is None else (own, asked.clusters)
        if known.register is not None:
            risk = _with_register(risk, table, class_of, known.register)
        else:
            # Its optimisers take as long to import as a small assessment takes.
            from sfumato.risk.population.population_estimates import population_of_file

            found = population_of_file(
                table, class_of, risk.own_classes(), known,
                weights=weights, clusters=clusters, estimator=asked.estimator,
                threshold=risk.threshold, seed=given.seed,
            )  # fmt: skip
            risk = _with_estimate(risk.with_population(found), asked.estimator)
    if asked.special_uniques:
        unique = find_special_uniques(
            {column.name: column.codes for column in table.quasi_identifiers},
            table.person, class_of, asked.msu_size,
        )  # fmt: skip
        risk = replace(risk, special_uniques=unique)
    # What another package estimates decides nothing.
    risk = _judged(risk, limits, schema, table, class_of, sampled=asked.estimator in ESTIMATORS)
    progress("measure", 1.0)
    # Few ask for thresholds: what checks them is imported only then.
    if chosen:
        from sfumato.risk.threshold_checks import hold

        risk = hold(risk, *chosen)
    return risk


def _refuse_on_spark(asked: Measuring, schema: Schema) -> None:
    """Refuse what a cluster does not measure."""
    # Refused and not left out silently: a reader would take what is missing for nothing found.
    for name, is_set in (
        ("parameter special_uniques", asked.special_uniques),
        ("parameter columns", asked.columns),
        ("parameter counts", asked.counts),
        ("parameter cluster", asked.cluster is not None),
        ("schema: its events", bool(schema.events)),
    ):
        if is_set:
            raise InputError(
                name,
                "must be left out on Spark",
                advice="leave it out, or take engine='embedded'",
            )


def _check_estimator(asked: Measuring, given: Circumstances, *, on_spark: bool) -> None:
    """Refuse a name that none has, and what one of another package would decide."""
    check_estimator(asked.estimator)
    if asked.estimator in ESTIMATORS or not (on_spark or given.presets):
        return
    raise InputError(
        "parameter estimator",
        "must be one of ours on Spark, and beside presets, which it would decide",
        found="one of another package",
        accepted=", ".join(ESTIMATORS),
    )


def _with_estimate(risk: Risk, estimator: str) -> Risk:
    """The same, which says so where an estimator of another package was asked."""
    added = None if estimator in ESTIMATORS else extension("estimator", estimator)
    if added is None:
        return risk
    said = (
        f"Risks in the population are estimated by the {added}. The verdict does not rest on it: "
        "there the file counts as its own population."
    )
    return replace(risk, warnings=(*risk.warnings, said))


def _limits(given: Any) -> Limits | None:
    """The limits that were given, by name or as they are."""
    if given is None:
        return None
    from sfumato.risk.verdict import Limits

    return given if isinstance(given, Limits) else Limits(given)


def _judged(
    risk: Risk,
    limits: Limits | None,
    schema: Schema,
    table: Table | None = None,
    class_of: Codes | None = None,
    *,
    sampled: bool = True,
) -> Risk:
    """The same with what intruders find, where limits were given; by classes alone on Spark.

    Unless ``sampled``, what is known of the population does not count: the file is its own.
    """
    if limits is None:
        return risk
    from sfumato.risk import intruders
    from sfumato.risk.learned_values import Share
    from sfumato.risk.shown_file import shown
    from sfumato.risk.verdict import Held, judge, unmeasured

    against = Share.estimated(risk.marketer), Share.estimated(risk.journalist)
    if table is None or class_of is None:
        alone = intruders.Findings(*against)
        columns = (*schema.sensitive, *schema.insensitive)
        verdict = unmeasured(risk.persons, alone, "not measured on Spark", columns, Held(limits))
    else:
        found = intruders.measured(shown(table, class_of))
        population = against if sampled and risk.population is not None else None
        verdict = judge(found, limits, population=population)
    return replace(risk, verdict=verdict)


def _chosen(presets: Sequence[str | Preset]) -> tuple[Preset, ...]:
    """The presets, each of which states a number."""
    from sfumato.risk.risk_thresholds import thresholds
    from sfumato.risk.threshold_checks import check_numbers

    chosen = thresholds(*presets)
    check_numbers(chosen)
    return chosen


def _measured(
    table: Table, threshold: float, ordered_distance: Sequence[str], recursive_l: Sequence[int]
) -> tuple[Risk, Codes]:
    """The measures of an encoded file, and the class of each record."""
    class_of, classes = group(
        [column.codes for column in table.quasi_identifiers],
        [column.domain.size for column in table.quasi_identifiers],
    )
    risk = measure_classes(
        class_of,
        classes,
        table.person,
        {column.name: column.codes for column in table.sensitive},
        threshold=threshold,
        ranks=class_measures.ranks_of(table, ordered_distance),
        rows=class_measures.rows_of_tables(table),
        warnings=table.warnings,
    )
    if table.preparation:
        risk = replace(risk, preparation=table.preparation)
    if recursive_l:
        risk = replace(risk, sensitive=_with_recursive(risk, table, class_of, recursive_l))
    if table.household is not None:
        from sfumato.risk.reidentification import household_risk

        summary = risk.own_classes()
        found = household_risk(class_of, table.person, table.household, summary, threshold)
        risk = replace(risk, household=found)
    return risk, class_of


def _with_recursive(
    risk: Risk, table: Table, class_of: Codes, recursive_l: Sequence[int]
) -> dict[str, SensitiveRisk]:
    """The measures of each sensitive attribute, with recursive diversity for these l too."""
    found = {
        column.name: class_measures.recursive_measures(
            class_of,
            risk.classes,
            column.codes,
            recursive_l,
            risk.own_classes().sharing(column.name) > 0,
        )
        for column in table.sensitive
    }
    return {
        name: replace(attribute, recursive={**attribute.recursive, **found[name]})
        for name, attribute in risk.sensitive.items()
    }


def _on_spark(
    data: Any, schema: Schema, circumstances: Circumstances, progress: Progress, **options: Any
) -> Risk:
    """Encode the file on the cluster, measure it there, and leave nothing behind."""
    from sfumato.engines.spark.spark_encoding import open_on_spark
    from sfumato.engines.spark.spark_files import open_on_cluster
    from sfumato.engines.spark.spark_session import released
    from sfumato.risk.on_spark.spark_population import assess_on_spark, opened_register

    source = open_on_cluster(data, **layout_of(circumstances))
    given = _given(circumstances, source.names)
    weights, everybody = (None, None) if given is None else (given.weights, given.register)
    table = open_on_spark(source, schema, weights=weights, progress=progress)
    with released(table.frame), opened_register(everybody, table) as opened:
        return assess_on_spark(
            table, population=given, register=opened, progress=progress, **options
        )


def _given(circumstances: Circumstances, columns: tuple[str, ...]) -> Given | None:
    """What is known of the population, if anything."""
    population, register = circumstances.population, circumstances.register
    if register is None and population is None:
        return None
    from sfumato.risk.population.population_size import Given, read_population

    if register is not None and population is not None:
        raise InputError(
            "parameter register",
            "must be the only population",
            found="a population beside it",
            advice="leave one of the two out",
        )
    if register is not None:
        return Given(register=register)
    return read_population(population, columns)


def _check_clusters(asked: Measuring, known: Given | None) -> None:
    """Refuse clusters that were not drawn from a population, and their number without them."""
    if asked.cluster is not None and (known is None or known.register is not None):
        raise InputError(
            "parameter cluster",
            "says how people were drawn from a population that is estimated",
            found="no population" if known is None else "a register, in which they are counted",
            advice="give its size, a sampling fraction or weights, or leave it out",
        )
    if asked.clusters is not None and asked.cluster is None:
        raise InputError(
            "parameter clusters",
            "is for clusters that were drawn",
            found="no column of them",
            advice=f"name it ({typed('cluster=...', '--cluster COLUMN')})",
        )


def _read(
    source: Source | Table, column: str | None, read: Callable[[Source, str], _Read]
) -> _Read | None:
    """A column of the design by which persons were drawn; ``None`` where none is named."""
    if column is None:
        return None
    if isinstance(source, Table):
        raise InputError(
            "the columns of weights and clusters",
            "must not be named where the data is a table that is open already",
            advice="pass the file or dataframe itself",
        )
    return read(source, column)


def _with_register(risk: Risk, table: Table, class_of: Codes, register: Any) -> Risk:
    """Add the risks that are counted in a register."""
    from sfumato.risk.population.population_risk import RegisterClasses, register_population
    from sfumato.risk.register_presence import match, open_register, presence

    matching = match(table, open_register(register, table.schema))
    summary = risk.own_classes()
    # All records of a class agree on the quasi-identifiers,
    # so that one of them finds the register's class.
    sizes = matching.outside[matching.class_of[summary.first_row]]
    classes = RegisterClasses(
        persons=summary.persons,
        records=summary.records,
        # F ≥ f: whom the register lacks are at least those of the file.
        sizes=np.maximum(sizes, summary.persons),
        first_row=summary.first_row,
        class_of=class_of,
    )
    # A register may lack persons of the file, and n / N would pass 1.
    persons = max(matching.population, risk.persons)
    found = register_population(classes, persons, risk.threshold)
    return risk.with_population(found, presence(matching))
